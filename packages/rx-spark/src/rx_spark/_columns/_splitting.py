"""``text.split()`` and ``text.split(separator)`` as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rx_spark._columns._column import Column, NotAColumn, text_of
from rx_spark._columns._rows import Kind

#: What Python takes for the space between words, as a class of Java's regular expressions; Java's own class has fewer.
_SPACES: Final = r"\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_WORDS: Final = f"[^{_SPACES}]+"
#: What means something in a regular expression, outside of a class.
_SIGNS: Final = frozenset("\\^$.|?*+()[]{}")


def split(text: Column, args: Sequence[Column]) -> Column:
    """The list of parts of a text that is no null, at spaces or at a separator that is known. Raises NotAColumn."""
    if len(args) > 1:
        raise NotAColumn(".split() with a limit is evaluated by Python")
    separator = args[0].constant if args else None
    if separator is None:
        # Runs of what is no space, so that none is empty.
        return _parts(text, f"regexp_extract_all({text.sql}, {text_of(_WORDS)}, 0)")
    if not isinstance(separator, str) or not separator:
        raise NotAColumn(".split() at this separator is evaluated by Python")
    # A single sign, or one behind a backslash, is what Java looks for without a regular expression.
    pattern = "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in separator)
    return _parts(text, f"split({text.sql}, {text_of(pattern)}, -1)")


def _parts(text: Column, sql: str) -> Column:
    return Column(sql, Kind(list, parts=(Kind(str),)), text.guards)
