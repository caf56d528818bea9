"""publish: one run of a source for many subscribers, by a connection or within a function."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from rx_core import UNBOUNDED, Disposable, MissingBackpressureError
from rx_ops import Flowable, Observable, PublishSubject
from rx_testing import ManualPublisher, TestObserver, TestSubscriber

OOPS = ValueError("oops")


def watch(flow: Flowable[Any], request: int = UNBOUNDED, **options: Any) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    flow.subscribe(got)
    return got


def manual(**options: Any) -> tuple[ManualPublisher[int], Flowable[int]]:
    source: ManualPublisher[int] = ManualPublisher(**options)
    return source, Flowable.wrap(source)


def cancelled(source: ManualPublisher[Any], at: int) -> bool:
    return source.subscriptions[at].cancelled


def counted(starts: list[int]) -> Flowable[int]:
    """0, 1, 2; each run leaves a mark."""

    def make() -> Flowable[int]:
        starts.append(1)
        return Flowable.range(3)

    return Flowable.defer(make)


# -- publish and its connection ----------------------------------------------------------------------------------------


def test_publish_runs_when_it_is_connected_and_once_for_all() -> None:
    starts: list[int] = []
    shared = counted(starts).publish()
    first, second = watch(shared), watch(shared.map(str))
    assert not starts
    connection = shared.connect()
    first.assert_values(0, 1, 2).assert_complete()
    second.assert_values("0", "1", "2").assert_complete()
    assert starts == [1]
    assert connection.is_disposed


def test_connecting_twice_is_connecting_once() -> None:
    source, flow = manual()
    shared = flow.publish()
    assert shared.connect() is shared.connect()
    assert len(source.subscriptions) == 1


def test_who_connects_gets_the_disposable_before_the_source_is_subscribed() -> None:
    source, flow = manual()
    seen: list[tuple[Disposable, int]] = []
    connection = flow.publish().connect(lambda made: seen.append((made, len(source.subscriptions))))
    assert seen == [(connection, 0)]
    never: ManualPublisher[int] = ManualPublisher()
    Flowable.wrap(never).publish().connect(lambda made: made.dispose())
    assert not never.subscriptions


def test_a_late_subscriber_of_publish_gets_what_comes_and_after_the_end_the_end_until_reset() -> None:
    source, flow = manual()
    shared = flow.publish()
    first = watch(shared)
    shared.connect()
    source.next(1)
    second = watch(shared)
    source.next(2)
    shared.reset()  # running: no effect
    source.error(OOPS)
    first.assert_values(1, 2).assert_error(OOPS)
    second.assert_values(2).assert_error(OOPS)
    watch(shared).assert_no_values().assert_error(OOPS)
    shared.reset()
    again = watch(shared)
    again.assert_not_terminated()
    shared.connect()
    source.next(3)
    again.assert_values(3)


def test_connecting_after_the_end_starts_a_new_run() -> None:
    shared = Flowable.range(2).publish()
    first = watch(shared)
    shared.connect()
    first.assert_values(0, 1).assert_complete()
    assert not shared.connect().is_disposed
    watch(shared).assert_values(0, 1).assert_complete()


def test_disposing_the_connection_stops_the_source_and_signals_nothing() -> None:
    source, flow = manual()
    shared = flow.publish()
    got = watch(shared)
    connection = shared.connect()
    source.next(1)
    connection.dispose()
    assert cancelled(source, 0)
    assert connection.is_disposed
    got.assert_values(1).assert_not_terminated()
    fresh = watch(shared)
    shared.connect()
    source.subscriptions[1].next(2)
    fresh.assert_values(2)
    got.assert_values(1)


def test_the_slowest_subscriber_dictates() -> None:
    shared = Flowable.range(10).publish()
    slow, fast = watch(shared, 2), watch(shared)
    shared.connect()
    fast.assert_values(0, 1)
    slow.request(1)
    fast.assert_values(0, 1, 2)
    slow.cancel()
    fast.assert_values(*range(10)).assert_complete()
    slow.assert_values(0, 1, 2)


def test_with_no_subscriber_publish_waits_and_loses_nothing() -> None:
    source, flow = manual()
    shared = flow.publish(prefetch=4)
    shared.connect()
    assert source.requested == 4
    source.next(1, 2)
    got = watch(shared, 1)
    got.assert_values(1)
    got.cancel()
    source.next(3)
    watch(shared).assert_values(2, 3)


def test_a_foreign_source_is_asked_for_the_prefetch_and_again_when_three_quarters_are_taken() -> None:
    source, flow = manual()
    shared = flow.publish(prefetch=4)
    got = watch(shared, 2)
    shared.connect()
    source.next(1, 2, 3, 4)
    got.assert_values(1, 2)
    assert source.subscriptions[0].requests == [4]
    got.request(10)
    got.assert_values(1, 2, 3, 4)
    assert source.subscriptions[0].requests == [4, 3]


def test_a_source_that_sends_more_than_it_was_asked_for_ends_in_missing_backpressure() -> None:
    source, flow = manual(unchecked=True)
    shared = flow.publish(prefetch=2)
    got = watch(shared, 0)
    shared.connect()
    source.next(1, 2, 3, 4)
    got.request(10)
    got.assert_error(MissingBackpressureError)
    assert cancelled(source, 0)


def test_a_source_of_ours_is_asked_for_the_prefetch_too() -> None:
    pulled: list[int] = []
    shared = Flowable.range(10).do_on_next(pulled.append).publish(prefetch=4)
    got = watch(shared, 2)
    shared.connect()
    assert pulled == [0, 1, 2, 3]
    got.assert_values(0, 1)


def test_the_end_of_publish_needs_no_demand() -> None:
    shared = Flowable.range(1).publish()
    got = watch(shared, 1)
    shared.connect()
    got.assert_values(0).assert_complete()


@pytest.mark.parametrize("n", [0, -1, "1"])
@pytest.mark.parametrize("connected", [False, True])
def test_a_wrong_request_ends_that_subscriber_alone(n: Any, connected: bool) -> None:
    shared = Flowable.range(3).publish()
    if connected:
        shared.connect()
    bad = watch(shared, 0)
    bad.request(n)
    assert "3.9" in str(bad.errors[0])
    good = watch(shared)
    shared.connect()
    good.assert_values(0, 1, 2).assert_complete()


def test_an_observable_waits_for_nobody() -> None:
    source: PublishSubject[int] = PublishSubject()
    shared = source.publish()
    shared.connect()
    source.on_next(1)
    got: TestObserver[int] = TestObserver()
    shared.subscribe(got)
    source.on_next(2)
    source.on_complete()
    got.assert_values(2).assert_complete()
    cold = Observable.range(3).publish()
    cold.connect()
    late: TestObserver[int] = TestObserver()
    cold.subscribe(late)
    late.assert_no_values().assert_complete()


def test_a_subscriber_that_raises_does_not_end_the_others() -> None:
    shared = Flowable.range(3).publish()

    def throw(_item: object) -> None:
        raise LookupError

    bad, good = watch(shared, on_value=throw), watch(shared)
    shared.connect()
    good.assert_values(0, 1, 2).assert_complete()
    bad.assert_values(0)
    assert not bad.errors


def test_subscribing_and_leaving_while_an_item_is_sent() -> None:
    shared = Flowable.range(3).publish()
    late: list[TestSubscriber[Any]] = []

    def meet(item: int) -> None:
        if item == 0:
            third.cancel()
            late.append(watch(shared))

    first = watch(shared, on_value=meet)
    third = watch(shared)
    shared.connect()
    first.assert_values(0, 1, 2).assert_complete()
    third.assert_no_values()
    late[0].assert_values(1, 2).assert_complete()


def test_a_failing_source_is_an_error_for_all() -> None:
    def broken(_x: int) -> int:
        raise OOPS

    shared = Flowable.range(3).map(broken).publish()
    first, second = watch(shared), watch(shared, 1)
    shared.connect()
    first.assert_error(OOPS)
    second.assert_error(OOPS)
    assert "in map(" in "".join(getattr(first.errors[0], "__notes__", []))


@pytest.mark.parametrize("build", [lambda f: f.publish(), lambda f: f.replay(), lambda f: f.share(), lambda f: f.cache()])
def test_who_left_is_free(build: Any) -> None:
    _, flow = manual()
    shared = build(flow)
    stays, goes = watch(shared), watch(shared)
    if hasattr(type(shared), "connect"):
        shared.connect()
    seen = weakref.ref(goes)
    subscription = goes.subscription
    goes.cancel()
    del goes
    gc.collect()
    assert seen() is None
    assert subscription is not None
    stays.assert_valid()


# -- within a function ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [lambda f, use: f.publish(use), lambda f, use: f.replay(selector=use)])
def test_within_a_function_the_source_runs_once_for_each_subscription(share: Any) -> None:
    starts: list[int] = []
    source = counted(starts)
    both = share(source, lambda shared: Flowable.zip(shared, shared.map(str)))
    assert not starts
    for count in (1, 2):
        watch(both).assert_values((0, "0"), (1, "1"), (2, "2")).assert_complete()
        assert len(starts) == count


@pytest.mark.parametrize("share", [lambda f, use: f.publish(use), lambda f, use: f.replay(selector=use)])
def test_the_source_stops_with_the_stream_that_the_function_made(share: Any) -> None:
    source, flow = manual()
    got = watch(share(flow, lambda shared: shared.take(2)))
    source.next(1, 2)
    got.assert_values(1, 2).assert_complete()
    assert cancelled(source, 0)
    watch(share(flow, lambda shared: shared.map(str))).cancel()
    assert cancelled(source, -1)


def test_what_the_function_raises_ends_the_stream_and_the_source_is_left_alone() -> None:
    source, flow = manual()

    def use(_shared: object) -> Flowable[int]:
        raise OOPS

    watch(flow.publish(use)).assert_error(OOPS)
    wrong: Any = lambda _shared: 7  # noqa: E731  # a function as a user writes it
    watch(flow.publish(wrong)).assert_error(TypeError, match="returning a source")
    assert not source.subscriptions


def test_publish_in_a_function_works_for_observables_too() -> None:
    got: TestObserver[int] = TestObserver()
    Observable.range(3).publish(lambda shared: shared.merge_with(shared.map(lambda x: x * 10))).subscribe(got)
    assert sorted(got.values) == [0, 0, 1, 2, 10, 20]
    got.assert_complete()


def test_an_error_overtakes_what_waits_for_the_selectors_stream_and_not_what_waits_for_subscribers() -> None:
    source, shared = ManualPublisher[int](), ManualPublisher[int]()
    within, beside = TestSubscriber[int](request=1), TestSubscriber[int](request=1)
    Flowable.wrap(source).publish(lambda stream: stream).subscribe(within)
    connectable = Flowable.wrap(shared).publish()
    connectable.subscribe(beside)
    connectable.connect()
    for each in (source, shared):
        each.next(1, 2)
        each.error(OOPS)
    within.assert_failure(ValueError, 1)
    beside.request(1)
    beside.assert_failure(ValueError, 1, 2)
