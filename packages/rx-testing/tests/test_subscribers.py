"""The recording ends: what they note, what they refuse, what their assertions say."""

from __future__ import annotations

import threading

import pytest

from rx_core import DISPOSED, UNBOUNDED
from rx_testing import ManualPublisher, TestMaybeObserver, TestObserver, TestSubscriber


def test_a_result_is_values_and_completion() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int]()
    source.subscribe(subscriber)
    subscriber.assert_empty()
    source.next(1, 2)
    subscriber.assert_values(1, 2).assert_not_terminated()
    source.complete()
    subscriber.assert_result(1, 2).assert_valid()
    assert source.requested == UNBOUNDED
    assert subscriber.value_threads == ["MainThread"] * 2


def test_a_failure_is_values_and_an_error() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int]()
    source.subscribe(subscriber)
    source.next(1)
    error = KeyError("missing")
    source.error(error)
    subscriber.assert_failure(KeyError, 1, match="miss").assert_error(error).assert_not_complete()
    with pytest.raises(AssertionError, match="expected no error") as caught:
        subscriber.assert_result(1)
    assert caught.value.__cause__ is error


def test_demand_is_sent_when_the_subscription_comes_and_later() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int](request=2)
    subscriber.request(3)
    source.subscribe(subscriber)
    assert source.subscriptions[0].requests == [2, 3]
    subscriber.request(5)
    assert source.requested == subscriber.requested == 10


def test_requesting_in_on_next_and_cancelling_after_some() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=1, request_in_on_next=2, cancel_after=3)
    source.subscribe(subscriber)
    source.next(1, 2, 3)
    assert source.subscriptions[0].requests == [1, 2, 2]
    assert source.cancelled
    assert subscriber.is_cancelled


def test_cancelling_before_the_subscription_comes() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int]()
    subscriber.cancel()
    source.subscribe(subscriber)
    assert source.cancelled
    assert source.requested == 0


def test_request_zero_is_passed_on() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int](request=0)
    source.subscribe(subscriber)
    subscriber.request(0)
    assert source.subscriptions[0].requests == [0]


class Handle:
    def request(self, n: int, /) -> None: ...
    def cancel(self) -> None: ...
    def dispose(self) -> None: ...

    is_disposed = False


def subscribed(request: int = UNBOUNDED) -> TestSubscriber[object]:
    subscriber = TestSubscriber[object](request=request)
    subscriber.on_subscribe(Handle())
    return subscriber


def violation(subscriber: TestSubscriber[object]) -> str:
    assert len(subscriber.violations) == 1
    with pytest.raises(AssertionError, match="violations of the protocol"):
        subscriber.assert_value_count(len(subscriber.values))
    return subscriber.violations[0]


def test_more_than_requested_breaks_1_1() -> None:
    subscriber = subscribed(request=1)
    subscriber.on_next("a")
    subscriber.assert_values("a")
    subscriber.on_next("b")
    assert violation(subscriber).startswith("§1.1: on_next('b') is item 2, only 1")


def test_signals_that_overlap_break_1_3() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold(item: object) -> None:
        if item == 1:
            inside.set()
            assert leave.wait(10)

    subscriber = TestSubscriber[object](on_value=hold)
    subscriber.on_subscribe(Handle())
    thread = threading.Thread(target=subscriber.on_next, args=(1,), name="first")
    thread.start()
    assert inside.wait(10)
    subscriber.on_next(2)
    leave.set()
    thread.join(10)
    assert violation(subscriber).startswith("§1.3: on_next on 'MainThread' while another")


def test_nesting_on_one_thread_is_allowed_and_measured() -> None:
    subscriber = TestSubscriber[int](on_value=lambda item: subscriber.on_next(item - 1) if item else None)
    subscriber.on_subscribe(Handle())
    subscriber.on_next(3)
    subscriber.assert_values(3, 2, 1, 0)
    assert subscriber.max_depth == 4


def test_signals_after_the_end_break_1_7() -> None:
    subscriber = subscribed()
    subscriber.on_complete()
    subscriber.on_next("late")
    assert violation(subscriber) == "§1.7: on_next('late') after the terminal signal (complete)"
    again = subscribed()
    again.on_error(ValueError("x"))
    again.on_complete()
    assert violation(again).startswith("§1.7: on_complete")


def test_signals_before_on_subscribe_break_1_9() -> None:
    subscriber = TestSubscriber[object]()
    subscriber.on_next(1)
    assert violation(subscriber) == "§1.9: on_next(1) before on_subscribe"


def test_a_second_subscription_breaks_2_12_and_is_cancelled() -> None:
    first, second = ManualPublisher[object](), ManualPublisher[object]()
    subscriber = TestSubscriber[object]()
    first.subscribe(subscriber)
    second.subscribe(subscriber)
    assert violation(subscriber).startswith("§2.12")
    assert second.cancelled
    assert not first.cancelled


def test_none_breaks_2_13() -> None:
    subscriber = subscribed()
    with pytest.raises(TypeError, match="item is None"):
        subscriber.on_next(None)
    assert violation(subscriber) == "§2.13: on_next(None)"
    other = subscribed()
    with pytest.raises(TypeError, match="error is None"):
        other.on_error(None)  # type: ignore[arg-type]  # what a faulty source does
    assert violation(other).startswith("§2.13: on_error(None)")


def test_waiting_for_the_end_from_another_thread() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int]()
    source.subscribe(subscriber)

    def run() -> None:
        source.next(1, 2)
        source.complete()

    thread = threading.Thread(target=run, name="sender-1")
    thread.start()
    subscriber.await_count(2, 10).await_terminal(10).assert_result(1, 2).assert_on_thread("sender")
    thread.join(10)
    assert subscriber.terminal_thread == "sender-1"
    with pytest.raises(AssertionError, match="items also came on sender-1"):
        subscriber.assert_on_thread("rx-")


def test_waiting_in_vain_cancels_and_tells_the_state() -> None:
    source, subscriber = ManualPublisher[int](), TestSubscriber[int]()
    source.subscribe(subscriber)
    source.next(7)
    with pytest.raises(AssertionError, match=r"(?s)no terminal signal after 0 seconds.*1 values \[7\]; not terminated"):
        subscriber.await_terminal(0)
    assert source.cancelled


def test_a_difference_is_shown_where_it_is() -> None:
    subscriber = subscribed()
    for value in range(100):
        subscriber.on_next(value if value != 50 else -1)
    with pytest.raises(AssertionError, match=r"(?s)index 50: 100 expected, 100 came.*\(47 more\), 47, 48, 49, 50.*-1"):
        subscriber.assert_value_sequence(range(100))
    with pytest.raises(AssertionError, match=r"missing \[50\], too many \[-1\]"):
        subscriber.assert_values_in_any_order(*range(100))


def test_an_observer_has_no_demand() -> None:
    observer = TestObserver[int](cancel_after=2)
    observer.on_subscribe(Handle())
    observer.on_next(1)
    observer.on_next(2)
    assert observer.is_cancelled
    observer.assert_values(1, 2).assert_not_terminated()
    observer.on_complete()
    observer.assert_result(1, 2)


def test_one_class_for_the_types_of_at_most_one_element() -> None:
    single = TestMaybeObserver[int]()
    single.on_subscribe(DISPOSED)
    single.assert_empty()
    single.on_success(5)
    single.assert_result(5).await_terminal(0)
    single.on_success(6)
    assert single.violations == ["§1.7: on_success(6) after the terminal signal (complete)"]
    empty = TestMaybeObserver[int]()
    empty.on_subscribe(DISPOSED)
    empty.on_complete()
    empty.assert_result()
    failed = TestMaybeObserver[int]()
    failed.on_subscribe(DISPOSED)
    failed.on_error(ValueError("x"))
    failed.assert_failure(ValueError)


def test_a_manual_publisher_does_not_break_rules_by_accident() -> None:
    source = ManualPublisher[int]()
    with pytest.raises(AssertionError, match="has no subscriber yet"):
        source.next(1)
    subscriber = TestSubscriber[int](request=1)
    source.subscribe(subscriber)
    source.next(1)
    with pytest.raises(AssertionError, match="1 items were requested"):
        source.next(2)
    assert source.subscribers == 1
    source.complete()
    assert source.subscribers == 0
    with pytest.raises(AssertionError, match="has ended"):
        source.complete()
    subscriber.assert_result(1)


def test_a_manual_publisher_breaks_rules_on_purpose() -> None:
    source = ManualPublisher[object](unchecked=True)
    subscriber = TestSubscriber[object](request=0)
    source.subscribe(subscriber)
    source.next(1)
    source.complete()
    source.next(2)
    assert [text[:4] for text in subscriber.violations] == ["§1.1", "§1.7"]


def test_a_manual_publisher_answers_from_inside_request() -> None:
    source = ManualPublisher[int](on_request=lambda subscription, n: subscription.next(*range(n)))
    subscriber = TestSubscriber[int](request=3)
    source.subscribe(subscriber)
    subscriber.assert_values(0, 1, 2)
