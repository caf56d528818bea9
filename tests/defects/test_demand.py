"""What is requested comes, what is not requested waits, and only where it cannot wait the subscriber is told so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rx_core import MissingBackpressureError
from rx_ops import BehaviorProcessor, Flowable, Observable, PublishProcessor
from rx_testing import ManualPublisher, ManualSubscription, VirtualScheduler
from tests.defects.watching import COMPLETE, ERROR, An, Log, signals, watch

Flow = Flowable[Any]


# Everything is requested, and the operators between request enough


def test_switch_map_takes_the_item_that_a_behavior_processor_has_at_once() -> None:
    assert signals(BehaviorProcessor(7).switch_map(Flowable.just)) == [7]


def test_switch_map_takes_the_items_of_throttle_first(clock: VirtualScheduler) -> None:
    throttled = Flowable.range(3).throttle_first(1.0, scheduler=clock)
    assert signals(throttled.switch_map(Flowable.just), clock) == [0, COMPLETE]


def test_switch_map_of_observables_takes_the_items_of_throttle_first(clock: VirtualScheduler) -> None:
    throttled = Observable.range(3).throttle_first(1.0, scheduler=clock)
    assert signals(throttled.switch_map(Observable.just), clock) == [0, COMPLETE]


def test_nothing_is_dropped_in_front_of_switch_map() -> None:
    assert signals(Flowable.just(1).on_backpressure_drop().switch_map(Flowable.just)) == [1, COMPLETE]


def test_concat_map_takes_timed_windows_behind_a_wall(clock: VirtualScheduler) -> None:
    windows = Flowable.range(1, 3).window(seconds=1.0, count=1, scheduler=clock)
    assert signals(windows.hide().concat_map(lambda window: window.to_list()), clock) == [[1], [2], [], COMPLETE]


def test_flattened_windows_of_a_timer_are_merged_with_a_pushing_source(clock: VirtualScheduler) -> None:
    windows = Flowable.timer(0.5, scheduler=clock).window(1).flat_map(lambda window: window)
    assert signals(windows.merge_with(Flowable.of(7, 8).hide()), clock) == [7, 8, 0, COMPLETE]


def test_a_list_of_delayed_items_needs_a_request_for_one_item_only(clock: VirtualScheduler) -> None:
    processor = PublishProcessor[str]()
    log = watch(processor.delay(60, scheduler=clock).to_list().to_flowable(), request=1)
    processor.on_next("a")
    processor.on_next("b")
    processor.on_complete()
    clock.advance_by(60)
    assert log.signals == [["a", "b"], COMPLETE]


def test_windows_wait_for_the_other_source_of_combine_latest() -> None:
    windowed, other = PublishProcessor[int](), PublishProcessor[str]()
    lists = windowed.window(2).flat_map(lambda window: window.to_list())
    log = watch(Flowable.combine_latest(lists, other))
    windowed.on_next(0)
    windowed.on_next(1)
    assert log.signals == []
    other.on_next("x")
    assert log.signals == [([0, 1], "x")]


# Little is requested


def test_the_item_of_a_single_waits_for_demand(clock: VirtualScheduler) -> None:
    single = Flowable.timer(0.5, scheduler=clock).first()
    log = watch(single.to_flowable(), request=0)
    clock.advance_by(20.0)
    assert log.signals == []
    log.upstream.request(1)
    assert log.signals == [0, COMPLETE]


def test_the_item_of_a_repeated_maybe_waits_for_demand(clock: VirtualScheduler) -> None:
    maybe = Flowable.timer(0.5, scheduler=clock).first_element()
    log = watch(maybe.repeat(2), request=1)
    clock.advance_by(20.0)
    assert log.signals == [0]
    log.upstream.request(1)
    assert log.signals == [0, 0, COMPLETE]


def test_a_clock_is_read_ahead_of_a_delay_by_its_window(clock: VirtualScheduler) -> None:
    ticks = Flowable.interval(1.0, initial=0.1, scheduler=clock).take(3)
    delayed = ticks.delay(selector=lambda _tick: Flowable.timer(0.5, scheduler=clock))
    log = watch(delayed, request=1)
    clock.advance_by(20.0)
    assert log.signals == [0]
    log.upstream.request(2)
    assert log.signals == [0, 1, 2, COMPLETE]


def test_flat_map_iterable_takes_no_more_than_was_requested() -> None:
    taken = []

    def numbers(_item: int) -> Iterator[int]:
        for number in range(5):
            taken.append(number)
            yield number

    log = watch(Flowable.just(1).hide().flat_map_iterable(numbers), request=2)
    assert log.signals == taken == [0, 1]


@pytest.mark.parametrize("nested", [False, True], ids=["in a row", "nested"])
def test_concat_completes_with_its_last_item_however_it_is_nested(nested: bool) -> None:
    first: Flow = Flowable.range(1)
    flow: Flow = Flowable.concat(Flowable.concat(first) if nested else first, Flowable.empty())
    assert signals(flow, request=1) == signals(flow.hide(), request=1) == [0, COMPLETE]


# Nothing is requested of a source that is over. RS 2.4


class _Ending:
    """A source that gives two items and fails, and writes down what it is asked for when."""

    def __init__(self) -> None:
        self.publisher = ManualPublisher[int](unchecked=True, on_request=self.requested, on_cancel=self.cancelled)
        self.over = False
        self.late: list[str] = []

    def requested(self, _subscription: ManualSubscription[int], n: int) -> None:
        if self.over:
            self.late.append(f"request({n})")

    def cancelled(self, _subscription: ManualSubscription[int]) -> None:
        if self.over:
            self.late.append("cancel()")

    def play(self) -> None:
        self.publisher.next(0)
        self.publisher.next(1)
        self.over = True
        self.publisher.error(ERROR)


def test_concat_map_requests_nothing_of_a_source_that_has_failed() -> None:
    source = _Ending()
    log = watch(Flowable.wrap(source.publisher).concat_map(lambda item: Flowable.just(item).hide()), request=1)
    source.play()
    log.upstream.request(5)
    assert source.late == []
    assert log.signals[-1] is ERROR


# A control: where items cannot wait, the subscriber is told


def test_a_processor_without_a_queue_fails_when_its_item_was_not_requested() -> None:
    processor = PublishProcessor[int]()
    log = Log(request=0)
    processor.subscribe(log)
    processor.on_next(1)
    assert log.signals == [An(MissingBackpressureError)]
