"""ref_count, auto_connect, share: who starts the one run of a source, and who stops it."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import UNBOUNDED, Disposable
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler


def watch(flow: Flowable[Any], request: int = UNBOUNDED, **options: Any) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    flow.subscribe(got)
    return got


def manual(**options: Any) -> tuple[ManualPublisher[int], Flowable[int]]:
    source: ManualPublisher[int] = ManualPublisher(**options)
    return source, Flowable.wrap(source)


def cancelled(source: ManualPublisher[Any], at: int) -> bool:
    return source.subscriptions[at].cancelled


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
