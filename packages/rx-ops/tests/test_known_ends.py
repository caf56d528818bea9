"""zip, merge_ordered and default_if_empty end with the last item that was requested where a source is known to have no more, as
RxJava's do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_fusion import fusion_off
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


#: What gives 1 and 4 and knows that this is all; behind those with a place to stop there is more.
STAGES: dict[str, Callable[[Flow], Flow]] = {
    "alone": lambda flow: flow.default_if_empty(9),
    "behind a filter": lambda flow: flow.filter(bool).default_if_empty(9),
    "behind skip": lambda flow: flow.start_with(0).skip(1).default_if_empty(9),
    "in front of a map": lambda flow: flow.default_if_empty(9).map(itself),
    "behind a map": lambda flow: flow.map(itself).default_if_empty(9),
    "twice": lambda flow: flow.default_if_empty(9).default_if_empty(8),
    "in front of take": lambda flow: flow.concat_with(Flowable.of(5)).default_if_empty(9).take(2),
    "behind take": lambda flow: flow.concat_with(Flowable.of(5)).take(2).default_if_empty(9),
    "behind take and a map": lambda flow: flow.concat_with(Flowable.of(5)).take(2).map(itself).default_if_empty(9),
    "with something to do at the end": lambda flow: flow.default_if_empty(9).do_on_complete(lambda: None),
}


@pytest.mark.parametrize("off", [False, True], ids=["fused", "without fusion"])
@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES)
@OVER_SOURCES
def test_default_if_empty_ends_with_the_last_item_that_was_requested(
    source: Callable[[], Flow], stages: Callable[[Flow], Flow], off: bool
) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    with fusion_off() if off else nullcontext():
        stages(source()).subscribe(got)
        got.assert_values(1).assert_not_complete()
        got.request(1)
    got.assert_result(1, 4)


DROPPING: dict[str, Callable[[Flow], Flow]] = {
    "a filter": lambda flow: flow.filter(lambda item: item > 9),
    "a filter behind take": lambda flow: flow.take(1).filter(lambda item: item > 9),
    "take": lambda flow: flow.take(0),
    "take_while": lambda flow: flow.take_while(lambda item: item > 9),
}


@pytest.mark.parametrize("dropping", DROPPING.values(), ids=DROPPING)
@OVER_SOURCES
def test_what_fills_in_for_dropped_items_comes_once_and_ends_the_stream(
    source: Callable[[], Flow], dropping: Callable[[Flow], Flow]
) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    dropping(source()).default_if_empty(9).subscribe(got)
    got.assert_result(9)
    assert dropping(source()).default_if_empty(9).default_if_empty(8).blocking_list() == [9]
    assert list(dropping(source()).default_if_empty(9).map(itself)) == [9]


@pytest.mark.parametrize(
    ("flow", "item"),
    [
        (lambda: Flowable.from_callable(lambda: 3).default_if_empty(9), 3),
        (lambda: Flowable.from_callable(lambda: 3).filter(lambda item: item > 9).default_if_empty(9), 9),
        (lambda: Flowable.of(1, 4).count().to_flowable().default_if_empty(9), 2),
        (lambda: Flowable.of(1, 4).count().to_flowable().filter(lambda item: item > 9).default_if_empty(9), 9),
        (lambda: Flowable.of(1, 4).last_element().to_flowable().default_if_empty(9), 4),
        (lambda: Flowable.of(1, 4).last_element().filter(lambda item: item > 9).to_flowable().default_if_empty(9), 9),
        (lambda: Flowable.empty().last_element().to_flowable().default_if_empty(9), 9),
    ],
)
def test_of_one_item_or_none_what_fills_in_is_the_last(flow: Callable[[], Flow], item: int) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    flow().subscribe(got)
    got.assert_values().assert_not_complete()
    got.request(1)
    got.assert_result(item)
    assert flow().blocking_list() == [item]
