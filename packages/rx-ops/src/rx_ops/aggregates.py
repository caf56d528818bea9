"""Aggregates: what :meth:`Flowable.group_aggregate` computes for each group of items.

::

    from rx_ops import aggregates, it

    orders.group_aggregate(it.city, total=aggregates.sum(it.amount), n=aggregates.count())

An aggregate is a value that says what is computed and computes nothing: it compares, pickles and can be translated. With ``fold``
anything can compute some of them, in one pass or in parts that are combined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final, get_args

from rx_core import name_of
from rx_core._values import Value, put
from rx_fusion.symbols import Expression, Symbol, expression_of
from rx_ops._folds import Fold, Kind, fold_of

_KINDS: Final = frozenset(get_args(Kind))


@final
class Aggregate(Value):
    """What to compute of a group's items: ``sum(it.amount)``. Two are equal when their expressions say the same.

    ``value`` is what makes the value of an item: a function, or the :class:`~rx_fusion.symbols.Expression` of an ``it``. Only a
    ``count`` of all items has none.
    """

    __slots__ = ("kind", "value")
    kind: Kind
    value: Callable[[Any], object] | None

    def __init__(self, kind: Kind, value: Callable[[Any], object] | None = None) -> None:
        if kind not in _KINDS:
            raise ValueError(f"there is no aggregate {kind!r}: {', '.join(sorted(_KINDS))}")
        if type(value) is Symbol:
            value = expression_of(value)
        given: object = value
        if not (callable(given) or (given is None and kind == "count")):
            raise TypeError(
                f"{kind}({value!r}) of rx_ops.aggregates: a function for the value of an item is needed.\n"
                f"  Right:  {kind}(it.amount)\n"
                f"  Or:     {kind}(lambda order: order.amount)"
            )
        put(self, "kind", kind)
        put(self, "value", value)

    def __eq__(self, other: object, /) -> bool:
        if type(other) is not Aggregate:
            return NotImplemented
        return self.kind == other.kind and _meaning(self.value) == _meaning(other.value)

    def __hash__(self) -> int:
        return hash((self.kind, _meaning(self.value)))

    def __repr__(self) -> str:
        return f"{self.kind}({'' if self.value is None else name_of(self.value)})"


def _meaning(value: Callable[[Any], object] | None) -> object:
    return (value.structure, value.args) if isinstance(value, Expression) else value


def count(value: Callable[[Any], object] | None = None, /) -> Aggregate:
    """How many items there are; with ``value``, how many of them have one that is not None."""
    return Aggregate("count", value)


def sum(value: Callable[[Any], object], /) -> Aggregate:
    """The values added up, beginning with 0 as builtin ``sum`` does."""
    return Aggregate("sum", value)


def min(value: Callable[[Any], object], /) -> Aggregate:
    """The smallest value, the first of equal ones."""
    return Aggregate("min", value)


def max(value: Callable[[Any], object], /) -> Aggregate:
    """The largest value, the first of equal ones."""
    return Aggregate("max", value)


def average(value: Callable[[Any], object], /) -> Aggregate:
    """The values added up and divided by their number: whatever can be, so Fraction, Decimal and timedelta as well."""
    return Aggregate("average", value)


def fold(*aggregates: Aggregate) -> Fold:
    """The functions that compute these aggregates of items, in one pass or in parts.

    Partial results are lists of plain values that can be pickled::

        parts = fold(sum(it.amount), count())
        left = parts.step(parts.first(a), b)
        right = parts.first(c)
        total, number = parts.result(parts.merge(left, right))

    ``merge`` takes the part that came first as its first argument; then ``min`` and ``max`` keep the first of equal values.
    """
    return fold_of([(each.kind, each.value) for each in aggregates])


__all__ = ["Aggregate", "Fold", "average", "count", "fold", "max", "min", "sum"]
