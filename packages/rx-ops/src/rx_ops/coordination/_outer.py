"""The source of sources, heard while its inner sources run.

Its items wait for their turn, and so does an error behind them. But one that comes while inner sources run ends an operator that
does not delay errors at once. The inbox is told to say so; whoever runs inner sources looks at it between their items.

An error that comes while the operator is asking, on the thread that asks, stays behind its items: a synchronous source sends
all that was asked for before it returns, and that is no reason to lose it.

Stages between a source that pushes and the operator belong to that source: they run as its items come, and the queue is behind
them. Otherwise the error of a source would overtake a stage that has had enough before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import Any, Final, TypeVar

from rx_core import END, Disposable, Inbox, Items, Run, Side, Source, close
from rx_fusion import Pipeline, fusion_enabled

T = TypeVar("T")


class Outer:
    """What an operator knows of its source of sources besides the items."""

    __slots__ = ("_inbox", "_side", "items")

    def __init__(self, items: Items[Any], inbox: Inbox[Any] | None, side: Side[Any] | None = None) -> None:
        self._inbox = inbox
        self._side = side
        self.items: Items[Any] = items if inbox is None else _asked(inbox, items)

    @property
    def is_heard(self) -> bool:
        """Whether its error can come while nobody polls it."""
        return self._inbox is not None

    @property
    def failed(self) -> bool:
        """Its error came, and not while it was asked."""
        return self._inbox is not None and self._inbox.failed

    def fail(self) -> None:
        """Raise the error ahead of the items that wait. Returns where a stage had enough before: the source is just over then."""
        inbox, self._inbox = self._inbox, None
        if inbox is not None:
            inbox.hurry()
            for left_out in self.items:
                if left_out is None:
                    break

    def close(self) -> None:
        """Give it back."""
        close(self.items)
        if self._side is not None:
            self._side.dispose()

    def heard(self, inner: Iterable[T | None]) -> Items[T]:
        """The items of an inner source, as long as this one has not failed."""
        items: Iterator[T | None] = iter(inner)
        try:
            while not self.failed:
                item = next(items, END)
                if item is END:
                    return
                yield item
            self.fail()
            yield from items
        finally:
            close(items)


#: For operators that have none.
NO_OUTER: Final = Outer(iter(()), None)


class _Opening(Side[T]):
    """Sees the inbox that is made for the source itself."""

    __slots__ = ("inbox",)

    queues_last = True

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.inbox: Inbox[Any] | None = None

    def own(self, resource: Disposable, /) -> None:
        if isinstance(resource, Inbox):
            self.inbox = resource
            resource.asker = get_ident()
            resource.heeded = True
        super().own(resource)


def outer_of(run: Run, source: Source[Any]) -> Outer:
    """Subscribe to a source of sources, which is asked for items by whoever iterates ``items``."""
    side: _Opening[Any] = _Opening(run)
    side.start(source)
    inbox = side.inbox
    if inbox is not None:
        inbox.asker = 0
    return Outer(side.items, inbox, side)


def can_be_heard(source: Source[Any]) -> bool:
    """Whether a source pushes by itself into a queue, with nothing but stages in between.

    What other operators make of its error is their business.
    """
    publisher = source.publisher
    if not isinstance(publisher, Pipeline) or not fusion_enabled():
        return True
    return publisher._head.publisher is not None


def _asked(inbox: Inbox[Any], items: Items[T]) -> Items[T]:
    try:
        while True:
            inbox.asker = get_ident()
            item = next(items, END)
            inbox.asker = 0
            if item is END:
                return
            yield item
    finally:
        close(items)
