"""One run of a source for many subscribers: what publish and replay have in common, and publish.

A :class:`Connectable` is what ``publish()`` and ``replay()`` make: a publisher whose source runs when somebody connects. The
run is a :class:`Connection`; at most one is current.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import (
    UNBOUNDED,
    BaseDisposable,
    Drain,
    Items,
    ObservableBase,
    Run,
    Source,
    close,
    dropped,
    name_of,
    user_call,
)
from rx_core.blocks import NOBODY, AtomicReference, RequestInbox
from rx_fusion import fusion_enabled, operator
from rx_ops.coordination._described import Described
from rx_ops.coordination._outlet import End

if TYPE_CHECKING:
    from rx_core import Disposable, Subscriber, Subscription

T = TypeVar("T")

OnConnect = Callable[["Disposable"], object]


def can_be_asked(source: object) -> bool:
    return not isinstance(source, ObservableBase)


class Connection(BaseDisposable, Generic[T]):
    """One run of the source of a Connectable: whom it feeds, and the Disposable that stops it."""

    __slots__ = ("_fresh", "owner")

    def __init__(self, owner: Connectable[T]) -> None:
        self.owner = owner
        self._fresh = {0: True}

    @abstractmethod
    def subscribe(self, down: Subscriber[T], /) -> None: ...

    @property
    def is_over(self) -> bool:
        """It ended or was disposed: the next ``connect()`` needs another one."""
        return self.is_disposed

    @property
    @abstractmethod
    def is_useless(self) -> bool:
        """It has no items for whoever comes now."""

    @abstractmethod
    def _start(self) -> None: ...

    def connect(self, on_connect: OnConnect | None = None) -> None:
        """Subscribe to the source, the first time."""
        if on_connect is not None:
            user_call("connect", on_connect, self)
        if self._fresh.pop(0, None):
            self._start()

    @property
    def is_connected(self) -> bool:
        return not self._fresh


class Connectable(Described, Generic[T]):
    """The publisher behind ``publish()`` and ``replay()``."""

    __slots__ = ("_current", "source", "text")

    def __init__(self, source: Any, text: str) -> None:
        self.source = source
        self.text = text
        self._current: AtomicReference[Connection[T] | None] = AtomicReference(None)

    def _at_first(self) -> dict[str, object]:
        return {"_current": AtomicReference(None)}

    @abstractmethod
    def _make(self) -> Connection[T]: ...

    def take(self, *, alive: bool = False) -> Connection[T]:
        """The current connection, or a new one where there is none; with ``alive`` also where it is over."""
        while True:
            current = self._current.get()
            if current is not None and not (alive and current.is_over):
                return current
            made = self._make()
            if self._current.compare_and_set(current, made):
                return made

    def detach(self, connection: Connection[T]) -> None:
        """Whoever comes from here on gets another connection."""
        self._current.compare_and_set(connection, None)

    def attach(self, connection: Connection[T]) -> None:
        """Take back a :meth:`detach`, unless there is another one by now."""
        self._current.compare_and_set(None, connection)

    def reset(self) -> None:
        """Forget a connection that is over."""
        current = self._current.get()
        if current is not None and current.is_over:
            self.detach(current)

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        self.take().subscribe(subscriber)

    def __repr__(self) -> str:
        return self.text


# -- publish ---------------------------------------------------------------------------------------------------------------


class Publish(Connectable[T]):
    """Items as they come, to whoever is subscribed; the slowest of them dictates."""

    __slots__ = ("_asked", "_prefetch")

    def __init__(self, source: Any, prefetch: int, text: str) -> None:
        super().__init__(source, text)
        self._prefetch = prefetch
        self._asked = can_be_asked(source)

    def _make(self) -> Connection[T]:
        return _Broadcast(self, self._prefetch, self._asked)


class _Seat(BaseDisposable, Generic[T]):
    """One subscriber of a broadcast, and its Subscription. The broadcast's drain signals it, so signals are serial."""

    __slots__ = ("_broadcast", "cancelled", "down", "inbox", "push")

    def __init__(self, broadcast: _Broadcast[T], down: Subscriber[T], initial: int) -> None:
        self._broadcast = broadcast
        self.down: Subscriber[T] = down
        #: Its on_next.
        self.push: Callable[[T], object] = down.on_next
        self.inbox = RequestInbox()
        self.inbox.demand = initial
        self.cancelled = False

    def request(self, n: int, /) -> None:
        self.inbox.add(n)
        if not self.cancelled:
            self._broadcast.changed()

    def cancel(self) -> None:
        self.cancelled = True
        self.down = NOBODY
        self.push = _to_nobody
        self._broadcast.leave(self)

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.cancelled

    def take_down(self) -> Subscriber[T]:
        """The subscriber, for its last signal."""
        self.cancelled = True
        down, self.down = self.down, NOBODY
        self.push = _to_nobody
        return down


def _to_nobody(_item: object) -> None:
    """It has gone while an item was on its way (RS 2.8)."""


class _Broadcast(Connection[T]):
    """A Drain without a subscriber of its own: the generator it runs takes an item when every subscriber wants one.

    It looks at its seats when something has changed with them, notes how many items all of them want, and counts down. What a
    hot source sends while the generator waits, and all of them want, goes past the generator (see rx_core._direct).
    """

    __slots__ = ("_disposed", "_drain", "_dropping", "_end", "_granted", "_now", "_prefetch", "_room", "_seats", "_stale")

    def __init__(self, owner: Publish[T], prefetch: int, asked: bool) -> None:
        super().__init__(owner)
        self._prefetch = prefetch
        #: Nobody can be asked to wait, so items that come while nobody listens are lost.
        self._dropping = not asked
        self._seats: dict[_Seat[T], None] = {}
        #: The seats as they were looked at last, how many items they all wanted then, and how many of them are left to give.
        self._now: tuple[_Seat[T], ...] = ()
        self._granted = self._room = 0
        #: Somebody has come, gone or asked since.
        self._stale = False
        self._end: End | None = None
        self._disposed = False
        self._drain: Drain[T] = _SharedDrain(_Ends(self), origin=owner)
        self._drain.start(self._broadcast)

    # -- subscribers ---------------------------------------------------------------------------------------------------

    def subscribe(self, down: Subscriber[T], /) -> None:
        seat = _Seat(self, down, UNBOUNDED if self._dropping else 0)
        down.on_subscribe(seat)
        self._seats[seat] = None  # publish first, look afterwards: cancel() and the end do the same
        if seat.is_disposed:
            self._seats.pop(seat, None)
        elif self._end is not None:
            self._finish(seat, self._end)
        self.changed()

    def leave(self, seat: _Seat[T]) -> None:
        self._seats.pop(seat, None)
        self.changed()  # it may have been the slowest

    def changed(self) -> None:
        self._stale = True  # published before the drain is told
        self._drain.wake()

    # -- the run -------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._drain.wake()

    def _broadcast(self, drain: Drain[T]) -> Items[T]:
        while not self.is_connected:
            self._look()  # wrong requests are answered before there is a source, too
            yield None
        drain.direct = self._send
        items = drain._open_straight(self.owner.source, self._prefetch, drain if fusion_enabled() else None)
        try:
            for item in items:
                if drain.cancelled:
                    return
                if item is None:
                    # What comes next goes past this, if all want it.
                    drain.direct = self._send if self._look() else None
                    yield None
                    continue
                while (self._stale or not self._room) and not self._look():
                    yield None
                self._send(item)
        finally:
            close(items)

    def _look(self) -> int:
        """How many items all subscribers want."""
        sent = self._granted - self._room
        if sent:
            for seat in self._now:
                seat.inbox.spend(sent)
        while True:
            self._granted = self._room = 0
            self._stale = False  # before reading
            self._now = now = (*list(self._seats),)  # copied in one step
            room = UNBOUNDED if now or self._dropping else 0
            for seat in now:
                inbox = seat.inbox
                if inbox.pending:
                    inbox.collect()
                    if inbox.error is not None and self._seats.pop(seat, now) is None:
                        seat.take_down().on_error(inbox.error)
                        self._stale = True
                room = min(room, inbox.demand)
            if not self._stale:
                self._granted = self._room = room
                return room

    def _send(self, item: T) -> None:
        """To all seats that were looked at; there is room for it."""
        if self._room is not UNBOUNDED:  # faster than !=; an equal one would be counted down
            self._room -= 1
            if not self._room:
                self._drain.wake()  # the next one has to be looked at
        for seat in self._now:
            try:
                seat.push(item)
            except Exception as error:  # RS 2.13: it has cancelled, and the others are not to suffer for it
                seat.cancel()
                dropped(error, self.owner)

    def finish(self, end: End) -> None:
        """The source has ended. Called by the drain, so nothing else is signalled meanwhile."""
        self._end = end
        for seat in list(self._seats):
            self._finish(seat, end)

    def _finish(self, seat: _Seat[T], end: End) -> None:
        if self._seats.pop(seat, end) is None:  # atomic: told by whoever takes it out
            end.tell(seat.take_down())

    def dispose(self) -> None:
        self._disposed = True
        self._fresh.clear()
        self.owner.detach(self)
        self._drain.cancel()
        self._seats.clear()

    @property
    def is_disposed(self) -> bool:
        return self._disposed or self._end is not None

    @property
    def is_useless(self) -> bool:
        return self.is_disposed


class _SharedDrain(Drain[T]):
    """The drain of a broadcast."""

    __slots__ = ()

    def broken(self) -> None:
        """An item went past the generator, and what a subscriber has raised is nobody's signal."""
        error = sys.exc_info()[1]
        assert error is not None
        self.interrupted(error)


class _Ends:
    """What a broadcast's drain signals: only the end, because the generator itself hands out the items."""

    __slots__ = ("_broadcast",)

    def __init__(self, broadcast: _Broadcast[Any]) -> None:
        self._broadcast = broadcast

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        self._broadcast.finish(End(error))

    def on_complete(self) -> None:
        self._broadcast.finish(End(None))


# -- within a function -------------------------------------------------------------------------------------------------------


@operator(eager="none")
def multicast(
    run: Run,
    source: Source[T],
    name: str,
    connectable: Callable[[Any], Connectable[T]],
    selector: Callable[[Any], Any],
    face: Callable[[Connectable[T]], Any],
) -> Items[Any]:
    """``publish`` and ``replay`` with a function: it may use its argument any number of times, the source runs once."""
    connection = connectable(source.publisher)
    made = user_call(name, selector, face(connection))
    if not hasattr(made, "subscribe"):
        raise TypeError(
            f"{name}() expected a function returning a source, but {name_of(selector)} returned {made!r}.\n"
            f"  For example:  .{name}(lambda shared: shared.merge_with(shared.map(...)))"
        )
    current = connection.take()
    run.own(current)
    items = run.open(made)
    run.later(current.connect)  # when this run is not busy: what the source sends at once has to find its way through here
    return items


def published(prefetch: int, text: str) -> Callable[[Any], Connectable[Any]]:
    return lambda source: Publish(source, prefetch, text)
