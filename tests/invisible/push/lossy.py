"""What becomes of items that are not requested, in the naive reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.clock import Clock
from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Gate,
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
        self.give_up(lambda: len(self.items) > self.size)
        if self.items:
            self.clock.after(self.time, self.look)

    def gave(self) -> None:
        self.times.pop(0)

    def drop(self) -> None:
        self.times.pop(0)
        self.dropped(self.items.pop(0))

    def look(self) -> None:
        self.give_up(lambda: bool(self.times) and self.times[0] + self.time <= self.clock.now)
        self.gate.run()

    def give_up(self, too_many: Callable[[], bool]) -> None:
        """Drop the oldest. What the function for those raises waits for nothing."""
        try:
            while not self.over and too_many():
                self.drop()
        except Failure as failure:
            self.up.cancel()
            self.fail(failure)


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


class Rail:
    """One of the rails of :class:`Rails`: what it may get, and what it has."""

    def __init__(self, window: Count) -> None:
        self.free = window
        self.limit = Prefetch(window).limit
        self.taken: Count = 0
        self.items: list[Any] = []


class Rails(Stage):
    """Items go to rails in turn, as each has room for them, and come out in the order in which they went there.

    An error overtakes what has not gone to a rail, and (not ``patient``) what has.
    """

    def __init__(self, down: Subscriber, rails: int, prefetch: Count, window: Count, patient: bool, pulls: bool = False) -> None:
        super().__init__(down)
        self.rails = [Rail(window) for _ in range(rails)]
        self.turn = 0
        self.order: list[Rail] = []
        self.patient, self.pulls = patient, pulls
        self.demand = Prefetch(prefetch)
        self.waiting: list[Any] = []
        self.wanted: Count = 0
        self.ended: Failure | bool = False
        self.gate = Gate(self.give)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.over:
            up.request(sum(rail.free for rail in self.rails) if self.pulls else self.demand.size)

    def next(self, item: Any) -> None:
        self.waiting.append(item)
        self.gate.run()

    def error(self, failure: Failure) -> None:
        self.ended = failure
        self.gate.run()

    def complete(self) -> None:
        self.ended = True
        self.gate.run()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def divide(self) -> None:
        while self.waiting and any(rail.free for rail in self.rails):
            rail = self.rails[self.turn]
            self.turn = (self.turn + 1) % len(self.rails)
            if rail.free:
                rail.free -= 1
                rail.items.append(self.waiting.pop(0))
                self.order.append(rail)
                if not self.pulls:
                    self.demand.took(self.up)

    def give(self) -> None:
        while not self.over:
            if isinstance(self.ended, Failure):
                self.waiting.clear()
            self.divide()
            if isinstance(self.ended, Failure) and not (self.patient and self.order):
                self.fail(self.ended)
            elif self.order and self.wanted:
                self.wanted -= 1
                rail = self.order.pop(0)
                self.down.on_next(rail.items.pop(0))
                rail.taken += 1
                if rail.taken == rail.limit and not self.over:
                    rail.taken = 0
                    rail.free += rail.limit
                    if self.pulls:
                        self.up.request(rail.limit)
            elif self.ended is True and not self.order and not self.waiting:
                self.finish()
            else:
                return


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
