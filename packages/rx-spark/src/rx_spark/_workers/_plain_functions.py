"""Functions whose code is all that there is to know about them: they give their argument, 1, or the sum of two arguments.

Counting by key is written with these three, and a count needs none of them called. Code is compared with code of the same
Python, so nothing is guessed: a function with a name of a module in it, a closure or a default is another one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from rx_fusion._code_flags import VARARGS, VARKEYWORDS
from rx_fusion.symbols import Expression, Item, Operator
from rx_spark._workers._runner import Ones, itself

if TYPE_CHECKING:
    from rx_ops.stages import GroupAggregate

_ITSELF: Final = (lambda item: item).__code__
_ONE: Final = (lambda _item: 1).__code__
_SUM: Final = (lambda first, second: first + second).__code__


def gives_its_argument(function: object) -> bool:
    if isinstance(function, Expression):
        return function.node == Item(0)
    return function is itself or _has_code_of(function, _ITSELF)


def gives_one(function: Callable[..., Any]) -> bool:
    if type(function) is Ones:
        return function.value is None
    if not _has_code_of(function, _ONE):
        return False
    constant = function(None)  # the code that gives a constant is the same for each of them; it does nothing else
    return type(constant) is int and constant == 1


def adds(function: object) -> bool:
    """Whether it gives ``first + second``."""
    if isinstance(function, Expression):
        return function.node == Operator("+", (Item(0), Item(1)))
    return function is operator.add or _has_code_of(function, _SUM)


def only_counts(spec: GroupAggregate) -> bool:
    """Whether all that is computed of a group is how many items it has."""
    return len(spec.aggregates) == 1 and all(each.kind == "count" and each.value is None for _, each in spec.aggregates)


def _has_code_of(function: object, known: CodeType) -> bool:
    if type(function) is not FunctionType:
        return False
    code = function.__code__
    taken = code.co_kwonlyargcount or code.co_flags & (VARARGS | VARKEYWORDS)
    return code.co_code == known.co_code and code.co_argcount == known.co_argcount and not taken
