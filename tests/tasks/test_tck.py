"""The TCK over streams of both libraries: their loop runs on a thread of its own, the kit subscribes from another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import trio

import rx_asyncio
import rx_trio
from rx_ops import Flowable
from tests.tasks.backends import Backend
from tests.tck.cases import Case, Failure, Flow, run

#: Makes a source of so many items, or one that fails; and an operator of the loop; called in the loop.
Make = Callable[[], Any]


class Beside:
    """A loop on another thread, and what is made in it."""

    def __init__(self, backend: Backend) -> None:
        self._ready = threading.Event()
        self._in_trio = backend.name == "trio"
        self.keyword: dict[str, Any] = {}
        self._end: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    def _run(self) -> None:
        if self._in_trio:
            trio.run(self._live_in_trio)
        else:
            asyncio.run(self._live())

    async def _live_in_trio(self) -> None:
        async with trio.open_nursery() as nursery:
            self.keyword = {"nursery": nursery}
            self._token = trio.lowlevel.current_trio_token()
            self._end = nursery.cancel_scope.cancel
            self._ready.set()
            await trio.sleep_forever()

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        over = asyncio.Event()
        self._end = over.set
        self._ready.set()
        await over.wait()

    def make(self, make: Make) -> Any:
        if self._in_trio:
            return trio.from_thread.run_sync(make, trio_token=self._token)

        async def made() -> Any:
            return make()

        return asyncio.run_coroutine_threadsafe(made(), self._loop).result(30)

    def close(self) -> None:
        self.make(self._end)
        self._thread.join(30)
        assert not self._thread.is_alive()


async def numbers(n: int) -> AsyncIterator[int]:
    if n < 0:
        raise Failure
    for item in range(n):
        yield item


async def same(item: int) -> int:
    return item


async def always(_item: int) -> bool:
    return True


@pytest.fixture
def beside(backend: Backend) -> Iterator[Beside]:
    found = Beside(backend)
    yield found
    found.close()


def source_of(rx: Any, beside: Beside) -> Callable[[int], Flow]:
    return lambda n: Flowable.wrap(beside.make(lambda: rx.from_async_iterable(lambda: numbers(n), **beside.keyword)))


@pytest.mark.parametrize(
    "name", ["source", "source, stages", "map_async", "map_async, as they come", "filter_async", "observe_on the loop"]
)
def test_streams_of_a_loop(backend: Backend, beside: Beside, name: str) -> None:
    rx, keyword = backend.rx, beside.keyword

    def build(source: Callable[[int], Flow], n: int) -> Flow:
        flow = source(n)
        if name == "source, stages":
            return flow.map(lambda x: x + 1).filter(lambda x: x > 0)
        if name == "map_async":
            return flow.compose(beside.make(lambda: rx.map_async(same, concurrency=3, buffer=2, **keyword)))
        if name == "map_async, as they come":
            return flow.compose(beside.make(lambda: rx.map_async(same, concurrency=3, ordered=False, **keyword)))
        if name == "filter_async":
            return flow.compose(beside.make(lambda: rx.filter_async(always, concurrency=3, **keyword)))
        if name == "observe_on the loop":
            return flow.observe_on(beside.make(rx.scheduler))
        return flow

    # A source is pulled when it is asked, so it fails then. As they come: two runs need not agree.
    case = Case(name, build, fails=not name.startswith("source"))
    result = run(case, source_of(rx, beside), synchronous=False, multicast="come" not in name)
    result.assert_passed()


def test_the_control_is_another_loop_each_time(beside: Beside) -> None:
    """What the kit subscribes to is at work on the other thread."""
    seen: list[int] = []
    rx = rx_trio if beside.keyword else rx_asyncio
    source_of(rx, beside)(3).do_on_next(lambda _: seen.append(threading.get_ident())).blocking_list()
    assert seen == [beside._thread.ident] * 3
