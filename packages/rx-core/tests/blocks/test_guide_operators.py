"""The operators that the guide writes out: alone, and in races."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import pytest

from rx_core import UNBOUNDED, CompositeException, FlowableBase, MissingBackpressureError

from .guide_operators import MapFilter, OrderedMerge, PrefetchedMapFilter
from .racing import Probe, Upstream, caught, every_round, race

GUIDE = Path(__file__).resolve().parents[4] / "docs" / "guides" / "concurrency-blocks.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of the source distribution")
def test_the_guide_has_these_operators_word_for_word() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    source = (Path(__file__).parent / "guide_operators.py").read_text(encoding="utf-8")
    parts = source.split("\n\n\nclass ")[1:]
    missing = [part.split("(")[0] for part in parts if f"class {part.split(chr(10) * 3 + '# --')[0].strip()}" not in text]
    assert not missing


class Numbers(FlowableBase[Any]):
    """Emits ``items`` as requested, from inside request, without recursion; remembers what it was asked for."""

    def __init__(self, *items: object, error: Exception | None = None) -> None:
        self.items, self.error = items, error
        self.runs: list[NumbersRun] = []

    def subscribe_actual(self, subscriber: Any, /) -> None:
        run = NumbersRun(subscriber, list(self.items), self.error)
        self.runs.append(run)
        subscriber.on_subscribe(run)
        run.request(0)

    @property
    def asked(self) -> list[int]:
        return self.runs[-1].requests


class NumbersRun(Upstream):
    def __init__(self, down: Any, items: list[object], error: Exception | None) -> None:
        super().__init__()
        self.down, self.items, self.error = down, items, error
        self.demand = 0
        self.busy = self.over = False

    def request(self, n: int, /) -> None:
        if n:
            self.requests.append(n)
        self.demand = self.demand + n
        if self.busy:
            return
        self.busy = True
        while self.demand and self.items and not self.cancels:
            self.demand = self.demand - 1
            self.down.on_next(self.items.pop(0))
        self.busy = False
        if not self.items and not self.cancels and not self.over:
            self.over = True
            if self.error is None:
                self.down.on_complete()
            else:
                self.down.on_error(self.error)


def double(item: int) -> int:
    return item * 2


def by_four(item: int) -> bool:
    return item % 4 == 0


# -- map and filter ------------------------------------------------------------------------------------------------------


def test_values_pass_the_function_and_the_predicate() -> None:
    end = Probe()
    MapFilter(Numbers(*range(6)), double, by_four).subscribe(end)
    assert (end.values, end.completions) == ([0, 4, 8], 1)
    end.assert_serial()


def test_what_is_left_out_is_asked_for_again() -> None:
    end = Probe(request=2)
    source = Numbers(*range(6))
    MapFilter(source, double, by_four).subscribe(end)
    assert (end.values, source.asked) == ([0, 4], [2, 1])
    assert end.subscription is not None
    end.subscription.request(1)
    assert (end.values, source.asked) == ([0, 4, 8], [2, 1, 1, 1])


@pytest.mark.parametrize(
    ("function", "predicate", "kind"),
    [
        (lambda x: 1 // x, by_four, ZeroDivisionError),
        (double, lambda x: 1 // x, ZeroDivisionError),
        (lambda x: None, by_four, TypeError),
    ],
)
def test_a_function_that_fails_ends_it(function: Any, predicate: Any, kind: type[Exception]) -> None:
    end, source = Probe(), Numbers(*range(6))
    MapFilter(source, function, predicate).subscribe(end)
    assert [type(error) for error in end.errors] == [kind]
    assert source.runs[-1].cancels == 1
    end.assert_serial()


def test_an_error_passes_and_a_wrong_request_is_answered() -> None:
    end, error = Probe(), ValueError("a")
    MapFilter(Numbers(1, 2, error=error), double, by_four).subscribe(end)
    assert (end.values, end.errors) == ([4], [error])
    wrong = Probe(request=0)
    MapFilter(Numbers(1), double, by_four).subscribe(wrong)
    assert wrong.subscription is not None
    wrong.subscription.request(-1)
    assert "§3.9" in str(wrong.errors[0])


def test_a_long_run_of_elements_that_drop_out_does_not_deepen_the_stack() -> None:
    end = Probe(request=1)
    MapFilter(Numbers(*range(1, 30_000, 2), 30_000), double, by_four).subscribe(end)
    assert end.values == [60_000]


def test_with_a_buffer_the_requests_are_stable() -> None:
    end, source = Probe(request=1), Numbers(*range(20))
    source.subscribe(PrefetchedMapFilter[int, int](end, 8, double, by_four))
    assert (end.values, source.asked) == ([0], [8])
    assert end.subscription is not None
    end.subscription.request(UNBOUNDED)
    assert (end.values, end.completions, set(source.asked[1:])) == ([0, 4, 8, 12, 16, 20, 24, 28, 32, 36], 1, {6})


class Emitting:
    """Emits from a thread of its own what is requested, until it is exhausted."""

    def __init__(self, items: Any) -> None:
        self.items = list(items)
        self.upstream = Upstream()

    def subscribe(self, subscriber: Any) -> None:
        self.subscriber = subscriber
        subscriber.on_subscribe(self.upstream)

    def run(self) -> None:
        sent, patience = 0, monotonic() + 3.0  # a broken operator may never ask again
        while sent < len(self.items) and not self.upstream.cancels and monotonic() < patience:
            if sent < self.upstream.total:
                self.subscriber.on_next(self.items[sent])
                sent += 1
            else:
                sleep(0)
        if not self.upstream.cancels:
            self.subscriber.on_complete()


class NotDeferred:
    """For the control: requests go up as they come."""

    def set_once(self, upstream: Any) -> None:
        self.upstream = upstream
        self.upstream.request(10)

    def request(self, n: int) -> None:
        if hasattr(self, "upstream"):
            self.upstream.request(n)

    def cancel(self) -> None:
        self.upstream.cancel()


def filters_in_a_race(broken: bool) -> None:
    source, end = Emitting(range(20)), Probe(request=0)
    operator = MapFilter(source, double, by_four)
    operator.subscribe_actual(end)
    if broken:
        source.subscriber.up = NotDeferred()
        source.subscriber.up.set_once(source.upstream)
    subscription: Any = end.subscription

    def ask() -> None:
        for _ in range(10):
            subscription.request(1)

    race(source.run, ask, ask)
    end.assert_serial()
    assert end.values == list(range(0, 40, 4))
    assert end.completions == 1
    assert not source.upstream.overlaps, "RS 2.7"


@pytest.mark.stress
def test_requests_and_replenishing_race() -> None:
    every_round(lambda _: filters_in_a_race(broken=False))


@pytest.mark.stress
def test_the_control_asks_from_two_threads() -> None:
    assert caught(lambda _: filters_in_a_race(broken=True))


# -- ordered merge -------------------------------------------------------------------------------------------------------


def identity(item: Any) -> Any:
    return item


def test_sorted_sources_come_out_sorted() -> None:
    end = Probe()
    OrderedMerge(Numbers(1, 4, 7), Numbers(2, 5), Numbers(), Numbers(0, 3, 6, 8, 9), key=identity).subscribe(end)
    assert (end.values, end.completions) == (list(range(10)), 1)
    end.assert_serial()


def test_without_sources_it_completes() -> None:
    end = Probe(request=0)
    OrderedMerge(key=identity).subscribe(end)
    assert end.completions == 1
    end.assert_serial()


def test_it_follows_demand_and_holds_no_more_than_the_prefetch() -> None:
    end = Probe(request=2)
    sources = [Numbers(*range(0, 100, 2)), Numbers(*range(1, 100, 2))]
    OrderedMerge(*sources, key=identity, prefetch=4).subscribe(end)
    assert end.values == [0, 1]
    assert [source.asked for source in sources] == [[4], [4]]
    assert end.subscription is not None
    end.subscription.request(10)
    assert end.values == list(range(12))
    assert [source.asked for source in sources] == [[4, 3, 3], [4, 3, 3]]


@pytest.mark.parametrize(("delay", "expected"), [(False, [1]), (True, [1, 2, 3, 9])])
def test_an_error_ends_it_at_once_or_after_the_elements(delay: bool, expected: list[int]) -> None:
    end, error = Probe(request=1), ValueError("a")
    OrderedMerge(Numbers(1, 3, 9), Numbers(2, error=error), key=identity, delay_errors=delay).subscribe(end)
    assert end.subscription is not None
    end.subscription.request(10)
    assert (end.values if delay else end.values[:1], end.errors) == (expected, [error])
    end.assert_serial()


def test_several_delayed_errors_come_together() -> None:
    end, a, b = Probe(), ValueError("a"), KeyError("b")
    OrderedMerge(Numbers(1, error=a), Numbers(2, error=b), key=identity, delay_errors=True).subscribe(end)
    assert end.values == [1, 2]
    (together,) = end.errors
    assert isinstance(together, CompositeException)


def test_a_key_that_fails_and_a_source_that_sends_too_much(reported: list[Exception]) -> None:
    end = Probe()
    OrderedMerge(Numbers(1, "x", 3), Numbers(2), key=lambda item: item + 0).subscribe(end)
    assert [type(error) for error in end.errors] == [TypeError]

    class Greedy:
        def subscribe(self, subscriber: Any) -> None:
            subscriber.on_subscribe(Upstream())
            for item in range(6):
                subscriber.on_next(item)

    end = Probe(request=0)
    OrderedMerge(Greedy(), key=identity, prefetch=4).subscribe(end)
    assert [type(error) for error in end.errors] == [MissingBackpressureError]
    assert not reported


def test_a_wrong_request_ends_it() -> None:
    end, source = Probe(request=0), Numbers(1, 2)
    OrderedMerge(source, key=identity, prefetch=1).subscribe(end)
    assert end.subscription is not None
    end.subscription.request(0)
    assert "§3.9" in str(end.errors[0])
    assert source.runs[-1].cancels == 1


def test_a_cancel_reaches_all_and_lets_go() -> None:
    end = Probe(request=1)
    things = [Probe() for _ in range(4)]
    sources = [Numbers(*things), Numbers(*[Probe() for _ in range(4)])]
    watches: list[weakref.ref[Any]] = [weakref.ref(end), *map(weakref.ref, things)]
    OrderedMerge(*sources, key=id, prefetch=1).subscribe(end)
    subscription = end.subscription
    assert subscription is not None
    subscription.cancel()
    assert [source.runs[-1].cancels for source in sources] == [1, 1]
    del end
    things.clear()
    for source in sources:
        source.items, source.runs = (), []
    gc.collect()
    assert [watch() for watch in watches] == [None] * 5


def test_sources_that_have_ended_are_not_cancelled() -> None:
    end, sources = Probe(request=1), [Numbers(1, 2), Numbers(3)]
    OrderedMerge(*sources, key=identity).subscribe(end)
    assert end.subscription is not None
    end.subscription.cancel()
    assert [source.runs[-1].cancels for source in sources] == [0, 0]


def test_a_subscriber_that_raises_has_cancelled() -> None:
    end, source = Probe(), Numbers(1, 2, 3)
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError):
        OrderedMerge(source, key=identity, prefetch=1).subscribe(end)
    assert (end.values, end.errors, source.runs[-1].cancels) == ([1], [], 1)


def merges_in_a_race(number: int, broken: bool) -> None:
    chance = Random(number)
    everything = list(range(14))
    parts: list[list[int]] = [[] for _ in range(2 + number % 3)]
    for item in everything:
        chance.choice(parts).append(item)
    sources, end = [Emitting(part) for part in parts], Probe(request=0)
    operator = OrderedMerge(*sources, key=identity, prefetch=4)
    operator.subscribe_actual(end)
    if broken:
        run: Any = sources[0].subscriber.run
        run.drain = partial(run.look, 0)  # each thread emits for itself
    subscription: Any = end.subscription

    def ask() -> None:
        for _ in range(7):
            subscription.request(1)

    race(ask, ask, *[source.run for source in sources])
    end.assert_serial()
    assert end.values == everything
    assert end.completions == 1


@pytest.mark.stress
def test_sources_on_threads_of_their_own() -> None:
    every_round(lambda number: merges_in_a_race(number, broken=False))


@pytest.mark.stress
def test_the_control_without_the_gate_fails() -> None:
    def check(number: int) -> None:
        try:
            merges_in_a_race(number, broken=True)
        except (TypeError, ValueError, IndexError) as error:  # two threads took the same head
            raise AssertionError from error

    assert caught(check)
