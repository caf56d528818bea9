"""The scheduler and its loop: ends, Ctrl-C, contexts, and loops of others."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest
from loops import run, turns

import rx_asyncio
from rx_asyncio import _scheduler
from rx_core import DISPOSED
from rx_ops import Flowable
from rx_testing import TestSubscriber


def test_a_loop_that_is_closed_without_telling_runs_nothing_more() -> None:
    loop = asyncio.new_event_loop()

    async def main() -> rx_asyncio.AsyncioScheduler:
        return rx_asyncio.scheduler()

    scheduler = loop.run_until_complete(main())
    loop.close()
    worker = scheduler.create_worker()
    assert worker.schedule(lambda: None) is DISPOSED
    assert scheduler.is_shut_down
    assert scheduler.shutdown(1)
    with pytest.raises(RuntimeError, match="has ended"):
        scheduler.create_worker()


def test_a_scheduler_is_no_task_and_does_not_outlive_its_loop() -> None:
    async def main() -> rx_asyncio.AsyncioScheduler:
        scheduler = rx_asyncio.scheduler()
        done = asyncio.Event()
        scheduler.create_worker().schedule(done.set, 0.001)
        await done.wait()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return scheduler

    assert run(main) not in _scheduler._current.values()


def test_an_interrupt_in_an_action_leaves_the_loop_and_the_scheduler_goes_on() -> None:
    loop = asyncio.new_event_loop()
    ran: list[int] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    async def main() -> None:
        worker = rx_asyncio.scheduler().create_worker()
        worker.schedule(interrupt)
        worker.schedule(lambda: ran.append(1))
        await asyncio.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(main())
    loop.run_until_complete(asyncio.sleep(0.001))
    assert ran == [1]
    assert not asyncio.all_tasks(loop)  # what was begun has ended by now
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def test_actions_do_not_run_in_the_context_of_who_came_first() -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="none")
    seen: list[str] = []

    async def main() -> None:
        async def schedule(value: str) -> None:
            name.set(value)
            worker = rx_asyncio.scheduler().create_worker()
            worker.schedule(lambda: seen.append(name.get()))
            worker.schedule(lambda: seen.append(name.get()), 0.001)

        await asyncio.create_task(schedule("first"))
        await asyncio.create_task(schedule("second"))
        await asyncio.sleep(0.005)

    run(main)
    assert seen == ["none"] * 4


def test_one_callback_for_a_batch_of_actions() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        scheduler = rx_asyncio.scheduler()
        worker = scheduler.create_worker()
        calls: list[str] = []
        soon = loop.call_soon_threadsafe

        def counted(*arguments: object, **keywords: object) -> object:
            calls.append("threadsafe")
            return soon(*arguments, **keywords)  # type: ignore[arg-type]

        ran: list[int] = []
        loop.call_soon_threadsafe = counted  # type: ignore[method-assign, assignment]

        def schedule() -> None:
            for n in range(20):
                worker.schedule(lambda n=n: ran.append(n))  # type: ignore[misc]

        thread = threading.Thread(target=schedule)
        thread.start()
        thread.join()  # blocks the loop, so that all are there before it comes to the first
        await turns()
        del loop.call_soon_threadsafe
        assert ran == list(range(20))
        assert calls == ["threadsafe"]

    run(main)


def test_eager_tasks_begin_before_they_are_known() -> None:
    factory = getattr(asyncio, "eager_task_factory", None)
    if factory is None:
        pytest.skip("tasks begin eagerly since Python 3.12")

    async def main() -> None:
        asyncio.get_running_loop().set_task_factory(factory)

        async def double(item: int) -> int:
            return 2 * item

        assert await Flowable.range(100).compose(rx_asyncio.map_async(double)).to_list() == [2 * n for n in range(100)]

        async def items():  # type: ignore[no-untyped-def]
            yield 1

        assert await rx_asyncio.first(rx_asyncio.from_async_iterable(items)) == 1
        asyncio.get_running_loop().set_task_factory(None)

    run(main)


def test_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")
    subscriber = TestSubscriber[int]()

    async def main() -> None:
        assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")

        async def half(item: int) -> int:
            await asyncio.sleep(0.0001 * (item % 3))
            return item // 2

        flow = Flowable.range(500).observe_on(rx_asyncio.scheduler()).compose(rx_asyncio.map_async(half, concurrency=32))
        async with rx_asyncio.stream(flow) as items:
            assert [item async for item in items] == [n // 2 for n in range(500)]
        assert await Flowable.interval(0.001, scheduler=rx_asyncio.scheduler()).take(3).to_list() == [0, 1, 2]
        got = await asyncio.to_thread(Flowable.range(2000).observe_on(rx_asyncio.scheduler()).blocking_list)
        assert got == list(range(2000))
        Flowable.range(100_000).observe_on(rx_asyncio.scheduler()).subscribe(subscriber)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
    subscriber.assert_error(RuntimeError)  # the loop has ended, and told
