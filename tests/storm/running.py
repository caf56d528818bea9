"""One round of a storm: sources on their threads, requests and cancellation on others, and a judgement when all have returned."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import rx_core
import rx_fusion
import rx_ops
from rx_core import UNBOUNDED, FlowableBase
from rx_ops import Flowable
from rx_testing import TestObserver, TestSubscriber
from rx_testing.racing import race, rounds
from tests.storm.feeding import EACH, PATIENCE, Feeder, stop_all
from tests.storm.operators import Case

#: Where threads stumble: see rx_testing.racing.
WATCHED: Final = tuple(package.__path__[0] for package in (rx_core, rx_fusion, rx_ops))

Work = Callable[[], object]


class Demand(Enum):
    """How the subscriber requests."""

    UNBOUNDED = "unbounded"
    ONE_BY_ONE = "one by one"
    FROM_THREADS = "from two threads"


class _SubscriberEnd(TestSubscriber[Any]):
    """Tells when the stream has ended."""

    def __init__(self, request: int, request_in_on_next: int) -> None:
        super().__init__(request, request_in_on_next=request_in_on_next)
        self.ended = threading.Event()

    def on_error(self, error: Exception, /) -> None:
        super().on_error(error)
        self.ended.set()

    def on_complete(self) -> None:
        super().on_complete()
        self.ended.set()


class _ObserverEnd(TestObserver[Any]):
    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()

    def on_error(self, error: Exception, /) -> None:
        super().on_error(error)
        self.ended.set()

    def on_complete(self) -> None:
        super().on_complete()
        self.ended.set()


@dataclass
class Storm:
    """A case with so many sources, subscribed by an end that records."""

    case: Case
    face: Any
    count: int
    demand: Demand = Demand.UNBOUNDED
    patience: float = PATIENCE
    feeders: list[Feeder] = field(init=False)
    flow: Any = field(init=False)
    got: Any = field(init=False)

    def __post_init__(self) -> None:
        case = self.case
        self.feeders = [
            Feeder(number, pieces=case.pieces, failing=case.failing, patience=self.patience) for number in range(self.count)
        ]
        streams: list[Any] = [Flowable.wrap(feeder) for feeder in self.feeders]
        self.flow = case.build(self.face, streams if self.face is Flowable else [stream.to_observable() for stream in streams])
        if isinstance(self.flow, FlowableBase):
            first = {Demand.UNBOUNDED: UNBOUNDED, Demand.ONE_BY_ONE: 1, Demand.FROM_THREADS: 0}[self.demand]
            self.got = _SubscriberEnd(first, 1 if self.demand is Demand.ONE_BY_ONE else 0)
        else:
            self.got = _ObserverEnd()

    def subscribe(self) -> None:
        self.flow.subscribe(self.got)

    def workers(self) -> list[Work]:
        """The sources, and the threads that request."""
        return [*(feeder.feed for feeder in self.feeders), *self._asking()]

    def _asking(self) -> list[Work]:
        if self.demand is not Demand.FROM_THREADS:
            return []
        half, rest = divmod(self.count * EACH, 2)

        def threes() -> None:
            for _ in range(half // 3):
                self.got.request(3)
            self.got.request(half % 3 + rest + 1)  # no more than all items and the end need: none may be lost

        return [lambda: [self.got.request(1) for _ in range(half)], threes]

    def keep(self) -> None:
        """Wait for the end, and let every source go."""
        try:
            self.got.await_terminal(self.patience)
        finally:
            stop_all(self.feeders)

    def race(self, *more: Work, subscribed: bool, watch: Sequence[str] = ()) -> None:
        """Run everything; ``subscribed``: before the threads start, or by one of them."""
        before = subscribed or not self.case.late
        if before:
            self.subscribe()
        first: list[Work] = [] if before else [self.subscribe]
        race(*first, *self.workers(), *more, watch=watch, seconds=1.5 * self.patience)

    def judge(self, whole: bool) -> None:
        self.got.assert_valid()  # serial, one end, and no more than was requested
        self.case.judge(list(self.got.values), self.count, whole)
        for feeder in self.feeders:
            assert not feeder.violations, feeder.violations
        if self.case.window is not None and self.face is Flowable:
            assert max(feeder.ahead for feeder in self.feeders) <= self.case.window


@dataclass(frozen=True)
class Round:
    """How one round differs from the others."""

    number: int
    count: int
    demand: Demand = Demand.UNBOUNDED
    watch: Sequence[str] = ()
    patience: float = PATIENCE

    @property
    def subscribed(self) -> bool:
        """Before the threads start; else one of them subscribes."""
        return self.number % 2 == 0


def feed(case: Case, face: Any, how: Round) -> None:
    """A round until the end."""
    storm = Storm(case, face, how.count, how.demand, how.patience)
    storm.race(storm.keep, subscribed=how.subscribed, watch=how.watch)
    storm.got.assert_complete()
    storm.judge(whole=True)


def cancel(case: Case, face: Any, how: Round) -> None:
    """A round that is cancelled from another thread, when the first source is about to send some item."""
    storm = Storm(case, face, how.count, how.demand, how.patience)
    at = how.number * 5 % EACH
    begun = storm.got.ended  # or earlier, when the stream has ended before
    storm.feeders[0].on_send = lambda place: begun.set() if place == at else None

    def leave() -> None:
        try:
            assert begun.wait(storm.patience), "nothing was sent"
            storm.got.cancel()
            if case.leaves:
                for feeder in storm.feeders:
                    feeder.await_left(storm.patience)
        finally:
            stop_all(storm.feeders)

    storm.race(leave, subscribed=how.subscribed, watch=how.watch)
    storm.judge(whole=False)


def plan(case: Case, face: Any, total: int, *, watch: Sequence[str] = (), patience: float = PATIENCE) -> Iterator[Round]:
    """Rounds of a case: from the fewest sources to the most, and every way to request. Each case begins elsewhere."""
    few, many = case.sources
    demands = list(Demand) if case.keeps and face is Flowable else [Demand.UNBOUNDED]
    first = len(case.name)
    for number in rounds(total):
        at = first + number
        yield Round(number, few + at * 3 % (many - few + 1), demands[at % len(demands)], watch, patience)
