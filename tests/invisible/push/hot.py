"""Hot sources of the naive reference: subjects that a script plays at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.invisible.push.streams import UNBOUNDED, Count, Failure, Flow, Stage, Subscriber, Subscription, Waiting


class Hot(Subscriber):
    """A subject that a script plays at: it gives to those who are subscribed. An item that is not requested is an error."""

    #: See Variant.
    joins_first = False

    def __init__(self) -> None:
        self.seats: list[Stage] = []
        self.ended = False
        self.failure: Failure | None = None

    def flow(self) -> Flow:
        return Flow(self.subscribe)

    def subscribe(self, down: Subscriber) -> None:
        seat = Seat(down)
        seat.on_subscribe(Subscription())
        if self.ended:
            self.greet_late(seat)
            self.end(seat)
        else:
            self.seats.append(seat)
            self.greet(seat)

    def greet(self, seat: Stage) -> None:
        """What a new subscriber is given at once."""

    def greet_late(self, seat: Stage) -> None:
        """What a subscriber is given that comes after the end."""

    def end(self, seat: Stage) -> None:
        if self.failure:
            seat.on_error(self.failure)
        else:
            seat.on_complete()

    def on_next(self, item: Any) -> None:
        if not self.ended:
            for seat in list(self.seats):
                seat.on_next(item)

    def on_error(self, failure: Failure) -> None:
        if not self.ended:
            self.failure = failure
            self.on_complete()

    def on_complete(self) -> None:
        if not self.ended:
            self.ended = True
            for seat in list(self.seats):
                self.end(seat)


class Seat(Stage):
    """A subscriber of a hot source."""

    patient = True

    def __init__(self, down: Subscriber) -> None:
        super().__init__(down)
        self.wanted: Count = 0

    def request(self, n: Count) -> None:
        self.wanted += n

    def next(self, item: Any) -> None:
        if not self.wanted:
            raise Failure("MissingBackpressure")
        self.wanted -= 1
        self.down.on_next(item)


class Behavior(Hot):
    """Gives its latest item to new subscribers."""

    latest: Any = None

    def on_next(self, item: Any) -> None:
        if not self.ended:
            self.latest = item
        super().on_next(item)

    def greet(self, seat: Stage) -> None:
        if self.latest is not None:
            seat.on_next(self.latest)


class Async(Hot):
    """Gives only its last item, when it completes."""

    latest: Any = None

    def subscribe(self, down: Subscriber) -> None:
        waiting = Waiting(down)
        waiting.on_subscribe(Subscription())
        self.seats.append(waiting)
        if self.ended:
            self.end(waiting)

    def on_next(self, item: Any) -> None:
        self.latest = item

    def end(self, seat: Stage) -> None:
        if self.latest is not None and not self.failure:
            seat.on_next(self.latest)
        super().end(seat)


class Replay(Hot):
    """Gives all its items, or its latest ``size``, to each subscriber as they are requested, the end as well. What is requested
    inside of on_subscribe is given there."""

    def __init__(self, size: float = UNBOUNDED) -> None:
        super().__init__()
        self.size = size
        self.kept: list[Any] = []

    def subscribe(self, down: Subscriber) -> None:
        waiting = Patient(down)
        waiting.items += self.kept
        waiting.done, waiting.failure = self.ended, self.failure
        if self.joins_first:
            self.seats.append(waiting)
        waiting.on_subscribe(Subscription())
        if not self.joins_first:
            self.seats.append(waiting)
        waiting.gate.run()

    def on_next(self, item: Any) -> None:
        self.kept.append(item)
        if len(self.kept) > self.size:
            self.kept.pop(0)
        super().on_next(item)


class Patient(Waiting):
    patient = True


SUBJECTS: Final[dict[str, Callable[[], Hot]]] = {
    "publish": Hot,
    "behavior": Behavior,
    "replay": Replay,
    "replay1": lambda: Replay(1),
    "async": Async,
}
