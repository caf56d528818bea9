"""Several sources by the order of their items: merge_ordered, merge_priority."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, composite, dropped_late
from rx_core.streams import END, LOOK_FIRST, Op, QueuedInput, is_exhausted, without_this_frame
from rx_fusion import op
from rx_ops.operators._concat import itself
from rx_ops.operators._mapping import mapper_failure
from rx_ops.operators._zip_loop import passive_items

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")


class _Smallest:
    """The first item of a source among those of the others. As in ``sorted``, keys are compared by ``<`` alone; of equal ones the
    item of the earlier source is first."""

    __slots__ = ("at", "item", "key")

    def __init__(self, key: Any, at: int, item: Any) -> None:
        self.key = key
        self.at = at
        self.item = item

    def __lt__(self, other: _Smallest) -> bool:
        if self.at < other.at:
            return not other.key < self.key
        return bool(self.key < other.key)


class _Largest(_Smallest):
    """The other way round."""

    __slots__ = ()

    def __lt__(self, other: _Smallest) -> bool:
        if self.at < other.at:
            return not self.key < other.key
        return bool(other.key < self.key)


class _Sorted(QueuedInput[Any]):
    """A source whose first item is compared with those of the others; what comes behind that waits in the queue."""

    __slots__ = ("at", "counted", "first")

    #: What is exhausted when the items of a passive source are.
    counted: Any
    #: Its item that is among those that are compared; None: there is none. Only the holder of the token writes it.
    first: Any

    def __init__(self, op: MergeOrdered[Any], window: int, at: int) -> None:
        super().__init__(op, window)
        self.at = at
        self.counted = None
        self.first = None

    def on_next(self, item: Any, /) -> None:
        if self.closed:
            self.op.discard(item)
            return
        self.put(item)
        # Publish first, look afterwards: the holder of the token takes the head away first, then looks for the next one.
        if not (LOOK_FIRST and self.first is not None):
            self.op.drain()

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            dropped_late(error, self.op.origin)
            return
        self.error = error
        self.op.failed.append(self)
        self.on_complete()


@op("merge_ordered")
class MergeOrdered(Op[T]):
    """The smallest of the first items of all sources, as soon as each that is not over has one.

    What pushes waits in its queue; what is passive is asked for its next item when one is wanted.
    """

    __slots__ = ("begun", "delay_error", "errors", "failed", "head", "heads", "inputs", "key", "missing", "sources")

    discards: ClassVar[bool] = True
    operator: ClassVar[str] = "merge_ordered"
    #: Whether a source without an item holds up the others.
    waits: ClassVar[bool] = True

    inputs: list[_Sorted]
    #: How many of the sources have begun: they do in turn, those that are passive as if they were subscribed.
    begun: int
    #: Those that are not over and have no item among the heads.
    missing: dict[_Sorted, None]
    #: A heap.
    heads: list[_Smallest]
    head: type[_Smallest]
    #: Inputs whose source has failed and that were not looked at. It is in here before ``done`` is set.
    failed: deque[_Sorted]
    errors: list[Exception]

    def __init__(
        self,
        down: Subscriber[T],
        sources: Sequence[Publisher[T]],
        key: Callable[[T], Any] | None,
        reverse: bool,
        prefetch: int,
        delay_error: bool,
    ) -> None:
        super().__init__(down)
        self.sources = sources
        self.key: Callable[[Any], Any] = itself if key is None else key
        self.delay_error = delay_error
        self.inputs = [_Sorted(self, prefetch, at) for at in range(len(sources))]
        self.begun = 0
        self.missing = dict.fromkeys(self.inputs)
        self.heads = []
        self.head = _Largest if reverse else _Smallest
        self.failed = deque()
        self.errors = []

    def open(self) -> None:
        # No source may signal before it is known how each of the others is asked.
        for entry, (items, counted) in zip(self.inputs, passive_items(self.sources, self), strict=True):
            entry.items = items
            entry.counted = counted
        for entry, source in zip(self.inputs, self.sources, strict=True):
            if self.stopped:
                return
            self.begun += 1
            if entry.items is None:
                entry.open(source)
            else:
                self.drain()  # its end may be known before the next is subscribed

    def step(self, demand: int) -> int:
        missing, heads = self.missing, self.heads
        while True:
            while self.failed:
                error = self.failed.popleft().error
                if error is not None and self.fail(error):
                    return self.finish(self.failure())
            if missing and not self.find_heads(demand):
                return self.finish(self.failure())
            if not heads:
                if missing:
                    return demand
                if self.failed:
                    continue  # it came meanwhile
                return self.finish(self.failure())
            if not demand or (missing and self.waits):
                return demand
            try:
                head = heappop(heads)
            except (Exception, GeneratorExit) as error:
                self.errors.append(mapper_failure(self.operator, self.key, error))
                return self.finish(self.failure())
            entry = self.inputs[head.at]
            entry.first = None
            missing[entry] = None
            self.emit(head.item)
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1
            if self.dirty:
                return demand

    def find_heads(self, demand: int) -> bool:
        """Take an item of each source that has none among the heads. False: the stream ends with an error."""
        missing, key = self.missing, self.key
        for entry in list(missing):
            if entry.items is not None:
                if entry.at >= self.begun:
                    continue
                if is_exhausted(entry.counted):
                    del missing[entry]
                    continue
                if not demand:
                    continue
            try:
                item = entry.poll()
            except (Exception, GeneratorExit) as error:
                del missing[entry]
                if self.fail(without_this_frame(error)):
                    return False
                continue
            if item is None:
                continue
            del missing[entry]
            if item is END:
                continue
            entry.first = item
            try:
                heappush(self.heads, self.head(item if key is itself else key(item), entry.at, item))
            except (Exception, GeneratorExit) as error:
                self.errors.append(mapper_failure(self.operator, key, error))
                return False
        return True

    def fail(self, error: Exception) -> bool:
        """Note ``error``. True: the stream ends with it now."""
        self.errors.append(error)
        return not self.delay_error

    def failure(self) -> Exception | None:
        """What the stream ends with. It is not kept: the frames in its traceback may hold this."""
        errors, self.errors = self.errors, []
        return composite(errors) if errors else None

    def listening(self) -> Iterable[Listening]:
        return self.inputs

    def close(self) -> None:
        for entry in self.inputs:
            entry.close()
            first = entry.first
            if first is not None:
                entry.first = None
                self.discard(first)
        self.heads.clear()
        self.missing.clear()
        self.failed.clear()


@op("merge_priority")
class MergePriority(MergeOrdered[T]):
    """The smallest of the first items of those sources that have one."""

    __slots__ = ()

    operator: ClassVar[str] = "merge_priority"
    waits: ClassVar[bool] = False
