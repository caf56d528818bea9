"""Stages that take the whole source before they give anything ask it when they are subscribed, as in RxJava: a source that sends
by itself does not wait for the first request."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_fusion import fusion_enabled, fusion_off
from rx_ops import Flowable, PublishProcessor
from rx_testing import RecordingPublisher, TestSubscriber

WHOLE: dict[str, tuple[Callable[[Flowable[int]], Flowable[Any]], list[Any]]] = {
    "sorted": (lambda s: s.sorted(), [1, 2, 3]),
    "sorted by a key": (lambda s: s.sorted(operator.neg), [3, 2, 1]),
    "sorted, the first": (lambda s: s.sorted().take(1), [1]),
    "take_last": (lambda s: s.take_last(2), [1, 2]),
    "a slice of the last": (lambda s: s.slice(-2, None), [1, 2]),
    "groups reduced": (lambda s: s.group_reduce(bool, int, operator.add), [(True, 6)]),
    "behind a map": (lambda s: s.map(str).sorted(), ["1", "2", "3"]),
    "behind a skip": (lambda s: s.skip(1).sorted(), [1, 2]),
    "behind a take": (lambda s: s.take(2).sorted(), [1, 3]),
    "behind lists": (lambda s: s.buffer(2).sorted(), [[2], [3, 1]]),
    "in front of a map": (lambda s: s.sorted().map(str), ["1", "2", "3"]),
    "in front of several for one": (lambda s: s.sorted().flat_map_iterable(lambda x: [x, x]), [1, 1, 2, 2, 3, 3]),
    "behind several for one": (lambda s: s.flat_map_iterable(lambda x: [x, x]).take_last(3), [1, 2, 2]),
}
each_whole = pytest.mark.parametrize(("build", "expected"), WHOLE.values(), ids=WHOLE)


@each_whole
def test_a_source_that_sends_by_itself_is_asked_at_once(
    build: Callable[[Flowable[int]], Flowable[Any]], expected: list[Any]
) -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any](request=0)
    build(source).subscribe(got)
    for item in (3, 1, 2):
        source.on_next(item)
    source.on_complete()
    got.assert_empty()
    got.request(1).assert_values(expected[0])
    got.request(9).assert_result(*expected)


@each_whole
def test_no_item_is_an_end_without_a_request(build: Callable[[Flowable[int]], Flowable[Any]], expected: list[Any]) -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any](request=0)
    build(source).subscribe(got)
    source.on_complete()
    got.assert_result()


@each_whole
def test_an_error_waits_for_no_request(build: Callable[[Flowable[int]], Flowable[Any]], expected: list[Any]) -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[Any](request=0)
    build(source).subscribe(got)
    source.on_next(1)
    source.on_error(OSError("cut"))
    got.assert_failure(OSError)


@each_whole
def test_a_source_that_computes_is_asked_with_the_first_request(
    build: Callable[[Flowable[int]], Flowable[Any]], expected: list[Any]
) -> None:
    if "flat_map_iterable" in repr(build(Flowable.never())) and not fusion_enabled():
        pytest.skip("it has a queue of its own then, and asks when it is subscribed")
    read: list[int] = []
    got = TestSubscriber[Any](request=0)
    build(Flowable.of(3, 1, 2).do_on_next(read.append)).subscribe(got)
    assert read == []
    got.request(9).assert_result(*expected)


def test_what_is_behind_it_is_called_when_an_item_is_wanted() -> None:
    source = PublishProcessor[int]()
    seen: list[int] = []
    got = TestSubscriber[int](request=0)
    source.sorted().do_on_next(seen.append).take_while(lambda x: x < 2).subscribe(got)
    for item in (3, 1, 2):
        source.on_next(item)
    source.on_complete()
    assert seen == []
    got.request(1).assert_values(1)
    assert seen == [1]
    got.request(1).assert_result(1)


@pytest.mark.parametrize("mode", [nullcontext, fusion_off])
def test_a_second_operator_with_a_queue_asks_the_first(mode: Callable[[], AbstractContextManager[None]]) -> None:
    """No list has an item, so there is nothing to wait for."""
    source = PublishProcessor[int]()
    got = TestSubscriber[int](request=0)
    with mode():
        source.flat_map_iterable(lambda _x: list[int]()).flat_map_iterable(lambda x: [x]).subscribe(got)
    source.on_next(1)
    source.on_complete()
    got.assert_result()


ASKED: dict[str, tuple[Callable[[Flowable[int]], Flowable[Any]], list[int]]] = {
    "everything": (lambda s: s.sorted(), [UNBOUNDED]),
    "everything, behind a skip": (lambda s: s.skip(2).sorted(), [UNBOUNDED]),
    "what take has enough of": (lambda s: s.take(2).sorted(), [2]),
    "what lists have enough of": (lambda s: s.buffer(2).take(2).take_last(1), [4]),
    "windows, where it may end before": (lambda s: s.flat_map_iterable(lambda _x: []).take(3).sorted(), [128, 96]),
}


@pytest.mark.parametrize("requested", [0, 1, UNBOUNDED])
@pytest.mark.parametrize(("build", "asked"), ASKED.values(), ids=ASKED)
def test_what_a_source_is_asked_for_hinges_on_no_request(
    build: Callable[[Flowable[int]], Flowable[Any]], asked: list[int], requested: int
) -> None:
    source = RecordingPublisher(range(150))
    build(Flowable.wrap(source)).subscribe(TestSubscriber[Any](request=requested))
    assert source.subscriptions[0].requests == asked
    assert source.violations == []


@pytest.mark.parametrize("requested", [0, 1, UNBOUNDED])
def test_in_place_of_dropped_items_no_more_are_asked_for_than_take_has_enough_of(requested: int) -> None:
    source = RecordingPublisher(range(150))
    nothing = Flowable.wrap(source).filter(lambda _x: False).take(3).sorted()
    nothing.subscribe(TestSubscriber[int](request=requested))
    first, *others = source.subscriptions[0].requests
    assert first == 3
    assert max(others) <= 3
    assert source.subscriptions[0].terminal == "on_complete"
