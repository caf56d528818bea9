"""Into tasks of an event loop, and async functions in the middle of a pipeline: in trio and in asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import trio

import rx_asyncio
import rx_trio
from bench._common import installed
from bench._measure import Case, Way, absent, at_most
from rx_ops import Flowable
from rx_schedulers import single

aiostream: Any = installed("aiostream")

#: Calls of an async function at a time.
_CALLS = 8


def task_cases(size: int) -> Iterator[Case]:
    yield _into_trio(size // 2)
    yield _into_asyncio(size // 2)
    yield _mapped_in_asyncio(max(size // 40, 10))
    yield _mapped_in_trio(max(size // 40, 10))


def _into_trio(size: int) -> Case:
    part = max(size // 20, 1)

    async def plain_for() -> int:
        total = 0
        for item in range(size):
            total += item
        return total

    async def iterated(flow: Flowable[int]) -> int:
        total = 0
        async with rx_trio.stream(flow) as items:
            async for item in items:
                total += item
        return total

    async def wide(flow: Flowable[int]) -> int:
        total = 0
        async with rx_trio.stream(flow, prefetch=1024) as items:
            async for item in items:
                total += item
        return total

    async def over_channel() -> int:
        total = 0
        send, receive = trio.open_memory_channel[int](128)

        async def feed() -> None:
            async with send:
                for item in range(part):
                    await send.send(item)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(feed)
            async for item in receive:
                total += item
        return total

    async def thread_over_channel() -> int:
        """A thread that hands over each item: what trio offers for it."""
        total = 0
        send, receive = trio.open_memory_channel[int](128)
        few = max(part // 10, 1)

        def feed() -> None:
            for item in range(few):
                trio.from_thread.run(send.send, item)
            trio.from_thread.run_sync(send.close)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, feed)
            async for item in receive:
                total += item
        return total

    def in_trio(function: Callable[..., Any], *arguments: object) -> Callable[[], object]:
        return lambda: trio.run(function, *arguments)

    synchronous = Flowable.range(size)
    on_thread = Flowable.range(size).observe_on(single())
    partly = part * (part - 1) // 2
    few = max(part // 10, 1)
    return Case(
        "into a trio task",
        size,
        {
            "plain for": in_trio(plain_for),
            "rx, source": in_trio(iterated, synchronous),
            "rx, thread": in_trio(iterated, on_thread),
            "rx, thread, 1024": in_trio(wide, on_thread),
            "trio channel, task to task": Way(in_trio(over_channel), part, partly),
            "trio channel, thread to task": Way(in_trio(thread_over_channel), few, few * (few - 1) // 2, slow=True),
        },
        [at_most("rx, source", 4.5), at_most("rx, thread", 8), at_most("rx, thread, 1024", 8)],
        note="each way runs in an event loop of its own, started and ended within the time",
        waits=True,
    )


def _into_asyncio(size: int) -> Case:
    part = max(size // 20, 1)
    few = max(part // 10, 1)

    async def plain_for() -> int:
        total = 0
        for item in range(size):
            total += item
        return total

    async def iterated(flow: Flowable[int]) -> int:
        total = 0
        async with rx_asyncio.stream(flow) as items:
            async for item in items:
                total += item
        return total

    async def wide(flow: Flowable[int]) -> int:
        total = 0
        async with rx_asyncio.stream(flow, prefetch=1024) as items:
            async for item in items:
                total += item
        return total

    async def over_queue() -> int:
        total = 0
        queue: asyncio.Queue[int | None] = asyncio.Queue(128)

        async def feed() -> None:
            for item in range(part):
                await queue.put(item)
            await queue.put(None)

        async with asyncio.TaskGroup() as group:
            group.create_task(feed())
            while (item := await queue.get()) is not None:
                total += item
        return total

    async def thread_over_queue() -> int:
        """A thread that hands over each item: one call of the loop for it, and no bound."""
        total = 0
        queue: asyncio.Queue[int | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def feed() -> None:
            for item in (*range(few), None):
                loop.call_soon_threadsafe(queue.put_nowait, item)

        thread = threading.Thread(target=feed)
        thread.start()
        while (item := await queue.get()) is not None:
            total += item
        thread.join()
        return total

    async def their_stream() -> int:
        total = 0
        async with aiostream.stream.range(part).stream() as items:
            async for item in items:
                total += item
        return total

    synchronous = Flowable.range(size)
    on_thread = Flowable.range(size).observe_on(single())
    partly = part * (part - 1) // 2
    return Case(
        "into an asyncio task",
        size,
        {
            "plain for": _in_asyncio(plain_for),
            "rx, source": _in_asyncio(iterated, synchronous),
            "rx, thread": _in_asyncio(iterated, on_thread),
            "rx, thread, 1024": _in_asyncio(wide, on_thread),
            "asyncio queue, task to task": Way(_in_asyncio(over_queue), part, partly),
            "asyncio queue, thread to task": Way(_in_asyncio(thread_over_queue), few, few * (few - 1) // 2, slow=True),
            "aiostream": absent("aiostream") if aiostream is None else Way(_in_asyncio(their_stream), part, partly),
        },
        [at_most("rx, source", 4.5), at_most("rx, thread", 8), at_most("rx, thread, 1024", 8)],
        note="each way runs in an event loop of its own, started and ended within the time",
        waits=True,
    )


def _in_asyncio(function: Callable[..., Any], *arguments: object) -> Callable[[], object]:
    return lambda: asyncio.run(function(*arguments))


def _mapped_in_asyncio(size: int) -> Case:
    async def work(item: int) -> int:
        await asyncio.sleep(0)
        return item + 1

    async def by_hand() -> int:
        """In order, with as many calls at a time, and no bound for the results that wait."""
        places, results = asyncio.Semaphore(_CALLS), [0] * size

        async def call(item: int) -> None:
            try:
                results[item] = await work(item)
            finally:
                places.release()

        async with asyncio.TaskGroup() as group:
            for item in range(size):
                await places.acquire()
                group.create_task(call(item))
        return sum(results)

    async def mapped(**settings: Any) -> int:
        total = 0
        flow = Flowable.range(size).compose(rx_asyncio.map_async(work, concurrency=_CALLS, **settings))
        async with rx_asyncio.stream(flow) as items:
            async for item in items:
                total += item
        return total

    async def theirs() -> int:
        total = 0
        stream = aiostream.stream.map(aiostream.stream.range(size), work, ordered=True, task_limit=_CALLS)
        async with stream.stream() as items:
            async for item in items:
                total += item
        return total

    return Case(
        "map_async in asyncio",
        size,
        {
            "TaskGroup and semaphore by hand": _in_asyncio(by_hand),
            "rx, in order": _in_asyncio(mapped),
            "rx, as they come": _in_asyncio(lambda: mapped(ordered=False)),
            "rx, with a time limit": _in_asyncio(lambda: mapped(seconds=60)),
            "aiostream": absent("aiostream") if aiostream is None else Way(_in_asyncio(theirs), slow=True),
        },
        [at_most("rx, in order", 1.2), at_most("rx, as they come", 1.2)],
        note="a function that awaits once; by hand nothing holds up the calls when results are not taken",
    )


def _mapped_in_trio(size: int) -> Case:
    async def work(item: int) -> int:
        await trio.lowlevel.checkpoint()
        return item + 1

    async def by_hand() -> int:
        """In order, with as many calls at a time, and no bound for the results that wait."""
        places, results = trio.Semaphore(_CALLS), [0] * size

        async def call(item: int) -> None:
            try:
                results[item] = await work(item)
            finally:
                places.release()

        async with trio.open_nursery() as nursery:
            for item in range(size):
                await places.acquire()
                nursery.start_soon(call, item)
        return sum(results)

    async def mapped(**settings: Any) -> int:
        total = 0
        async with trio.open_nursery() as nursery:
            operator = rx_trio.map_async(work, concurrency=_CALLS, nursery=nursery, **settings)
            async with rx_trio.stream(Flowable.range(size).compose(operator)) as items:
                async for item in items:
                    total += item
        return total

    def in_trio(function: Callable[[], Awaitable[int]]) -> Callable[[], object]:
        return lambda: trio.run(function)

    return Case(
        "map_async in trio",
        size,
        {
            "nursery and semaphore by hand": in_trio(by_hand),
            "rx, in order": in_trio(mapped),
            "rx, as they come": in_trio(lambda: mapped(ordered=False)),
            "rx, with a time limit": in_trio(lambda: mapped(seconds=60)),
        },
        [at_most("rx, in order", 1.2), at_most("rx, as they come", 1.2)],
        note="a function that awaits once; by hand nothing holds up the calls when results are not taken",
    )
