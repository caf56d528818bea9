"""Every item arrives, and then the end, where the subscriber requests everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Flowable, Observable, PublishProcessor, PublishSubject
from rx_testing import VirtualScheduler
from tests.defects.watching import COMPLETE, ERROR, signals, watch

Flow = Flowable[Any]


# Windows and buffers, flattened


def test_concat_map_gets_overlapping_windows_whole() -> None:
    assert signals(Flowable.range(1, 4).window(2, 1).concat_map(lambda window: window)) == [1, 2, 2, 3, 3, COMPLETE]


def test_concat_map_gets_every_one_of_many_overlapping_windows() -> None:
    windows = Flowable.range(5).window(3, 1).concat_map(lambda window: window.to_list())
    assert signals(windows) == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4], [4], COMPLETE]


def test_windows_that_are_flattened_are_not_lost_beside_a_pushing_source() -> None:
    windows: Flow = Flowable.range(4).window(2).flat_map(lambda window: window.to_list())
    assert signals(windows.merge_with(Flowable.just(5).hide())) == [[0, 1], [2, 3], 5, COMPLETE]


def test_a_timed_buffer_in_front_of_concat_map_ends_with_its_source(clock: VirtualScheduler) -> None:
    buffers = Flowable.just(1).buffer(seconds=0.8, count=1, scheduler=clock)
    flow = buffers.concat_map(lambda buffer: Flowable.timer(1.5, scheduler=clock).map(lambda _tick: buffer))
    assert signals(flow, clock) == [[1], [], COMPLETE]


def test_a_window_that_is_left_early_does_not_end_the_timed_windows_after_it(clock: VirtualScheduler) -> None:
    windows = Flowable.range(1, 6).window(seconds=0.3, count=2, scheduler=clock)
    assert signals(windows.flat_map(lambda window: window.take(1)), clock) == [1, 3, 5, COMPLETE]


def test_a_key_whose_group_was_cancelled_gets_a_new_group_behind_a_pushing_source() -> None:
    groups = Flowable.of(5, 2, 5, 2).hide().group_by(lambda number: number % 3)
    assert signals(groups.hide().flat_map(lambda group: group.take(1))) == [5, 2, 5, 2, COMPLETE]


def test_a_key_whose_group_was_cancelled_gets_a_new_group() -> None:
    groups = Flowable.range(1, 7).group_by(lambda number: number % 2)
    assert signals(groups.flat_map(lambda group: group.take(1))) == [1, 2, 3, 4, 5, 6, COMPLETE]


# Several sources


@pytest.mark.parametrize("items", [[1], [7, 0, 9]], ids=str)
def test_amb_takes_the_first_source_when_that_signals_at_once(items: list[int]) -> None:
    source: Flow = Flowable.of(*items)
    assert signals(Flowable.amb(source, Flowable.empty())) == [*items, COMPLETE]
    assert signals(source.amb_with(Flowable.empty())) == [*items, COMPLETE]


@pytest.mark.parametrize("items", [[0, 1, 2], [1, 2]], ids=str)
def test_merge_gives_the_items_of_the_first_source_before_the_error_of_the_second(items: list[int]) -> None:
    source: Flow = Flowable.of(*items)
    assert signals(Flowable.merge(source, Flowable.error(ERROR))) == [*items, ERROR]
    assert signals(source.merge_with(Flowable.error(ERROR))) == [*items, ERROR]


def test_skip_until_hears_what_its_other_source_sends_at_once() -> None:
    other: Flow = Flowable.create(lambda emitter: emitter.on_next(1))
    assert signals(Flowable.range(3).skip_until(other)) == [0, 1, 2, COMPLETE]


def test_take_until_hears_what_its_other_source_sends_at_once() -> None:
    other: Flow = Flowable.create(lambda emitter: emitter.on_next(1))
    assert signals(Flowable.range(3).take_until(other)) == [COMPLETE]


# A hot source is subscribed with the stream, and nothing it sends after that is missed


def test_concat_map_gets_all_that_switch_map_gives_it(clock: VirtualScheduler) -> None:
    def later(item: int, seconds: float) -> Flow:
        return Flowable.timer(seconds, scheduler=clock).map(lambda _tick: item)

    hot = Flowable.interval(1.0, scheduler=clock).take(3).switch_map(lambda item: later(item, 0.5))
    assert signals(hot.concat_map(lambda item: later(item, 1.5)), clock) == [0, 1, 2, COMPLETE]


BEHIND_A_WORKER: dict[str, Callable[[Flow, VirtualScheduler], Flow]] = {
    "delay": lambda flow, clock: flow.delay(17, scheduler=clock),
    "observe_on": lambda flow, clock: flow.observe_on(clock),
}


@pytest.mark.parametrize("name", BEHIND_A_WORKER)
def test_what_comes_behind_start_with_is_subscribed_at_once_also_in_front_of_a_worker(name: str, clock: VirtualScheduler) -> None:
    processor = PublishProcessor[int]()
    log = watch(BEHIND_A_WORKER[name](processor.start_with(8), clock))
    processor.on_next(1)
    clock.advance_by(20.0)
    assert log.signals == [8, 1]


def test_zip_over_start_with_misses_no_item() -> None:
    left, right = PublishSubject[str](), PublishSubject[int]()
    log = watch(Observable.zip(left, right.start_with(1, 2)))
    right.on_next(5)
    for item in "xyz":
        left.on_next(item)
    assert log.signals == [("x", 1), ("y", 2), ("z", 5)]


def test_zip_over_with_latest_from_pairs_items_when_they_come() -> None:
    left, main, other = PublishSubject[int](), PublishSubject[str](), PublishSubject[str]()
    log = watch(Observable.zip(left, main.with_latest_from(other)))
    other.on_next("c1")
    main.on_next("b1")
    main.on_next("b2")
    other.on_next("c2")
    left.on_next(1)
    left.on_next(2)
    assert log.signals == [(1, ("b1", "c1")), (2, ("b2", "c1"))]


def test_zip_over_take_until_keeps_what_came_before_the_end() -> None:
    left, main, other = PublishSubject[int](), PublishSubject[int](), PublishSubject[int]()
    log = watch(Observable.zip(left, main.take_until(other)))
    main.on_next(1)
    main.on_next(2)
    other.on_next(0)
    left.on_next(1)
    left.on_next(2)
    assert log.signals == [(1, 1), (2, 2), COMPLETE]


def test_zip_over_switch_map_keeps_what_came_before_the_switch() -> None:
    left, outer = PublishSubject[int](), PublishSubject[int]()
    first, second = PublishSubject[str](), PublishSubject[str]()
    log = watch(Observable.zip(left, outer.switch_map(lambda number: first if number == 1 else second)))
    outer.on_next(1)
    first.on_next("c1")
    first.on_next("c2")
    outer.on_next(2)
    second.on_next("d1")
    for number in (1, 2, 3):
        left.on_next(number)
    assert log.signals == [(1, "c1"), (2, "c2"), (3, "d1")]


def test_concat_map_over_concat_misses_no_item_of_the_second_source() -> None:
    first, second, inner = PublishSubject[str](), PublishSubject[str](), PublishSubject[str]()
    outer = Observable.concat(first, second)
    log = watch(outer.concat_map(lambda item: inner if item == "b1" else Observable.just(item)))
    first.on_next("b1")
    first.on_next("x")
    first.on_complete()
    second.on_next("y")
    inner.on_complete()
    assert log.signals == ["x", "y"]


def test_flat_map_over_start_with_misses_no_item_however_few_inner_sources_it_takes() -> None:
    source, inner = PublishSubject[str](), PublishSubject[str]()
    outer = source.start_with("b1", "b1")
    log = watch(outer.flat_map(lambda item: inner if item == "b1" else Observable.just(item), max_concurrency=1))
    source.on_next("b2")
    inner.on_complete()
    assert log.signals == ["b2"]
