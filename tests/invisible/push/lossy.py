"""What becomes of items that are not requested, in the naive reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.clock import Clock
from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Greedy,
    Prefetch,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
    required,
)

Action = Callable[[Any], object]


class OnBackpressureBuffer(Greedy):
    """Items wait, at most ``size`` of them; what is too much is an ERROR, or the oldest or the latest one is dropped."""

    def __init__(
        self,
        down: Subscriber,
        size: Count = UNBOUNDED,
        overflow: str = "ERROR",
        dropped: Action = lambda _: None,
        patient: bool = False,
    ) -> None:
        super().__init__(down)
        self.patient = patient
        self.size, self.overflow, self.dropped = size, overflow, dropped

    def next(self, item: Any) -> None:
        if len(self.items) < self.size:
            self.put(item)
        elif self.overflow == "ERROR":
            raise Failure("MissingBackpressure")
        elif self.overflow == "DROP_INCOMING":
            self.dropped(item)
        else:
            old = self.items.pop(0 if self.overflow == "DROP_OLDEST" else -1)
            self.items.append(item)
            self.dropped(old)


class OnBackpressureLatest(Greedy):
    """Only the latest item waits."""

    def __init__(self, down: Subscriber, dropped: Action = lambda _: None) -> None:
        super().__init__(down)
        self.dropped = dropped

    def next(self, item: Any) -> None:
        old, self.items = self.items, [item]
        for each in old:
            self.dropped(each)
        self.gate.run()


class OnBackpressureDrop(Stage):
    """An item that is not requested is dropped; ``error``: it fails the stream."""

    def __init__(self, down: Subscriber, dropped: Action = lambda _: None, error: bool = False) -> None:
        super().__init__(down)
        self.dropped, self.fails = dropped, error
        self.wanted: Count = 0

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(UNBOUNDED)

    def request(self, n: Count) -> None:
        self.wanted += n

    def next(self, item: Any) -> None:
        if self.wanted:
            self.wanted -= 1
            self.down.on_next(item)
        elif self.fails:
            raise Failure("MissingBackpressure")
        else:
            self.dropped(item)


class OnBackpressureReduce(Greedy):
    """What waits becomes one item. ``seed``: a total starts with that, and each item goes through the function."""

    def __init__(self, down: Subscriber, function: Callable[[Any, Any], Any], seed: Any = None) -> None:
        super().__init__(down)
        self.function, self.seed = function, seed

    def next(self, item: Any) -> None:
        if self.items:
            item = required(self.function(self.items.pop(), item))
        elif self.seed is not None:
            item = required(self.function(self.seed, item))
        self.put(item)


class OnBackpressureTimeout(Greedy):
    """An item waits for ``time`` at most, and ``size`` items do; of more the oldest is dropped."""

    patient = True

    def __init__(self, down: Subscriber, clock: Clock, time: int, size: Count, dropped: Action) -> None:
        super().__init__(down)
        self.clock, self.time, self.size, self.dropped = clock, time, size, dropped
        #: For each item that waits the time at which it came.
        self.times: list[int] = []

    def next(self, item: Any) -> None:
        self.times.append(self.clock.now)
        self.put(item)
        while len(self.items) > self.size:
            self.drop()
        if self.items:
            self.clock.after(self.time, self.look)

    def gave(self) -> None:
        self.times.pop(0)

    def drop(self) -> None:
        self.times.pop(0)
        self.dropped(self.items.pop(0))

    def look(self) -> None:
        try:
            while not self.over and self.times and self.times[0] + self.time <= self.clock.now:
                self.drop()
        except Failure as failure:
            self.up.cancel()
            self.fail(failure)
        self.gate.run()


class Rebatch(Waiting):
    """A source is asked for ``size`` items, then for ``refill`` more when so many were taken."""

    patient = True

    def __init__(self, down: Subscriber, size: Count, refill: Count | None) -> None:
        super().__init__(down)
        self.demand = Prefetch(size)
        if refill is not None:
            self.demand.limit = refill

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.over:
            up.request(self.demand.size)

    def gave(self) -> None:
        self.demand.took(self.up)


class RateLimit(Waiting):
    """At most ``count`` items in any ``time``; no more is requested than may be given."""

    patient = True

    def __init__(self, down: Subscriber, clock: Clock, count: int, time: int) -> None:
        super().__init__(down)
        self.clock, self.free, self.time = clock, count, time
        self.given: list[int] = []
        self.requested = self.came = 0
        self.planned = False
        self.asking = False

    def next(self, item: Any) -> None:
        self.came += 1
        self.put(item)

    def give(self) -> None:
        while self.given and self.given[0] + self.time <= self.clock.now:
            self.given.pop(0)
            self.free += 1
        while not self.over and self.items and self.wanted and self.free:
            self.free -= 1
            self.wanted -= 1
            self.given.append(self.clock.now)
            self.down.on_next(self.items.pop(0))
        if self.over:
            return
        if self.done and not self.items:
            if self.failure:
                self.fail(self.failure)
            else:
                self.finish()
            return
        if self.wanted and not self.free and not self.planned:
            self.planned = True
            self.clock.after(self.given[0] + self.time - self.clock.now, self.ring)
        if not self.asking:
            self.asking = True
            self.gate.later.append(self.ask)

    def ring(self) -> None:
        self.planned = False
        self.gate.run()

    def ask(self) -> None:
        self.asking = False
        waiting = self.requested - self.came + len(self.items)
        more = min(self.wanted, self.free) - waiting
        if more > 0 and not self.over and not self.done:
            self.requested += int(more)
            self.up.request(more)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        self.gate.run()
