"""publish, share, replay, cache: one run of a source for many subscribers."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED, Disposable, MissingBackpressureError
from rx_fusion import fusion_enabled
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, PublishSubject, Single
from rx_testing import ManualPublisher, TestMaybeObserver, TestObserver, TestSubscriber, VirtualScheduler

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
    assert source.subscriptions[0].requests == [4, 3]  # one more is taken ahead
    got.request(10)
    got.assert_values(1, 2, 3, 4)


def test_a_source_that_sends_more_than_it_was_asked_for_ends_in_missing_backpressure() -> None:
    source, flow = manual(unchecked=True)
    shared = flow.publish(prefetch=2)
    got = watch(shared, 0)
    shared.connect()
    source.next(1, 2, 3, 4)
    got.request(10)
    got.assert_error(MissingBackpressureError)
    assert cancelled(source, 0)


@pytest.mark.skipif(not fusion_enabled(), reason="without fusion it is a source like any other, with a prefetch")
def test_a_source_of_ours_is_pulled_one_item_ahead() -> None:
    pulled: list[int] = []
    shared = Flowable.range(10).do_on_next(pulled.append).publish()
    got = watch(shared, 2)
    shared.connect()
    assert pulled == [0, 1, 2]
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


# -- ref_count, auto_connect, share --------------------------------------------------------------------------------------


def test_ref_count_starts_with_enough_and_stops_with_the_last() -> None:
    source, flow = manual()
    shared = flow.publish().ref_count(2)
    first = watch(shared)
    assert not source.subscriptions
    second = watch(shared)
    third = watch(shared)
    source.next(1)
    first.cancel()
    second.cancel()
    assert not cancelled(source, 0)
    third.cancel()
    assert cancelled(source, 0)
    third.assert_values(1)
    watch(shared)
    assert len(source.subscriptions) == 1
    watch(shared)
    assert len(source.subscriptions) == 2


def test_ref_count_waits_for_its_seconds_to_the_instant() -> None:
    clock = VirtualScheduler()
    source, flow = manual()
    shared = flow.publish().ref_count(1, 2.0, scheduler=clock)
    watch(shared).cancel()
    clock.advance_by(1.999)
    assert not cancelled(source, 0)
    clock.advance_by(0.001)
    assert cancelled(source, 0)
    assert not clock.pending


def test_who_comes_back_in_time_keeps_the_source_running_and_the_old_alarm_is_off() -> None:
    clock = VirtualScheduler()
    source, flow = manual()
    shared = flow.publish().ref_count(1, 2.0, scheduler=clock)
    watch(shared).cancel()
    clock.advance_by(1.5)
    back = watch(shared)
    assert not clock.pending
    clock.advance_by(10.0)
    source.next(1)
    back.assert_values(1)
    back.cancel()
    clock.advance_by(1.0)
    assert not cancelled(source, 0)
    clock.advance_by(1.0)
    assert cancelled(source, 0)
    assert len(source.subscriptions) == 1


def test_ref_count_starts_again_after_the_end() -> None:
    shared = Flowable.range(2).share()
    assert [shared.blocking_list() for _ in range(3)] == [[0, 1]] * 3


def test_an_end_while_the_seconds_run_leaves_no_alarm() -> None:
    clock = VirtualScheduler()
    source, flow = manual()
    shared = flow.publish().ref_count(1, 2.0, scheduler=clock)
    got = watch(shared)
    source.complete()
    got.assert_complete()
    assert not clock.pending
    watch(shared)
    assert len(source.subscriptions) == 2


def test_who_subscribes_again_in_its_on_complete_starts_a_new_run_although_others_have_not_left() -> None:
    source, flow = manual()
    shared = flow.share()
    again: list[TestSubscriber[Any]] = []
    flow_again = shared.do_on_complete(lambda: again.append(watch(shared)))
    first, second = watch(flow_again), watch(shared)
    source.complete()
    first.assert_complete()
    second.assert_complete()
    again[0].assert_not_terminated()
    assert len(source.subscriptions) == 2


def test_auto_connect_starts_with_enough_and_never_stops() -> None:
    source, flow = manual()
    made: list[Disposable] = []
    shared = flow.publish().auto_connect(2, on_connect=made.append)
    first = watch(shared)
    assert not source.subscriptions
    second = watch(shared)
    first.cancel()
    second.cancel()
    assert not cancelled(source, 0)
    made[0].dispose()
    assert cancelled(source, 0)


def test_auto_connect_with_nobody_starts_now() -> None:
    source, flow = manual()
    shared = flow.publish().auto_connect(0)
    assert len(source.subscriptions) == 1
    got = watch(shared)
    source.next(1)
    got.assert_values(1)
    assert len(source.subscriptions) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f.publish(prefetch=0),
        lambda f: f.share(prefetch=0),
        lambda f: f.publish().ref_count(0),
        lambda f: f.publish().ref_count(1, -1.0),
        lambda f: f.publish().auto_connect(-1),
        lambda f: f.replay(0),
        lambda f: f.replay(1, -1.0),
    ],
)
def test_bad_numbers_raise_when_the_pipeline_is_built(wrong: Any) -> None:
    with pytest.raises(ValueError, match="for example"):
        wrong(Flowable.range(3))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f.publish(7),
        lambda f: f.replay(selector=7),
        lambda f: f.publish().connect(7),
        lambda f: f.publish().auto_connect(on_connect=7),
    ],
)
def test_something_that_is_no_function_raises_when_the_pipeline_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match="function"):
        wrong(Flowable.range(3))


# -- replay and cache ----------------------------------------------------------------------------------------------------


def test_replay_gives_late_ones_everything_at_their_own_pace() -> None:
    shared = Flowable.range(5).replay()
    first = watch(shared, 2)
    shared.connect()
    first.assert_values(0, 1)
    second = watch(shared, 1)
    second.assert_values(0)
    second.request(10)
    second.assert_values(*range(5)).assert_complete()
    first.assert_values(0, 1)
    first.request(10)
    first.assert_values(*range(5)).assert_complete()


def test_replay_asks_for_what_the_one_that_wants_most_has_requested_in_all() -> None:
    source, flow = manual()
    shared = flow.replay()
    first, second = watch(shared, 3), watch(shared, 5)
    shared.connect()
    assert source.subscriptions[0].requests == [5]
    first.request(1)
    assert source.requested == 5
    first.request(3)
    assert source.requested == 7
    second.request(1)
    assert source.requested == 7
    source.next(*range(7))
    late = watch(shared, 8)
    assert source.requested == 8
    late.assert_values(*range(7))
    watch(shared)
    assert source.requested == UNBOUNDED


def test_with_a_size_a_late_subscriber_wants_from_where_it_starts() -> None:
    source, flow = manual()
    shared = flow.replay(2)
    watch(shared, 5)
    shared.connect()
    source.next(*range(5))
    late = watch(shared, 3)
    late.assert_values(3, 4)
    assert source.requested == 6


def test_replay_keeps_what_fits_its_bounds() -> None:
    clock = VirtualScheduler()
    source, flow = manual()
    shared = flow.replay(2, 1.0, scheduler=clock)
    watch(shared)
    shared.connect()
    source.next(1, 2, 3)
    watch(shared).assert_values(2, 3)
    clock.advance_by(0.999)
    watch(shared).assert_values(2, 3)
    clock.advance_by(0.001)
    watch(shared).assert_no_values()
    source.next(4)
    source.complete()
    watch(shared).assert_values(4).assert_complete()


def test_replay_keeps_its_items_until_reset_and_then_frees_them() -> None:
    class Item: ...

    item = Item()
    seen = weakref.ref(item)
    source: ManualPublisher[Item] = ManualPublisher()
    shared = Flowable.wrap(source).replay()
    shared.connect()
    shared.subscribe(lambda _item: None)
    source.next(item)
    source.complete()
    del item
    watch(shared).assert_value_count(1).assert_complete()
    gc.collect()
    assert seen() is not None
    shared.reset()
    source.subscriptions.clear()
    gc.collect()
    assert seen() is None
    watch(shared).assert_not_terminated()


def test_replay_inside_ref_count_gives_latecomers_the_history() -> None:
    source, flow = manual()
    shared = flow.replay().ref_count()
    first = watch(shared)
    source.next(1, 2)
    second = watch(shared)
    second.assert_values(1, 2)
    first.cancel()
    second.cancel()
    assert cancelled(source, 0)
    watch(shared).assert_no_values()


def test_cache_runs_once_to_the_end_whoever_leaves() -> None:
    source, flow = manual()
    cached = flow.cache()
    assert not source.subscriptions
    first = watch(cached, 1)
    assert source.requested == UNBOUNDED
    source.next(1, 2)
    first.assert_values(1)
    first.cancel()
    assert not cancelled(source, 0)
    source.next(3)
    source.complete()
    late = watch(cached, 2)
    late.assert_values(1, 2).assert_not_terminated()
    late.request(1)
    late.assert_values(1, 2, 3).assert_complete()
    assert len(source.subscriptions) == 1


def test_cache_keeps_an_error_too() -> None:
    calls: list[int] = []

    def failing() -> Flowable[int]:
        calls.append(1)
        return Flowable.of(1).concat_with(Flowable.error(OOPS))

    cached = Flowable.defer(failing).cache()
    for _ in range(2):
        watch(cached).assert_values(1).assert_error(OOPS)
    assert calls == [1]


def test_a_subscriber_that_asks_one_by_one_gets_a_long_replay_without_recursion() -> None:
    shared = Flowable.range(20_000).replay()
    got = watch(shared, 1, request_in_on_next=1)
    shared.connect()
    got.assert_value_count(20_000).assert_complete()


def test_a_none_of_a_foreign_source_ends_a_replay() -> None:
    source, flow = manual(unchecked=True)
    shared = flow.hide().replay()
    got = watch(shared)
    shared.connect()
    with pytest.raises(TypeError):
        source.next(None)  # type: ignore[arg-type]  # the mistake
    got.assert_error(TypeError)


@pytest.mark.parametrize("kind", [Single, Maybe])
def test_a_single_is_cached_with_its_item_or_its_error(kind: Any) -> None:
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        if len(calls) == 2:
            raise OOPS
        return 7

    for _ in range(2):
        cached = kind.from_callable(compute).cache()
        for _ in range(3):
            got: TestMaybeObserver[int] = TestMaybeObserver()
            cached.subscribe(got)
            if len(calls) == 1:
                got.assert_result(7)
                assert cached.map(str).blocking_get() == "7"
            else:
                got.assert_error(OOPS)
    assert calls == [1, 1]


def test_a_completable_is_cached() -> None:
    calls: list[int] = []
    cached = Completable.from_action(lambda: calls.append(1)).cache()
    for _ in range(2):
        cached.blocking_await()
    assert calls == [1]


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


# -- threads -------------------------------------------------------------------------------------------------------------

INTERVALS = (1e-6, 1e-5, 1e-4, 1e-3, 5e-3)


def race(*workers: Callable[[], object]) -> None:
    start = threading.Barrier(len(workers))
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait(30)
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


def rounds(count: int) -> Iterator[int]:
    before = sys.getswitchinterval()
    try:
        for number in range(count):
            sys.setswitchinterval(INTERVALS[number % len(INTERVALS)])
            yield number
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("build", [lambda f: f.publish(), lambda f: f.replay(), lambda f: f.replay(3)])
def test_requests_of_many_threads_get_every_item_once_and_no_more_than_requested(build: Any) -> None:
    for _ in rounds(25):
        shared = build(Flowable.range(60))
        all_of_them = [watch(shared, 0) for _ in range(4)]

        def ask(got: TestSubscriber[Any]) -> Callable[[], None]:
            def work() -> None:
                for _ in range(60):
                    got.request(1)

            return work

        race(shared.connect, *map(ask, all_of_them))
        for got in all_of_them:
            got.assert_values(*range(60)).assert_complete()


def test_subscribers_come_and_go_while_a_shared_source_sends() -> None:
    for _ in rounds(25):
        source: PublishProcessor[int] = PublishProcessor()
        shared = source.share()
        stay = watch(shared)
        gone: list[TestSubscriber[Any]] = []

        def come_and_go(shared: Any = shared, gone: Any = gone) -> None:
            for _ in range(10):
                got = watch(shared)
                got.cancel()
                gone.append(got)

        def send(source: Any = source) -> None:
            for item in range(100):
                source.on_next(item)

        race(send, come_and_go, come_and_go)
        source.on_complete()
        stay.assert_values(*range(100)).assert_complete()
        for got in gone:
            got.assert_valid()


def test_first_and_last_meet_and_there_is_never_more_than_one_run_that_somebody_hears() -> None:
    """Everybody who comes hears the source, and when all have left it is stopped."""
    for _ in rounds(60):
        source: ManualPublisher[int] = ManualPublisher()
        shared = Flowable.wrap(source).share()
        left = watch(shared)
        found: list[TestSubscriber[Any]] = []

        def come(shared: Any = shared, found: Any = found) -> None:
            found.append(watch(shared))

        race(left.cancel, come, come)
        running = [each for each in source.subscriptions if not each.cancelled]
        assert len(running) == 1
        running[0].next(1)
        for got in found:
            got.assert_values(1)
            got.cancel()
        assert all(each.cancelled for each in source.subscriptions)


def test_everybody_cancels_at_the_same_time_as_the_grace_runs_out() -> None:
    for _ in rounds(60):
        clock = VirtualScheduler()
        source: ManualPublisher[int] = ManualPublisher()
        shared = Flowable.wrap(source).publish().ref_count(1, 1.0, scheduler=clock)
        watch(shared).cancel()
        found: list[TestSubscriber[Any]] = []

        def come(shared: Any = shared, found: Any = found) -> None:
            found.append(watch(shared))

        race(come, lambda clock=clock: clock.advance_by(1.0))  # type: ignore[misc]  # a lambda with a default
        running = [each for each in source.subscriptions if not each.cancelled]
        assert len(running) == 1
        running[0].next(1)
        found[0].assert_values(1)
        found[0].cancel()
        clock.advance_by(1.0)
        assert all(each.cancelled for each in source.subscriptions)
