"""Streams cut into lists and windows: by count, by time at exact instants, by another source."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from typing import Any

import pytest
from ops_parties import Consumer

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_fusion import fusion_off
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestObserver, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


@pytest.fixture
def source() -> Source:
    return ManualPublisher()


def timed(clock: VirtualScheduler, build: Callable[[Flowable[Any]], Any], script: dict[float, Any]) -> Any:
    """What comes when, as pairs; ``"|"`` in the script completes, an exception fails."""
    source: Source = ManualPublisher()
    came: list[tuple[float, Any]] = []
    got: TestSubscriber[Any] = TestSubscriber(on_value=lambda value: came.append((clock.now(), value)))
    build(Flowable.wrap(source)).subscribe(got)
    for instant, item in script.items():
        clock.advance_to(instant)
        if item == "|":
            source.complete()
        elif isinstance(item, Exception):
            source.error(item)
        elif item is not None:
            source.next(item)
        clock.run_due()
    got.assert_valid()
    return came, got


# -- buffer ------------------------------------------------------------------------------------------------------------


def test_buffer_gives_a_list_at_the_end_of_each_period(clock: VirtualScheduler) -> None:
    script = {0.5: 1, 0.75: 2, 1.5: 3, 3.25: 4, 3.5: "|"}
    came, got = timed(clock, lambda s: s.buffer(seconds=1.0, scheduler=clock), script)
    assert came == [(1.0, [1, 2]), (2.0, [3]), (3.0, []), (3.5, [4])]
    got.assert_complete()
    assert clock.pending == 0


def test_buffer_gives_a_full_list_at_once_and_the_period_goes_on(clock: VirtualScheduler) -> None:
    script = {0.25: 1, 0.5: 2, 0.75: 3, 1.25: 4, 1.5: 5, 1.75: "|"}
    came, _ = timed(clock, lambda s: s.buffer(seconds=1.0, count=2, scheduler=clock), script)
    assert came == [(0.5, [1, 2]), (1.0, [3]), (1.5, [4, 5]), (1.75, [])]


def test_buffer_drops_the_partial_list_at_an_error(clock: VirtualScheduler) -> None:
    error = OSError()
    came, got = timed(clock, lambda s: s.buffer(seconds=1.0, scheduler=clock), {0.5: 1, 1.5: 2, 1.75: error})
    assert came == [(1.0, [1])]
    assert got.error is error
    assert clock.pending == 0


@pytest.mark.parametrize("count", [None, 1])
def test_buffer_by_time_without_demand_is_an_error_when_a_list_is_due(
    count: int | None, clock: VirtualScheduler, source: Source
) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    Flowable.wrap(source).buffer(seconds=1.0, count=count, scheduler=clock).subscribe(got)
    assert source.requested == UNBOUNDED
    source.next(1)
    clock.advance_to(1.0)
    if count is None:
        got.assert_values([1]).assert_not_terminated()
        clock.advance_to(2.0)
    got.assert_failure(MissingBackpressureError, [1])
    assert source.cancelled


def test_buffer_follows_its_boundary_and_ends_with_it(source: Source) -> None:
    boundary: Source = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).buffer(boundary=boundary).subscribe(got)
    assert boundary.requested == UNBOUNDED
    source.next(1, 2)
    boundary.next("cut")
    boundary.next("cut")
    source.next(3)
    boundary.complete()
    got.assert_result([1, 2], [], [3])
    assert source.cancelled


def test_an_error_of_the_boundary_is_the_end(source: Source) -> None:
    error = OSError()
    for name in ("buffer", "window"):
        boundary: Source = ManualPublisher()
        got: TestSubscriber[Any] = TestSubscriber()
        getattr(Flowable.wrap(source), name)(boundary=boundary).subscribe(got)
        boundary.error(error)
        got.assert_error(error)
        assert source.cancelled


# -- windows by count --------------------------------------------------------------------------------------------------


def test_a_window_is_given_with_its_first_item_and_ends_with_its_last(source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(2))
    source.next(1)
    assert got.values == [[1]]
    got.windows[0].assert_not_terminated()
    source.next(2)
    got.windows[0].assert_result(1, 2)
    assert len(got.windows) == 1
    source.next(3)
    source.complete()
    got.windows[1].assert_result(3)
    got.outer.assert_complete()


def test_windows_with_gaps_and_windows_that_overlap(source: Source) -> None:
    gaps = Consumer(Flowable.range(7).window(2, 3))
    assert gaps.values == [[0, 1], [3, 4], [6]]
    overlap = Consumer(Flowable.range(5).window(3, 2))
    assert overlap.values == [[0, 1, 2], [2, 3, 4], [4]]
    overlap.outer.assert_complete()


@pytest.mark.parametrize(
    ("size", "skip", "expected", "then"), [(3, None, 6, 9), (2, 3, 5, 8), (3, 2, 5, 7)], ids=["exact", "gaps", "overlap"]
)
def test_windows_ask_for_what_the_wanted_ones_need(size: int, skip: int | None, expected: int, then: int, source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(size, skip), request=2)
    assert source.requested == expected
    got.outer.request(1)
    assert source.requested == then


def test_a_window_nobody_asked_for_waits_and_the_source_with_it(source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(2), request=1)
    source.next(1, 2)
    assert source.requested == 2
    got.outer.request(1)
    assert source.requested == 4
    source.next(3, 4)
    assert got.values == [[1, 2], [3, 4]]


@pytest.mark.parametrize("walls", [False, True])
def test_windows_of_an_endless_source_are_taken_one_after_the_other(walls: bool, clock: VirtualScheduler) -> None:
    read: list[int] = []

    class Numbers:
        def __iter__(self) -> Any:
            for at in count():
                read.append(at)
                yield at

    flow = Flowable.from_iterable(Numbers()).window(3).concat_map(lambda window: window.to_list().to_flowable())
    if walls:
        flow = flow.hide()
    assert flow.take(4).blocking_list() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    read.clear()
    got: TestSubscriber[Any] = TestSubscriber()
    flow.observe_on(clock).take(2).subscribe(got)
    clock.run_until_idle()
    got.assert_value_count(2).assert_complete()
    assert len(read) < 1000


def test_windows_that_overlap_wait_until_they_are_requested(source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(3, 1), request=1)
    source.next(1, 2, 3)
    assert got.values == [[1, 2, 3]]
    got.outer.request(1)
    assert got.values == [[1, 2, 3], [2, 3]]
    source.complete()
    got.outer.assert_not_terminated()
    got.outer.request(1)
    assert got.values == [[1, 2, 3], [2, 3], [3]]
    got.outer.assert_complete()


def test_an_error_does_not_wait_behind_windows_that_were_not_requested(source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(3, 1), request=1)
    source.next(1, 2)
    error = OSError()
    source.error(error)
    got.outer.assert_failure(error, *got.outer.values)
    got.windows[0].assert_failure(error, 1, 2)


def test_items_wait_in_a_window_for_their_subscriber(source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(3), each=1)
    source.next(1, 2, 3)
    assert got.values == [[1]]
    got.windows[0].request(1)
    assert got.values == [[1, 2]]
    got.windows[0].request(1)
    got.windows[0].assert_result(1, 2, 3)  # the end needs no further demand


# -- windows by time and by another source -----------------------------------------------------------------------------


def test_a_window_lasts_for_its_period(clock: VirtualScheduler) -> None:
    script = {0.5: 1, 0.75: 2, 1.5: 3, 3.25: 4, 3.5: "|"}
    came, got = timed(clock, lambda s: s.window(seconds=1.0, scheduler=clock).flat_map(lambda window: window.to_list()), script)
    assert came == [(1.0, [1, 2]), (2.0, [3]), (3.0, []), (3.5, [4])]
    got.assert_complete()
    assert clock.pending == 0


def test_a_window_by_time_begins_with_the_subscription_and_when_the_one_before_ends(clock: VirtualScheduler) -> None:
    came, _ = timed(clock, lambda s: s.window(seconds=1.0, scheduler=clock).map(lambda _window: "begins"), {0.5: 1, 2.5: "|"})
    assert came == [(0.0, "begins"), (1.0, "begins"), (2.0, "begins")]


def test_a_full_window_ends_at_once_and_the_period_goes_on(clock: VirtualScheduler) -> None:
    script = {0.25: 1, 0.5: 2, 0.75: 3, 1.25: 4, 1.5: 5, 1.75: "|"}
    came, _ = timed(
        clock, lambda s: s.window(seconds=1.0, count=2, scheduler=clock).flat_map(lambda window: window.to_list()), script
    )
    assert came == [(0.5, [1, 2]), (1.0, [3]), (1.5, [4, 5]), (1.75, [])]


def test_a_window_that_begins_and_nobody_asked_for_is_an_error(clock: VirtualScheduler, source: Source) -> None:
    got = Consumer(Flowable.wrap(source).window(seconds=1.0, scheduler=clock), request=1)
    assert source.requested == UNBOUNDED
    source.next(1)
    clock.advance_to(0.999)
    got.outer.assert_not_terminated()
    clock.advance_to(1.0)
    got.outer.assert_error(MissingBackpressureError)
    got.windows[0].assert_result(1)
    assert source.cancelled
    assert clock.pending == 0


def test_windows_follow_their_boundary_and_end_with_it(source: Source) -> None:
    boundary: Source = ManualPublisher()
    got = Consumer(Flowable.wrap(source).window(boundary=boundary))
    source.next(1, 2)
    boundary.next("cut")
    source.next(3)
    boundary.complete()
    assert got.values == [[1, 2], [3]]
    got.windows[1].assert_complete()
    got.outer.assert_complete()
    assert source.cancelled


# -- Observables, arguments --------------------------------------------------------------------------------------------


def test_observables_have_them_too(clock: VirtualScheduler) -> None:
    cut: list[Callable[[Any], Any]] = [
        lambda s: s.window(2),
        lambda s: s.window(2, 1),
        lambda s: s.window(seconds=1.0, scheduler=clock),
        lambda s: s.window(boundary=Observable.never()),
    ]
    for build in cut:
        got: TestObserver[Any] = TestObserver()
        flat = build(Observable.of(1, 2, 3)).flat_map(lambda window: window.to_list())
        flat.subscribe(got)
        assert [item for each in got.assert_complete().values for item in each][:2] == [1, 2]
    lists: TestObserver[Any] = TestObserver()
    Observable.of(1, 2, 3).buffer(seconds=1.0, count=2, scheduler=clock).subscribe(lists)
    lists.assert_result([1, 2], [3])
    assert type(build(Observable.of(1)).blocking_first()) is Observable


@pytest.mark.parametrize("off", [False, True])
def test_a_window_of_an_observable_behind_a_wall_is_not_abandoned(off: bool) -> None:
    got: TestObserver[Any] = TestObserver()
    with fusion_off() if off else nullcontext():  # its subscription is put off until the run is not busy
        Observable.of(1, 2, 3, 4).window(2).flat_map(lambda window: window.hide()).subscribe(got)
    got.assert_result(1, 2, 3, 4)


@pytest.mark.parametrize("name", ["buffer", "window"])
@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((), {}),
        ((0,), {}),
        (("1",), {}),
        ((1, 0), {}),
        ((None, 1), {}),
        ((1,), {"boundary": Flowable.of(1)}),
        ((1,), {"scheduler": VirtualScheduler()}),
        ((1,), {"count": 1}),
        ((), {"seconds": 0}),
        ((), {"seconds": "1"}),
        ((), {"seconds": 1.0, "count": 0}),
        ((), {"seconds": 1.0, "boundary": Flowable.of(1)}),
        ((), {"boundary": [1]}),
        ((), {"boundary": Flowable.of(1), "scheduler": VirtualScheduler()}),
    ],
)
def test_bad_arguments_are_refused_when_the_pipeline_is_built(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=name):
        getattr(Flowable.of(1), name)(*args, **options)


def test_plans_show_the_windows() -> None:
    flow: Any = Flowable.range(3)
    assert repr(flow.window(2)) == "range(3).window(2)"
    assert repr(flow.window(2, 1)) == "range(3).window(2, 1)"
    assert repr(flow.window(seconds=0.5, count=3)) == "range(3).window(seconds=0.5, count=3)"
    assert repr(flow.buffer(seconds=0.5)) == "range(3).buffer(seconds=0.5)"
    assert repr(flow.buffer(boundary=flow)) == "range(3).buffer(boundary=range(3))"
    assert repr(flow.window(boundary=flow)) == "range(3).window(boundary=range(3))"
    assert repr(flow.sample(sampler=flow)) == "range(3).sample(sampler=range(3))"
    assert "at most 2 items in each window" in flow.window(2).explain()


def test_descriptions_can_be_pickled() -> None:
    flow: Any = Flowable.range(3)
    for made in (
        flow.window(2),
        flow.window(seconds=0.5),
        flow.window(boundary=flow),
        flow.buffer(boundary=flow),
        flow.sample(sampler=flow),
        flow.debounce(0.5),
        flow.delay_subscription(until=flow),
    ):
        assert repr(pickle.loads(pickle.dumps(made))) == repr(made)
