"""merge_ordered and merge_priority: sources by the order of their items."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED, CompositeException
from rx_fusion import fusion_off
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")

Source = ManualPublisher[Any]


def ordered(request: int = UNBOUNDED, count: int = 2, **options: Any) -> tuple[list[Source], TestSubscriber[Any]]:
    sources: list[Source] = [ManualPublisher() for _ in range(count)]
    subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
    Flowable.merge_ordered(*sources, **options).subscribe(subscriber)
    return sources, subscriber


def test_an_item_waits_until_each_source_has_one_to_compare_it_with() -> None:
    (first, second), subscriber = ordered()
    first.next(1, 3)
    subscriber.assert_empty()
    second.next(2)
    subscriber.assert_values(1, 2)
    second.next(5)
    subscriber.assert_values(1, 2, 3)


def test_a_source_that_is_over_holds_up_no_other() -> None:
    (first, second), subscriber = ordered()
    first.next(1, 3)
    second.complete()
    subscriber.assert_values(1, 3)
    first.next(4)
    first.complete()
    subscriber.assert_result(1, 3, 4)


def test_of_equal_items_that_of_the_earlier_source_is_first() -> None:
    (first, second), subscriber = ordered(key=lambda item: item[0])
    second.next((1, "second"))
    first.next((1, "first"))
    first.complete()
    second.complete()
    subscriber.assert_result((1, "first"), (1, "second"))


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_it_is_what_heapq_makes_of_lists(reverse: bool, fused: bool, hidden: bool) -> None:
    chance = random.Random(7)
    for _ in range(30):
        lists = [
            sorted((chance.randrange(20) for _ in range(chance.randrange(9))), reverse=reverse)
            for _ in range(chance.randrange(5))
        ]
        flows = [Flowable.from_iterable(each).hide() if hidden else Flowable.from_iterable(each) for each in lists]

        def merged(flows: list[Flowable[int]] = flows) -> list[int]:
            return Flowable.merge_ordered(*flows, reverse=reverse).blocking_list()

        if fused:
            found = merged()
        else:
            with fusion_off():
                found = merged()
        assert found == list(heapq.merge(*lists, reverse=reverse))


def test_items_need_no_order_but_that_of_their_keys() -> None:
    words = Flowable.merge_ordered(Flowable.of("a", "ccc"), Flowable.of("bb", "dddd"), key=len)
    assert words.blocking_list() == ["a", "bb", "ccc", "dddd"]
    alike = Flowable.merge_ordered(Flowable.of({1: 2}), Flowable.of({0: 2}), key=lambda _item: 0)
    assert alike.blocking_list() == [{1: 2}, {0: 2}]  # dicts cannot be compared


def test_a_source_is_asked_for_its_window_and_again_when_three_quarters_were_taken() -> None:
    (first, second), subscriber = ordered(request=2, prefetch=4)
    first.next(1, 2, 3, 4)
    second.next(9)
    subscriber.assert_values(1, 2)
    assert first.subscriptions[0].requests == [4, 3]  # the third is compared already
    assert second.subscriptions[0].requests == [4]


class Reading:
    """How far it was read."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = numbers
        self.read = 0

    def __iter__(self) -> Iterator[int]:
        for number in self.numbers:
            self.read += 1
            yield number


def test_a_synchronous_source_is_asked_for_one_item_when_one_is_wanted() -> None:
    readings = [Reading(1, 4, 5), Reading(2, 3, 6)]
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.merge_ordered(*map(Flowable.from_iterable, readings)).subscribe(subscriber)
    assert [each.read for each in readings] == [0, 0]
    subscriber.request(1)
    subscriber.assert_values(1)
    assert [each.read for each in readings] == [1, 1]


def test_an_error_is_the_end_at_once_or_when_all_are_over() -> None:
    (first, second), subscriber = ordered()
    first.next(1)
    first.error(OOPS)
    subscriber.assert_failure(ValueError)
    assert second.cancelled
    (first, second), subscriber = ordered(delay_error=True)
    first.next(1)
    first.error(OOPS)
    second.next(0, 2)
    subscriber.assert_values(0, 1, 2).assert_not_terminated()
    second.error(KeyError("second"))
    assert isinstance(subscriber.error, CompositeException)
    assert [type(error) for error in subscriber.error.exceptions] == [ValueError, KeyError]


def test_items_that_cannot_be_compared_end_the_stream_with_a_note() -> None:
    mixed: Any = (Flowable.of(1), Flowable.of("a"))
    with pytest.raises(TypeError, match="not supported between") as failed:
        Flowable.merge_ordered(*mixed).blocking_list()
    assert "in merge_ordered(" in failed.value.__notes__[0]
    with pytest.raises(ZeroDivisionError) as by_key:
        Flowable.merge_priority(Flowable.of(1, 0), Flowable.of(2), key=lambda x: 1 / x).blocking_list()
    assert "in merge_priority(" in by_key.value.__notes__[0]


def test_an_item_from_inside_an_item_is_put_in_its_place() -> None:
    sources: list[Source] = [ManualPublisher(), ManualPublisher()]
    seen: list[int] = []

    def on_next(item: int) -> None:
        seen.append(item)
        if item == 1:
            sources[0].next(2)

    Flowable.merge_ordered(*sources).subscribe(on_next)
    sources[1].next(3)
    sources[0].next(1)
    assert seen == [1, 2]
    sources[0].complete()
    assert seen == [1, 2, 3]


def test_without_sources_there_is_nothing() -> None:
    nothing: tuple[Flowable[int], ...] = ()
    assert Flowable.merge_ordered(*nothing).blocking_list() == []
    assert Observable.merge_ordered(Observable.of(1, 3).hide(), Observable.of(2)).blocking_list() == [1, 2, 3]


def test_of_what_waits_the_smallest_goes_out_first() -> None:
    first: Source = ManualPublisher()
    second: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.merge_priority(first, second).subscribe(subscriber)
    first.next(5, 1)
    second.next(3, 4)
    subscriber.request(2)
    subscriber.assert_values(3, 4)
    subscriber.request(2)
    subscriber.assert_values(3, 4, 5, 1)  # behind 5, in the order of its source
    first.next(7)
    subscriber.request(1)
    subscriber.assert_values(3, 4, 5, 1, 7)


def test_no_source_waits_for_another_in_merge_priority() -> None:
    first: Source = ManualPublisher()
    second: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.merge_priority(first, second).subscribe(subscriber)
    second.next(9)
    first.next(1)
    subscriber.assert_values(9, 1)


@pytest.mark.parametrize(
    "first", [Flowable.of(3, 4), Flowable.of(3, 4).hide(), Flowable.just(3).flat_map(lambda x: Flowable.of(x, 4))]
)
@pytest.mark.parametrize("wall", [False, True])
def test_sources_begin_in_turn_so_that_merge_priority_of_all_that_is_wanted_is_a_merge(first: Flowable[int], wall: bool) -> None:
    second = Flowable.of(1)
    assert Flowable.merge_priority(first, second.hide() if wall else second).blocking_list() == [3, 4, 1]
    got = TestSubscriber[int](request=1)
    Flowable.merge_priority(first, second.hide() if wall else second).subscribe(got)
    got.request(2)
    got.assert_values(3, 1, 4).assert_complete()


@pytest.mark.parametrize("name", ["merge_ordered", "merge_priority"])
def test_wrong_arguments_are_refused_where_they_are_written(name: str) -> None:
    merge = getattr(Flowable, name)
    with pytest.raises(TypeError, match=name):
        merge(Flowable.of(1), [1])
    with pytest.raises(TypeError, match="key"):
        merge(Flowable.of(1), key=3)
    with pytest.raises(ValueError, match="prefetch"):
        merge(Flowable.of(1), prefetch=0)
