"""The sources of a generator operator, as iterators that give an item, or None while there is nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core._demand import UNBOUNDED
from rx_core.streams.contracts import Stream, close, is_exhausted
from rx_core.streams.inputs import QueuedInput
from rx_core.streams.op import Op

if TYPE_CHECKING:
    from rx_core._protocols import Subscription
    from rx_core.streams.contracts import Listening

T = TypeVar("T")

#: What iterating a source gives: an item, or None for "nothing now".
Items = Iterator[T | None]


class Reader(Op[Any]):
    """An operator that reads its sources as iterators."""

    __slots__ = ("poked", "reading", "wanted")

    #: It is to be resumed although nothing is wanted.
    poked: bool
    #: What is wanted while it is resumed.
    wanted: int
    #: What it opened and neither read to the end nor closed.
    reading: dict[PassiveItems | QueuedItems, None]

    def open_inputs(self) -> Iterable[Listening]:
        return [items.entry for items in list(self.reading) if isinstance(items, QueuedItems)]


def opened(op: Reader, source: Any, window: int, eager_error: bool, *, at_once: bool) -> Items[Any]:
    """Subscribe to ``source``: ``at_once``, with the token free, or once the token is put back."""
    items = source._passive_items(op) if isinstance(source, Stream) else None
    if items is not None:
        if is_exhausted(items):
            op.poked = True  # known to be empty: that needs no demand
        passive = PassiveItems(op, items)
        op.reading[passive] = None
        return passive
    entry = SourceInput(op, window, eager_error)
    queued = QueuedItems(op, entry)
    op.reading[queued] = None
    if at_once:
        entry.open(source)
    else:
        op.later.append((entry.open, source))
    return queued


class PassiveItems:
    """The items of a passive source, as far as they are wanted."""

    __slots__ = ("items", "op")

    op: Reader
    items: Iterator[Any]

    def __init__(self, op: Reader, items: Iterator[Any]) -> None:
        self.op = op
        self.items = items

    def __iter__(self) -> PassiveItems:
        return self

    def __next__(self) -> Any:
        op = self.op
        items = self.items
        if not op.wanted and not is_exhausted(items):
            return None
        try:
            item = next(items)
        except BaseException:
            op.reading.pop(self, None)
            raise
        if is_exhausted(items):
            op.poked = True  # the end needs no demand
        return item

    def close(self) -> None:
        self.op.reading.pop(self, None)
        close(self.items)


class QueuedItems:
    """The items of a source that pushes."""

    __slots__ = ("entry", "op", "over")

    op: Reader
    entry: SourceInput
    over: bool

    def __init__(self, op: Reader, entry: SourceInput) -> None:
        self.op = op
        self.entry = entry
        self.over = False

    def __iter__(self) -> QueuedItems:
        return self

    def __next__(self) -> Any:
        entry = self.entry
        if self.over:
            raise StopIteration
        while True:
            done = entry.done  # before the queue: what came before the end is in it
            error = entry.error
            queue = entry.queue
            if done and error is not None and (entry.eager_error or not queue):
                self.close()
                raise error
            if queue:
                if not self.op.wanted:
                    return None
                item = queue.popleft()
                entry.took()
                if entry.done and not queue:
                    self.op.poked = True  # the end behind it needs no demand
                return item
            if done:
                self.close()
                raise StopIteration
            if not entry.ask(self.op.wanted):
                return None

    def close(self) -> None:
        self.over = True
        self.op.reading.pop(self, None)
        self.entry.close()


class SourceInput(QueuedInput[Any]):
    """The queue between a source that pushes and the generator."""

    __slots__ = ("asked", "by_demand", "came", "eager_error")

    #: Whether it is asked for what downstream wants, and not for a window.
    by_demand: bool
    eager_error: bool
    #: How many items it was asked for in all, and how many came.
    asked: int
    came: int

    def __init__(self, op: Reader, window: int, eager_error: bool) -> None:
        super().__init__(op, window or UNBOUNDED)
        self.by_demand = not window
        self.eager_error = eager_error
        self.asked = 0
        self.came = 0

    def subscribed(self, up: Subscription) -> None:
        if self.by_demand:
            self.op.drain()
        else:
            super().subscribed(up)

    def on_next(self, item: Any, /) -> None:
        self.came += 1
        super().on_next(item)

    def ask(self, wanted: int) -> bool:
        """Ask for what is wanted and was not asked for. True: it was answered at once."""
        if not self.by_demand or self.up is None or self.done or self.closed or self.asked == UNBOUNDED:
            return False
        total = UNBOUNDED if wanted >= UNBOUNDED - self.came else self.came + wanted
        if total <= self.asked:
            return False
        more = UNBOUNDED if total == UNBOUNDED else total - self.asked
        self.asked = total
        self.up.request(more)
        return bool(self.queue) or self.done

    def on_error(self, error: Exception, /) -> None:
        self.op.poked = True
        super().on_error(error)

    def on_complete(self) -> None:
        self.op.poked = True
        super().on_complete()
