"""``subscribe_on``: the source is subscribed and asked on a worker, and signals come as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_core import Scheduler
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_schedulers import from_executor, immediate, single, trampoline
from rx_testing import ManualPublisher, ManualSubscription, TestMaybeObserver, TestSubscriber, VirtualScheduler


class Again:
    def __init__(self, items: Callable[[], Iterator[int]]) -> None:
        self.items = items

    def __iter__(self) -> Iterator[int]:
        return self.items()


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


# -- passive sources: the worker iterates them -----------------------------------------------------------------------------------


def on_another_thread(function: Callable[[int], object], argument: int) -> None:
    thread = threading.Thread(target=function, args=(argument,))
    thread.start()
    thread.join(30)


def test_what_another_thread_requests_of_a_passive_source_is_computed_on_the_worker(clock: VirtualScheduler) -> None:
    computed: list[int] = []
    got: TestSubscriber[int] = TestSubscriber(request=0)
    Flowable.range(5).do_on_next(computed.append).subscribe_on(clock).subscribe(got)
    clock.run_due()
    for wanted in (1, 3):
        before = list(computed)
        on_another_thread(got.request, wanted - len(computed))
        assert computed == before
        clock.run_due()
        got.assert_values(*range(wanted))
    got.request(2)  # on the worker's thread, where it is looked at at once, as in RxJava
    got.assert_result(*range(5))


def test_a_function_of_a_single_is_called_on_the_worker_without_a_request(clock: VirtualScheduler) -> None:
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        return 7

    got: TestSubscriber[int] = TestSubscriber(request=0)
    Single.from_callable(compute).subscribe_on(clock).to_flowable().subscribe(got)
    assert not calls
    clock.run_due()
    assert calls == [1]
    got.assert_no_values()
    got.request(1)
    clock.run_due()
    got.assert_result(7)


@pytest.mark.parametrize("request_in_on_next", [0, 1])
def test_a_worker_whose_actions_run_on_several_threads_computes_each_item_once(request_in_on_next: int) -> None:
    names: set[str] = set()

    def note(item: int) -> int:
        names.add(threading.current_thread().name.partition("_")[0])
        return item

    with ThreadPoolExecutor(4, thread_name_prefix="pool") as pool:
        got: TestSubscriber[int] = TestSubscriber(request=1, request_in_on_next=request_in_on_next)
        Flowable.range(200).map(note).subscribe_on(from_executor(pool)).subscribe(got)
        if not request_in_on_next:
            threads = [threading.Thread(target=lambda: [got.request(1) for _ in range(50)]) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
        got.await_terminal(30)
    got.assert_result(*range(200))
    assert names == {"pool"}


def test_a_shut_scheduler_is_the_error_of_a_passive_source_that_is_asked_for_more(clock: VirtualScheduler) -> None:
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.range(5).subscribe_on(clock).subscribe(got)
    clock.run_due()
    clock.shutdown()
    on_another_thread(got.request, 1)
    got.assert_values(0).assert_error(RuntimeError)


def test_a_shut_scheduler_is_the_error_of_a_source_that_pushes_and_is_asked_for_more(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.wrap(source).subscribe_on(clock).subscribe(got)
    clock.run_due()
    clock.shutdown()
    on_another_thread(got.request, 1)
    got.assert_no_values().assert_error(RuntimeError)
    assert source.subscriptions[0].cancelled


def test_a_cancel_between_two_turns_closes_the_iterator(clock: VirtualScheduler) -> None:
    closed: list[int] = []

    def items() -> Iterator[int]:
        try:
            yield from range(5)
        finally:
            closed.append(1)

    got: TestSubscriber[int] = TestSubscriber(request=2)
    Flowable.from_iterable(Again(items)).subscribe_on(clock).subscribe(got)
    clock.run_due()
    assert not closed
    got.cancel()
    assert closed == [1]
    got.assert_values(0, 1).assert_not_terminated()


def test_no_turn_is_needed_for_a_cancel_before_the_worker_begins(clock: VirtualScheduler) -> None:
    opened: list[int] = []

    def items() -> Iterator[int]:
        opened.append(1)
        yield 1

    got: TestSubscriber[int] = TestSubscriber()
    Flowable.from_iterable(Again(items)).subscribe_on(clock).subscribe(got)
    got.cancel()
    clock.run_due()
    assert not opened
