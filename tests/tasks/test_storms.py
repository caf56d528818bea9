"""Many subscriptions through one loop, and cancellations at every moment: nothing is lost, and nothing is left behind.

That no task is left is looked at by the backend of asyncio at the end of each run, and by the nursery of trio.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

import rx_core.tasks
from rx_core.tasks import _endings
from rx_ops import Flowable
from rx_schedulers import io
from rx_testing import TestSubscriber
from rx_testing.racing import race, rounds
from tests.tasks.backends import Backend

pytestmark = pytest.mark.stress

MANY = 10_000
#: Streams with a consumer's task each, which one cancellation ends.
CANCELLED = 3_000
#: The threads stumble in here.
WATCHED = [rx_core.tasks.__path__[0]]


class Sources:
    """Async generators that are counted as they are opened and closed."""

    def __init__(self, backend: Backend, seconds: float = 1.0) -> None:
        self.backend = backend
        self.seconds = seconds
        self.opened = 0
        self.closed = 0

    async def __call__(self) -> AsyncIterator[int]:
        self.opened += 1
        try:
            n = 0
            while True:
                await self.backend.sleep(self.seconds)
                yield n
                n += 1
        finally:
            try:
                await self.backend.checkpoint()
            finally:
                self.closed += 1


class Counting:
    """A subscriber that takes so many items and then cancels."""

    __slots__ = ("count", "most", "over", "up")

    def __init__(self, most: int, over: list[int]) -> None:
        self.most = most
        self.over = over
        self.count = 0

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        up.request(self.most + 1)

    def on_next(self, item: int, /) -> None:
        self.count += 1
        if self.count == self.most:
            self.over.append(self.count)
            self.up.cancel()

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        raise AssertionError


@pytest.mark.slow
def test_ten_thousand_sources_at_a_time(backend: Backend) -> None:
    over: list[int] = []

    async def main() -> None:
        sources = Sources(backend)
        async with backend.owner() as owner:
            flow = backend.rx.from_async_iterable(sources, **owner.keyword)
            for _ in range(MANY):
                flow.subscribe(Counting(3, over))
            await backend.sleep(2.5)
            assert sources.opened == MANY
            assert sources.closed == 0
        assert sources.closed == MANY
        assert backend.now() == 3

    backend.run(main)
    assert over == [3] * MANY


@pytest.mark.slow
def test_ten_thousand_timers_and_boundaries_on_one_scheduler(backend: Backend) -> None:
    over: list[int] = []

    async def main() -> None:
        scheduler = backend.rx.scheduler()
        for n in range(MANY):
            Flowable.interval(1 + n % 7, scheduler=scheduler).observe_on(scheduler).subscribe(Counting(2, over))
        await backend.sleep(20)

    backend.run(main)
    assert len(over) == MANY


@pytest.mark.slow
def test_thousands_of_streams_that_are_cancelled_at_once(backend: Backend) -> None:
    async def main() -> None:
        sources = Sources(backend)

        async def consume(flow: Flowable[int]) -> None:
            async with backend.rx.stream(flow.map(lambda x: x + 1), prefetch=2) as items:
                async for _ in items:
                    pass

        async with backend.owner() as outer:  # so that the sources live longer than what is cancelled
            flow = Flowable.wrap(backend.rx.from_async_iterable(sources, **outer.keyword))
            async with backend.owner() as owner:
                for _ in range(CANCELLED):
                    owner.start(consume, flow)
                await backend.sleep(1.5)
                assert sources.opened == CANCELLED
                owner.cancel()
            assert outer.tasks == 0
            assert sources.closed == CANCELLED

    backend.run(main)
    assert not _endings._working


def test_streams_are_left_at_every_moment(backend: Backend) -> None:
    """By break, by error and by cancellation, while sources wait, send, and are closed."""
    random = Random(5)

    async def main() -> None:
        for _ in range(30):
            sources = Sources(backend)
            seconds = random.uniform(0, 8)

            async def double(item: int) -> int:
                await backend.sleep(random.choice((0, 0, 1)))
                return 2 * item

            async def consume(kind: str, at: int, outer: Any, sources: Sources = sources) -> None:
                flow = Flowable.wrap(backend.rx.from_async_iterable(sources, **outer.keyword))
                if kind in ("mapped", "error"):
                    flow = flow.compose(backend.rx.map_async(double, concurrency=3, buffer=2, **outer.keyword))
                if kind == "merged":
                    flow = flow.flat_map(lambda _: Flowable.wrap(backend.rx.from_async_iterable(sources, **outer.keyword)))
                count = 0
                async with backend.rx.stream(flow, prefetch=3) as items:
                    async for _ in items:
                        count += 1
                        if count == at:
                            if kind == "error":
                                raise KeyError
                            break

            async def forgiving(kind: str, at: int, outer: Any) -> None:
                try:
                    await consume(kind, at, outer)
                except KeyError:
                    pass

            async with backend.owner() as outer:
                with backend.within(seconds):
                    async with backend.owner() as owner:
                        for n in range(40):
                            kind = ("plain", "mapped", "merged", "error")[n % 4]
                            owner.start(forgiving, kind, random.randrange(1, 6), outer)
                assert outer.tasks == 0
            assert sources.opened == sources.closed > 0

    backend.run(main)
    assert not _endings._working


def test_requests_and_cancels_from_threads_while_the_loop_sends(backend: Backend) -> None:
    """Whatever comes first: items in order without a gap, no signal after the end, and the generator closed."""

    async def main() -> None:
        for number in rounds(40):
            sources = Sources(backend, 0)
            subscriber = TestSubscriber[int](request=0)

            def asks(subscriber: TestSubscriber[int] = subscriber) -> None:
                for _ in range(30):
                    subscriber.request(2)

            def cancels(subscriber: TestSubscriber[int] = subscriber, number: int = number) -> None:
                subscriber.await_count(number % 20)
                subscriber.cancel()

            async with backend.owner() as owner:
                backend.rx.from_async_iterable(sources, **owner.keyword).subscribe(subscriber)
                await backend.thread(lambda a=asks, c=cancels: race(a, a, c, watch=WATCHED))
            assert subscriber.values == list(range(len(subscriber.values)))
            assert len(subscriber.values) >= number % 20
            subscriber.assert_not_terminated()
            assert sources.opened == sources.closed <= 1

    backend.run_real(main)


def test_a_thread_fills_streams_that_are_left(backend: Backend) -> None:
    async def main() -> None:
        for number in rounds(30):
            flow = Flowable.range(1_000_000).observe_on(io()).filter(lambda x: x % 3 != 0)
            got: list[int] = []
            async with backend.rx.stream(flow) as items:
                async for item in items:
                    got.append(item)
                    if len(got) == 7 * number:
                        break
                    if not number:
                        break
            assert got == [x for x in range(2 * 7 * 30) if x % 3][: max(7 * number, 1)]

    backend.run_real(main)


def test_items_from_several_loops_of_threads(backend: Backend) -> None:
    """Four loops at a time, each with sources of its own: what is shared between them is looked at by all."""
    failures: list[BaseException] = []

    def program() -> None:
        async def main() -> None:
            async def same(item: int) -> int:
                await backend.checkpoint()
                return item

            async with backend.owner() as owner:
                for _ in range(20):
                    sources = Sources(backend, 0)
                    flow = Flowable.wrap(backend.rx.from_async_iterable(sources, **owner.keyword)).take(20)
                    mapped = flow.compose(backend.rx.map_async(same, **owner.keyword)).observe_on(backend.rx.scheduler())
                    assert await mapped.to_list() == list(range(20))

        try:
            backend.run_real(main)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=program) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert not _endings._working
