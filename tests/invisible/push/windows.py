"""Windows of the naive reference that open and close by time, and by other streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.clock import Clock, Task
from tests.invisible.push.parts import Part, Parting
from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, Side, Subscriber, Subscription, required

Selector = Callable[[Any], Flow]


class WindowTimed(Parting):
    """The base of windows that open when the subscriber may not have requested them: then the stream fails.

    What happens while a signal is on its way down waits in ``events``.
    """

    def __init__(self, down: Subscriber, clock: Clock) -> None:
        super().__init__(down)
        self.clock = clock
        self.windows: list[Part] = []
        self.tasks: list[Task] = []

    def begin(self, up: Subscription) -> None:
        raise NotImplementedError

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.down.on_subscribe(self)
        if not self.over:
            self.begin(up)

    def next(self, item: Any) -> None:
        self.event(lambda: self.into_windows(item))

    def into_windows(self, item: Any) -> None:
        for window in list(self.windows):
            window.put(item)

    def error(self, failure: Failure) -> None:
        self.event(lambda: self.end_all(failure))

    def complete(self) -> None:
        self.event(lambda: self.end_all(None))

    def event(self, action: Callable[[], None]) -> None:
        self.items.append(action)
        self.gate.run()

    def give(self) -> None:
        while self.items and not self.done:
            self.items.pop(0)()

    def end_all(self, failure: Failure | None) -> None:
        self.done = True
        self.release()
        for window in list(self.windows):
            window.end(failure)
        if failure:
            self.fail(failure)
        else:
            self.finish()

    def open(self) -> Part | None:
        """A new window, unless there is no subscriber for it; without a request for it the stream fails."""
        if self.over:
            return None
        if not self.wanted:
            self.up.cancel()
            self.end_all(Failure("MissingBackpressure"))
            return None
        self.wanted -= 1
        window = self.new_part()
        self.windows.append(window)
        self.hand(window)
        return window

    def close(self, window: Part) -> None:
        if window in self.windows:
            self.windows.remove(window)
            window.end()

    def request(self, n: Count) -> None:
        self.wanted += n

    def release(self) -> None:
        for task in self.tasks:
            task.cancel()

    def all_left(self) -> None:
        self.done = True
        self.release()
        self.up.cancel()


class WindowByTime(WindowTimed):
    """A window after another: for a time, or until it has ``size`` items; ``restart``: a full one begins the time anew."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, size: Count = UNBOUNDED, restart: bool = False) -> None:
        super().__init__(down, clock)
        self.delay, self.size, self.restart = delay, size, restart
        self.count = 0

    def begin(self, up: Subscription) -> None:
        self.open()
        if not self.done:
            self.set_timer()
            up.request(UNBOUNDED)

    def set_timer(self) -> None:
        self.release()
        self.tasks = [self.clock.every(self.delay, self.delay, lambda: self.event(self.change))]

    def into_windows(self, item: Any) -> None:
        super().into_windows(item)
        self.count += 1
        if self.count == self.size:
            self.change()
            if self.restart and not self.done:
                self.set_timer()

    def change(self) -> None:
        self.count = 0
        for window in list(self.windows):
            self.close(window)
        if self.over:
            self.release()
        else:
            self.open()


class WindowEvery(WindowTimed):
    """A window every ``every`` milliseconds, each open for ``delay``."""

    def __init__(self, down: Subscriber, clock: Clock, delay: int, every: int) -> None:
        super().__init__(down, clock)
        self.delay, self.every = delay, every

    def begin(self, up: Subscription) -> None:
        self.open_for_a_while()
        if not self.done:
            self.tasks.append(self.clock.every(self.every, self.every, lambda: self.event(self.open_for_a_while)))
            up.request(UNBOUNDED)

    def open_for_a_while(self) -> None:
        window = self.open()
        if window:
            self.tasks.append(self.clock.after(self.delay, lambda: self.event(lambda: self.close(window))))


class WindowBoundary(WindowTimed):
    """A new window whenever another stream gives something; when that ends the stream ends."""

    def __init__(self, down: Subscriber, clock: Clock) -> None:
        super().__init__(down, clock)
        self.side = Side(lambda _: self.event(self.change), self.side_error, self.side_complete)

    def begin_with(self, source: Flow, boundary: Flow) -> None:
        self.down.on_subscribe(self)
        self.event(self.change)
        boundary.subscribe(self.side)
        source.subscribe(self)

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.done:
            up.cancel()
        else:
            up.request(UNBOUNDED)

    def change(self) -> None:
        for window in list(self.windows):
            self.close(window)
        self.open()

    def side_error(self, failure: Failure) -> None:
        self.up.cancel()
        self.on_error(failure)

    def side_complete(self) -> None:
        self.up.cancel()
        self.on_complete()

    def release(self) -> None:
        self.side.cancel()

    def error(self, failure: Failure) -> None:
        self.items.clear()
        super().error(failure)

    def cancel(self) -> None:
        self.side.cancel()
        super().cancel()


class WindowToggle(WindowTimed):
    """A window for each item of ``opening``, until the source that the selector makes for it gives something or completes."""

    def __init__(self, down: Subscriber, clock: Clock, opening: Flow, closing: Selector) -> None:
        super().__init__(down, clock)
        self.opening, self.closing = opening, closing
        self.opener = Side(lambda item: self.event(lambda: self.open_until(item)), self.side_error, self.opening_complete)
        self.closers: list[Side] = []
        self.opening_done = False

    def begin(self, up: Subscription) -> None:
        self.opening.subscribe(self.opener)
        if not self.done:
            up.request(UNBOUNDED)

    def open_until(self, item: Any) -> None:
        if self.over:
            return
        try:
            flow = required(self.closing(item)) if self.wanted else None
        except Failure as failure:
            self.up.cancel()
            self.end_all(failure)
            return
        window = self.open()
        if window and flow:
            closer = Side(lambda _: shut(), self.side_error, lambda: shut())

            def shut() -> None:
                closer.cancel()
                self.event(lambda: self.shut(window))

            self.closers.append(closer)
            flow.subscribe(closer)

    def shut(self, window: Part) -> None:
        self.close(window)
        self.end_if_nothing_can_come()

    def opening_complete(self) -> None:
        self.opening_done = True
        self.event(self.end_if_nothing_can_come)

    def end_if_nothing_can_come(self) -> None:
        if self.opening_done and not self.windows:
            self.up.cancel()
            self.end_all(None)

    def side_error(self, failure: Failure) -> None:
        self.up.cancel()
        self.on_error(failure)

    def error(self, failure: Failure) -> None:
        self.items.clear()
        super().error(failure)

    def cancel(self) -> None:
        self.opener.cancel()
        super().cancel()

    def release(self) -> None:
        self.opener.cancel()
        for closer in self.closers:
            closer.cancel()
