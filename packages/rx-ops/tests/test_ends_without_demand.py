"""Ends and errors need no demand (RS 2.9, 2.10): they arrive although nothing more was requested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from rx_fusion import everything, stage
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber

Both = Callable[[ManualPublisher[int], ManualPublisher[int]], Flowable[int]]


def _flat(first: ManualPublisher[int], second: ManualPublisher[int]) -> Flowable[int]:
    return Flowable.of(first, second).flat_map(lambda source: source)


BOTH: list[Both] = [lambda first, second: Flowable.merge(first, second), _flat]


@pytest.mark.parametrize("both", BOTH, ids=["merge", "flat_map"])
def test_completion_follows_the_last_source_without_a_request(both: Both) -> None:
    first, second = ManualPublisher[int](), ManualPublisher[int]()
    subscriber = TestSubscriber[int](2)
    both(first, second).subscribe(subscriber)
    first.next(1)
    second.next(2)
    first.complete()
    subscriber.assert_values(1, 2).assert_not_terminated()
    second.complete()
    subscriber.assert_result(1, 2)


@pytest.mark.parametrize("both", BOTH, ids=["merge", "flat_map"])
def test_an_error_of_one_source_arrives_without_a_request_and_cancels_the_other(both: Both) -> None:
    first, second = ManualPublisher[int](), ManualPublisher[int]()
    subscriber = TestSubscriber[int](1)
    both(first, second).subscribe(subscriber)
    first.next(1)
    second.error(KeyError("gone"))
    subscriber.assert_failure(KeyError, 1)
    assert first.cancelled


def test_items_still_wait_for_a_request_when_their_source_has_ended() -> None:
    first, second = ManualPublisher[int](), ManualPublisher[int]()
    subscriber = TestSubscriber[int](0)
    Flowable.merge(first, second).subscribe(subscriber)
    first.next(1)
    first.complete()
    second.complete()
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_result(1)


def test_flat_map_sees_the_end_of_its_source_behind_a_lane_that_was_woken_and_has_ended() -> None:
    def push(item: int) -> None:
        if item == 1:
            inner.next(2)  # wakes its input once more, which is polled already
        else:
            inner.complete()  # and now its input is still in the line, and over

    inner = ManualPublisher[int](on_request=lambda subscription, _n: subscription.next(1))
    subscriber = TestSubscriber[int](2, on_value=push)
    Flowable.range(1).flat_map(lambda _item: inner).subscribe(subscriber)
    subscriber.assert_result(1, 2)


@pytest.mark.parametrize("count", [1, 3, 5, 6])
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_the_end_of_grouped_items_is_seen_without_a_request(count: int, keys: int) -> None:
    for late in range(count + 1):  # requested after the end
        source = ManualPublisher[int]()
        subscriber = TestSubscriber[int](count - late)
        Flowable.wrap(source).group_by(lambda x: x % keys).flat_map(lambda group: group).subscribe(subscriber)
        source.next(*range(count))
        source.complete()
        for _ in range(late):
            subscriber.assert_not_terminated().request(1)
        subscriber.assert_complete().assert_value_count(count)


def test_an_error_of_the_source_of_groups_is_seen_without_a_request() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](1)
    Flowable.wrap(source).group_by(lambda x: x % 2).flat_map(lambda group: group).subscribe(subscriber)
    source.next(1)
    source.error(KeyError("gone"))
    subscriber.assert_failure(KeyError, 1)


def test_the_end_of_the_groups_is_seen_with_the_last_of_them() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](1)
    Flowable.wrap(source).group_by(lambda x: x % 2).map(lambda group: group.key).subscribe(subscriber)
    source.next(1)
    source.complete()
    subscriber.assert_result(1)


@pytest.mark.parametrize("short", [Flowable.just(9), Flowable.of(9), Flowable.range(9, 10)])
def test_zip_ends_with_a_synchronous_source_that_has_no_further_item(short: Flowable[int]) -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[tuple[int, int]](1)
    Flowable.zip(source, short).subscribe(subscriber)
    source.next(1)
    subscriber.assert_result((1, 9))
    assert source.cancelled


@stage(request=everything)
def has_some(source: Iterable[Any]) -> Iterator[bool]:
    for item in source:
        if item:
            yield True
            return
    yield False


BEHIND_ONE: dict[str, tuple[Callable[[Flowable[bool]], Flowable[Any]], object]] = {
    "default_if_empty": (lambda flow: flow.default_if_empty(False), True),
    "buffer": (lambda flow: flow.buffer(1), [True]),
    "filter and default_if_empty": (lambda flow: flow.filter(bool).default_if_empty(False), True),
}


@pytest.mark.parametrize(("behind", "given"), BEHIND_ONE.values(), ids=BEHIND_ONE)
def test_a_source_that_was_asked_for_everything_is_left_with_the_one_item_made_of_it(
    behind: Callable[[Flowable[bool]], Flowable[Any]], given: object
) -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[Any](1)
    behind(Flowable.wrap(source).stage(has_some)).subscribe(subscriber)
    source.next(0, 1)
    assert source.cancelled
    subscriber.assert_result(given)
