"""from_queue(): demand, ends, and what stays in the queue."""

from __future__ import annotations

import asyncio
import sys

import pytest
from loops import run, turns

import rx_asyncio
from rx_ops import Flowable
from rx_testing import TestSubscriber


def test_one_item_is_taken_for_each_requested() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        for n in range(10):
            queue.put_nowait(n)
        subscriber = TestSubscriber[int](request=0)
        rx_asyncio.from_queue(queue).subscribe(subscriber)
        await turns()
        assert queue.qsize() == 10
        subscriber.request(3)
        await turns()
        assert queue.qsize() == 7
        subscriber.assert_values(0, 1, 2).assert_not_terminated()
        subscriber.cancel()
        await turns()
        assert queue.qsize() == 7

    run(main)


def test_a_full_queue_holds_up_who_puts() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue(2)
        put = 0

        async def produce() -> None:
            nonlocal put
            for n in range(100):
                await queue.put(n)
                put += 1

        async with asyncio.TaskGroup() as group:
            group.create_task(produce())
            async with rx_asyncio.stream(rx_asyncio.from_queue(queue, end=99), prefetch=1) as items:
                async for item in items:
                    await turns()
                    assert put <= item + 1 + 1 + 2  # taken, one in advance, and those in the queue

    run(main)


def test_an_item_ends_it_and_join_returns() -> None:
    async def main() -> list[int]:
        queue: asyncio.Queue[int | str] = asyncio.Queue()
        for n in range(3):
            queue.put_nowait(n)
        stop = "stop"
        queue.put_nowait(stop)
        got = await Flowable.wrap(rx_asyncio.from_queue(queue, end=stop)).cast(int).to_list()
        await queue.join()
        return got

    assert run(main) == [0, 1, 2]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="queues are shut down since Python 3.13")
def test_a_queue_that_is_shut_down_completes() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        queue.put_nowait(1)
        subscriber = TestSubscriber[int]()
        rx_asyncio.from_queue(queue).subscribe(subscriber)
        await turns()
        queue.shutdown()  # type: ignore[attr-defined, unused-ignore]
        await turns()
        subscriber.assert_values(1).assert_complete()

    run(main)


def test_a_waiting_subscriber_that_cancels_loses_no_item() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        subscriber = TestSubscriber[int]()
        rx_asyncio.from_queue(queue).subscribe(subscriber)
        await turns()
        queue.put_nowait(1)  # the waiting get is woken, and cancelled before it has taken it
        subscriber.cancel()
        await turns()
        assert queue.qsize() == 1
        assert await rx_asyncio.first(rx_asyncio.from_queue(queue)) == 1

    run(main)


def test_subscribers_share_the_items_out() -> None:
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        first, second = TestSubscriber[int](), TestSubscriber[int]()
        for subscriber in (first, second):
            rx_asyncio.from_queue(queue).subscribe(subscriber)
        await turns()
        for n in range(4):
            queue.put_nowait(n)
            await turns()
        assert sorted([*first.values, *second.values]) == [0, 1, 2, 3]
        first.cancel()
        second.cancel()
        await turns()

    run(main)


def test_what_is_no_queue_is_explained() -> None:
    with pytest.raises(TypeError, match=r"needs an asyncio\.Queue"):
        rx_asyncio.from_queue([1])  # type: ignore[arg-type]
