"""When a Connectable is connected, and when it is stopped: ``auto_connect`` and ``ref_count``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import (
    DISPOSED,
    BaseDisposable,
    CallbackObserver,
    LeadsToCallbacks,
    SerialDisposable,
    callbacks_behind,
    dropped,
    worker_of,
)
from rx_core.blocks import AtomicReference, Requested
from rx_core.streams import NULL_SUBSCRIBER, ignore
from rx_ops.operators._connect import Connectable, Connection, Described, OnConnect

if TYPE_CHECKING:
    from rx_core import Scheduler, Subscriber

T = TypeVar("T")


class AutoConnect(Described, Generic[T]):
    """Connects when the n-th subscriber comes, and never disconnects."""

    __slots__ = ("_arrivals", "_connectable", "_count", "_on_connect")

    def __init__(self, connectable: Connectable[T], subscriber_count: int, on_connect: OnConnect | None) -> None:
        self._connectable = connectable
        self._count = subscriber_count
        self._on_connect = on_connect
        self._arrivals = Requested()

    def _at_first(self) -> dict[str, object]:
        return {"_arrivals": Requested()}

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
    """How many use a connection; ``shared`` is None while there is none.

    A new object for each change: a thread that replaces one it has read knows that nothing happened since.
    """

    __slots__ = ("connected", "shared", "users")

    def __init__(self, shared: _Shared[T] | None, users: int, connected: bool) -> None:
        self.shared = shared
        self.users = users
        self.connected = connected


class RefCount(Described, Generic[T]):
    """Connects when ``subscriber_count`` are there, and stops the source when the last has gone, ``seconds`` later."""

    __slots__ = ("_connectable", "_least", "_scheduler", "_seconds", "_state")

    def __init__(self, connectable: Connectable[T], subscriber_count: int, seconds: float, scheduler: Scheduler) -> None:
        self._connectable = connectable
        self._least = subscriber_count
        self._seconds = seconds
        self._scheduler = scheduler
        self._state: AtomicReference[_Count[T]] = AtomicReference(_Count(None, 0, False))

    def _at_first(self) -> dict[str, object]:
        return {"_state": AtomicReference(_Count(None, 0, False))}

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        while True:
            before = self._state.get()
            shared = before.shared
            if shared is None or (before.users and shared.connection.is_useless):
                shared = _Shared(self._connectable.take(alive=True))
                connect = self._least <= 1
                after = _Count(shared, 1, connect)
            else:
                users = before.users + 1
                connect = not before.connected and users >= self._least
                after = _Count(shared, users, before.connected or connect)
            if self._state.compare_and_set(before, after):
                break
        if before.shared is shared and not before.users:
            shared.timer.set(_NOTHING)
        shared.connection.subscribe(_Counted(self, shared, subscriber))
        if connect:
            shared.connection.connect()

    def left(self, shared: _Shared[T], ended: bool) -> None:
        """A subscriber cancelled, or saw the end."""
        while True:
            before = self._state.get()
            if before.shared is not shared:
                return
            last = before.users == 1
            stops = last and (ended or not (before.connected and self._seconds))
            after: _Count[T] = _Count(None, 0, False) if stops else _Count(shared, before.users - 1, before.connected)
            if stops and before.connected:
                self._connectable.detach(shared.connection)  # first: a subscriber that comes after the change needs another one
            if self._state.compare_and_set(before, after):
                break
            if stops:
                self._connectable.attach(shared.connection)
        if stops:
            shared.timer.dispose()
            if before.connected:
                shared.connection.dispose()
        elif last:
            self._arm(after, shared)

    def _arm(self, armed: _Count[T], shared: _Shared[T]) -> None:
        worker = worker_of(self._scheduler)
        shared.timer.set(worker)
        try:
            refused = worker.schedule(lambda: self._expired(armed, shared), self._seconds) is DISPOSED
        except Exception as error:
            refused = True
            dropped(error, self)
        if refused:
            self._expired(armed, shared)  # there is no time to wait for
        if self._state.get() is not armed:
            worker.dispose()  # a subscriber came meanwhile, and may have looked for the timer before it was there

    def _expired(self, armed: _Count[T], shared: _Shared[T]) -> None:
        connection = shared.connection
        self._connectable.detach(connection)
        if self._state.compare_and_set(armed, _Count(None, 0, False)):
            shared.timer.dispose()
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


class _Counted(BaseDisposable, LeadsToCallbacks, Generic[T]):
    """One of the counted subscribers: passes signals on, and tells once that it has left."""

    __slots__ = ("_down", "_owner", "_shared", "on_next", "up")

    def __init__(self, owner: RefCount[T], shared: _Shared[T], down: Subscriber[T]) -> None:
        self._owner = owner
        self._shared = {0: shared}
        self._down: Subscriber[T] = down
        #: Nothing is done to an item, so it spares the call.
        self.on_next: Callable[[T], object] = down.on_next
        self.up: Any = None

    def callbacks(self) -> CallbackObserver[Any] | None:
        return callbacks_behind(self._down)

    def on_subscribe(self, subscription: Any, /) -> None:
        self.up = subscription
        self._down.on_subscribe(self)

    def on_error(self, error: Exception, /) -> None:
        self._go(ended=True)
        self._let_go().on_error(error)

    def on_complete(self) -> None:
        self._go(ended=True)
        self._let_go().on_complete()

    def _let_go(self) -> Subscriber[T]:
        down, self._down = self._down, NULL_SUBSCRIBER
        self.on_next = ignore
        return down

    def _go(self, ended: bool) -> None:
        shared = self._shared.pop(0, None)
        if shared is not None:
            self._owner.left(shared, ended)

    def request(self, n: int, /) -> None:
        self.up.request(n)

    def cancel(self) -> None:
        self.up.cancel()
        self._let_go()
        self._go(ended=False)

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return not self._shared
