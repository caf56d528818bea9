"""Pulled: a passive source, iterated by the task that wants its items."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Generic, TypeVar, cast, final

from rx_core import _hooks
from rx_core._user_code import OPERATOR_CODES
from rx_core.streams import Handover, Stream, close

T = TypeVar("T")


@final
class Pulled(Generic[T]):
    """The items of an iterator in batches. As :class:`~rx_core.tasks._arrivals.Arrivals`, but there is always one."""

    __slots__ = ("_items", "rest", "taken")

    def __init__(self, items: Iterator[T], *, may_hand_over: bool = False) -> None:
        #: A generator, which tells whether it is over.
        self._items: Any = self._relay(items) if may_hand_over or not hasattr(items, "gi_frame") else items
        #: What has to be subscribed when it is over.
        self.rest: Stream[T] | None = None
        self.taken = 0

    def take(self, most: int) -> Iterator[T]:
        """The next ``most`` items. ``over`` when the iterator has ended before them."""
        self.taken = most
        return islice(self._items, most)

    @property
    def over(self) -> bool:
        return self._items.gi_frame is None

    def close(self) -> None:
        close(self._items)

    def _relay(self, items: Iterator[T]) -> Iterator[T]:
        try:
            yield from items
        except Handover as handover:
            self.rest = cast("Stream[T]", handover.rest)
        finally:
            close(items)


OPERATOR_CODES.add(Pulled._relay.__code__)  # what an operator raises passes through it


def pulled_from(source: object) -> Pulled[Any] | None:
    """``source`` for a task that iterates it; None where it has to be subscribed."""
    _hooks.ensure_loaded()
    if _hooks.on_subscribe is not None or not isinstance(source, Stream):
        return None
    items = source._passive_items(None)
    if items is not None:
        return Pulled(items)
    items = None if source._sends else source._loop_items(None)  # there is time between two items
    return None if items is None else Pulled(items, may_hand_over=True)
