"""Operators whose function says for each item whether there is one to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rx_ops import stages
from rx_ops._emitters import HandleEmitter
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableOptional(FlowableCore[T_co]):
    """Operators whose function says for each item whether there is one to give."""

    __slots__ = ()

    def map_optional(self, mapper: Callable[[T_co], R | None]) -> Flowable[R]:
        """Each item through ``mapper``; where it returns None the item is left out.

        ::  --1--2--3|  -->  --a-----c|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``mapper`` raises, with a note.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops.
        Source:  RxJava ``mapOptional``, Reactor ``mapNotNull``.
        """
        return self._calling(stages.map_optional, mapper)

    def handle(self, handler: Callable[[T_co, HandleEmitter[R]], object]) -> Flowable[R]:
        """Calls ``handler(item, emitter)``, which says what to give instead of the item: one item or none, and whether to end.

        ::  --1--2--3--4|  -->  --a-----c|

        Demand:  passes through; one more is asked for each item left out.
        Errors:  what ``handler`` raises, with a note, or passes to ``emitter.on_error``; RuntimeError for two items.
        Memory:  none.   Thread: the one that requests.   Fusion: stage, drops, stops.
        Source:  Reactor ``handle``. An item given together with the end comes before it.
        """
        return self._calling(stages.handle, handler)
