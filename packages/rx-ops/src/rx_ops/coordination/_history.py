"""One source read by many at their own pace: a log of items, and a cursor in it for each subscriber.

Processors, ``replay`` and ``cache`` are made of these. The writer appends to a linked list and tells the cursors; each cursor
goes through the list on whatever thread is there, one at a time, as far as its subscriber has asked. Nobody waits for anybody,
and what no cursor and no late subscriber can reach any more is free, because nothing points at it.

A position is the *empty* node that the next item will be put into. So who has read everything holds no item, and a log that
keeps nothing for late subscribers holds none either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import BaseDisposable, MissingBackpressureError, add_cap, dropped
from rx_ops.coordination._outlet import End, Outlet, Ticket

if TYPE_CHECKING:
    from rx_core import Scheduler, Subscriber

T = TypeVar("T")


class Node:
    """A place in a log: empty, then an item and the place after it. ``next`` is written last."""

    __slots__ = ("at", "index", "next", "value")

    def __init__(self, index: int) -> None:
        self.index = index
        self.next: Node | None = None
        self.value: Any = None
        #: When the item came, by the log's clock.
        self.at = 0.0


class Log(Generic[T]):
    """What was sent, as far as late subscribers are to get it. One thread at a time writes, any thread reads.

    ``size`` items are kept (None: all; 0: none), those older than ``seconds`` excepted.
    """

    __slots__ = ("_clock", "_head", "_seconds", "_size", "_tail")

    def __init__(self, size: int | None = None, seconds: float | None = None, clock: Scheduler | None = None) -> None:
        self._size = size
        self._seconds = seconds
        self._clock = clock
        self._tail = Node(0)
        #: The first that is kept; None: nothing is.
        self._head: Node | None = None if size == 0 else self._tail

    def append(self, item: Any) -> Node:
        """Write ``item`` into the place that waits for it, which is returned."""
        tail = self._tail
        after = Node(tail.index + 1)
        tail.value = item
        if self._seconds is not None:
            tail.at = self._now()
        self._tail = after
        tail.next = after  # from here on it can be read
        if self._size or self._seconds is not None:
            self._trim()
        return tail

    def end(self, end: End) -> None:
        """Put the end behind the last item. What is too old by now is not kept for later."""
        tail = self._tail
        tail.value = end
        tail.next = Node(tail.index)  # nobody goes there
        self._trim()

    def start(self) -> Node:
        """Where a subscriber that comes now begins."""
        head = self._head
        if head is None:
            return self._tail
        if self._seconds is not None:
            return self._first_fresh(head)
        return head

    def forget(self) -> None:
        """Keep nothing for later subscribers from here on."""
        self._head, self._size = None, 0

    def skip(self) -> None:
        """Keep nothing of what there is now, but what comes."""
        self._head = self._tail

    def kept(self) -> Iterator[T]:
        """The items a subscriber that comes now would get."""
        node = self.start()
        while (after := node.next) is not None and type(node.value) is not End:
            yield node.value
            node = after

    @property
    def tail(self) -> Node:
        return self._tail

    def _trim(self) -> None:
        head, tail = self._head, self._tail
        if head is None:
            return
        size = self._size
        while size is not None and tail.index - head.index > size:
            head = _after(head)
        self._head = head if self._seconds is None else self._first_fresh(head)

    def _first_fresh(self, node: Node) -> Node:
        assert self._seconds is not None
        oldest = self._now() - self._seconds
        while (after := node.next) is not None and type(node.value) is not End and node.at <= oldest:
            node = after
        return node

    def _now(self) -> float:
        assert self._clock is not None  # given with seconds
        return self._clock.now()


def _after(node: Node) -> Node:
    after = node.next
    assert after is not None  # it is before the tail
    return after


class Cursor(Ticket[T]):
    """One subscriber's way through a log."""

    __slots__ = ("_at", "_told", "wanted")

    _outlet: Hub[T]

    def __init__(self, hub: Hub[T], down: Subscriber[T], at: Node, initial: int) -> None:
        super().__init__(hub, down, initial)
        self._at: Node | None = at
        #: How much of the log its subscriber wants in all, from the log's first item on.
        self.wanted = 0
        self._told = 0

    @property
    def has_room(self) -> bool:
        return self._at is self._outlet.log.tail and self.inbox.outstanding > 0

    def give(self, node: Node, item: T) -> None:
        """The writer has put ``item`` into ``node``. The fast path: this is where the cursor stands, and the item is wanted."""
        inbox, token = self.inbox, self.token
        if self._at is node and inbox.demand and not inbox.pending and token:
            try:
                token.pop()
            except IndexError:  # taken by another thread this moment, which looks again
                self.drain()
                return
            if self._at is node and inbox.demand:  # nobody else moves it now
                after = self._at = _after(node)
                inbox.spend()
                try:
                    self._down.on_next(item)
                except BaseException:
                    self.broken()
                    raise
                finally:
                    token.append(inbox.demand)
                if not self.dirty and after.next is None and not self.cancelled:
                    return
            else:
                token.append(inbox.demand)
        self.drain()

    def drain(self) -> None:
        super().drain()
        if self.wanted > self._told:  # told without the token: a source that answers at once finds the way free
            self._told = wanted = self.wanted
            self._outlet.want(wanted)

    def _move(self) -> None:
        """Holds the token."""
        inbox, down = self.inbox, self._down
        node = self._at
        while not self.cancelled:
            if node is None:
                return
            if inbox.pending:
                inbox.collect()
                self.wanted = add_cap(node.index, inbox.demand)
                if inbox.error is not None:
                    self._fail(inbox.error)
                    return
            after = node.next
            if after is None:
                return
            value = node.value
            if type(value) is End:
                self._end(value)
                return
            if not inbox.demand:
                if inbox.pending:
                    continue
                if not self._outlet.patient:
                    self._fail(MissingBackpressureError(f"{self._outlet!r} sent an element that a subscriber had not requested"))
                return
            self._at = node = after
            inbox.spend()
            down.on_next(value)
        self._over()

    def _over(self) -> None:
        super()._over()
        self._at = None


class Hub(Outlet[T]):
    """A log and the cursors in it.

    ``patient``: items wait for a subscriber that has not asked; otherwise it gets a MissingBackpressureError.
    """

    __slots__ = ("log", "patient")

    def __init__(self, name: str, log: Log[T], *, patient: bool, asked: bool = True) -> None:
        super().__init__(name, asked=asked)
        self.log = log
        self.patient = patient

    def subscribe(self, down: Subscriber[T], /) -> None:
        """Start ``down`` where the log says."""
        cursor = Cursor(self, down, self.log.start(), self._initial)
        # Publish first, look afterwards: an item that comes from here on tells the cursor, one that came before is in the log.
        self.tickets[cursor] = None
        if self._initial:
            self.want(self._initial)
        cursor.open()

    def want(self, total: int) -> None:
        """A subscriber wants the first ``total`` items of the log; for hubs whose source can be asked."""

    def on_next(self, item: T) -> None:
        if self._end is None:
            node = self.log.append(item)
            for cursor in list(self.tickets):
                try:
                    cursor.give(node, item)
                except Exception as error:  # RS 2.13: it has cancelled, and the others are not to suffer for it
                    dropped(error, self)

    def finish(self, end: End) -> None:
        self.log.end(end)
        super().finish(end)


def refuse(down: Subscriber[Any], error: Exception) -> None:
    """Answer a subscriber with nothing but ``error`` (RS 1.9)."""
    down.on_subscribe(REFUSED)
    down.on_error(error)


class _Refused(BaseDisposable):
    __slots__ = ()

    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass

    def dispose(self) -> None:
        pass

    @property
    def is_disposed(self) -> bool:
        return True


#: The Subscription, or Disposable, of a subscriber that is turned away.
REFUSED: Final = _Refused()
