"""One run of a source for many subscribers: publish, replay and cache, and who starts and stops that run.

A :class:`Connectable` is what ``publish()`` and ``replay()`` make: a publisher whose source runs when somebody connects. The
run is a :class:`Connection`; at most one is current. ``RefCount`` and ``AutoConnect`` are publishers that connect by themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import (
    UNBOUNDED,
    BaseDisposable,
    Drain,
    Items,
    ObservableBase,
    Run,
    SerialDisposable,
    Source,
    close,
    dropped,
    name_of,
    none_produced,
    user_call,
)
from rx_core.blocks import NOBODY, AtomicReference, QueueDrain, Requested, RequestInbox
from rx_fusion import operator
from rx_ops.coordination._history import End, Hub, Log

if TYPE_CHECKING:
    from rx_core import Disposable, Scheduler, Subscriber, Subscription

T = TypeVar("T")

OnConnect = Callable[["Disposable"], object]


def _can_be_asked(source: object) -> bool:
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


class Connectable(ABC, Generic[T]):
    """The publisher behind ``publish()`` and ``replay()``."""

    __slots__ = ("_current", "source", "text")

    def __init__(self, source: Any, text: str) -> None:
        self.source = source
        self.text = text
        self._current: AtomicReference[Connection[T] | None] = AtomicReference(None)

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
        self._asked = _can_be_asked(source)

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


# -- replay and cache --------------------------------------------------------------------------------------------------------


class Replay(Connectable[T]):
    """What came before, to late subscribers too. ``eager`` asks the source for everything at once (``cache``)."""

    __slots__ = ("_asked", "_clock", "_eager", "_seconds", "_size")

    def __init__(
        self, source: Any, size: int | None, seconds: float | None, clock: Scheduler, text: str, *, eager: bool = False
    ) -> None:
        super().__init__(source, text)
        self._size = size
        self._seconds = seconds
        self._clock = clock
        self._eager = eager
        self._asked = _can_be_asked(source)

    def _make(self) -> Connection[T]:
        log: Log[T] = Log(self._size, self._seconds, self._clock)
        return _Recording(self, log, self._asked, self._eager or not self._asked)


class _RecordingHub(Hub[T]):
    """Tells the recording how far its subscribers want to get."""

    __slots__ = ("asking", "owner")

    def __init__(self, owner: object, log: Log[T], asking: QueueDrain[int], asked: bool) -> None:
        super().__init__("replay", log, patient=True, asked=asked)
        self.owner = owner
        self.asking = asking

    def want(self, total: int) -> None:
        self.asking.offer(total)

    def __repr__(self) -> str:
        return repr(self.owner)


class _Recording(Connection[T]):
    """Subscriber of the source. It asks for as many items as the subscriber that wants most, from the first item on."""

    __slots__ = ("_asked", "_asking", "_disposed", "_goal", "_hub", "_upstream")

    def __init__(self, owner: Replay[T], log: Log[T], asked: bool, everything: bool) -> None:
        super().__init__(owner)
        self._asking: QueueDrain[int] = QueueDrain(self._ask)
        self._hub = _RecordingHub(owner, log, self._asking, asked)
        self._upstream: dict[int, Any] = {}
        self._goal = UNBOUNDED if everything else 0
        self._asked = 0
        self._disposed = False

    def subscribe(self, down: Subscriber[T], /) -> None:
        self._hub.subscribe(down)

    def _start(self) -> None:
        if self._disposed:
            return
        try:
            self.owner.source.subscribe(self)
        except Exception as error:
            self.on_error(error)

    def _ask(self, total: int) -> None:
        """One call at a time, so requests are serial (RS 2.7); a source that answers at once does not nest them."""
        if total > self._goal:
            self._goal = total
        upstream = self._upstream.get(0)
        if upstream is not None and self._goal > self._asked and self._hub.end is None:
            n = UNBOUNDED if self._goal == UNBOUNDED else self._goal - self._asked
            self._asked = self._goal
            request: Callable[[int], object] | None = getattr(upstream, "request", None)  # an Observable's has none
            if request is not None:
                request(n)

    # -- what the source signals -----------------------------------------------------------------------------------------

    def on_subscribe(self, subscription: Any, /) -> None:
        if self._upstream.setdefault(0, subscription) is not subscription or self._disposed:
            _stop(subscription)  # RS 2.5
            return
        self._asking.offer(0)  # what was wanted before there was a source

    def on_next(self, item: T, /) -> None:
        if self._disposed:
            return
        if item is None:
            self._stop_source()
            self.on_error(none_produced(repr(self.owner)))
            return
        self._hub.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if self._disposed:
            dropped(error, self.owner)
        else:
            self._hub.on_error(error)

    def on_complete(self) -> None:
        if not self._disposed:
            self._hub.on_complete()

    def _stop_source(self) -> None:
        upstream = self._upstream.get(0)
        if upstream is not None:
            _stop(upstream)

    # -- the connection --------------------------------------------------------------------------------------------------

    def dispose(self) -> None:
        self._disposed = True  # publish first: an on_subscribe at the same time sees it, or its subscription is seen here
        self._fresh.clear()
        self.owner.detach(self)
        if self._hub.end is None:
            self._stop_source()
        self._hub.cursors.clear()

    @property
    def is_disposed(self) -> bool:
        return self._disposed or self._hub.end is not None

    @property
    def is_useless(self) -> bool:
        return self._disposed


def _stop(subscription: Any) -> None:
    stop: Callable[[], object] = getattr(subscription, "cancel", None) or subscription.dispose
    stop()


# -- who connects ------------------------------------------------------------------------------------------------------------


class AutoConnect(Generic[T]):
    """Connects when the n-th subscriber comes, and never disconnects."""

    __slots__ = ("_arrivals", "_connectable", "_count", "_on_connect")

    def __init__(self, connectable: Connectable[T], subscriber_count: int, on_connect: OnConnect | None) -> None:
        self._connectable = connectable
        self._count = subscriber_count
        self._on_connect = on_connect
        self._arrivals = Requested()

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        self._connectable.subscribe(subscriber)
        if self._arrivals.add(1) + 1 == self._count:
            self._connectable.take(alive=True).connect(self._on_connect)

    def __repr__(self) -> str:
        return f"{self._connectable!r}.auto_connect({self._count})"


class _Shared(Generic[T]):
    """A connection that subscribers are counted for, and the clock that ends it after the last."""

    __slots__ = ("connection", "timer")

    def __init__(self, connection: Connection[T]) -> None:
        self.connection = connection
        self.timer = SerialDisposable()


class _Count(Generic[T]):
    """How many use a connection. A new object for each change, so that an alarm knows whether anything happened since."""

    __slots__ = ("connected", "shared", "users")

    def __init__(self, shared: _Shared[T], users: int, connected: bool) -> None:
        self.shared = shared
        self.users = users
        self.connected = connected


class RefCount(Generic[T]):
    """Connects when ``subscriber_count`` are there, and stops the source when the last has gone, ``seconds`` later."""

    __slots__ = ("_connectable", "_least", "_scheduler", "_seconds", "_state")

    def __init__(self, connectable: Connectable[T], subscriber_count: int, seconds: float, scheduler: Scheduler) -> None:
        self._connectable = connectable
        self._least = subscriber_count
        self._seconds = seconds
        self._scheduler = scheduler
        self._state: AtomicReference[_Count[T] | None] = AtomicReference(None)

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        while True:
            before = self._state.get()
            if before is None or before.shared.connection.is_useless:
                after = _Count(_Shared(self._connectable.take(alive=True)), 1, self._least <= 1)
                connect = after.connected
            else:
                users = before.users + 1
                connect = not before.connected and users >= self._least
                after = _Count(before.shared, users, before.connected or connect)
            if self._state.compare_and_set(before, after):
                break
        shared = after.shared
        if before is not None and not before.users:
            shared.timer.set(_NOTHING)
        shared.connection.subscribe(_Counted(self, shared, subscriber))
        if connect:
            shared.connection.connect()

    def left(self, shared: _Shared[T], ended: bool) -> None:
        """A subscriber cancelled, or saw the end."""
        while True:
            before = self._state.get()
            if before is None or before.shared is not shared:
                return
            last = before.users == 1
            after: _Count[T] | None = _Count(shared, before.users - 1, before.connected)
            if last and (ended or not (before.connected and self._seconds)):
                after = None
                if before.connected:
                    self._connectable.detach(shared.connection)  # first: who comes after the change needs another one
            if self._state.compare_and_set(before, after):
                break
            if after is None:
                self._connectable.attach(shared.connection)
        if after is None:
            shared.timer.dispose()
            if before.connected:
                shared.connection.dispose()
        elif last:
            self._arm(after)

    def _arm(self, armed: _Count[T]) -> None:
        worker = self._scheduler.create_worker()
        armed.shared.timer.set(worker)
        worker.schedule(lambda: self._expired(armed), self._seconds)
        if self._state.get() is not armed:
            worker.dispose()  # somebody came meanwhile, and may have looked for the timer before it was there

    def _expired(self, armed: _Count[T]) -> None:
        connection = armed.shared.connection
        self._connectable.detach(connection)
        if self._state.compare_and_set(armed, None):
            armed.shared.timer.dispose()
            connection.dispose()
        else:
            self._connectable.attach(connection)

    def __repr__(self) -> str:
        return f"{self._connectable!r}.ref_count()"


class _Nothing(BaseDisposable):
    __slots__ = ()

    def dispose(self) -> None:
        pass

    @property
    def is_disposed(self) -> bool:
        return False


_NOTHING = _Nothing()


class _Counted(BaseDisposable, Generic[T]):
    """One of the counted: passes signals on and says once that it has gone."""

    __slots__ = ("_down", "_owner", "_shared", "_up")

    def __init__(self, owner: RefCount[T], shared: _Shared[T], down: Subscriber[T]) -> None:
        self._owner = owner
        self._shared = {0: shared}
        self._down: Subscriber[T] = down
        self._up: Any = None

    def on_subscribe(self, subscription: Any, /) -> None:
        self._up = subscription
        self._down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        self._down.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        self._go(ended=True)
        down, self._down = self._down, NOBODY
        down.on_error(error)

    def on_complete(self) -> None:
        self._go(ended=True)
        down, self._down = self._down, NOBODY
        down.on_complete()

    def _go(self, ended: bool) -> None:
        shared = self._shared.pop(0, None)
        if shared is not None:
            self._owner.left(shared, ended)

    def request(self, n: int, /) -> None:
        self._up.request(n)

    def cancel(self) -> None:
        self._up.cancel()
        self._down = NOBODY
        self._go(ended=False)

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return not self._shared


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


def replayed(size: int | None, seconds: float | None, clock: Scheduler, text: str) -> Callable[[Any], Connectable[Any]]:
    return lambda source: Replay(source, size, seconds, clock, text)


def cached(source: Any, clock: Scheduler, text: str) -> AutoConnect[Any]:
    """The first subscriber starts the source, which then runs to its end, whoever leaves."""
    return AutoConnect(Replay(source, None, None, clock, text, eager=True), 1, None)


__all__ = [
    "AutoConnect",
    "Connectable",
    "Publish",
    "RefCount",
    "Replay",
    "cached",
    "multicast",
    "published",
    "replayed",
]
