"""Parts: the streams that an operator cuts from its source (groups, windows)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import UNBOUNDED
from rx_core.streams import END, QueuedInput, Unicast, ignore
from rx_fusion import Pipeline, PushHead

if TYPE_CHECKING:
    from rx_core import Subscriber, Subscription
    from rx_core.streams import Op


class Holders:
    """The stream of parts, and the parts: each of them holds the source, which is left when the last of them has let go.

    Each has one entry in a list, and takes out any one of them. The bottom entry is False; so exactly one thread finds that it
    was the last.
    """

    __slots__ = ("entries", "last")

    #: Any: a list, whose pop and append are atomic.
    entries: Any
    #: Called by the last one, on its thread.
    last: Callable[[], object]

    def __init__(self, last: Callable[[], object]) -> None:
        self.entries = [False]
        self.last = last

    def add(self) -> None:
        """One more, on behalf of one that holds the source."""
        self.entries.append(True)

    def release(self) -> None:
        """Once for each."""
        if not self.entries.pop():
            self.last()


class Part(Unicast[Any]):
    """One part: the queue of its items. It holds the source until its end was pushed or its subscriber has left.

    Its operator emits it and calls :meth:`try_abandon` as soon as that has returned; so a part without a subscriber neither
    keeps items nor holds the source.
    """

    __slots__ = ("fresh", "holders", "holding", "reserved")
    waits_for = "an item from the operator that made it"

    holders: Holders
    #: Holds one entry while the part holds the source.
    holding: Any
    #: Holds one entry until the part is subscribed, reserved or abandoned, whichever is first.
    fresh: Any
    #: An operator that will subscribe to it has it in its queue.
    reserved: bool

    def __init__(self, holders: Holders, origin: object, taken: Callable[[int], object] | None = None) -> None:
        super().__init__(origin, taken)
        self.holders = holders
        self.holding = [True]
        self.fresh = [True]
        self.reserved = False
        holders.add()

    def start(self) -> bool:
        try:
            self.fresh.pop()
        except IndexError:
            if not self.reserved:
                self.taken = None  # abandoned: what it kept was counted then
        return super().start()

    def reserve(self) -> None:
        """An operator has it in its queue and will subscribe to it: it is not abandoned. To be called while it is emitted."""
        try:
            self.fresh.pop()
            self.reserved = True
        except IndexError:
            pass  # subscribed

    def give_up(self) -> None:
        """It was reserved, and is not needed any more. Nothing if it is subscribed."""
        if not self.is_attached:
            self.attach(_Leaving())

    def try_abandon(self) -> bool:
        """Right after it was emitted: complete it, unless it is subscribed. It keeps what it has for a late subscriber."""
        try:
            self.fresh.pop()
        except IndexError:
            return False
        self.end()
        return True

    def release(self) -> None:
        """Let go of the source, once."""
        try:
            self.holding.pop()
        except IndexError:
            return
        self.holders.release()

    def end(self, error: Exception | None = None) -> None:
        self.release()  # first: what a subscriber makes of the end may raise
        super().end(error)

    def cancel(self) -> None:
        self.release()  # now, as ``Op.cancel`` stops inputs
        super().cancel()

    def close(self) -> None:
        super().close()
        self.release()


class _Leaving:
    """A subscriber that cancels at once."""

    __slots__ = ()

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.cancel()

    def on_next(self, _item: object, /) -> None:
        pass

    def on_error(self, _error: Exception, /) -> None:
        pass  # another one has subscribed meanwhile

    def on_complete(self) -> None:
        pass


class PartHead(PushHead):
    """The head of the stream of a part. It is not picklable and allows one subscriber: it belongs to one run."""

    __slots__ = ("part",)

    def __init__(self, part: Part) -> None:
        self.part = part

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.part.attach(subscriber)

    def __repr__(self) -> str:
        return self.part.shown()


def part_of(stream: object) -> Part | None:
    """The part that ``stream`` is, or is made of by stages."""
    if isinstance(stream, Pipeline):
        head = stream._head
        if isinstance(head, PartHead):
            return head.part
    return None


def give_up(op: Op[Any], stream: object) -> None:
    """``op`` does not subscribe to ``stream`` any more. If that is a part, its items are thrown away, where that is told."""
    if op.discard is not ignore:
        part = part_of(stream)
        if part is not None:
            part.give_up()


class PartsInput(QueuedInput[Any]):
    """The source of sources of an operator that subscribes to one of them at a time. A part that waits here is reserved, until it
    was taken out and the operator has come back for the next source."""

    __slots__ = ("current",)

    #: The part that was taken out last.
    current: Part | None

    def __init__(self, op: Op[Any], window: int) -> None:
        super().__init__(op, window)
        self.current = None

    def put(self, item: Any) -> None:
        if isinstance(item, Pipeline):  # most often it is no stream: a call is dear here
            part = part_of(item)
            if part is not None:
                part.reserve()
        super().put(item)

    def poll(self) -> Any:
        """As in QueuedInput. But the operator calls :meth:`took` itself, when it has made a source of the item: what is requested
        then may call the same function for another subscriber."""
        current = self.current
        if current is not None:
            self.current = None
            current.give_up()
        items = self.items
        if items is not None:
            return next(items, END)
        queue = self.queue
        if not queue:
            if not self.done:
                return None
            queue = self.queue  # again: the end is published last
            if not queue:
                return END
        item = queue.popleft()
        if isinstance(item, Pipeline):
            self.current = part_of(item)
        return item

    def ask_by_halves(self) -> None:
        """From here on half of the window is asked for again at a time, as RxJava does where inner sources give one item."""
        window = self.window
        limit = window - (window >> 1)
        taken = self.limit - self.left
        if limit == self.limit or window == UNBOUNDED:
            return
        self.limit = limit
        if taken < limit:
            self.left = limit - taken
            return
        self.left = limit
        if not self.done and not self.closed:
            self.up.request(taken)

    def close(self) -> None:
        super().close()
        current = self.current
        if current is not None:
            self.current = None
            current.give_up()

    def forget(self) -> None:
        queue = self.queue
        while True:  # one by one: another one may be put in meanwhile
            try:
                item = queue.popleft()
            except IndexError:
                return
            part = part_of(item)
            if part is not None:
                part.give_up()
            else:
                self.op.discard(item)
