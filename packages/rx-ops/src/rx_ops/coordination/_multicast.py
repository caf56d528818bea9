"""One run of a source for many subscribers: what publish and replay have in common, and publish.

A :class:`Connectable` is what ``publish()`` and ``replay()`` make: a publisher whose source runs when somebody connects. The
run is a :class:`Connection`; at most one is current.
"""

from __future__ import annotations

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
from rx_fusion import operator
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

    __slots__ = ("_broadcast", "cancelled", "down", "inbox")

    def __init__(self, broadcast: _Broadcast[T], down: Subscriber[T], initial: int) -> None:
        self._broadcast = broadcast
        self.down: Subscriber[T] = down
        self.inbox = RequestInbox()
        self.inbox.demand = initial
        self.cancelled = False

    def request(self, n: int, /) -> None:
        self.inbox.add(n)
        if not self.cancelled:
            self._broadcast.wake()

    def cancel(self) -> None:
        self.cancelled = True
        self.down = NOBODY
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
        return down


class _Broadcast(Connection[T]):
    """A Drain without a subscriber of its own: the generator it runs takes an item when every subscriber wants one."""

    __slots__ = ("_disposed", "_drain", "_dropping", "_end", "_prefetch", "_seats")

    def __init__(self, owner: Publish[T], prefetch: int, asked: bool) -> None:
        super().__init__(owner)
        self._prefetch = prefetch
        #: Nobody can be asked to wait, so items that come while nobody listens are lost.
        self._dropping = not asked
        self._seats: dict[_Seat[T], None] = {}
        self._end: End | None = None
        self._disposed = False
        self._drain: Drain[T] = Drain(_Ends(self), origin=owner)
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
        self.wake()

    def leave(self, seat: _Seat[T]) -> None:
        self._seats.pop(seat, None)
        self.wake()  # it may have been the slowest

    def wake(self) -> None:
        self._drain.wake()

    # -- the run -------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.wake()

    def _broadcast(self, run: Run) -> Items[T]:
        while not self.is_connected:
            self._are_ready()  # wrong requests are answered before there is a source, too
            yield None
        items = run.open(self.owner.source, self._prefetch)
        try:
            for item in items:
                if run.is_cancelled:
                    return
                if item is None:
                    self._are_ready()
                    yield None
                    continue
                while not (seats := self._are_ready()) and not self._dropping:
                    yield None
                self._send(seats, item)
        finally:
            close(items)

    def _are_ready(self) -> list[_Seat[T]]:
        """The subscribers, if all of them want an item now; otherwise none."""
        seats = list(self._seats)
        ready = True
        for seat in seats:
            inbox = seat.inbox
            if inbox.pending:
                inbox.collect()
                if inbox.error is not None and self._seats.pop(seat, seats) is None:
                    seat.take_down().on_error(inbox.error)
                    return self._are_ready()
            if not inbox.demand:
                ready = False
        return seats if ready else []

    def _send(self, seats: list[_Seat[T]], item: T) -> None:
        for seat in seats:
            if not seat.cancelled:
                seat.inbox.spend()
                try:
                    seat.down.on_next(item)
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
