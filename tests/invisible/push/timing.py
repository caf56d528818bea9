"""Operators of the naive reference that look at the clock, or wait for another source before they give an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.clock import Clock, Task
from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Flow,
    Greedy,
    Side,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
)

Selector = Callable[[Any], Flow]

MISSING_BACKPRESSURE = "MissingBackpressure"


class Timely(Stage):
    """Requests everything and has the clock at hand; an item that comes at the wrong time for the subscriber is an error."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int = 0) -> None:
        super().__init__(down)
        self.clock, self.delay = clock, delay
        self.wanted: Count = 0
        self.tasks: list[Task] = []

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(UNBOUNDED)

    def request(self, n: Count) -> None:
        self.wanted += n

    def give(self, item: Any) -> None:
        if self.over:
            return
        if not self.wanted:
            self.stop(Failure(MISSING_BACKPRESSURE))
        else:
            self.wanted -= 1
            self.down.on_next(item)

    def after(self, delay: int, action: Callable[[], None]) -> Task:
        task = self.clock.after(delay, lambda: None if self.over else action())
        self.tasks.append(task)
        return task

    def cancel_tasks(self) -> None:
        for task in self.tasks:
            task.cancel()

    def fail(self, failure: Failure) -> None:
        self.cancel_tasks()
        super().fail(failure)

    def finish(self) -> None:
        self.cancel_tasks()
        super().finish()

    def cancel(self) -> None:
        super().cancel()
        self.cancel_tasks()


class DebounceTimed(Timely):
    """An item when nothing came for a while after it; the last one at the completion."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int) -> None:
        super().__init__(down, clock, delay)
        self.latest: list[Any] = []

    def next(self, item: Any) -> None:
        self.cancel_tasks()
        self.latest = [item]
        self.after(self.delay, self.give_latest)

    def give_latest(self) -> None:
        latest, self.latest = self.latest, []
        for item in latest:
            self.give(item)

    def complete(self) -> None:
        self.cancel_tasks()
        self.give_latest()
        self.finish()


class DebounceBySelector(Timely):
    """An item when the source that is made for it gives something or completes before there is another item."""

    def __init__(self, down: Subscriber, clock: Clock, selector: Selector) -> None:
        super().__init__(down, clock)
        self.selector = selector
        self.latest: list[Any] = []
        self.side: Side | None = None

    def next(self, item: Any) -> None:
        self.stop_waiting()
        self.latest = []
        flow = self.selector(item)
        self.latest = [item]
        self.side = side = Side(lambda _: self.quiet(side), self.side_error, lambda: self.quiet(side))
        flow.subscribe(side)

    def quiet(self, side: Side) -> None:
        side.cancel()
        if self.side is side:
            self.give_latest()

    def give_latest(self) -> None:
        latest, self.latest = self.latest, []
        for item in latest:
            self.give(item)

    def side_error(self, failure: Failure) -> None:
        self.stop(failure)

    def complete(self) -> None:
        self.stop_waiting()
        self.give_latest()
        self.finish()

    def stop_waiting(self) -> None:
        if self.side:
            self.side.cancel()

    def fail(self, failure: Failure) -> None:
        self.stop_waiting()
        super().fail(failure)

    def cancel(self) -> None:
        super().cancel()
        self.stop_waiting()


class Sample(Timely):
    """The latest item at every tick; ``emit_last``: also what is left at the completion."""

    def __init__(self, down: Subscriber, clock: Clock, period: int, emit_last: bool) -> None:
        super().__init__(down, clock, period)
        self.emit_last = emit_last
        self.latest: list[Any] = []

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.down.on_subscribe(self)
        if not self.over:
            self.begin_sampling()
        if not self.over:
            up.request(UNBOUNDED)

    def begin_sampling(self) -> None:
        self.tasks.append(self.clock.every(self.delay, self.delay, self.tick))

    def next(self, item: Any) -> None:
        self.latest = [item]

    def tick(self) -> None:
        latest, self.latest = self.latest, []
        for item in latest:
            self.give(item)

    def complete(self) -> None:
        if self.emit_last:
            self.tick()
        self.finish()


class SampleBy(Sample):
    """The latest item whenever another source gives something; when that completes the stream is complete."""

    def __init__(self, down: Subscriber, clock: Clock, sampler: Flow, emit_last: bool) -> None:
        super().__init__(down, clock, 0, emit_last)
        self.sampler = sampler
        self.side = Side(lambda _: self.tick(), self.stop, self.sampler_complete)

    def begin_sampling(self) -> None:
        self.sampler.subscribe(self.side)

    def sampler_complete(self) -> None:
        self.up.cancel()
        self.complete()

    def cancel_tasks(self) -> None:
        super().cancel_tasks()
        self.side.cancel()


class ThrottleFirst(Timely):
    """An item, and then none for a while."""

    closed = False

    def next(self, item: Any) -> None:
        if not self.closed:
            self.closed = True
            self.give(item)
            self.after(self.delay, self.open)

    def open(self) -> None:
        self.closed = False


class ThrottleLatest(Timely):
    """An item, then the latest one after a while, and so on; ``emit_last``: also what is left at the completion."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, emit_last: bool) -> None:
        super().__init__(down, clock, delay)
        self.emit_last = emit_last
        self.latest: list[Any] = []
        self.running = False

    def next(self, item: Any) -> None:
        self.latest = [item]
        if not self.running:
            self.give_latest()

    def give_latest(self) -> None:
        latest, self.latest = self.latest, []
        self.running = bool(latest)
        for item in latest:
            self.give(item)
            self.after(self.delay, self.give_latest)

    def complete(self) -> None:
        if self.emit_last and self.latest:
            self.give(self.latest.pop())
        self.finish()


class TakeLastTimed(Waiting):
    """The items of the last while before the completion, at most ``count`` of them."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, count: Count) -> None:
        super().__init__(down)
        self.clock, self.delay, self.count = clock, delay, count
        self.kept: list[tuple[int, Any]] = []

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(UNBOUNDED)

    def next(self, item: Any) -> None:
        self.kept.append((self.clock.now, item))

    def complete(self) -> None:
        kept = [item for time, item in self.kept if time >= self.clock.now - self.delay]
        while len(kept) > self.count:
            kept.pop(0)
        self.items = kept
        self.end()


class SkipLastTimed(Greedy):
    """Drops the items of the last while before the completion: each item is given when a later one comes after that while.

    ``drops_at_end``: see Variant.
    """

    def __init__(self, down: Subscriber, clock: Clock, delay: int, drops_at_end: bool) -> None:
        super().__init__(down)
        self.clock, self.delay, self.drops_at_end = clock, delay, drops_at_end
        self.kept: list[tuple[int, Any]] = []

    def next(self, item: Any) -> None:
        self.kept.append((self.clock.now, item))
        self.give_old()

    def complete(self) -> None:
        self.give_old()
        if self.drops_at_end:
            self.kept.clear()
        self.end()

    def request(self, n: Count) -> None:
        super().request(n)
        self.give_old()

    def give_old(self) -> None:
        while self.kept and self.kept[0][0] <= self.clock.now - self.delay:
            self.put(self.kept.pop(0)[1])
