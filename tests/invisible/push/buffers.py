"""Lists of items in the naive reference: by number, by time, and by other streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.clock import Clock
from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, Greedy, Side, Subscriber, Subscription, Waiting
from tests.invisible.push.timing import Timely

Selector = Callable[[Any], Flow]


class BufferCount(Waiting):
    """Lists of ``size`` items, a new one every ``skip`` items; at the completion what is there."""

    def __init__(self, down: Subscriber, size: int, skip: int) -> None:
        super().__init__(down)
        self.size, self.skip = size, skip
        self.index = 0
        self.open: list[list[Any]] = []
        self.asked = False

    def next(self, item: Any) -> None:
        if self.index % self.skip == 0:
            self.open.append([])
        self.index += 1
        for buffer in self.open:
            buffer.append(item)
        if self.open and len(self.open[0]) == self.size:
            self.put(self.open.pop(0))

    def complete(self) -> None:
        self.items += self.open
        self.end()

    def request(self, n: Count) -> None:
        first = 0 if self.asked else self.size - self.skip
        self.asked = True
        self.wanted += n
        self.up.request(self.skip * n + first)
        self.gate.run()


class BufferTimed(Timely):
    """A list after another: for a time, or until it has ``size`` items; ``restart``: a full one begins the time anew."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, size: Count = UNBOUNDED, restart: bool = False) -> None:
        super().__init__(down, clock, delay)
        self.size, self.restart = size, restart
        self.buffer: list[Any] = []

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.down.on_subscribe(self)
        if self.size < UNBOUNDED:
            self.set_timer()
            up.request(UNBOUNDED)
        else:
            up.request(UNBOUNDED)
            self.set_timer()

    def set_timer(self) -> None:
        if not self.over:
            self.tasks.append(self.clock.every(self.delay, self.delay, self.give_buffer))

    def next(self, item: Any) -> None:
        self.buffer.append(item)
        if len(self.buffer) >= self.size:
            if self.restart:
                self.cancel_tasks()
            self.give_buffer()
            if self.restart:
                self.set_timer()

    def give_buffer(self) -> None:
        buffer, self.buffer = self.buffer, []
        self.give(buffer)

    def complete(self) -> None:
        self.give_buffer()
        self.finish()


class BufferEvery(Timely):
    """A list begun every ``every`` milliseconds, each open for ``delay``."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, every: int) -> None:
        super().__init__(down, clock, delay)
        self.every = every
        self.open: list[list[Any]] = []

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.open.append([])
        self.down.on_subscribe(self)
        up.request(UNBOUNDED)
        if not self.over:
            self.tasks.append(self.clock.every(self.every, self.every, self.begin))
            self.close_later(self.open[0])

    def begin(self) -> None:
        self.open.append([])
        self.close_later(self.open[-1])

    def close_later(self, buffer: list[Any]) -> None:
        def close() -> None:
            self.open = [other for other in self.open if other is not buffer]
            self.give(buffer)

        self.after(self.delay, close)

    def next(self, item: Any) -> None:
        for buffer in self.open:
            buffer.append(item)

    def complete(self) -> None:
        for buffer in self.open:
            self.give(buffer)
        self.finish()


class BufferBoundary(Timely):
    """A new list whenever another stream gives something; when that ends the stream ends."""

    def __init__(self, down: Subscriber, clock: Clock, boundary: Flow) -> None:
        super().__init__(down, clock)
        self.boundary = boundary
        self.buffer: list[Any] = []
        self.side = Side(lambda _: self.give_buffer(), self.stop, self.side_complete)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.over:
            self.boundary.subscribe(self.side)

    def next(self, item: Any) -> None:
        self.buffer.append(item)

    def give_buffer(self) -> None:
        buffer, self.buffer = self.buffer, []
        self.give(buffer)

    def side_complete(self) -> None:
        if not self.over:
            self.up.cancel()
            self.complete()

    def complete(self) -> None:
        self.give_buffer()
        self.finish()

    def cancel_tasks(self) -> None:
        self.side.cancel()


class BufferToggle(Greedy):
    """A list for each item of ``opening``, until the source that the selector makes for it gives something or completes."""

    def __init__(self, down: Subscriber, opening: Flow, closing: Selector) -> None:
        super().__init__(down)
        self.opening, self.closing = opening, closing
        self.open: dict[int, list[Any]] = {}
        self.sides: list[Side] = []
        self.opened = 0

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.down.on_subscribe(self)
        if not self.over:
            opener = Side(self.begin, self.stop, lambda: self.side_done(opener))
            self.sides.append(opener)
            self.opening.subscribe(opener)
        if not self.over:
            up.request(UNBOUNDED)

    def begin(self, item: Any) -> None:
        try:
            flow = self.closing(item)
        except Failure as failure:
            self.stop(failure)
            return
        self.opened += 1
        number = self.opened
        self.open[number] = []

        def close() -> None:
            if number in self.open:
                closer.cancel()
                self.items.append(self.open.pop(number))
                self.side_done(closer)
                self.gate.run()

        closer = Side(lambda _: close(), self.stop, close)
        self.sides.append(closer)
        flow.subscribe(closer)

    def side_done(self, side: Side) -> None:
        if side in self.sides:
            self.sides.remove(side)
        if not self.sides:
            self.up.cancel()
            self.end()

    def next(self, item: Any) -> None:
        for buffer in self.open.values():
            buffer.append(item)

    def complete(self) -> None:
        self.leave()
        self.items += self.open.values()
        self.end()

    def error(self, failure: Failure) -> None:
        self.leave()
        super().error(failure)

    def stop(self, failure: Failure) -> None:
        if not self.over and not self.done:
            self.leave()
            super().stop(failure)

    def cancel(self) -> None:
        super().cancel()
        self.leave()

    def leave(self) -> None:
        for side in self.sides:
            side.cancel()
