"""sequence_equal: sources side by side, as long as they give the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rx_fusion import fusion_enabled
from rx_ops import Flowable, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber


@pytest.mark.parametrize("wall", [False, True])
@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        ((1, 2, 3), (1, 2, 3), True),
        ((), (), True),
        ((1, 2, 3), (1, 2), False),
        ((1, 2), (1, 2, 3), False),
        ((1, 2, 3), (1, 9, 3), False),
        ((), (1,), False),
    ],
)
def test_equal_items_and_equally_many(left: tuple[int, ...], right: tuple[int, ...], answer: bool, wall: bool) -> None:
    for face in (Flowable, Observable):
        made: Any = face
        a, b = made.from_iterable(left), made.from_iterable(right)
        if wall:
            a, b = a.hide(), b.hide()
        assert made.sequence_equal(a, b).blocking_get() is answer
        assert made.sequence_equal(a, made.from_iterable(left), b).blocking_get() is answer


def pushed(
    *, count: int = 2, request: int = 1, prefetch: int = 4, comparer: Any = None
) -> tuple[list[ManualPublisher[int]], TestSubscriber[bool]]:
    sources: list[ManualPublisher[int]] = [ManualPublisher() for _ in range(count)]
    got: TestSubscriber[bool] = TestSubscriber(request=request)
    flows: list[Flowable[int]] = [Flowable.wrap(each) for each in sources]
    answer = Flowable.sequence_equal(flows[0], flows[1], *flows[2:], comparer=comparer, prefetch=prefetch)
    answer.to_flowable().subscribe(got)
    return sources, got


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_difference_cancels_both_at_once(order: tuple[int, int]) -> None:
    sources, got = pushed()
    sources[order[0]].next(1, 2)
    sources[order[1]].next(1)
    got.assert_empty()
    sources[order[1]].next(3)
    got.assert_result(False)
    assert all(each.cancelled for each in sources)


def test_a_difference_of_two_is_enough_while_the_third_has_given_nothing() -> None:
    sources, got = pushed(count=3)
    sources[0].next(1)
    sources[2].next(2)
    got.assert_result(False)
    assert all(each.cancelled for each in sources)


def test_one_end_against_an_item_is_a_difference() -> None:
    sources, got = pushed()
    sources[0].next(1)
    sources[1].complete()
    got.assert_result(False)
    assert sources[0].cancelled


def test_both_have_to_end() -> None:
    sources, got = pushed()
    sources[0].next(1)
    sources[1].next(1)
    sources[0].complete()
    got.assert_empty()
    sources[1].complete()
    got.assert_result(True)


def test_an_error_cancels_the_other_and_needs_no_request() -> None:
    sources, got = pushed(request=0)
    sources[0].next(1)
    sources[1].error(OSError("gone"))
    got.assert_error(OSError)
    assert sources[0].cancelled


def test_a_cancel_reaches_both() -> None:
    sources, got = pushed()
    sources[0].next(1)
    got.cancel()
    assert all(each.cancelled for each in sources)


def test_each_source_is_asked_for_its_window_and_then_for_three_quarters_of_it() -> None:
    sources, got = pushed(prefetch=4)
    assert [each.subscriptions[0].requests for each in sources] == [[4], [4]]
    sources[0].next(1, 2, 3, 4)
    assert sources[0].requested == 4
    sources[1].next(1, 2, 3)
    assert [each.requested for each in sources] == [7, 7]
    got.assert_empty()


def test_items_are_compared_as_they_come_whether_the_answer_is_wanted_or_not() -> None:
    compared: list[tuple[int, int]] = []

    def same(a: int, b: int) -> bool:
        compared.append((a, b))
        return a == b

    sources, got = pushed(request=0, comparer=same)
    for each in sources:
        each.next(1, 2)
    assert compared == [(1, 1), (2, 2)]
    for each in sources:
        each.complete()
    got.assert_empty()
    got.request(1)
    got.assert_result(True)


def test_the_comparer_decides_and_each_pair_is_compared_once() -> None:
    compared: list[tuple[int, int]] = []

    def same(a: int, b: int) -> int:
        compared.append((a, b))
        return abs(a - b) < 5

    sources, got = pushed(count=3, comparer=same)
    sources[0].next(1, 10)
    sources[2].next(2)
    sources[1].next(3, 30)
    got.assert_result(False)
    assert sorted(compared) == [(1, 2), (1, 3), (10, 30)]


def test_what_the_comparer_raises_has_a_note() -> None:
    def unequal(_a: int, _b: int) -> bool:
        raise KeyError("broken")

    sources, got = pushed(comparer=unequal)
    for each in sources:
        each.next(1)
    got.assert_error(KeyError)
    assert got.error is not None
    assert any("sequence_equal" in note for note in got.error.__notes__)
    assert all(each.cancelled for each in sources)


def test_endless_sources_that_are_equal_can_be_cancelled() -> None:
    got: TestSubscriber[bool] = TestSubscriber()
    rows = 0

    def same(_a: int, _b: int) -> bool:
        nonlocal rows
        rows += 1
        if rows == 1000:
            got.cancel()
        assert rows < 2000
        return True

    def ones() -> Iterator[int]:
        while True:
            yield 1

    a, b = Flowable.from_iterable(ones()), Flowable.from_iterable(ones())
    Flowable.sequence_equal(a, b, comparer=same).to_flowable().subscribe(got)
    assert rows == 1000
    got.assert_empty()


@pytest.mark.skipif(not fusion_enabled(), reason="without fusion such a source pushes a window of items")
def test_sources_at_hand_are_read_no_further_than_the_answer_needs() -> None:
    read: list[str] = []

    def letters(name: str, text: str) -> Iterator[str]:
        for letter in text:
            read.append(name + letter)
            yield letter

    a, b = Flowable.from_iterable(letters("1", "abcd")), Flowable.from_iterable(letters("2", "abxd"))
    got: TestSubscriber[bool] = TestSubscriber(request=0)
    Flowable.sequence_equal(a, b, Flowable.of("a", "b", "c")).to_flowable().subscribe(got)
    assert read == ["1a", "2a", "1b", "2b", "1c", "2x"]
    got.assert_empty()
    got.request(1)
    got.assert_result(False)


@pytest.mark.skipif(not fusion_enabled(), reason="without fusion such a source pushes a window of items")
def test_of_a_source_beside_an_empty_one_one_item_is_read() -> None:
    read: list[int] = []
    numbers = Flowable.range(3).do_on_next(read.append)
    for sources in ((numbers, Flowable.empty()), (Flowable.empty(), numbers)):
        read.clear()
        got: TestSubscriber[bool] = TestSubscriber(request=0)
        Flowable.sequence_equal(*sources).to_flowable().subscribe(got)
        assert read == [0]
        got.request(1)
        got.assert_result(False)


def test_an_error_that_comes_while_a_source_is_subscribed_is_heard_although_the_other_one_is_empty() -> None:
    got: TestSubscriber[bool] = TestSubscriber()
    failing: Flowable[int] = Flowable.just(6).concat_with(Flowable.error(KeyError("first")))
    Flowable.sequence_equal(failing.hide(), Flowable.empty()).to_flowable().subscribe(got)
    got.assert_failure(KeyError)


@pytest.mark.parametrize("more", [(), (Single.just(1),)])
def test_of_singles_that_both_fail_the_error_of_the_first_is_signalled(more: tuple[Single[int], ...]) -> None:
    first: Single[int] = Flowable.range(2).single()
    with pytest.raises(ValueError, match="more than one"):
        Single.sequence_equal(first, Single.error(KeyError("second")), *more).blocking_get()


def test_a_single_is_computed_before_the_next_one_is_subscribed() -> None:
    order: list[str] = []

    def first() -> int:
        order.append("first")
        return 1

    def second() -> Single[int]:
        order.append("second")
        return Single.just(1).hide()

    assert Single.sequence_equal(Single.from_callable(first), Single.defer(second)).blocking_get() is True
    assert order == ["first", "second"]
