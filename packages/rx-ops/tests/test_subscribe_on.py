"""``subscribe_on``: the source is subscribed and asked on a worker, and signals come as they come."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_core import Scheduler
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_schedulers import immediate, single, trampoline
from rx_testing import ManualPublisher, ManualSubscription, TestMaybeObserver, TestSubscriber, VirtualScheduler


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


def test_what_was_requested_before_the_source_is_there_is_asked_for_then(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=2)
    Flowable.wrap(source).subscribe_on(clock).subscribe(got)
    got.request(3)
    assert not source.subscriptions
    clock.run_due()
    assert source.requested == 5
    source.next(1, 2)
    source.complete()
    got.assert_result(1, 2)
    assert clock.pending == 0


def test_a_later_request_reaches_the_source_on_the_worker() -> None:
    threads: list[str] = []
    asked = threading.Semaphore(0)

    def note(_subscription: ManualSubscription[int], _n: int) -> None:
        threads.append(threading.current_thread().name)
        asked.release()

    source: ManualPublisher[int] = ManualPublisher(on_request=note)
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.wrap(source).subscribe_on(single()).subscribe(got)
    assert asked.acquire(timeout=10)
    got.request(1)
    assert asked.acquire(timeout=10)
    assert all(name.startswith("rx-single") for name in threads)
    got.cancel()


def test_a_subscription_that_is_cancelled_before_the_worker_s_turn_is_not_made(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(source).subscribe_on(clock).subscribe(got)
    got.cancel()
    assert clock.pending == 0
    clock.run_due()
    assert not source.subscriptions


def test_a_cancel_while_the_source_is_subscribed_reaches_it(clock: VirtualScheduler) -> None:
    got: TestSubscriber[int] = TestSubscriber()

    class Slow:
        def subscribe(self, subscriber: Any, /) -> None:
            got.cancel()
            source.subscribe(subscriber)

    source: ManualPublisher[int] = ManualPublisher()
    Flowable.wrap(Slow()).subscribe_on(clock).subscribe(got)
    clock.run_due()
    assert source.cancelled


@pytest.mark.parametrize("scheduler", [immediate(), trampoline()], ids=repr)
def test_a_worker_that_runs_inside_schedule_subscribes_at_once(scheduler: Scheduler) -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.range(3).subscribe_on(scheduler).subscribe(got)
    got.assert_result(0, 1, 2)


def test_a_scheduler_that_takes_no_action_is_the_error_of_the_stream(clock: VirtualScheduler) -> None:
    class Late(TestSubscriber[int]):
        def on_subscribe(self, subscription: Any, /) -> None:
            super().on_subscribe(subscription)
            clock.shutdown()  # the worker was made before

    got = Late()
    Flowable.range(3).subscribe_on(clock).subscribe(got)
    got.assert_error(RuntimeError, match="shut down")
    refused: TestSubscriber[int] = TestSubscriber()
    Flowable.range(3).subscribe_on(clock).subscribe(refused)
    refused.assert_error(RuntimeError, match="shut down")


def test_what_the_subscriber_raises_on_the_worker_goes_to_the_error_hook(clock: VirtualScheduler) -> None:
    class Failing(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            super().on_next(item)
            raise OSError

    got = Failing()
    Flowable.range(3).subscribe_on(clock).subscribe(got)
    with errors_of_the_hook() as errors:
        clock.run_due()
    assert [type(error) for error in errors] == [OSError]
    assert got.values == [0]


def test_a_wrong_request_is_answered_by_the_source_on_its_own_thread(clock: VirtualScheduler) -> None:
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.range(3).subscribe_on(clock).subscribe(got)
    clock.run_due()
    got.request(0)
    clock.run_due()
    got.assert_failure(ValueError, 0, match="§3.9")


@pytest.mark.parametrize("kind", [Single, Maybe, Completable])
def test_types_of_at_most_one_item_are_subscribed_on_the_worker(kind: Any, clock: VirtualScheduler) -> None:
    calls: list[int] = []

    def call() -> int:
        calls.append(1)
        return 5

    made = kind.from_action(call) if kind is Completable else kind.from_callable(call)
    got: TestMaybeObserver[Any] = TestMaybeObserver()
    made.subscribe_on(clock).subscribe(got)
    assert not calls
    clock.run_due()
    got.assert_complete()
    assert calls == [1]


def test_an_observable_is_subscribed_on_the_worker(clock: VirtualScheduler) -> None:
    values: list[int] = []
    Observable.of(1, 2).subscribe_on(clock).subscribe(values.append)
    assert not values
    clock.run_due()
    assert values == [1, 2]
