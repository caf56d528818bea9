"""How much sources are asked for, when items are given, and what becomes of those that are too many."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from queue import Queue
from typing import Any, TypeVar

import pytest
from ops_parties import errors_of_the_hook

import rx_schedulers
from rx_core import UNBOUNDED, MissingBackpressureError
from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Emitter, Flowable, Observable, OverflowStrategy, PublishProcessor
from rx_testing import ManualPublisher, TestObserver, TestSubscriber, VirtualScheduler

T = TypeVar("T")
Source = ManualPublisher[int]


class Oops(Exception):
    """What a callback raises."""


class Failed(Exception):
    """What a source fails with."""


def fail(*_args: object) -> Any:
    raise Oops


# -- rebatch_requests ----------------------------------------------------------------------------------------------------------


def test_a_source_is_asked_in_batches_whatever_is_requested() -> None:
    source, got = Source(), TestSubscriber[int](request=UNBOUNDED)
    Flowable.wrap(source).rebatch_requests(8).subscribe(got)
    assert source.requested == 8
    source.next(*range(5))
    assert source.requested == 8
    source.next(5)
    assert source.requested == 14
    assert got.values == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("refill", "asked"), [(1, [6, 7, 8, 9, 10]), (2, [5, 7, 7, 9, 9]), (5, [5, 5, 5, 5, 10])])
def test_refill_says_after_how_many_it_is_asked_again(refill: int, asked: list[int]) -> None:
    source, got, seen = Source(), TestSubscriber[int](), list[int]()
    Flowable.wrap(source).rebatch_requests(5, refill=refill).subscribe(got)
    for item in range(5):
        source.next(item)
        seen.append(source.requested)
    assert seen == asked


def test_what_is_not_requested_waits_and_an_error_waits_behind_it() -> None:
    source, got = Source(), TestSubscriber[int](request=1)
    Flowable.wrap(source).rebatch_requests(4).subscribe(got)
    source.next(1, 2, 3)
    source.error(Failed())
    got.assert_values(1).assert_not_terminated()
    got.request(2)
    got.assert_failure(Failed, 1, 2, 3)


def test_dropped_items_are_asked_for_again() -> None:
    source, got = Source(), TestSubscriber[int]()
    Flowable.wrap(source).filter(lambda x: x % 10 == 0).rebatch_requests(4, refill=4).subscribe(got)
    for item in range(35):
        assert source.requested > item
        source.next(item)
    assert got.values == [0, 10, 20, 30]


def test_a_synchronous_source_gives_what_is_requested() -> None:
    made: list[int] = []
    got = TestSubscriber[int](request=2)
    Flowable.range(100).do_on_next(made.append).rebatch_requests(8).subscribe(got)
    assert made == [0, 1]
    got.cancel()


def test_wrong_batches_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rebatch_requests\(3, refill=4\).*\n.*Right:"):
        Flowable.range(3).rebatch_requests(3, refill=4)
    with pytest.raises(ValueError, match="count=0"):
        Flowable.range(3).rebatch_requests(0)


# -- rate_limit ----------------------------------------------------------------------------------------------------------------


def timed(clock: VirtualScheduler, build: Callable[[], Any], request: int = UNBOUNDED) -> tuple[list[tuple[float, int]], Any]:
    came: list[tuple[float, int]] = []
    got = TestSubscriber[int](request=request, on_value=lambda x: came.append((clock.now(), x)))
    build().subscribe(got)
    return came, got


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_in_any_period_no_more_items_come_than_allowed_and_all_of_them_come(hidden: bool, off: bool) -> None:
    clock = VirtualScheduler()
    source = Flowable.range(7).hide() if hidden else Flowable.range(7)

    def run() -> tuple[list[tuple[float, int]], Any]:
        made = timed(clock, lambda: source.rate_limit(3, 0.1, scheduler=clock))
        clock.advance_by(1.0)
        return made

    if off:
        with fusion_off():
            came, got = run()
    else:
        came, got = run()
    assert [at for at, _ in came] == pytest.approx([0, 0, 0, 0.1, 0.1, 0.1, 0.2], abs=1e-12)
    got.assert_result(*range(7))


def test_a_place_is_free_again_a_period_after_its_item() -> None:
    clock, source = VirtualScheduler(), Source()
    came, _got = timed(clock, lambda: Flowable.wrap(source).rate_limit(2, 1.0, scheduler=clock))
    assert source.requested == 2
    source.next(1)
    clock.advance_to(0.75)
    source.next(2)
    assert source.requested == 2
    clock.advance_to(1.0)
    assert source.requested == 3
    source.next(3)
    clock.advance_to(1.5)
    assert source.requested == 3
    clock.advance_to(1.75)
    assert source.requested == 4
    source.next(4)
    assert came == [(0, 1), (0.75, 2), (1.0, 3), (1.75, 4)]


def test_demand_that_comes_late_is_met_at_once_when_places_are_free() -> None:
    clock = VirtualScheduler()
    came, got = timed(clock, lambda: Flowable.range(9).rate_limit(2, 1.0, scheduler=clock), request=1)
    clock.advance_to(5.0)
    got.request(2)
    clock.advance_to(5.9)
    got.request(1)
    clock.advance_to(9.0)
    assert came == [(0, 0), (5.0, 1), (5.0, 2), (6.0, 3)]


def test_an_observable_is_delayed_and_its_end_waits_behind_its_items() -> None:
    clock = VirtualScheduler()
    came: list[tuple[float, int]] = []
    got = TestObserver[int](on_value=lambda x: came.append((clock.now(), x)))
    Observable.of(1, 2, 3, 4).concat_with(Observable.error(Failed())).rate_limit(2, 1.0, scheduler=clock).subscribe(got)
    clock.advance_to(0.5)
    assert not got.is_terminated
    clock.advance_to(1.0)
    assert came == [(0, 1), (0, 2), (1.0, 3), (1.0, 4)]
    assert [type(each) for each in got.errors] == [Failed]


def test_a_cancel_leaves_nothing_on_the_clock() -> None:
    clock = VirtualScheduler()
    _came, got = timed(clock, lambda: Flowable.range(9).hide().rate_limit(2, 1.0, scheduler=clock))
    got.cancel()
    clock.advance_by(10.0)
    assert got.values == [0, 1]
    assert clock.next_due is None


def test_without_its_clock_the_stream_fails() -> None:
    clock, source = VirtualScheduler(), Source()
    _came, got = timed(clock, lambda: Flowable.wrap(source).rate_limit(1, 1.0, scheduler=clock))
    clock.shutdown()
    source.next(1)
    got.assert_failure(RuntimeError, 1)
    assert source.cancelled


@pytest.mark.parametrize("wrong", [(0, 1.0), (1, 0), (1, -1.0), (True, 1.0), (1, "1")])
def test_a_rate_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="rate_limit"):
        Flowable.range(3).rate_limit(*wrong)


# -- on_backpressure_buffer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overflow", "kept", "dropped"),
    [
        (OverflowStrategy.DROP_OLDEST, [1, 4, 5], [2, 3]),
        (OverflowStrategy.DROP_LATEST, [1, 2, 5], [3, 4]),
        (OverflowStrategy.DROP_INCOMING, [1, 2, 3], [4, 5]),
    ],
)
def test_of_a_full_buffer_the_strategy_says_which_item_goes(
    overflow: OverflowStrategy, kept: list[int], dropped: list[int]
) -> None:
    source, got, gone = PublishProcessor[int](), TestSubscriber[int](request=1), list[int]()
    source.on_backpressure_buffer(2, overflow=overflow, on_drop=gone.append).subscribe(got)
    for item in range(1, 6):
        source.on_next(item)
    source.on_complete()
    got.request(5)
    got.assert_result(*kept)
    assert gone == dropped


# -- on_backpressure_reduce ----------------------------------------------------------------------------------------------------


def test_what_is_not_requested_becomes_one_item() -> None:
    source, got = PublishProcessor[int](), TestSubscriber[int](request=1)
    source.on_backpressure_reduce(lambda a, b: a + b).subscribe(got)
    for item in (1, 2, 3, 4):
        source.on_next(item)
    got.assert_values(1)
    got.request(2)
    got.assert_values(1, 9)
    source.on_next(5)
    source.on_next(6)
    source.on_complete()
    got.assert_values(1, 9, 5).assert_not_terminated()
    got.request(1)
    got.assert_result(1, 9, 5, 6)


def test_with_a_supplier_each_total_starts_anew_and_each_item_goes_through_the_function() -> None:
    source, got = PublishProcessor[int](), TestSubscriber[list[int]](request=1)
    source.on_backpressure_reduce(lambda total, x: [*total, x], supplier=list[int]).subscribe(got)
    for item in (1, 2, 3):
        source.on_next(item)
    got.request(1)
    source.on_next(4)
    source.on_complete()
    got.assert_values([1], [2, 3]).assert_not_terminated()
    got.request(1)
    got.assert_result([1], [2, 3], [4])


@pytest.mark.parametrize("options", [{}, {"supplier": lambda: 0}])
def test_an_error_overtakes_the_total(options: Any) -> None:
    source, got = PublishProcessor[int](), TestSubscriber[int](request=0)
    source.on_backpressure_reduce(max, **options).subscribe(got)
    source.on_next(1)
    source.on_error(Failed())
    got.assert_failure(Failed)


@pytest.mark.parametrize(
    ("reducer", "options", "raised"),
    [
        (fail, {}, Oops),
        (lambda _a, _b: None, {}, TypeError),
        (max, {"supplier": fail}, Oops),
        (max, {"supplier": lambda: None}, TypeError),
        (lambda _a, _b: None, {"supplier": lambda: 0}, TypeError),
    ],
)
def test_what_its_functions_do_wrong_ends_the_stream_and_leaves_the_source(
    reducer: Any, options: Any, raised: type[Exception]
) -> None:
    source, got = Source(), TestSubscriber[Any](request=0)
    Flowable.wrap(source).on_backpressure_reduce(reducer, **options).subscribe(got)
    source.next(1)
    if not source.cancelled:
        source.next(2)
    assert [type(each) for each in got.errors] == [raised]
    assert "on_backpressure_reduce" in str(getattr(got.errors[0], "__notes__", "")) + str(got.errors[0])
    assert source.cancelled


# -- on_backpressure_timeout ---------------------------------------------------------------------------------------------------


def test_an_item_that_waited_too_long_is_dropped_at_that_instant() -> None:
    clock, source, gone = VirtualScheduler(), Source(), list[tuple[float, int]]()
    got = TestSubscriber[int](request=0)
    flow = Flowable.wrap(source).on_backpressure_timeout(1.0, on_drop=lambda x: gone.append((clock.now(), x)), scheduler=clock)
    flow.subscribe(got)
    source.next(1)
    clock.advance_to(0.5)
    source.next(2)
    clock.advance_to(1.25)
    assert gone == [(1.0, 1)]
    got.request(1)
    got.assert_values(2)
    source.next(3)
    source.complete()
    clock.advance_to(2.0)
    got.assert_not_terminated()
    clock.advance_to(2.25)
    got.assert_result(2)
    assert gone == [(1.0, 1), (2.25, 3)]


def test_of_too_many_that_wait_the_oldest_goes() -> None:
    clock, source, gone = VirtualScheduler(), PublishProcessor[int](), list[int]()
    got = TestSubscriber[int](request=0)
    source.on_backpressure_timeout(1.0, capacity=2, on_drop=gone.append, scheduler=clock).subscribe(got)
    for item in (1, 2, 3):
        source.on_next(item)
    source.on_error(Failed())
    got.request(1)
    got.assert_values(2).assert_not_terminated()
    got.request(1)
    got.assert_failure(Failed, 2, 3)
    assert gone == [1]
    assert clock.next_due is None


def test_a_drop_that_fails_ends_the_stream() -> None:
    clock, source, got = VirtualScheduler(), Source(), TestSubscriber[int](request=0)
    Flowable.wrap(source).on_backpressure_timeout(1.0, on_drop=fail, scheduler=clock).subscribe(got)
    source.next(1)
    clock.advance_to(1.0)
    got.assert_failure(Oops)
    assert source.cancelled


# -- observe_on(latest=True) ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Flowable.range, lambda n: Flowable.range(n).hide(), Observable.range])
@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_the_worker_finds_the_newest_item(make: Callable[[int], Any], off: bool) -> None:
    clock = VirtualScheduler()
    got = TestObserver[int]() if make == Observable.range else TestSubscriber[int]()
    flow = make(5).observe_on(clock, latest=True)
    if off:
        with fusion_off():
            flow.subscribe(got)
            clock.run_due()
    else:
        flow.subscribe(got)
        clock.run_due()
    assert got.values == [4]
    assert got.completions == 1


def test_one_item_waits_for_a_request_and_an_error_overtakes_it() -> None:
    clock, source, got = VirtualScheduler(), Source(), TestSubscriber[int](request=0)
    Flowable.wrap(source).observe_on(clock, latest=True).subscribe(got)
    assert source.requested == UNBOUNDED
    source.next(1, 2)
    clock.run_due()
    source.next(3)
    got.request(1)
    clock.run_due()
    got.assert_values(3)
    source.next(4)
    source.error(Failed())
    clock.run_due()
    got.assert_failure(Failed, 3)


def test_a_slow_consumer_on_another_thread_misses_what_came_meanwhile() -> None:
    source: PublishProcessor[int] = PublishProcessor()
    taken, go_on, done = threading.Event(), threading.Event(), threading.Event()
    seen: list[int] = []

    def take(item: int) -> None:
        seen.append(item)
        taken.set()
        assert go_on.wait(20)

    source.observe_on(rx_schedulers.single(), latest=True).subscribe(take, on_complete=done.set)
    source.on_next(0)
    assert taken.wait(20)
    for item in range(1, 100):
        source.on_next(item)
    source.on_complete()
    go_on.set()
    assert done.wait(20)
    assert seen == [0, 99]


def test_what_is_too_much_is_no_error_of_these() -> None:
    with errors_of_the_hook() as errors:
        builds: list[Callable[[Flowable[int]], Flowable[int]]] = [
            lambda flow: flow.on_backpressure_reduce(max),
            lambda flow: flow.on_backpressure_timeout(1.0, scheduler=VirtualScheduler()),
            lambda flow: flow.observe_on(VirtualScheduler(), latest=True),
        ]
        for build in builds:
            got = TestSubscriber[int](request=0)
            build(Flowable.interval(1.0, scheduler=(clock := VirtualScheduler()))).subscribe(got)
            clock.advance_to(5.0)
            assert not any(isinstance(each, MissingBackpressureError) for each in got.errors)
            got.cancel()
    assert errors == []


class Between(deque[T]):
    """What another thread may see of a deque while an item takes the place of the only one there: without the GIL both count."""

    def __len__(self) -> int:
        return 2 * super().__len__()


def test_the_worker_takes_one_item_also_while_a_newer_one_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rx_ops.operators._observe_on.deque", Between)
    clock, source, got = VirtualScheduler(), Source(), TestSubscriber[int]()
    Flowable.wrap(source).observe_on(clock, latest=True).subscribe(got)
    for item in (1, 2, 3):
        source.next(item)
        clock.run_due()
    source.complete()
    clock.run_due()
    got.assert_result(1, 2, 3)


# -- blocking_iter(latest=True) ------------------------------------------------------------------------------------------------


class Pushed:
    """A source that threads push into, once it is subscribed."""

    def __init__(self) -> None:
        self.emitters = Queue[Emitter[int]]()
        self.flow = Flowable.create(self.emitters.put, BackpressureStrategy.MISSING)

    def first(self, iterated: Flowable[int] | Observable[int]) -> tuple[Emitter[int], Iterator[int], int]:
        """Iterate, and send a first item from another thread."""
        found: list[Emitter[int]] = []

        def send() -> None:
            found.append(self.emitters.get(timeout=30))
            found[0].on_next(1)

        sender = threading.Thread(target=send)
        sender.start()
        items = iterated.blocking_iter(latest=True)
        first = next(items)
        sender.join()
        return found[0], items, first


@pytest.mark.parametrize("kind", ["flowable", "observable"])
def test_each_turn_of_the_loop_sees_the_newest_item(kind: str) -> None:
    source = Pushed()
    emitter, items, first = source.first(source.flow if kind == "flowable" else source.flow.to_observable())
    taken = [first]
    for item in (2, 3, 4):
        emitter.on_next(item)
    taken.append(next(items))
    emitter.on_next(5)
    emitter.on_next(6)
    emitter.on_complete()
    taken.extend(items)
    assert taken == [1, 4, 6]


def test_a_turn_of_the_loop_takes_one_item_also_while_a_newer_one_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rx_core.streams.waiting.deque", Between)
    assert list(Flowable.range(5).hide().blocking_iter(latest=True)) == [4]


def test_of_a_synchronous_source_the_newest_item_is_the_last() -> None:
    assert list(Flowable.range(5).blocking_iter(latest=True)) == [4]
    assert list(Flowable.range(0).blocking_iter(latest=True)) == []


def test_an_error_comes_behind_the_newest_item() -> None:
    items = Flowable.of(1, 2).concat_with(Flowable.error(KeyError("no"))).blocking_iter(latest=True)
    assert next(items) == 2
    with pytest.raises(KeyError):
        next(items)


def test_leaving_the_loop_over_the_newest_items_cancels() -> None:
    source = Pushed()
    emitter, items, _ = source.first(source.flow)
    assert not emitter.is_cancelled
    items.close()  # type: ignore[attr-defined]  # it is a generator, and this is what a loop that is left does
    assert emitter.is_cancelled


def test_a_busy_source_never_waits_for_a_slow_loop_over_the_newest_items() -> None:
    done = threading.Event()
    source = Flowable.range(1000).subscribe_on(rx_schedulers.io()).do_on_complete(done.set)
    taken = []
    for item in source.blocking_iter(latest=True):
        taken.append(item)
        assert done.wait(30)  # it has sent everything by now
    assert taken[-1] == 999
    assert len(taken) <= 2
