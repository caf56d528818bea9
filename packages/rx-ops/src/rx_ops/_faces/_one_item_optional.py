"""Single and Maybe: a function that says whether there is an item to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import MaybeBase, SingleBase
from rx_ops import stages
from rx_ops._emitters import HandleEmitter
from rx_ops._faces import _results

if TYPE_CHECKING:
    from rx_ops._faces._results import Maybe

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class SingleOptional(SingleBase[T_co]):
    """What makes a Maybe of a Single."""

    __slots__ = ()

    def map_optional(self: SingleBase[T], mapper: Callable[[T], R | None], /) -> Maybe[R]:
        """The item through ``mapper``; nothing when it returns None."""
        made: Any = self
        return made._calling_into(_results.Maybe, stages.map_optional, mapper)  # type: ignore[no-any-return]  # self names the base

    def handle(self: SingleBase[T], handler: Callable[[T, HandleEmitter[R]], object], /) -> Maybe[R]:
        """What ``handler(item, emitter)`` gives instead of the item: an item, nothing, or an error."""
        made: Any = self
        return made._calling_into(_results.Maybe, stages.handle, handler)  # type: ignore[no-any-return]  # self names the base


class MaybeOptional(MaybeBase[T_co]):
    """The same for a Maybe."""

    __slots__ = ()

    def map_optional(self: MaybeBase[T], mapper: Callable[[T], R | None], /) -> Maybe[R]:
        """The item through ``mapper``; nothing when it returns None."""
        made: Any = self
        return made._calling(stages.map_optional, mapper)  # type: ignore[no-any-return]  # self names the base

    def handle(self: MaybeBase[T], handler: Callable[[T, HandleEmitter[R]], object], /) -> Maybe[R]:
        """What ``handler(item, emitter)`` gives instead of the item: an item, nothing, or an error."""
        made: Any = self
        return made._calling(stages.handle, handler)  # type: ignore[no-any-return]  # self names the base
