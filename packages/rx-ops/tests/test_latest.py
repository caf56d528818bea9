"""combine_latest and with_latest_from: rows, what makes one, what is left out, and how much waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED, BufferWatch, CompositeException
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")
Source = ManualPublisher[Any]


def combined(request: int = UNBOUNDED, **options: Any) -> tuple[Source, Source, TestSubscriber[Any]]:
    first, second = Source(), Source()
    subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
    Flowable.combine_latest(first, second, **options).subscribe(subscriber)
    return first, second, subscriber


# -- combine_latest ----------------------------------------------------------------------------------------------------------


def test_each_item_makes_a_row_once_every_source_has_one() -> None:
    first, second, subscriber = combined()
    first.next(1, 2)
    second.next("a")
    first.next(3)
    second.next("b")
    first.complete()
    second.next("c")
    subscriber.assert_values((2, "a"), (3, "a"), (3, "b"), (3, "c")).assert_not_terminated()
    second.complete()
    subscriber.assert_complete()


def test_each_source_is_asked_for_its_window() -> None:
    first, second, _ = combined(prefetch=4)
    assert (first.requested, second.requested) == (4, 4)
    first.next(1, 2, 3)
    assert first.requested == 7


def test_rows_wait_for_demand_and_nothing_is_lost() -> None:
    first, second, subscriber = combined(request=1)
    first.next(1)
    second.next("a", "b", "c")
    subscriber.assert_values((1, "a"))
    subscriber.request(1)
    subscriber.assert_values((1, "a"), (1, "b"))
    second.complete()
    first.complete()
    subscriber.assert_not_terminated()
    subscriber.request(1)
    subscriber.assert_result((1, "a"), (1, "b"), (1, "c"))


def test_the_first_row_waits_for_demand_as_well() -> None:
    first, second, subscriber = combined(request=0)
    first.next(1, 2)
    second.next("a")
    first.next(3)
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_values((2, "a"))
    subscriber.request(1)
    subscriber.assert_values((2, "a"), (3, "a"))


def test_a_source_that_completes_without_an_item_completes_everything() -> None:
    first, second, subscriber = combined(request=0)
    second.complete()
    subscriber.assert_result()
    assert first.cancelled
    first, second, subscriber = combined()
    first.next(1)
    first.complete()
    subscriber.assert_not_terminated()
    second.complete()
    subscriber.assert_result()


def test_the_first_error_ends_it_and_a_delayed_one_waits() -> None:
    first, second, subscriber = combined()
    first.error(OOPS)
    subscriber.assert_failure(OOPS)
    assert second.cancelled
    first, second, subscriber = combined(delay_error=True)
    first.next(1)
    first.error(OOPS)
    second.next("a", "b")
    subscriber.assert_values((1, "a"), (1, "b")).assert_not_terminated()
    other = KeyError("other")
    second.error(other)
    error = subscriber.error
    assert isinstance(error, CompositeException)
    assert error.exceptions == (OOPS, other)


def test_a_delayed_error_of_a_source_without_an_item_is_the_end() -> None:
    first, second, subscriber = combined(delay_error=True)
    first.error(OOPS)
    subscriber.assert_failure(OOPS)
    assert second.cancelled


def test_what_the_combiner_raises_is_not_delayed() -> None:
    first, second, subscriber = combined(combiner=lambda a, b: a // b, delay_error=True)
    first.next(1)
    second.next(0)
    subscriber.assert_error(ZeroDivisionError)
    assert first.cancelled
    assert second.cancelled


def test_a_synchronous_source_is_at_its_end_before_the_next_is_subscribed() -> None:
    for wall in (False, True):
        numbers, letters = Flowable.range(1000), Flowable.of("a", "b")
        rows = Flowable.combine_latest(numbers.hide(), letters.hide()) if wall else Flowable.combine_latest(numbers, letters)
        assert rows.blocking_list() == [(999, "a"), (999, "b")]


def test_three_and_four_sources() -> None:
    one = Flowable.just(1)
    assert Flowable.combine_latest(one, one, one).blocking_list() == [(1, 1, 1)]
    assert Flowable.combine_latest(one, one, one, one, combiner=lambda a, b, c, d: a + b + c + d).blocking_list() == [4]
    assert Observable.combine_latest(Observable.of(1), Observable.of(2, 3)).blocking_list() == [(1, 2), (1, 3)]


def test_a_search_for_a_first_row_can_be_cancelled() -> None:
    subscriber = TestSubscriber[Any]()
    flow = Flowable.combine_latest(Flowable.from_iterable(Endless()), Flowable.never())
    thread = threading.Thread(target=lambda: flow.subscribe(subscriber), daemon=True)
    thread.start()
    while not subscriber.is_subscribed:
        time.sleep(0)
    subscriber.cancel()
    thread.join(5)
    assert not thread.is_alive()


class Endless:
    def __iter__(self) -> Iterator[int]:
        while True:
            yield 1


def test_threads_that_send_at_the_same_time_make_serial_rows() -> None:
    for _ in range(50):
        first, second, subscriber = combined(prefetch=1000)

        def send(source: Source) -> None:
            for item in range(100):
                source.next(item)
            source.complete()

        threads = [threading.Thread(target=send, args=(source,)) for source in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
        subscriber.await_terminal().assert_complete()
        assert subscriber.values[-1] == (99, 99)
        assert all(a <= c and b <= d for (a, b), (c, d) in zip(subscriber.values, subscriber.values[1:], strict=False))


# -- with_latest_from --------------------------------------------------------------------------------------------------------


def beside(others: int = 1, request: int = UNBOUNDED, **options: Any) -> tuple[Source, list[Source], TestSubscriber[Any]]:
    source, beside = Source(), [Source() for _ in range(others)]
    subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
    Flowable.wrap(source).with_latest_from(*beside, **options).subscribe(subscriber)
    return source, beside, subscriber


def test_items_of_the_source_make_rows_and_those_of_the_other_do_not() -> None:
    source, (other,), subscriber = beside()
    other.next("a")
    source.next(1, 2)
    other.next("b", "c")
    subscriber.assert_values((1, "a"), (2, "a"))
    source.next(3)
    source.complete()
    subscriber.assert_result((1, "a"), (2, "a"), (3, "c"))
    assert other.cancelled


def test_items_before_the_others_are_left_out_and_asked_for_again() -> None:
    source, (one, two), subscriber = beside(2, request=2)
    source.next(1)
    one.next("a")
    source.next(2)
    assert source.requested == 4
    two.next("x")
    source.next(3, 4)
    assert source.requested == 4
    subscriber.assert_values((3, "a", "x"), (4, "a", "x"))


def test_the_others_are_asked_for_everything_and_one_item_of_each_waits() -> None:
    with BufferWatch() as watch:
        source, (other,), subscriber = beside(request=1)
        assert other.requested == UNBOUNDED
        other.next(*range(10_000))
        source.next("x")
        other.next(*range(10_000))
        subscriber.cancel()
    subscriber.assert_values(("x", 9_999))
    assert watch.peak <= 2


def test_the_end_of_an_other_that_had_an_item_changes_nothing() -> None:
    for others in (1, 2):
        source, sides, subscriber = beside(others)
        for other in sides:
            other.next("a")
            other.complete()
        source.next(1)
        assert len(subscriber.values) == 1
        subscriber.assert_not_terminated()


def test_an_empty_other_is_ignored_when_it_is_the_only_one_and_else_the_end() -> None:
    source, (other,), subscriber = beside(request=0)
    other.complete()
    subscriber.assert_not_terminated()
    source, (one, two), subscriber = beside(2, request=0)
    one.complete()
    subscriber.assert_result()
    assert source.cancelled
    assert two.cancelled


def test_an_error_of_an_other_is_passed_on_at_once() -> None:
    source, (other,), subscriber = beside(request=0)
    other.next("a")
    other.error(OOPS)
    subscriber.assert_failure(OOPS)
    assert source.cancelled


def test_an_other_may_send_without_end_on_the_thread_that_subscribes() -> None:
    subscriber = TestSubscriber[Any]()
    flow = Flowable.just(1).with_latest_from(Flowable.from_iterable(Endless()))
    thread = threading.Thread(target=lambda: flow.subscribe(subscriber), daemon=True)
    thread.start()
    while not subscriber.is_subscribed:
        time.sleep(0)
    subscriber.cancel()
    thread.join(5)
    assert not thread.is_alive()
    subscriber.assert_empty()


def test_a_thread_that_sends_beside_never_overlaps_the_source() -> None:
    source, (other,), subscriber = beside()
    other.next(-1)
    stop = threading.Event()

    def send() -> None:
        at = 0
        while not stop.is_set():
            other.next(at)
            at += 1

    thread = threading.Thread(target=send)
    thread.start()
    for item in range(2_000):
        source.next(item)
    stop.set()
    thread.join(5)
    source.complete()
    subscriber.assert_complete().assert_value_count(2_000)
    seen = [latest for _, latest in subscriber.values]
    assert seen == sorted(seen)


@pytest.mark.parametrize("build", [lambda s: s.with_latest_from(), lambda s: s.with_latest_from(s, combiner=5)])
def test_a_wrong_call_is_refused_at_assembly(build: Any) -> None:
    with pytest.raises(TypeError, match="with_latest_from"):
        build(Flowable.just(1))
