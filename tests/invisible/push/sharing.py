"""One subscription to a source for many subscribers, in the naive reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.clock import Clock, Task
from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Flow,
    Gate,
    Prefetch,
    Stage,
    Subscriber,
    Subscription,
    failing,
)

Selector = Callable[[Flow], Flow]


class Seat(Subscription):
    """A subscriber of a connection, and how far it is: ``given`` items of the ``wanted`` ones."""

    def __init__(self, down: Subscriber, connection: Connection) -> None:
        self.down, self.connection = down, connection
        self.wanted: Count = 0
        self.over = False
        self.place = 0  # in what is replayed
        self.gate = connection.gate

    def request(self, n: Count) -> None:
        self.wanted += n
        self.connection.gate.run()

    def cancel(self) -> None:
        if not self.over:
            self.over = True
            if self in self.connection.seats:
                self.connection.seats.remove(self)
            self.connection.gate.run()

    def end(self, failure: Failure | None) -> None:
        if not self.over:
            self.over = True
            if failure:
                self.down.on_error(failure)
            else:
                self.down.on_complete()


class Connection(Subscriber):
    """One subscription to the source, and who shares it."""

    def __init__(self) -> None:
        self.seats: list[Seat] = []
        self.up: Subscription | None = None
        self.started = False
        self.disposed = False
        self.done = False
        self.failure: Failure | None = None
        self.gate = Gate(self.give)

    def give(self) -> None:
        raise NotImplementedError

    def take_seat(self, down: Subscriber) -> None:
        seat = Seat(down, self)
        down.on_subscribe(seat)
        if self.disposed:
            self.greet_late(seat)
        elif not seat.over:
            self.seats.append(seat)
            self.gate.run()

    def greet_late(self, seat: Seat) -> None:
        seat.end(self.failure)

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.disposed:
            up.cancel()

    def on_error(self, failure: Failure) -> None:
        if not self.done:
            self.done, self.failure = True, failure
            self.gate.run()

    def on_complete(self) -> None:
        if not self.done:
            self.done = True
            self.gate.run()

    def dispose(self) -> None:
        self.disposed = True
        self.seats.clear()
        if self.up:
            self.up.cancel()


class PublishConnection(Connection):
    """The slowest subscriber sets the pace; without a subscriber items wait in the queue of ``prefetch``, or are lost."""

    def __init__(self, prefetch: Count, patient: bool = True, lossy: bool = False) -> None:
        super().__init__()
        self.demand = Prefetch(prefetch)
        self.items: list[Any] = []
        self.patient, self.lossy = patient, lossy

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.disposed:
            up.request(self.demand.size)

    def on_next(self, item: Any) -> None:
        if not self.done and not self.disposed and (self.seats or not self.lossy):
            self.items.append(item)
            self.gate.run()

    def give(self) -> None:
        while not self.disposed:
            seats = list(self.seats)
            if self.done and (not self.items or (self.failure and not self.patient and seats)):
                self.disposed = True
                self.seats.clear()
                for seat in seats:
                    seat.end(self.failure)
            elif self.items and seats and all(seat.wanted for seat in seats):
                item = self.items.pop(0)
                for seat in seats:
                    if not seat.over:
                        seat.wanted -= 1
                        seat.down.on_next(item)
                if self.up:
                    self.demand.took(self.up)
            else:
                return


class ReplayConnection(Connection):
    """Requests as much as the subscriber who wants most, keeps what may be replayed, and gives it to each at its own pace."""

    def __init__(self, size: Count = UNBOUNDED, age: Count = UNBOUNDED, clock: Clock | None = None) -> None:
        super().__init__()
        self.size, self.age, self.clock = size, age, clock
        self.kept: list[tuple[int, Any]] = []
        self.requested: Count = 0

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        self.gate.run()

    def on_next(self, item: Any) -> None:
        if not self.done:
            self.kept.append((self.clock.now if self.clock else 0, item))
            self.replay()

    def on_error(self, failure: Failure | None) -> None:
        if not self.done:
            self.done, self.failure = True, failure
            self.disposed = True
            self.replay()

    def on_complete(self) -> None:
        self.on_error(None)

    def replay(self) -> None:
        for seat in list(self.seats):
            seat.gate.run()

    def take_seat(self, down: Subscriber) -> None:
        seat = ReplaySeat(down, self, self.first_place())
        down.on_subscribe(seat)
        if not seat.over:
            self.seats.append(seat)
            self.gate.run()
            seat.gate.run()

    def first_place(self) -> int:
        """Where a new subscriber begins: with what is neither too much nor too old."""
        place = 0
        while len(self.kept) - place > self.size:
            place += 1
        while self.clock and place < len(self.kept) and self.kept[place][0] <= self.clock.now - self.age:
            place += 1
        return place

    def give(self) -> None:
        """Request what nobody has requested so far."""
        if self.up and not self.done:
            most = max([self.requested, *(seat.place + seat.wanted for seat in self.seats)])
            if most > self.requested:
                n = most - self.requested if most < UNBOUNDED else UNBOUNDED
                self.requested = most
                self.up.request(n)


class ReplaySeat(Seat):
    def __init__(self, down: Subscriber, connection: ReplayConnection, place: int) -> None:
        super().__init__(down, connection)
        self.place = place
        self.kept = connection.kept
        self.gate = Gate(self.give)

    def request(self, n: Count) -> None:
        super().request(n)
        self.gate.run()

    def give(self) -> None:
        while not self.over and self.wanted and self.place < len(self.kept):
            self.wanted -= 1
            self.place += 1
            self.down.on_next(self.kept[self.place - 1][1])
        if self.connection.done and self.place == len(self.kept):
            self.end(self.connection.failure)


class Connectable:
    """Subscribers come first, the connection is made when somebody says so."""

    def __init__(self, source: Flow, make: Callable[[], Connection]) -> None:
        self.source, self.make = source, make
        self.connection: Connection | None = None

    def flow(self) -> Flow:
        return Flow(self.subscribe)

    def current(self) -> Connection:
        if not self.connection:
            self.connection = self.make()
        return self.connection

    def subscribe(self, down: Subscriber) -> None:
        self.current().take_seat(down)

    def connect(self, connection_made: Callable[[Connection], None] = lambda _: None) -> None:
        connection = self.current()
        if connection.disposed:
            connection = self.connection = self.make()
        first = not connection.started
        connection.started = True
        connection_made(connection)
        if first:
            self.source.subscribe(connection)

    def reset(self) -> None:
        if self.connection and (self.connection.disposed or self.connection.done):
            self.connection = None


def publish(source: Flow, prefetch: Count, lossy: bool = False) -> Connectable:
    return Connectable(source, lambda: PublishConnection(prefetch, lossy=lossy))


def replay(source: Flow, size: Count = UNBOUNDED, age: Count = UNBOUNDED, clock: Clock | None = None) -> Connectable:
    return Connectable(source, lambda: ReplayConnection(size, age, clock))


def auto_connect(shared: Connectable, count: int) -> Flow:
    """Connects with the ``count``-th subscriber, for good."""
    came = 0

    def subscribe(down: Subscriber) -> None:
        nonlocal came
        came += 1
        here = came
        shared.subscribe(down)
        if here == count:
            shared.connect()

    if count == 0:
        shared.connect()
    return Flow(subscribe)


class Visit:
    """What the subscribers of ref_count share, from the first to the last of them."""

    def __init__(self) -> None:
        self.subscribers = 0
        self.connected = False
        #: The last subscriber had left before there was a connection.
        self.left_early = False
        self.timer: Task | None = None
        self.connection: Connection | None = None

    def ending(self) -> bool:
        """The source is over and some of the subscribers do not know yet. In RxJava one that comes now gets that end, so a repeat
        goes round for ever; in the library it gets the next connection."""
        return self.subscribers > 0 and isinstance(self.connection, PublishConnection) and self.connection.disposed


class RefCount:
    """Connects with the ``count``-th subscriber, and disconnects ``grace`` milliseconds after the last one has left."""

    def __init__(self, shared: Connectable, count: int, grace: int = 0, clock: Clock | None = None) -> None:
        self.shared, self.count, self.grace, self.clock = shared, count, grace, clock
        self.visit: Visit | None = None

    def flow(self) -> Flow:
        return Flow(self.subscribe)

    def subscribe(self, down: Subscriber) -> None:
        if self.visit and self.visit.ending():
            self.visit = None
            self.shared.reset()
        visit = self.visit = self.visit or Visit()
        if visit.subscribers == 0 and visit.timer:
            visit.timer.cancel()
        visit.subscribers += 1
        connect = not visit.connected and visit.subscribers == self.count
        visit.connected = visit.connected or connect
        self.shared.subscribe(Visitor(down, self, visit))
        if connect:
            self.shared.connect(lambda connection: self.connected(visit, connection))

    def connected(self, visit: Visit, connection: Connection) -> None:
        visit.connection = connection
        if visit.left_early:
            connection.dispose()
            self.shared.reset()

    def left(self, visit: Visit) -> None:
        if visit is not self.visit:
            return
        visit.subscribers -= 1
        if visit.subscribers or not visit.connected:
            return
        if self.grace and self.clock:
            visit.timer = self.clock.after(self.grace, lambda: self.disconnect(visit))
        else:
            self.disconnect(visit)

    def disconnect(self, visit: Visit) -> None:
        if visit is self.visit and not visit.subscribers:
            self.visit = None
            if visit.connection:
                visit.connection.dispose()
                self.shared.reset()
            else:
                visit.left_early = True

    def ended(self, visit: Visit) -> None:
        if visit is self.visit:
            if visit.timer:
                visit.timer.cancel()
            visit.subscribers -= 1
            if visit.subscribers == 0:
                self.visit = None
                self.shared.reset()


class Visitor(Stage):
    def __init__(self, down: Subscriber, parent: RefCount, visit: Visit) -> None:
        super().__init__(down)
        self.parent, self.visit = parent, visit

    def error(self, failure: Failure) -> None:
        self.parent.ended(self.visit)
        self.fail(failure)

    def complete(self) -> None:
        self.parent.ended(self.visit)
        self.finish()

    def cancel(self) -> None:
        if not self.over:
            super().cancel()
            self.parent.left(self.visit)


class WithConnection(Stage):
    """The stream that a selector made of a connection: when it is over, the connection is."""

    def __init__(self, down: Subscriber, leave: Callable[[], None]) -> None:
        super().__init__(down)
        self.leave = leave

    def fail(self, failure: Failure) -> None:
        super().fail(failure)
        self.leave()

    def finish(self) -> None:
        super().finish()
        self.leave()

    def cancel(self) -> None:
        super().cancel()
        self.leave()


def with_selector(source: Flow, make: Callable[[], Connection], selector: Selector) -> Flow:
    """A connection for each subscriber, made when what the selector made of it is subscribed."""

    def subscribe(down: Subscriber) -> None:
        connection = make()
        try:
            flow = selector(Flow(connection.take_seat))
        except Failure as failure:
            failing(down, failure)
        else:
            flow.subscribe(WithConnection(down, connection.dispose))
            source.subscribe(connection)

    return Flow(subscribe)


def publish_selector(source: Flow, selector: Selector, prefetch: Count) -> Flow:
    return with_selector(source, lambda: PublishConnection(prefetch, patient=False), selector)


def replay_selector(source: Flow, selector: Selector) -> Flow:
    return with_selector(source, ReplayConnection, selector)
