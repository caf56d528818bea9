"""Sources made of items: errors that wait for their turn, and Completables of which only the end counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber


class Boom(Exception):
    pass


class Bang(Exception):
    pass


def failing_after(item: int) -> Flowable[int]:
    return Flowable.just(item).concat_with(Flowable.error(Boom(item)))


def test_concat_map_runs_all_inner_sources_before_it_fails() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.of(1, 2, 3).concat_with(Flowable.error(Bang())).concat_map(failing_after, delay_error=True).subscribe(got)
    got.assert_failure(CompositeException, 1, 2, 3)
    assert isinstance(got.error, CompositeException)
    assert [type(each) for each in got.error.exceptions] == [Boom, Boom, Boom, Bang]


def test_concat_map_waits_for_the_inner_source_that_runs_and_no_other() -> None:
    outer: ManualPublisher[int] = ManualPublisher()
    inner: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(outer).concat_map(lambda _x: inner, delay_error=True, till_the_end=False).subscribe(got)
    outer.next(1)
    outer.error(Bang())
    inner.next(7)
    got.assert_values(7).assert_not_terminated()
    inner.complete()
    got.assert_failure(Bang, 7)


def test_concat_map_ends_at_the_boundary_of_the_inner_source_that_failed() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.of(1, 2).concat_map(failing_after, delay_error=True, till_the_end=False).subscribe(got)
    got.assert_failure(Boom, 1)


def test_what_the_mapper_raises_is_the_end_with_the_errors_before_it() -> None:
    def mapper(item: int) -> Flowable[int]:
        if item == 2:
            raise Bang
        return failing_after(item)

    got: TestSubscriber[int] = TestSubscriber()
    Flowable.of(1, 2, 3).concat_map(mapper, delay_error=True).subscribe(got)
    assert isinstance(got.error, CompositeException)
    assert [type(each) for each in got.error.exceptions] == [Boom, Bang]
    got.assert_values(1)


@pytest.mark.parametrize("face", [Flowable, Observable])
@pytest.mark.parametrize("name", ["flat_map_completable", "concat_map_completable", "switch_map_completable"])
def test_complete_when_all_are(name: str, face: Any) -> None:
    done: list[int] = []
    made = getattr(face.of(1, 2, 3), name)(lambda x: Completable.from_action(lambda: done.append(x)))
    assert isinstance(made, Completable)
    made.blocking_await()
    assert done == [1, 2, 3]


def test_flat_map_completable_runs_as_many_at_a_time_as_it_may() -> None:
    outer: ManualPublisher[int] = ManualPublisher()
    running: list[ManualPublisher[int]] = []

    def start(_item: int) -> Completable:
        running.append(ManualPublisher())
        return Flowable.wrap(running[-1]).ignore_elements()

    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(outer).flat_map_completable(start, max_concurrency=2).to_flowable().subscribe(got)
    assert outer.requested == 2
    outer.next(1, 2)
    assert len(running) == 2
    running[0].complete()
    outer.complete()
    got.assert_not_terminated()
    running[1].complete()
    got.assert_result()


def test_switch_map_completable_cancels_the_one_before() -> None:
    outer: ManualPublisher[int] = ManualPublisher()
    running: list[ManualPublisher[int]] = []

    def start(_item: int) -> Completable:
        running.append(ManualPublisher())
        return Flowable.wrap(running[-1]).ignore_elements()

    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(outer).switch_map_completable(start).to_flowable().subscribe(got)
    outer.next(1)
    outer.next(2)
    assert [each.cancelled for each in running] == [True, False]
    outer.complete()
    running[1].complete()
    got.assert_result()


@pytest.mark.parametrize("name", ["flat_map_completable", "concat_map_completable", "switch_map_completable"])
def test_errors_are_delayed_if_told_to(name: str) -> None:
    done: list[int] = []

    def start(item: int) -> Completable:
        return Completable.error(Boom()) if item == 1 else Completable.from_action(lambda: done.append(item))

    with pytest.raises(Boom):
        getattr(Flowable.of(1, 2), name)(start).blocking_await()
    assert done == []
    with pytest.raises(Boom):
        getattr(Flowable.of(1, 2), name)(start, delay_error=True).blocking_await()
    assert done == [2]


def test_inner_sources_of_at_most_one_item() -> None:
    numbers = Flowable.of(1, 2, 3)
    assert numbers.switch_map(lambda x: Single.just(x * 2)).blocking_list() == [2, 4, 6]
    assert numbers.concat_map(lambda x: Maybe.just(x) if x > 1 else Maybe.empty()).blocking_list() == [2, 3]


def test_the_end_of_a_completable_needs_no_demand() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.wrap(source).ignore_elements().to_flowable().subscribe(got)
    assert source.requested == 2**63 - 1
    source.next(1, 2)
    source.complete()
    got.assert_result()


@pytest.mark.parametrize("join", [Flowable.merge, lambda *sources: Flowable.of(*sources).flat_map(lambda source: source)])
def test_a_request_from_inside_on_next_does_not_turn_to_the_next_source(join: Callable[..., Flowable[int]]) -> None:
    """As in RxJava, where a source goes on while it has items and items are wanted."""
    got: TestSubscriber[int] = TestSubscriber(request=0, request_in_on_next=1)
    join(Flowable.of(1, 2, 3).map(abs), Flowable.of(4, 5)).subscribe(got)
    got.request(1)
    got.assert_result(1, 2, 3, 4, 5)
