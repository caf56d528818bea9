"""Queues between those who offer and the one who polls.

All of them stand on ``collections.deque``: its ``append`` and ``popleft`` are atomic on every CPython build, and inside it is a
linked list of blocks of 64 slots, which is what the specs' linked-array queue is. So three classes suffice, and they differ in
what they promise: a bound, and who may offer. ``None`` is not an item: ``poll()`` says with it that there is nothing now.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar, final

from rx_core._demand import check_prefetch

T = TypeVar("T")


class ItemQueue(Protocol[T]):
    """What drains need of a queue; a fused upstream that is polled has the last three as well."""

    def offer(self, item: T, /) -> bool:
        """Put ``item`` behind the others; False when there is no room."""

    def poll(self) -> T | None:
        """Take the first item; None when there is nothing now."""

    def is_empty(self) -> bool: ...

    def clear(self) -> object:
        """Drop what waits."""


class _DequeQueue(Generic[T]):
    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: deque[T] = deque()

    def poll(self) -> T | None:
        """Take the first item; None when there is nothing now. One thread at a time."""
        items = self._items
        # Not just "if": clear() may come in between.
        try:
            return items.popleft() if items else None
        except IndexError:
            return None

    def is_empty(self) -> bool:
        return not self._items

    def clear(self) -> None:
        """Drop what waits. Safe from any thread."""
        self._items.clear()

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self._items)} items>"


@final
class SpscArrayQueue(_DequeQueue[T]):
    """One thread offers, one polls, at most ``capacity`` items wait.

    For operators with a fixed prefetch: what was requested is what may wait, and ``offer`` refusing an item means that the source
    sent more than it was asked for (RS 1.1).

    Thread: one offering, one polling. Memory: ``capacity`` items.
    Relies on: deque operations being atomic; that only the consumer makes it shorter, which is why looking at the length first is
    enough.
    """

    __slots__ = ("capacity",)

    def __init__(self, capacity: int, /) -> None:
        check_prefetch(type(self).__name__, capacity, "capacity")
        super().__init__()
        #: The most items that may wait; exactly this many, not the next power of two.
        self.capacity = capacity

    def offer(self, item: T, /) -> bool:
        """Put ``item`` behind the others; False when ``capacity`` items wait."""
        if item is None:
            raise none_offered(self)
        items = self._items
        if len(items) >= self.capacity:
            return False
        items.append(item)
        return True


@final
class SpscLinkedQueue(_DequeQueue[T]):
    """One thread offers, one polls, without a bound.

    For sources that cannot be asked to wait. Two things that belong together are offered as one tuple.

    Thread: one offering, one polling. Memory: grows by blocks of 64 items with what waits, and gives them back.
    """

    __slots__ = ()

    def offer(self, item: T, /) -> bool:
        """Put ``item`` behind the others; True."""
        if item is None:
            raise none_offered(self)
        self._items.append(item)
        return True


@final
class MpscQueue(_DequeQueue[T]):
    """Any number of threads offer, one polls, without a bound.

    Items of one thread stay in their order. For drains with several sources.

    Thread: any offering, one polling. Memory: grows by blocks of 64 items with what waits, and gives them back.
    Relies on: ``deque.append`` being atomic.
    """

    __slots__ = ()

    def offer(self, item: T, /) -> bool:
        """Put ``item`` behind the others; True."""
        if item is None:
            raise none_offered(self)
        self._items.append(item)
        return True


def none_offered(queue: object) -> TypeError:
    """The error for offering None."""
    return TypeError(
        f"{type(queue).__name__}.offer(None): None is not an item (RS 2.13), poll() returns it for 'nothing now'.\n"
        f"  To pass 'no value' on use an object of your own, for example an empty tuple"
    )
