"""Bounded, however large the source: what waits is counted, the stack does not grow, memory stays flat."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rx_core._demand
import rx_schedulers
from rx_core import UNBOUNDED, BufferWatch, MissingBackpressureError
from rx_ops import Flowable
from rx_testing import ManualPublisher, ManualSubscription, TestSubscriber, VirtualScheduler
from tests.conformance.harness import switched

TEN_MILLION = 10_000_000


class Counting:
    """A source of ten million elements that knows how far it was read."""

    def __init__(self) -> None:
        self.read = 0
        self.closed = threading.Event()

    def __iter__(self) -> Iterator[int]:
        try:
            for item in range(TEN_MILLION):
                self.read += 1
                yield item
        finally:
            self.closed.set()


AHEAD: dict[str, tuple[Callable[[Flowable[int], Any], Flowable[Any]], int, int]] = {
    "polled by the worker": (lambda s, w: s.observe_on(w), 1, 128),
    "through a queue": (lambda s, w: s.hide().observe_on(w), 128, 128),
    "through a small queue": (lambda s, w: s.hide().observe_on(w, prefetch=4), 4, 4),
    "two boundaries": (lambda s, w: s.hide().observe_on(w).map(str).observe_on(w, prefetch=128), 256, 128),
    # The worker of the first one fills the second one, whose window may grow: it does on a machine that is busy.
    "two boundaries, one grows": (lambda s, w: s.hide().observe_on(w).map(str).observe_on(w), 128 + 1024, 1024),
    "flat_map behind it": (lambda s, w: s.hide().observe_on(w).flat_map(Flowable.just, max_concurrency=8), 128 + 8, 128),
    "merge behind it": (lambda s, w: s.hide().observe_on(w).merge_with(Flowable.never()), 256, 128),
}


@pytest.mark.parametrize(("build", "ahead", "waiting"), AHEAD.values(), ids=list(AHEAD))
def test_ten_million_elements_are_read_no_further_ahead_than_the_buffers_allow(
    build: Callable[[Flowable[int], Any], Flowable[Any]], ahead: int, waiting: int, no_leaks: None
) -> None:
    source = Counting()
    taken = 0
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    with BufferWatch() as watch:
        build(Flowable.from_iterable(source), rx_schedulers.new_thread()).subscribe(got)
        for _ in range(30):  # a consumer that takes seven and then thinks for a while
            got.request(7)
            taken += 7
            got.await_count(taken)
            assert source.read <= taken + ahead
        got.cancel()
        assert source.closed.wait(5)
    assert watch.peak <= waiting
    got.assert_value_count(taken).assert_not_terminated()
    assert source.read <= taken + ahead


def _read_ahead(build: Callable[[Flowable[int], Any, Any], Flowable[Any]], turns: int) -> int:
    """How far a source is read ahead at most, over two boundaries, when the first worker has its turn only where the second one
    has nothing left: each on a thread of its own, one at a time."""
    first, second = VirtualScheduler(), VirtualScheduler()
    source = Counting()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    build(Flowable.from_iterable(source), first, second).subscribe(got)
    taken = most = 0
    for _ in range(turns):
        got.request(7)
        taken += 7
        second.run_due()
        while len(got.values) < taken:
            turn = threading.Thread(target=first.run_due)
            turn.start()
            turn.join()
            most = max(most, source.read - taken)
            second.run_due()
    got.cancel()
    second.run_due()
    first.run_due()
    assert source.closed.is_set()
    return most


def test_windows_that_were_given_are_the_bound_however_the_workers_get_their_turns(no_leaks: None) -> None:
    for turns in (1, 19, 1_000):
        ahead = _read_ahead(lambda s, a, b: s.hide().observe_on(a, prefetch=128).map(str).observe_on(b, prefetch=128), turns)
        assert 128 < ahead <= 256


def test_a_window_that_nobody_gave_grows_where_a_worker_runs_dry_and_then_finds_all_it_asked_for(
    no_leaks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rx_core._demand, "perf_counter", lambda: 0.0)  # each window is taken in no time

    def build(s: Flowable[int], a: Any, b: Any) -> Flowable[Any]:
        return s.hide().observe_on(a).map(str).observe_on(b)

    assert _read_ahead(build, 40) <= 256  # the first time says nothing yet
    assert 256 < _read_ahead(build, 60) <= 128 + 256
    assert 128 + 2048 < _read_ahead(build, 5_000) <= 128 + 4096


def test_memory_is_flat_over_many_elements(no_leaks: None) -> None:
    flow = Flowable.range(TEN_MILLION).hide().observe_on(rx_schedulers.new_thread(), prefetch=16).map(lambda x: [x] * 100)
    items = iter(flow.blocking_iter(prefetch=16))
    for _ in range(1_000):
        next(items)
    gc.collect()
    tracemalloc.start()
    try:
        start, _ = tracemalloc.get_traced_memory()
        for _ in range(20_000):
            next(items)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        items.close()  # type: ignore[attr-defined]  # a generator
    assert peak - start < 1_000_000  # 20,000 lists of 100 would be 17 MB


def test_a_million_requests_of_one_do_not_nest() -> None:
    got: TestSubscriber[int] = TestSubscriber(request=1, request_in_on_next=1)
    Flowable.range(100_000).map(lambda x: x + 1).filter(bool).subscribe(got)
    got.assert_value_count(100_000).assert_complete()
    assert got.max_depth <= 2


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.filter(lambda x: x % 1000 == 0),  # asks again for what it drops, from inside on_next
        lambda s: s.skip_while(lambda x: x < 99_999),
        lambda s: s.hide().concat_map(Flowable.just).hide(),
        lambda s: s.hide().flat_map(Flowable.just).map(str),
        lambda s: s.merge_with(Flowable.empty()).hide(),
        lambda s: s.zip_with(Flowable.range(100_000)).hide(),
        lambda s: s.on_backpressure_buffer(),
    ],
)
def test_a_synchronous_foreign_source_does_not_deepen_the_stack(build: Callable[[Flowable[int]], Flowable[Any]]) -> None:
    deepest = 0

    def answer(subscription: ManualSubscription[int], _n: int) -> None:
        nonlocal deepest
        if getattr(subscription, "busy", False):
            return  # RS 3.3: the loop below serves it
        subscription.busy = True  # type: ignore[attr-defined]  # a mark of this test
        deepest = max(deepest, _depth())
        while subscription.outstanding and subscription.sent < 100_000 and not subscription.cancelled:
            subscription.next(subscription.sent)
        subscription.busy = False  # type: ignore[attr-defined]  # a mark of this test
        if subscription.sent == 100_000 and not getattr(subscription, "over", False):
            subscription.over = True  # type: ignore[attr-defined]  # a mark of this test
            subscription.complete()

    source: ManualPublisher[int] = ManualPublisher(on_request=answer)
    got: TestSubscriber[Any] = TestSubscriber(request=1, request_in_on_next=1)
    start = _depth()
    build(Flowable.wrap(source)).subscribe(got)
    got.assert_complete()
    assert deepest - start < 60


def _depth() -> int:
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def test_a_hundred_thousand_retries_do_not_deepen_the_stack() -> None:
    left = iter(range(100_000))
    depths: set[int] = set()

    def source() -> Flowable[int]:
        depths.add(_depth())
        return Flowable.error(OSError) if next(left, None) is not None else Flowable.just(1)

    got: TestSubscriber[int] = TestSubscriber()
    Flowable.defer(source).retry().subscribe(got)
    got.assert_result(1)
    assert len(depths) <= 2


def test_a_concat_of_many_sources_does_not_deepen_the_stack() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.concat(*[Flowable.just(x) for x in range(20_000)]).subscribe(got)
    got.assert_value_count(20_000).assert_complete()
    second: TestSubscriber[int] = TestSubscriber()
    Flowable.range(100_000).concat_map(lambda x: Flowable.just(x).hide()).subscribe(second)
    second.assert_value_count(100_000).assert_complete()


def test_a_million_synchronous_elements_through_the_drain_do_not_nest() -> None:
    seen = 0
    for _ in Flowable.range(1_000_000).concat_with(Flowable.range(10)):
        seen += 1
    assert seen == 1_000_010


# -- group_by ------------------------------------------------------------------------------------------------------------


def test_groups_that_nobody_subscribes_to_do_not_hang_the_stream() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.range(1_000).group_by(lambda x: x % 3).map(lambda group: group.key).subscribe(got)
    got.assert_complete()
    assert got.values[:3] == [0, 1, 2]


def test_more_groups_than_flat_map_takes_are_an_error_that_says_what_to_do() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.range(100).group_by(lambda x: x).flat_map(lambda group: group, max_concurrency=4).subscribe(got)
    got.assert_error(MissingBackpressureError, match="max_concurrency=8")


def test_a_slow_group_stops_the_source_at_the_bound_and_not_before() -> None:
    read: list[int] = []
    flow = Flowable.from_iterable(_noted(read, 10_000)).group_by(lambda x: x % 2, buffer_size=16)
    slow: TestSubscriber[int] = TestSubscriber(request=0)
    fast: TestSubscriber[int] = TestSubscriber()
    flow.subscribe(TestSubscriber(on_value=lambda group: group.subscribe(fast if group.key else slow)))
    waiting = len(read) - len(fast.values)  # all of it for the slow one
    assert 8 < waiting <= 16  # what is not asked for again yet is less than half of the bound
    slow.request(10)
    assert 8 < len(read) - len(fast.values) - 10 <= 16
    slow.request(UNBOUNDED)
    slow.assert_value_count(5_000).assert_complete()
    fast.assert_value_count(5_000).assert_complete()


def _noted(read: list[int], count: int) -> Iterator[int]:
    for item in range(count):
        read.append(item)
        yield item


def test_the_key_of_a_cancelled_group_comes_again() -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.range(9).group_by(lambda _x: "all").flat_map(lambda group: group.take(2).to_list()).subscribe(got)
    got.assert_result([0, 1], [2, 3], [4, 5], [6, 7], [8])


@pytest.mark.parametrize("mode", ["fused", "hidden", "off"])
def test_the_groups_that_take_lets_through_are_complete(mode: str) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    with switched(mode):
        groups = Flowable.range(10).group_by(lambda x: x % 3)
        groups = groups.hide() if mode == "hidden" else groups
        groups.take(2).flat_map(lambda group: group.to_list()).subscribe(got)
    got.assert_result([0, 3, 6, 9], [1, 4, 7])


def test_cancelling_the_stream_of_groups_lets_the_open_groups_finish() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    group: TestSubscriber[int] = TestSubscriber()
    outer: TestSubscriber[Any] = TestSubscriber(on_value=lambda made: made.subscribe(group) if made.key else None)
    Flowable.wrap(source).group_by(lambda x: x % 2).subscribe(outer)
    source.next(1)
    outer.cancel()
    source.next(2, 3)
    group.assert_values(1, 3)
    source.complete()
    group.assert_complete()


def test_the_source_is_cancelled_when_the_last_group_is_gone() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    group: TestSubscriber[int] = TestSubscriber()
    outer: TestSubscriber[Any] = TestSubscriber(on_value=lambda made: made.subscribe(group))
    Flowable.wrap(source).group_by(lambda x: 1).subscribe(outer)
    source.next(1)
    outer.cancel()
    assert not source.cancelled
    group.cancel()
    assert source.cancelled


# -- letting go ----------------------------------------------------------------------------------------------------------


class _Thing:
    """Something that can be referred to weakly."""


RELEASED: dict[str, Callable[[Flowable[Any]], Flowable[Any]]] = {
    "map": lambda s: s.map(lambda x: x),
    "hide": lambda s: s.hide(),
    "buffer": lambda s: s.buffer(100),
    "distinct": lambda s: s.distinct(),
    "merge": lambda s: s.merge_with(Flowable.never()),
    "zip": lambda s: s.zip_with(Flowable.never()),
    "flat_map": lambda s: s.flat_map(lambda x: Flowable.just(x).concat_with(Flowable.never())),
    "group_by": lambda s: s.group_by(lambda x: 1).flat_map(lambda group: group.to_list()),
    "backpressure": lambda s: s.on_backpressure_buffer(),
}


@pytest.mark.parametrize("build", RELEASED.values(), ids=list(RELEASED))
def test_a_cancelled_subscription_frees_what_it_held(build: Callable[[Flowable[Any]], Flowable[Any]]) -> None:
    source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    build(Flowable.wrap(source)).subscribe(got)
    thing = _Thing()
    alive = weakref.ref(thing)
    source.next(thing, _Thing())
    got.cancel()
    subscription = got.subscription
    subscriber = weakref.ref(got)
    source.subscriptions.clear()
    del thing, got
    gc.collect()
    assert alive() is None
    assert subscriber() is None, "the cancelled subscription still holds its subscriber (RS 3.13)"
    assert subscription is not None
    subscription.request(UNBOUNDED)
