"""Functions that are all that there is to know about a reduction: they give their argument, 1, or the sum of two arguments.

Counting by key is written with these three, and a count needs none of them called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rx_fusion.symbols import Constant, Expression, Item, Node, Operator
from rx_fusion.symbols.reading import read_function
from rx_spark._workers._runner import Ones, itself

if TYPE_CHECKING:
    from rx_ops.stages import GroupAggregate

_SUM: Final = Operator("+", (Item(0), Item(1)))


def gives_its_argument(function: object) -> bool:
    return function is itself or _tree(function, 1) == Item(0)


def gives_one(function: Callable[..., Any]) -> bool:
    if type(function) is Ones:
        return function.value is None
    match _tree(function, 1):
        case Constant(value):
            return type(value) is int and value == 1
        case _:
            return False


def adds(function: object) -> bool:
    """Whether it gives ``first + second``."""
    return function is operator.add or _tree(function, 2) == _SUM


def _tree(function: object, arity: int) -> Node | None:
    """What a function of so many arguments computes, where that can be read."""
    read = function if isinstance(function, Expression) else read_function(function) if callable(function) else None
    return read.node if read is not None and len(read.parameters) == arity else None


def only_counts(spec: GroupAggregate) -> bool:
    """Whether all that is computed of a group is how many items it has."""
    return len(spec.aggregates) == 1 and all(each.kind == "count" and each.value is None for _, each in spec.aggregates)
