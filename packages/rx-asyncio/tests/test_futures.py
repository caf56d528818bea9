"""from_future() and from_task(): results, errors, and who cancels whom."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from typing import Any

import pytest
from loops import run, turns

import rx_asyncio
from rx_core import RxError
from rx_ops import Flowable, Single


class Seen:
    """An observer of one result."""

    def __init__(self) -> None:
        self.signals: list[object] = []
        self.threads: list[int] = []
        self.up: Any = None

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up

    def on_success(self, item: object, /) -> None:
        self.signals.append(item)
        self.threads.append(threading.get_ident())

    def on_error(self, error: Exception, /) -> None:
        self.signals.append(error)


def test_a_future_gives_its_result_to_every_subscriber() -> None:
    async def main() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        single = rx_asyncio.from_future(future)
        before, after = Seen(), Seen()
        single.subscribe(before)
        assert before.signals == []
        future.set_result(5)
        await turns()
        single.subscribe(after)
        assert before.signals == after.signals == [5]
        assert await Single.wrap(single).map(lambda x: x + 1) == 6

    run(main)


def test_the_error_of_a_future_keeps_its_type() -> None:
    async def main() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        future.set_exception(KeyError("mine"))
        with pytest.raises(KeyError, match="mine"):
            await rx_asyncio.from_future(future)

    run(main)


@pytest.mark.parametrize("late", [True, False])
def test_a_cancelled_future_is_an_rx_error_and_no_cancellation(late: bool) -> None:
    async def main() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        seen = Seen()
        if late:
            rx_asyncio.from_future(future).subscribe(seen)
            future.cancel()
            await turns()
        else:
            future.cancel()
            rx_asyncio.from_future(future).subscribe(seen)
        [error] = seen.signals
        assert isinstance(error, RxError)
        assert "was cancelled" in str(error)

    run(main)


def test_disposing_leaves_the_future_alone_and_its_callbacks_as_they_were() -> None:
    async def main() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        seen = Seen()
        rx_asyncio.from_future(future).subscribe(seen)
        seen.up.dispose()
        assert seen.up.is_disposed
        assert not future.cancelled()
        assert not future._callbacks  # a long-lived future would keep every observer
        future.set_result(1)
        await turns()
        assert seen.signals == []

    run(main)


def test_a_future_of_a_thread_pool() -> None:
    async def main() -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            started = threading.Event()
            future = pool.submit(lambda: started.wait(10) and 7)
            seen = Seen()
            rx_asyncio.from_future(future).subscribe(seen)
            started.set()
            assert await rx_asyncio.from_future(future) == 7
        assert seen.signals == [7]

    run(main)


def test_a_future_is_watched_from_another_thread() -> None:
    async def main() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        seen = Seen()
        await asyncio.to_thread(rx_asyncio.from_future(future).subscribe, seen)
        await turns()
        future.set_result(3)
        await turns()
        assert seen.signals == [3]
        assert seen.threads == [threading.get_ident()]

    run(main)


def test_a_future_whose_loop_has_ended() -> None:
    async def main() -> asyncio.Future[int]:
        return asyncio.get_running_loop().create_future()

    seen = Seen()
    rx_asyncio.from_future(run(main)).subscribe(seen)
    [error] = seen.signals
    assert isinstance(error, RxError)
    assert "event loop has ended" in str(error)


def test_none_is_no_result() -> None:
    async def main() -> None:
        async def nothing() -> None: ...

        with pytest.raises(TypeError, match="from_task"):
            await rx_asyncio.from_task(nothing)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.set_result(None)
        with pytest.raises(TypeError, match="from_future"):
            await rx_asyncio.from_future(future)

    run(main)


def test_an_async_function_is_called_for_each_subscription() -> None:
    calls: list[int] = []

    async def fetch() -> int:
        calls.append(len(calls))
        await asyncio.sleep(0)
        return 10 * len(calls)

    single = rx_asyncio.from_task(fetch)  # outside of a loop: each subscription brings its own

    async def main() -> None:
        assert await single == 10
        assert await single == 20
        async with asyncio.TaskGroup() as group:
            assert await rx_asyncio.from_task(fetch, group=group) == 30

    run(main)


def test_disposing_cancels_the_call_and_leaving_a_stream_waits_for_it() -> None:
    ends: list[str] = []

    async def slow() -> int:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(0)
            ends.append("closed")
        return 1

    async def main() -> None:
        flow = Flowable.just(0).flat_map(lambda _: Single.wrap(rx_asyncio.from_task(slow)))
        async with rx_asyncio.stream(flow) as items:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    await items.__anext__()
            assert ends == []
        assert ends == ["closed"]

    run(main)


def test_a_task_that_runs_already_is_cancelled_with_its_subscription() -> None:
    async def slow() -> int:
        await asyncio.sleep(1000)
        return 1

    async def main() -> None:
        task = asyncio.create_task(slow())
        seen = Seen()
        rx_asyncio.from_task(task).subscribe(seen)
        await turns()
        seen.up.dispose()
        await turns()
        assert task.cancelled()
        assert seen.signals == []

    run(main)


def test_a_call_that_is_cancelled_from_elsewhere_is_an_rx_error() -> None:
    async def main() -> None:
        broken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        broken.cancel()

        async def uses() -> int:
            return await broken

        seen = Seen()
        rx_asyncio.from_task(uses).subscribe(seen)
        await turns()
        [error] = seen.signals
        assert isinstance(error, RxError)

    run(main)


def test_mistakes_are_explained() -> None:
    async def fetch() -> int:
        return 1

    with pytest.raises(TypeError, match="needs a future or a task"):
        rx_asyncio.from_future(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"from_task\(lambda: fetch"):
        rx_asyncio.from_task(fetch())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes the TaskGroup"):
        rx_asyncio.from_task(fetch, group=5)  # type: ignore[arg-type]

    async def main() -> None:
        with pytest.raises(TypeError, match="needs an async function"):
            await rx_asyncio.from_task(lambda: 5)  # type: ignore[arg-type, return-value]

    run(main)
