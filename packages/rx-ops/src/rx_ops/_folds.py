"""Folds: several aggregates of the same items as four functions, written out in Python and compiled.

An aggregate in a loop of its own calls a function for each item that calls the function for the value. Here one function does all
aggregates of an item, and expressions stand in it without a call. The text depends on the kinds of the aggregates and on the
structures of their expressions; what was compiled for it is kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from rx_fusion.symbols import Expression, Structure

Kind: TypeAlias = Literal["count", "sum", "min", "max", "average"]
Value: TypeAlias = Callable[[Any], object] | None

#: The names in the text of the two builtins that an expression may need.
_BUILTINS: Final = {"_getattr": getattr, "_slice": slice}
_numbers = count(1)


class Fold(NamedTuple):
    """How aggregates are computed, in parts that can be combined.

    A partial result is a list of plain values. Folding a part of the items begins with ``first`` of one item and goes on with
    ``step``. ``merge`` combines the partial results of two parts, and ``result`` gives the values of the aggregates. ``step`` and
    ``merge`` change their first argument and return it.
    """

    first: Callable[[Any], list[Any]]
    step: Callable[[list[Any], Any], list[Any]]
    merge: Callable[[list[Any], list[Any]], list[Any]]
    result: Callable[[list[Any]], tuple[Any, ...]]


def fold_of(aggregates: Sequence[tuple[Kind, Value]]) -> Fold:
    """The fold of aggregates, each with its kind and with what makes its value of an item."""
    shape: list[tuple[Kind, Structure | bool]] = []
    bound: list[Any] = []
    for kind, value in aggregates:
        if isinstance(value, Expression) and value.structure.arity == 1:
            shape.append((kind, value.structure))
            bound += value.args
        else:
            shape.append((kind, value is not None))
            bound += () if value is None else (value,)
    return Fold(*_factory(tuple(shape))(*bound))


@lru_cache(256)
def _factory(shape: tuple[tuple[Kind, Structure | bool], ...]) -> Callable[..., tuple[Any, ...]]:
    """What makes the four functions of constants and functions for values."""
    import linecache  # brings tokenize: only who aggregates needs it

    text = _text(shape)
    path = f"<rx fold #{next(_numbers)}>"
    namespace: dict[str, Any] = {**_BUILTINS, "__name__": __name__}
    exec(compile(text, path, "exec"), namespace)
    made: Callable[..., tuple[Any, ...]] = namespace["fold"]
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    weakref.finalize(made, linecache.cache.pop, path, None).atexit = False
    return made


def _text(shape: tuple[tuple[Kind, Structure | bool], ...]) -> str:
    names: list[str] = []
    places = count()
    first: list[str] = []
    step: list[str] = []
    merge: list[str] = []
    result: list[str] = []
    for kind, value in shape:
        at = next(places)
        mine, other = f"partial[{at}]", f"other[{at}]"
        written = _value(value, names)
        match kind:
            case "count" if not written:
                first += ["1"]
                step += [f"{mine} += 1"]
                merge += [f"{mine} += {other}"]
                result += [mine]
            case "count":
                first += [f"1 if {written} is not None else 0"]
                step += [f"if {written} is not None: {mine} += 1"]
                merge += [f"{mine} += {other}"]
                result += [mine]
            case "sum":
                # never +=, which may change what an item holds
                first += [f"0 + {written}"]
                step += [f"{mine} = {mine} + {written}"]
                merge += [f"{mine} = {mine} + {other}"]
                result += [mine]
            case "average":
                number = f"[{next(places)}]"
                first += [written, "1"]
                step += [f"{mine} = {mine} + {written}", f"partial{number} += 1"]
                merge += [f"{mine} = {mine} + {other}", f"partial{number} += other{number}"]
                result += [f"{mine} / partial{number}"]
            case "min" | "max":
                better = "<" if kind == "min" else ">"
                first += [written]
                step += [f"value = {written}", f"if value {better} {mine}: {mine} = value"]
                merge += [f"if {other} {better} {mine}: {mine} = {other}"]
                result += [mine]
    return "\n".join(
        [
            f"def fold({', '.join(names)}):",
            "    def first(item):",
            f"        return [{', '.join(first)}]",
            "    def step(partial, item):",
            *[f"        {line}" for line in step],
            "        return partial",
            "    def merge(partial, other):",
            *[f"        {line}" for line in merge],
            "        return partial",
            "    def result(partial):",
            f"        return {', '.join(result)},",
            "    return first, step, merge, result",
            "",
        ]
    )


def _value(value: Structure | bool, names: list[str]) -> str:
    """The value of an item as text; ``names`` gets those of its constants, or of its function."""
    if isinstance(value, bool):
        if not value:
            return ""
        names.append(f"value_{len(names)}")
        return f"{names[-1]}(item)"
    import ast  # costs a millisecond: only for who writes expressions

    constants = [f"constant_{len(names) + at}" for at in range(value.constants)]
    names += constants
    written = value.code(constants, [ast.Name("item", ast.Load())])
    return f"({ast.unparse(ast.fix_missing_locations(written))})"
