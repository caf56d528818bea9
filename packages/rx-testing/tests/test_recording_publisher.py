"""RecordingPublisher: what it sends, what it records of its subscribers' calls, and when a call breaks a rule."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_testing import LeakWatch, RecordedSubscription, RecordingPublisher, SubscriptionCall, TestSubscriber
from rx_testing._recording_publisher import EndlessResubscription, Pace


class Acting(TestSubscriber[int]):
    """Calls ``act`` with its subscription at the beginning of one of its signals."""

    def __init__(self, signal: str, act: Callable[[Any], object], request: int = UNBOUNDED) -> None:
        super().__init__(request)
        self.signal, self.act = signal, act

    def acting(self, signal: str) -> None:
        if signal == self.signal:
            self.act(self.subscription)

    def on_next(self, item: int, /) -> None:
        super().on_next(item)
        self.acting("on_next")

    def on_error(self, error: Exception, /) -> None:
        super().on_error(error)
        self.acting("on_error")

    def on_complete(self) -> None:
        super().on_complete()
        self.acting("on_complete")


def texts(source: RecordingPublisher[int]) -> list[str]:
    return [str(each) for each in source.violations]


def calls(source: RecordingPublisher[int], number: int = 0) -> list[str]:
    return [str(each) for each in source.subscriptions[number].calls]


# -- what it sends -----------------------------------------------------------------------------------------------------

PACES: tuple[Pace, ...] = ("at once", "after on_subscribe", "by hand")


@pytest.mark.parametrize("pace", PACES)
def test_it_sends_what_was_requested_and_then_its_end(pace: Pace) -> None:
    source = RecordingPublisher([1, 2, 3], pace=pace)
    subscriber = TestSubscriber[int](request=2)
    source.subscribe(subscriber)
    while source.send():
        pass
    subscriber.assert_values(1, 2).assert_not_terminated()
    subscriber.request(1)
    while source.send():
        pass
    subscriber.assert_result(1, 2, 3)
    assert source.violations == []
    assert source.active == 0


@pytest.mark.parametrize("pace", PACES)
def test_an_empty_source_ends_without_a_request(pace: Pace) -> None:
    error = ValueError("the end")
    source = RecordingPublisher[int](error=error, pace=pace)
    subscriber = TestSubscriber[int](request=0)
    source.subscribe(subscriber)
    source.send()
    subscriber.assert_failure(error)


def test_by_hand_it_sends_each_subscriber_one_signal_at_a_time() -> None:
    source = RecordingPublisher([1, 2], pace="by hand")
    first, second = TestSubscriber[int](), TestSubscriber[int](request=1)
    source.subscribe(first)
    source.subscribe(second)
    sent = []
    for _ in range(4):
        sent.append((source.send(), len(first.values), len(second.values), first.is_terminated))
    assert sent == [(True, 1, 1, False), (True, 2, 1, False), (True, 2, 1, True), (False, 2, 1, True)]


def test_at_once_it_answers_inside_on_subscribe_and_after_on_subscribe_it_does_not() -> None:
    seen: list[int] = []

    class Asking(TestSubscriber[int]):
        def on_subscribe(self, subscription: Any, /) -> None:
            super().on_subscribe(subscription)
            seen.append(len(self.values))

    RecordingPublisher([1, 2], pace="at once").subscribe(Asking())
    RecordingPublisher([1, 2], pace="after on_subscribe").subscribe(Asking())
    assert seen == [2, 0]


def test_without_an_end_nothing_comes_after_the_items() -> None:
    source = RecordingPublisher([1], ends=False)
    subscriber = TestSubscriber[int]()
    source.subscribe(subscriber)
    subscriber.assert_values(1).assert_not_terminated()
    assert source.active == 1


def test_it_stops_when_it_is_cancelled_and_forgets_its_subscriber() -> None:
    source = RecordingPublisher([1, 2, 3])
    subscriber = TestSubscriber[int](cancel_after=1)
    source.subscribe(subscriber)
    subscriber.assert_values(1)
    assert source.subscriptions[0].cancelled
    reference = weakref.ref(subscriber)
    del subscriber
    gc.collect()
    assert reference() is None  # RS 3.13


def test_requests_inside_on_next_do_not_nest() -> None:
    subscriber = TestSubscriber[int](request=1, request_in_on_next=1)
    RecordingPublisher(range(100)).subscribe(subscriber)
    subscriber.assert_value_count(100).assert_complete()
    assert subscriber.max_depth == 2  # on_subscribe, and one on_next inside it


def test_a_wrong_request_is_answered_and_recorded() -> None:
    source = RecordingPublisher([1, 2])
    subscriber = TestSubscriber[int](request=0)
    source.subscribe(subscriber)
    subscriber.request(0)
    subscriber.assert_error(ValueError, match="3\\.9")
    assert texts(source) == ["§3.9: request(0)"]


def test_one_that_ignores_cancel_sends_what_was_requested_before() -> None:
    source = RecordingPublisher([1, 2, 3], pace="by hand", ignores_cancel=True)
    subscriber = TestSubscriber[int](request=2, cancel_after=1)
    source.subscribe(subscriber)
    while source.send():
        pass
    subscriber.assert_values(1, 2)


def test_a_surplus_subscription_is_given_to_the_same_subscriber() -> None:
    source = RecordingPublisher([1], surplus=True, pace="by hand")
    subscriber = TestSubscriber[int]()
    source.subscribe(subscriber)
    assert [(each.surplus, each.cancelled) for each in source.subscriptions] == [(False, False), (True, True)]
    assert calls(source, 1) == ["cancel() inside on_subscribe"]


def test_a_subscriber_is_needed() -> None:
    with pytest.raises(TypeError, match=r"RS 1\.9"):
        RecordingPublisher[int]().subscribe(None)  # type: ignore[arg-type]  # the mistake


def test_an_operator_that_subscribes_for_ever_is_stopped() -> None:
    source = RecordingPublisher[int]()
    subscribers: Iterator[TestSubscriber[int]] = (TestSubscriber[int]() for _ in repeat(None))
    with pytest.raises(EndlessResubscription, match="500 subscriptions"):
        list(map(source.subscribe, subscribers))


# -- what it records ---------------------------------------------------------------------------------------------------


def test_each_call_is_recorded_with_where_the_source_was() -> None:
    source = RecordingPublisher([1, 2], pace="by hand")
    subscriber = Acting("on_next", lambda subscription: subscription.request(1), request=1)
    source.subscribe(subscriber)
    source.send()
    subscriber.request(7)
    assert source.subscriptions[0].calls == [
        SubscriptionCall("request", 1, "on_subscribe"),
        SubscriptionCall("request", 1, "on_next"),
        SubscriptionCall("request", 7, "running"),
    ]
    assert source.subscriptions[0].requests == [1, 1, 7]


@pytest.mark.parametrize("end", ["on_complete", "on_error"])
def test_calls_inside_the_end_and_after_it_are_violations(end: str) -> None:
    def both(subscription: Any) -> None:
        subscription.request(1)
        subscription.cancel()

    source = RecordingPublisher[int](error=ValueError() if end == "on_error" else None)
    subscriber = Acting(end, both, request=0)
    source.subscribe(subscriber)
    subscriber.request(2)
    subscriber.cancel()
    assert texts(source) == [
        f"§2.3: request(1) inside {end}",
        f"§2.3: cancel() inside {end}",
        "§2.4: request(2) after the end",
        "§2.4: cancel() after the end",
    ]


def test_a_call_inside_on_subscribe_is_late_when_the_source_has_ended_there() -> None:
    class Late(TestSubscriber[int]):
        def on_subscribe(self, subscription: Any, /) -> None:
            super().on_subscribe(subscription)
            subscription.cancel()

    source = RecordingPublisher[int]([1], pace="at once")
    source.subscribe(Late())
    assert texts(source) == ["§2.4: cancel() after the end"]


def test_a_call_on_another_thread_while_the_end_is_delivered_is_none_inside_it() -> None:
    def elsewhere(subscription: Any) -> None:
        thread = threading.Thread(target=subscription.cancel)
        thread.start()
        thread.join()

    source = RecordingPublisher[int]()
    source.subscribe(Acting("on_complete", elsewhere, request=0))
    assert calls(source) == ["cancel()"]
    assert source.violations == []


def test_subscribing_again_inside_the_end_is_a_violation_unless_it_is_allowed() -> None:
    for allowed in (False, True):
        source = RecordingPublisher[int](resubscribe=allowed)
        again = Acting("on_complete", lambda _: source.subscribe(TestSubscriber[int]()))  # noqa: B023  # used at once
        source.subscribe(again)
        assert len(source.subscriptions) == 2
        assert texts(source) == ([] if allowed else ["§2.3: subscribe() inside on_complete"])


def test_a_subscriber_that_is_subscribed_twice_at_the_same_time_is_a_violation() -> None:
    source = RecordingPublisher[int](ends=False)
    subscriber = TestSubscriber[int]()
    source.subscribe(subscriber)
    source.subscribe(subscriber)
    assert [each.rule for each in source.violations] == ["2.12"]


def test_requests_that_overlap_are_a_violation_and_a_cancel_beside_one_is_none() -> None:
    def beside(subscription: RecordedSubscription[int], n: int) -> None:
        if n == 1:
            for call in (lambda: subscription.request(2), subscription.cancel):
                thread = threading.Thread(target=call)
                thread.start()
                thread.join()

    source = RecordingPublisher[int]([1], pace="by hand", on_request=beside)
    subscriber = TestSubscriber[int](request=0)
    source.subscribe(subscriber)
    subscriber.request(1)
    assert texts(source) == ["§2.7: request(2) while another thread was inside request"]


def test_requests_that_a_thread_makes_inside_a_request_do_not_overlap() -> None:
    source = RecordingPublisher[int]([1, 2], pace="at once")
    source.subscribe(TestSubscriber[int](request=1, request_in_on_next=1))
    assert source.violations == []


def test_a_request_made_by_another_thread_while_a_request_sends_does_not_overlap() -> None:
    def elsewhere(subscription: Any) -> None:
        thread = threading.Thread(target=subscription.request, args=(1,))
        thread.start()
        thread.join()

    source = RecordingPublisher[int]([1, 2], pace="at once")
    subscriber = Acting("on_next", elsewhere, request=1)
    source.subscribe(subscriber)
    assert subscriber.values == [1, 2]
    assert source.violations == []


def test_more_than_the_largest_demand_is_a_violation() -> None:
    source = RecordingPublisher[int]([1])
    source.subscribe(TestSubscriber[int](request=UNBOUNDED + 1))
    assert [each.rule for each in source.violations] == ["3.17"]


@pytest.mark.parametrize(("cancelled", "rule"), [(False, "2.13"), (True, "2.8")])
def test_a_signal_that_raises_is_a_violation_and_cancels(cancelled: bool, rule: str) -> None:
    def fail(subscription: Any) -> None:
        raise LookupError("mine")

    source = RecordingPublisher[int]([1, 2], pace="by hand", ignores_cancel=cancelled)
    subscriber = Acting("on_next", fail)
    source.subscribe(subscriber)
    if cancelled:
        subscriber.cancel()
    source.send()
    assert [each.rule for each in source.violations] == [rule]
    assert "LookupError" in source.violations[0].text
    assert not source.send()


def test_with_several_subscriptions_a_violation_says_which() -> None:
    source = RecordingPublisher[int](ends=False)
    for request in (1, -1):
        source.subscribe(TestSubscriber[int](request=request))
    assert texts(source) == ["§3.9: request(-1) inside on_subscribe, subscription 1"]


def test_a_leak_watch_sees_its_subscriptions() -> None:
    with LeakWatch().open() as watch:
        source = RecordingPublisher[int]([1, 2], ends=False)
        subscriber = TestSubscriber[int]()
        source.subscribe(subscriber)
        left = [repr(each) for each in watch.left()]
        subscriber.cancel()
        assert watch.left() == []
    assert len(left) == 1
    assert "sent 2 items; neither cancelled nor ended" in left[0]
    assert repr(source) == "RecordingPublisher(2 items, then no end; at once)"
