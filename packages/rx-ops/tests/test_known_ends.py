"""zip and merge_ordered end with the last item that was requested where a source is known to have no more, as RxJava's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Flowable, PublishProcessor
from rx_testing import TestSubscriber

Flow = Flowable[Any]


def itself(item: int) -> int:
    return item


SOURCES: dict[str, Callable[[], Flow]] = {
    "list": lambda: Flowable.from_iterable([1, 4]),
    "tuple": lambda: Flowable.from_iterable((1, 4)),
    "dict": lambda: Flowable.from_iterable({1: "a", 4: "b"}),
    "range": lambda: Flowable.range(1, 7, 3),
    "arguments": lambda: Flowable.of(1, 4),
    "mapped": lambda: Flowable.from_iterable([1, 4]).map(itself),
    "mapped range": lambda: Flowable.range(1, 7, 3).map(itself).filter(bool),
    "hidden": lambda: Flowable.from_iterable([1, 4]).hide(),
}
OVER_SOURCES = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


@OVER_SOURCES
def test_zip_ends_with_the_last_row_that_was_requested(source: Callable[[], Flow]) -> None:
    pushing: PublishProcessor[int] = PublishProcessor()
    got: TestSubscriber[Any] = TestSubscriber(request=2)
    Flowable.zip(pushing, source()).subscribe(got)
    pushing.on_next(10)
    got.assert_values((10, 1)).assert_not_complete()
    pushing.on_next(20)
    got.assert_result((10, 1), (20, 4))
    assert not pushing.has_subscribers


@OVER_SOURCES
def test_rows_that_are_requested_one_by_one_end_with_the_last(source: Callable[[], Flow]) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    Flowable.zip(source(), source()).subscribe(got)
    got.assert_values((1, 1)).assert_not_complete()
    got.request(1)
    got.assert_result((1, 1), (4, 4))


@OVER_SOURCES
def test_merge_ordered_ends_with_the_last_item_that_was_requested(source: Callable[[], Flow]) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=4)
    Flowable.merge_ordered(source(), source()).subscribe(got)
    got.assert_result(1, 1, 4, 4)


@pytest.mark.parametrize("requested", [2, 3])
def test_a_source_that_has_ended_is_not_cancelled(requested: int) -> None:
    cancelled: list[str] = []
    got: TestSubscriber[Any] = TestSubscriber(request=requested)
    source = Flowable.from_iterable([1, 4]).do_on_cancel(lambda: cancelled.append("cancelled"))
    Flowable.zip(Flowable.of(10, 20, 30).hide(), source).subscribe(got)
    got.assert_result((10, 1), (20, 4))
    assert not cancelled


def test_control_a_source_that_has_not_ended_is_cancelled() -> None:
    cancelled: list[str] = []
    source = Flowable.from_iterable([1, 4, 9]).do_on_cancel(lambda: cancelled.append("cancelled"))
    Flowable.zip(Flowable.of(10, 20).hide(), source).subscribe(TestSubscriber[Any]())
    assert cancelled == ["cancelled"]


def test_what_a_stage_does_at_the_end_is_not_left_out() -> None:
    """The end of the list is not that of the stages."""
    ends: list[str] = []
    got: TestSubscriber[Any] = TestSubscriber(request=2)
    source = Flowable.from_iterable([1, 4]).do_on_complete(lambda: ends.append("complete"))
    Flowable.zip(Flowable.of(10, 20, 30).hide(), source).subscribe(got)
    got.assert_values((10, 1), (20, 4))
    got.request(1)
    got.assert_result((10, 1), (20, 4))
    assert ends == ["complete"]


def test_a_row_that_waits_is_made_although_the_list_is_used_up() -> None:
    """Its item was taken ahead, for a row that is requested already."""
    pushing: PublishProcessor[int] = PublishProcessor()
    got: TestSubscriber[Any] = TestSubscriber(request=5)
    Flowable.zip(Flowable.from_iterable([1, 4]), pushing, Flowable.from_iterable([1, 4, 9])).subscribe(got)
    pushing.on_next(10)
    pushing.on_next(20)
    got.assert_result((1, 10, 1), (4, 20, 4))
