"""TrioScheduler: order, virtual instants, threads, and what happens to streams when the loop ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import pytest

import rx_core
from rx_core import DISPOSED
from rx_core.tasks import LoopScheduler
from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.tasks.backends import Backend
from tests.tasks.parties import Leave

T = TypeVar("T")


def test_delays_at_exact_virtual_instants(backend: Backend) -> None:
    seen: list[tuple[str, float]] = []

    async def main() -> None:
        async with backend.rx.open_scheduler() as scheduler:
            worker = scheduler.create_worker()

            def note(name: str) -> Callable[[], object]:
                return lambda: seen.append((name, backend.now()))

            worker.schedule(note("c"), 2.5)
            worker.schedule(note("a"))
            worker.schedule(note("d"), 3600.0)
            worker.schedule(note("b"), 0.25)
            dropped = worker.schedule(note("never"), 1.0)
            dropped.dispose()
            assert dropped.is_disposed
            worker.schedule(note("negative"), -1.0)
            await backend.sleep(4000)
            assert worker.now() == scheduler.now() == 4000.0

    backend.run(main)
    assert seen == [("a", 0.0), ("negative", 0.0), ("b", 0.25), ("c", 2.5), ("d", 3600.0)]


def test_an_action_that_schedules_the_next_one(backend: Backend) -> None:
    instants: list[float] = []

    async def main() -> None:
        worker = backend.rx.scheduler().create_worker()

        def tick() -> None:
            instants.append(backend.now())
            if len(instants) < 5:
                worker.schedule(tick, 1.5)

        worker.schedule(tick, 1.5)
        await backend.sleep(100)

    backend.run(main)
    assert instants == [1.5, 3.0, 4.5, 6.0, 7.5]


def test_what_is_due_comes_before_what_is_scheduled_now(backend: Backend) -> None:
    order: list[str] = []

    async def main() -> None:
        worker = backend.rx.scheduler().create_worker()
        worker.schedule(lambda: order.append("timer"), 1.0)
        await backend.settle()
        backend.jump(2.0)
        worker.schedule(lambda: order.append("now"))
        await backend.sleep(1)

    backend.run(main)
    assert order == ["timer", "now"]


def test_one_scheduler_for_each_loop_and_none_outside(backend: Backend) -> None:
    async def main() -> LoopScheduler:
        found: LoopScheduler = backend.rx.scheduler()
        again = backend.rx.scheduler() is found
        assert again
        return found

    first, second = backend.run(main), backend.run(main)
    assert first is not second
    with pytest.raises(RuntimeError, match="has ended"):
        first.create_worker()
    with pytest.raises(RuntimeError, match=f"inside {backend} only"):
        backend.rx.scheduler()


@pytest.mark.filterwarnings("ignore:the plugin:RuntimeWarning")  # somebody else's that does not load
def test_the_name_of_a_library_means_its_loop_that_runs(backend: Backend) -> None:
    seen: list[float] = []

    async def main() -> None:
        worker = rx_core.scheduler(backend.name).create_worker()
        worker.schedule(lambda: seen.append(backend.now()), 2.0)
        await backend.sleep(3)
        assert rx_core.scheduler(backend.name).now() == 3.0

    backend.run(main)
    backend.run(main)
    assert seen == [2.0, 2.0]
    with pytest.raises(RuntimeError, match=f"inside {backend} only"):
        rx_core.scheduler(backend.name).create_worker()


def test_a_disposed_worker_runs_nothing(backend: Backend) -> None:
    async def main() -> None:
        worker = backend.rx.scheduler().create_worker()
        ran: list[int] = []
        waiting = worker.schedule(lambda: ran.append(1))
        worker.dispose()
        assert waiting.is_disposed
        assert worker.schedule(lambda: ran.append(2)) is DISPOSED
        assert worker.is_disposed
        await backend.sleep(1)
        assert ran == []

    backend.run(main)


def test_an_action_that_ran_is_not_disposed(backend: Backend) -> None:
    """Whoever asks late whether its action was refused must not be told so."""

    async def main() -> None:
        worker = backend.rx.scheduler().create_worker()
        done = worker.schedule(lambda: None)
        await backend.sleep(1)
        assert not done.is_disposed

    backend.run(main)


def test_errors_of_actions_are_reported_and_the_loop_lives(backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ZeroDivisionError("boom")

    def leave() -> None:
        raise Leave("leave")

    async def main() -> None:
        worker = backend.rx.scheduler().create_worker()
        ran: list[int] = []
        worker.schedule(fail)
        worker.schedule(leave)
        worker.schedule(lambda: ran.append(1))
        await backend.sleep(1)
        assert ran == [1]

    backend.run(main)
    assert "boom" in caplog.text
    assert "Leave ended an action" in caplog.text


def test_actions_from_many_threads_run_serially_on_the_loop(backend: Backend) -> None:
    async def main() -> None:
        worker = backend.rx.scheduler().create_worker()
        here = threading.get_ident()
        ran: list[tuple[int, int]] = []

        def schedule(thread: int) -> None:
            for i in range(5000):

                def action(i: int = i) -> None:
                    assert threading.get_ident() == here
                    ran.append((thread, i))

                assert not worker.schedule(action).is_disposed

        async with backend.owner() as owner:
            for thread in range(4):
                owner.start(backend.thread, schedule, thread)
        while len(ran) < 20_000:
            await backend.checkpoint()
        for thread in range(4):
            assert [i for t, i in ran if t == thread] == list(range(5000))

    backend.run_real(main)


def test_a_stream_on_the_loop_requested_from_a_thread(backend: Backend) -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int](request=0)
        Flowable.range(20_000).observe_on(backend.rx.scheduler()).subscribe(subscriber)

        def ask() -> None:
            for _ in range(2001):
                subscriber.request(10)
            subscriber.await_terminal()

        await backend.thread(ask)
        assert subscriber.values == list(range(20_000))
        assert set(subscriber.value_threads) == {threading.current_thread().name}
        subscriber.assert_complete()

    backend.run_real(main)


def test_a_long_stream_lets_other_tasks_run(backend: Backend) -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int]()
        Flowable.range(25_600).observe_on(backend.rx.scheduler()).subscribe(subscriber)
        turns = 0
        while not subscriber.is_terminated:
            await backend.checkpoint()
            turns += 1
        assert turns >= 3
        subscriber.assert_value_count(25_600).assert_complete()

    backend.run(main)


def test_a_stream_ends_with_an_error_when_its_loop_ends(backend: Backend) -> None:
    subscriber = TestSubscriber[int](request=5)

    async def main() -> None:
        Flowable.range(100).observe_on(backend.rx.scheduler()).subscribe(subscriber)
        await backend.sleep(1)

    backend.run(main)
    subscriber.assert_value_count(5).assert_not_terminated()
    subscriber.request(1)
    subscriber.assert_value_count(5).assert_error(RuntimeError)
    assert "shut down" in str(subscriber.errors[0])


def test_a_stream_with_work_waiting_when_its_loop_ends_does_not_hang(backend: Backend) -> None:
    subscriber = TestSubscriber[int]()

    async def main() -> None:
        Flowable.range(100_000).observe_on(backend.rx.scheduler()).subscribe(subscriber)

    backend.run(main)
    subscriber.assert_error(RuntimeError)
    assert len(subscriber.values) < 100_000


def test_leaving_the_block_ends_its_scheduler_only(backend: Backend) -> None:
    async def main() -> None:
        ran: list[str] = []
        async with backend.rx.open_scheduler() as scheduler:
            worker = scheduler.create_worker()
            worker.schedule(lambda: ran.append("accepted"))
            late = worker.schedule(lambda: ran.append("never"), 10)
        assert ran == ["accepted"]
        assert late.is_disposed
        assert worker.is_disposed
        assert worker.schedule(lambda: None) is DISPOSED
        assert scheduler.shutdown()
        backend.rx.scheduler().create_worker().schedule(lambda: ran.append("other"))
        await backend.sleep(20)
        assert ran == ["accepted", "other"]

    backend.run(main)


def test_shutdown_from_a_thread_waits(backend: Backend) -> None:
    async def main() -> None:
        scheduler = backend.rx.scheduler()
        assert await backend.thread(scheduler.shutdown)
        assert scheduler.shutdown()
        assert backend.rx.scheduler() is not scheduler

    backend.run_real(main)


def test_dropped_timers_are_forgotten(backend: Backend) -> None:
    async def main() -> None:
        scheduler = backend.rx.scheduler()
        worker = scheduler.create_worker()
        for _ in range(2000):
            worker.schedule(lambda: None, 1e6).dispose()
            await backend.checkpoint()
            worker.schedule(lambda: None, 1e6)
            await backend.checkpoint()
        worker.dispose()
        for _ in range(200):
            backend.rx.scheduler().schedule_direct(lambda: None, 1.0)
        await backend.sleep(2)
        assert len(scheduler._heap) < 300

    backend.run(main)
