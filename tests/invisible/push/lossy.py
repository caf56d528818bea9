"""What becomes of items that are not requested, in the naive reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Greedy, Stage, Subscriber, Subscription

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
