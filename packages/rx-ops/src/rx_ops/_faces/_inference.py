"""Shapes of functions that lead a type checker to the type one means. They are not looked at at run time.

mypy infers type variables from all lambdas of a call at once, each checked before the others have told anything. So in
``reduce_with(lambda: [0], lambda total, n: [*total, n])`` it takes ``total`` for Any, and then the result as well.
Both shapes keep it from asking the wrong argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Op, PassThrough

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
Code = TypeVar("Code")
V_co = TypeVar("V_co", covariant=True)


class Supplier(Protocol[V_co]):
    """A ``Callable[[], V]`` that mypy asks first: for lambdas that take a V it waits only if this is no ``Callable``."""

    def __call__(self) -> V_co: ...


class NotInferred(Protocol[Code]):
    """For ``Callable[[V, V], V] | NotInferred[Code]``: what is given there is checked, but V is inferred from other arguments.

    mypy infers nothing from a union that a function could match in two ways, and takes Code for Never then, which the code of
    no function is. pyright, which needs no help, sees at ``__get__`` that no function matches.
    """

    __code__: Code

    def __get__(self, instance: object, owner: None, /) -> int: ...


if TYPE_CHECKING:
    #: The class of an Op: called for each subscriber with that, the source and the arguments; over an Observable as well.
    OpClass = Callable[Concatenate[Subscriber[R], Publisher[T], P], Op[R] | PassThrough[R]]
