"""Shared sources and threads: subscribers that come, go and request at the same time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_ops import Flowable, PublishProcessor
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler


def watch(flow: Flowable[Any], request: int = UNBOUNDED, **options: Any) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    flow.subscribe(got)
    return got


def cancelled(source: ManualPublisher[Any], at: int) -> bool:
    return source.subscriptions[at].cancelled


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
