"""What a run holds: no more of an endless source than its buffers allow, and nothing once it is cancelled.

Over all lines of the table, so that no operator is forgotten.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any, Final, cast

import pytest

from rx_core import DEFAULT_PREFETCH, BufferWatch, FlowableBase, Subscriber
from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import ITEMS, MODES, Bench, Case, Kit, bench, switched
from tests.conformance.sources import Source
from tests.conformance.table import TABLE

#: As good as endless: who reads so many was not stopped.
ENDLESS: Final = 4_000

#: Elements requested before the consumer stops.
WANTED: Final = 3

#: Queues that one line can have in a row: before it (hidden), its own, one for its inner sources, and behind it (hidden).
BOUNDARIES: Final = 4


class Endless:
    """The items of the table over and over; it knows how far it was read."""

    def __init__(self, items: Any) -> None:
        self._items = items
        self.read = 0
        self.open = 0

    def __iter__(self) -> Iterator[Any]:
        self.open += 1
        try:
            for item in islice(cycle(self._items), ENDLESS):
                self.read += 1
                yield item
        finally:
            self.open -= 1


def needed(case: Case) -> int | None:
    """How many elements of its source the line needs to give those that are wanted; None when no number is enough."""
    for size in range(1, 200):
        if len(case.expected(list(islice(cycle(case.items), size)))) >= WANTED:
            return size
    return None


def goes_on(case: Case) -> bool:
    """Whether it gives something for an endless source, and is asked before it does."""
    if any(map(case.has, ("fold", "hot", "lossy", "source", "early", "endless"))):
        return False
    most = case.expected(list(islice(cycle(case.items), 60)))
    return needed(case) is not None and len(most) > WANTED


#: Those that say so in their docstring: they take everything, or have to.
WITHOUT_BOUND: Final = ("cache", "cache_ttl", "group_join", "on_backpressure_buffer", "on_backpressure_timeout", "to_observable")
#: A window that is full or due while no further one is requested is an error, and a buffer that is full, as in RxJava.
#: So is a group of each item, of which more come than are requested.
FAILING: Final = ("window time count", "window restart", "on_backpressure_buffer bounded", "group_by_until at once")

LINES: Final = [case for case in TABLE if goes_on(case) and case.name not in (*WITHOUT_BOUND, *FAILING)]


@each("mode", MODES)
@pytest.mark.parametrize("case", LINES, ids=str)
def test_an_endless_source_is_read_no_further_than_the_buffers_allow(case: Case, mode: str) -> None:
    endless = Endless(case.items)
    kit = Kit()
    source: Flowable[Any] = Flowable.from_iterable(endless)
    flow = case.build(source.hide(), kit).hide() if mode == "hidden" else case.build(source, kit)
    made = Bench(case, Source(source), kit, flow, mode)
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    with BufferWatch() as watch:
        made.subscribe(subscriber)
        for _ in range(WANTED):
            with switched(mode):
                subscriber.request(1)
            made.settle()
        assert endless.read <= (needed(case) or 0) + BOUNDARIES * DEFAULT_PREFETCH
        subscriber.cancel()
        made.settle()
    subscriber.assert_value_count(WANTED).assert_not_terminated()
    assert watch.peak <= DEFAULT_PREFETCH
    assert endless.read < ENDLESS
    assert endless.open == 0


def test_most_lines_are_looked_at() -> None:
    assert len(LINES) > len(TABLE) / 2


@each("mode", MODES)
@each("requested", [0, 2])
@pytest.mark.parametrize("case", TABLE, ids=str)
def test_a_cancelled_subscription_keeps_nothing(case: Case, requested: int, mode: str) -> None:
    """Also of lines that the TCK cannot run (§3.13), because how many elements they give depends on when they are asked."""
    made = bench(case, "manual", mode)
    references: list[weakref.ref[Any]] = []

    def run() -> None:
        subscriber: TestSubscriber[Any] = TestSubscriber(request=requested, on_value=lambda _item: None)
        references.append(weakref.ref(subscriber))
        made.subscribe(subscriber)
        made.source.pump()
        subscriber.cancel()
        subscriber.subscription = None

    run()
    for generation in (0, 1, 2):  # a full collection takes its time, and this is asked a thousand times
        while references[0]() is not None:
            gc.collect(generation)
            if not made.clock_moves():
                break
    assert references[0]() is None


def test_control_a_subscriber_that_is_kept_is_noticed() -> None:
    kept: list[Any] = []

    class Keeping(FlowableBase[Any]):
        def __init__(self, source: Flowable[Any]) -> None:
            self._source = source

        def subscribe_actual(self, subscriber: Subscriber[Any], /) -> None:
            kept.append(subscriber)
            self._source.subscribe(subscriber)

    case = Case("keeping", lambda s, k: cast(Any, Keeping(s)), lambda xs: xs)
    with pytest.raises(AssertionError):
        test_a_cancelled_subscription_keeps_nothing(case)


def test_control_a_source_that_is_read_ahead_is_noticed() -> None:
    case = Case("greedy", lambda s, k: s.map(lambda x: x).on_backpressure_buffer(), lambda xs: xs, items=ITEMS)
    with pytest.raises(AssertionError):
        test_an_endless_source_is_read_no_further_than_the_buffers_allow(case)
