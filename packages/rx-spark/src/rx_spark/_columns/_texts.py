"""What is asked of a text, as a column: what is in it, its parts, and what is left of it without some of its characters.

Python and Spark both count code points. What Python takes for a space is told to Spark. The case of letters differs between them,
and is left to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from rx_spark._columns._column import Column, Guard, NotAColumn, not_null, text_of
from rx_spark._columns._operators import told
from rx_spark._columns._rows import Kind

#: What Python takes for a space, see ``str.isspace``. Java has fewer.
SPACES: Final = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
#: What means something in a regular expression of Java's, outside of a class.
_SIGNS: Final = frozenset("\\^$.|?*+()[]{}")


def method(text: Column, name: str, args: Sequence[Column]) -> Column:
    """``text.name(*args)`` of a text or a null. Raises NotAColumn."""
    made = _METHODS.get(name)
    if made is None:
        raise NotAColumn(f".{name}() is evaluated by Python")
    refused = not_null(text, f"'NoneType' object has no attribute {name!r}", "AttributeError")
    return made(replace(text, guards=(*text.guards, *refused)), name, args)


# --- whether it begins or ends so --------------------------------------------------------------------------------------


def _at_end(text: Column, name: str, args: Sequence[Column]) -> Column:
    if len(args) != 1 or args[0].python is not str or args[0].optional:
        raise NotAColumn(f".{name}() with these arguments is evaluated by Python")
    (part,) = args
    sql = f"{name}({text.sql}, {part.sql})"
    return Column(sql, Kind(bool), (*text.guards, *part.guards), sql, plain=told(text, part))


# --- whether, where and how often something is in it --------------------------------------------------------------------


def contains(text: Column, part: Column) -> Column:
    """``part in text``, as ``operator.contains(text, part)`` says it. Raises NotAColumn."""
    if text.python is not str or part.python is not str or part.optional:
        raise NotAColumn(f"contains({text.kind}, {part.kind}) is evaluated by Python")
    guards = (*text.guards, *part.guards, *not_null(text, "argument of type 'NoneType' is not iterable"))
    sql = f"contains({text.sql}, {part.sql})"
    return Column(sql, Kind(bool), guards, sql, plain=told(text, part))


def _find(text: Column, name: str, args: Sequence[Column]) -> Column:
    part = _known(name, args)
    place = f"instr({text.sql}, {text_of(part)})"
    guards = text.guards if name == "find" else (*text.guards, Guard(f"{place} = 0", "ValueError", "substring not found"))
    return Column(f"CAST({place} - 1 AS BIGINT)", Kind(int), guards)


def _count(text: Column, name: str, args: Sequence[Column]) -> Column:
    part = _known(name, args)
    without = f"char_length(replace({text.sql}, {text_of(part)}, ''))"
    return Column(f"((char_length({text.sql}) - {without}) div {len(part)}L)", Kind(int), text.guards)


# --- what is left of it -------------------------------------------------------------------------------------------------

_SIDES: Final = {"strip": "BOTH", "lstrip": "LEADING", "rstrip": "TRAILING"}


def _strip(text: Column, name: str, args: Sequence[Column]) -> Column:
    characters = _known(name, args, otherwise=SPACES)
    return Column(f"trim({_SIDES[name]} {text_of(characters)} FROM {text.sql})", Kind(str), text.guards)


def _replace(text: Column, name: str, args: Sequence[Column]) -> Column:
    if len(args) != 2:
        raise NotAColumn(f".{name}() with a limit is evaluated by Python")
    old = _known(name, args[:1])
    new = args[1].constant
    if not isinstance(new, str):
        raise NotAColumn(f".{name}() with these arguments is evaluated by Python")
    return Column(f"replace({text.sql}, {text_of(old)}, {text_of(new)})", Kind(str), text.guards)


def _without_end(text: Column, name: str, args: Sequence[Column]) -> Column:
    part = _known(name, args)
    asked, at = ("startswith", f"{len(part) + 1}") if name == "removeprefix" else ("endswith", "1")
    length = f"char_length({text.sql}) - {len(part)}"
    sql = f"IF({asked}({text.sql}, {text_of(part)}), substring({text.sql}, {at}, {length}), {text.sql})"
    return Column(sql, Kind(str), text.guards)


def _known(name: str, args: Sequence[Column], otherwise: str = "") -> str:
    """The only argument, which is a known text and not empty: for an empty one Python has rules of its own. ``otherwise`` is for
    None, or for one that is not there."""
    found = args[0].constant if args else None
    made = otherwise if found is None else found
    if len(args) > 1 or not isinstance(made, str) or not made:
        raise NotAColumn(f".{name}() with these arguments is evaluated by Python")
    return made


# --- its parts ----------------------------------------------------------------------------------------------------------


def _split(text: Column, name: str, args: Sequence[Column]) -> Column:
    """At spaces, or at a separator that is known."""
    if len(args) > 1:
        raise NotAColumn(f".{name}() with a limit is evaluated by Python")
    separator = args[0].constant if args else None
    if separator is None:
        # Runs of what is no space, so that none is empty.
        return _parts(text, f"regexp_extract_all({text.sql}, {text_of(f'[^{SPACES}]+')}, 0)")
    if not isinstance(separator, str) or not separator:
        raise NotAColumn(f".{name}() at this separator is evaluated by Python")
    # A single sign, or one behind a backslash, is what Java looks for without a regular expression.
    pattern = "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in separator)
    return _parts(text, f"split({text.sql}, {text_of(pattern)}, -1)")


def _parts(text: Column, sql: str) -> Column:
    return Column(sql, Kind(list, parts=(Kind(str),)), text.guards)


def part(text: Column, at: object) -> Column:
    """``text[at]`` of a text or a null: a character, or those between two places. Raises NotAColumn."""
    guards = (*text.guards, *not_null(text, "'NoneType' object is not subscriptable"))
    if type(at) is int:
        outside = f"char_length({text.sql}) {'<=' if at >= 0 else '<'} {abs(at)}"
        first = at + 1 if at >= 0 else at
        guards = (*guards, Guard(outside, "IndexError", "string index out of range"))
        return Column(f"substring({text.sql}, {first}, 1)", Kind(str), guards)
    if not isinstance(at, slice) or at.step not in (None, 1):
        raise NotAColumn(f"[{at!r}] of a text is evaluated by Python")
    start, stop = 0 if at.start is None else at.start, at.stop
    if type(start) is not int or not (stop is None or type(stop) is int) or max(abs(start), abs(stop or 0)) > _FAR:
        raise NotAColumn("a text between these places is cut by Python")
    length = f"char_length({text.sql})"
    begin = f"{start}" if start >= 0 else f"greatest({length} - {-start}, 0)"
    if stop is None:
        end = length
    else:
        end = f"{stop}" if stop >= 0 else f"{length} - {-stop}"
    return Column(f"substring({text.sql}, {begin} + 1, greatest({end} - {begin}, 0))", Kind(str), guards)


#: Places have 32 bits.
_FAR: Final = 1 << 30

_METHODS: Final[dict[str, Callable[[Column, str, Sequence[Column]], Column]]] = {
    "startswith": _at_end,
    "endswith": _at_end,
    "find": _find,
    "index": _find,
    "count": _count,
    "strip": _strip,
    "lstrip": _strip,
    "rstrip": _strip,
    "replace": _replace,
    "removeprefix": _without_end,
    "removesuffix": _without_end,
    "split": _split,
}
