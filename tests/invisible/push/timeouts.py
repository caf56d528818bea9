"""Operators of the naive reference that move signals in time without choosing among them: timeout, delay, observe_on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.again import DelaySubscription, SwitchIfEmpty, in_turn
from tests.invisible.push.clock import Clock, Task
from tests.invisible.push.combining import Late
from tests.invisible.push.flattening import FlatMap
from tests.invisible.push.items import Map, Take
from tests.invisible.push.sources import listed
from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Flow,
    Gate,
    InTurn,
    Prefetch,
    Side,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
)

Selector = Callable[[Any], Flow]


class Delay(Stage):
    """Items and completion later by the same time; an error at once, ahead of them, or as late as they (``delay_error``)."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, delay_error: bool) -> None:
        super().__init__(down)
        self.clock, self.delay, self.delay_error = clock, delay, delay_error

    def next(self, item: Any) -> None:
        self.clock.after(self.delay, lambda: None if self.over else self.down.on_next(item))

    def error(self, failure: Failure) -> None:
        self.clock.after(self.delay if self.delay_error else 0, lambda: self.fail(failure))

    def complete(self) -> None:
        self.clock.after(self.delay, self.finish)


def delay_by(source: Flow, selector: Selector, prefetch: Count, waiting: str, asks_later: bool) -> Flow:
    """Each item when the source that the selector makes for it gives something or completes."""

    def waits(item: Any) -> Flow:
        first = selector(item).through(Take, 1).through(Map, lambda _: item)
        return in_turn(SwitchIfEmpty, first, listed([item]))

    return source.through(FlatMap, waits, prefetch, prefetch, waiting=waiting, asks_later=asks_later)


def delay_subscription(source: Flow, other: Flow) -> Flow:
    return in_turn(DelaySubscription, source, other, kind=source.kind)


class Leaving(Subscriber):
    """Cancels: RxJava subscribes to a source also when it is too late, and that may be seen."""

    def on_subscribe(self, up: Subscription) -> None:
        up.cancel()


class Timeout(InTurn):
    """Fails, or goes on with ``fallback``, when an item takes too long. ``delay`` says how long, ``selector`` by a source."""

    def __init__(self, down: Subscriber, source: Flow, fallback: Flow | None) -> None:
        super().__init__(down)
        self.flow, self.fallback = source, fallback
        self.timed_out = False
        self.waiting: Task | Side | None = None

    def begin(self) -> None:
        self.down.on_subscribe(self)
        source = self.flow
        if not self.over:
            self.wait_for_first()
        if self.over or self.timed_out:
            source.subscribe(Leaving())
        else:
            self.gate.run()

    def subscribe_next(self) -> None:
        self.flow.subscribe(self)

    def wait_for_first(self) -> None:
        raise NotImplementedError

    def wait_for_next(self, item: Any) -> None:
        raise NotImplementedError

    def next(self, item: Any) -> None:
        if self.timed_out:
            super().next(item)
            return
        self.stop_waiting()
        super().next(item)
        self.wait_for_next(item)

    def too_late(self) -> None:
        if self.over or self.timed_out:
            return
        self.timed_out = True
        self.stop_waiting()
        self.up.cancel()
        if self.fallback:
            self.up = Subscription()
            self.flow = self.fallback
            self.gate.run()
        else:
            self.fail(Failure("Timeout"))

    def stop_waiting(self) -> None:
        if self.waiting:
            self.waiting.cancel()

    def fail(self, failure: Failure) -> None:
        self.stop_waiting()
        super().fail(failure)

    def finish(self) -> None:
        self.stop_waiting()
        super().finish()

    def cancel(self) -> None:
        super().cancel()
        self.stop_waiting()


class TimeoutTimed(Timeout):
    def __init__(self, down: Subscriber, source: Flow, fallback: Flow | None, clock: Clock, delay: int) -> None:
        super().__init__(down, source, fallback)
        self.clock, self.delay = clock, delay

    def wait_for_first(self) -> None:
        if not self.over:
            self.waiting = self.clock.after(self.delay, self.too_late)

    def wait_for_next(self, item: Any) -> None:
        self.wait_for_first()


class TimeoutBySelector(Timeout):
    """Its time is over when the source of the latest item, or ``first``, gives something or completes."""

    def __init__(self, down: Subscriber, source: Flow, fallback: Flow | None, first: Flow | None, selector: Selector) -> None:
        super().__init__(down, source, fallback)
        self.first, self.selector = first, selector

    def wait_for_first(self) -> None:
        if self.first:
            self.wait_for(self.first)

    def wait_for_next(self, item: Any) -> None:
        if not self.over:  # RxJava calls it also for a subscriber that has cancelled with this item; the library does not
            self.wait_for(self.selector(item))

    def wait_for(self, flow: Flow) -> None:
        if self.over:
            return
        side = Side(lambda _: self.too_late(), self.side_error, self.too_late)
        self.waiting = side
        flow.subscribe(side)

    def side_error(self, failure: Failure) -> None:
        if not self.timed_out:
            self.stop(failure)


class ObserveOn(Waiting):
    """Gives its items on the clock: each at the time it came, but after what was planned for that time before."""

    def __init__(self, down: Subscriber, clock: Clock, prefetch: Count, patient: bool, kind: str, pulls: bool = False) -> None:
        super().__init__(down)
        self.clock, self.prefetch, self.patient = clock, prefetch, patient or pulls
        if kind != "flowable":
            self.wanted = UNBOUNDED
        self.planned = False
        self.demand = Prefetch(prefetch)
        self.gate = Gate(self.plan)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(self.prefetch)

    def plan(self) -> None:
        if not self.planned:
            self.planned = True
            self.clock.after(0, self.give_on_the_clock)

    def give_on_the_clock(self) -> None:
        self.give()
        self.planned = False
        if not self.over and self.wanted and self.items:
            self.plan()

    def gave(self) -> None:
        self.demand.took(self.up)


class ObserveLatest(ObserveOn):
    """The newest item only."""

    def __init__(self, down: Subscriber, clock: Clock, patient: bool) -> None:
        super().__init__(down, clock, UNBOUNDED, patient, "flowable")

    def next(self, item: Any) -> None:
        self.items.clear()
        self.put(item)


class SubscribeOn(Stage):
    """Subscribes on the clock."""

    def begin(self, source: Flow, clock: Clock) -> None:
        late = Late(self)
        self.up = late
        self.down.on_subscribe(self)
        clock.after(0, lambda: None if self.over else source.subscribe(late))


def subscribe_on(source: Flow, clock: Clock) -> Flow:
    return Flow(lambda down: SubscribeOn(down).begin(source, clock), source.kind)
