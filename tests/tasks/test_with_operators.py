"""The doors of this package with the operators of rx_ops between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher
from tests.tasks.backends import Backend

T = TypeVar("T")


class Ticks:
    """One element each second, and a finalizer that takes its time."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.pulled = 0
        self.closed = 0

    async def __call__(self) -> AsyncIterator[int]:
        try:
            while True:
                await self.backend.sleep(1)
                self.pulled += 1
                yield self.pulled
        finally:
            with self.backend.shielded():
                await self.backend.sleep(0.5)
            self.closed += 1


def test_an_async_source_through_fused_stages_and_take(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        async with backend.owner() as owner:
            flow = Flowable.wrap(backend.rx.from_async_iterable(ticks, **owner.keyword))
            chain = flow.map(lambda x: x * 2).filter(lambda x: x % 3 == 0).take(3)
            async with backend.rx.stream(chain) as items:
                assert [x async for x in items] == [6, 12, 18]
            assert ticks.pulled == 9
            assert ticks.closed == 1
            assert owner.tasks == 0

    backend.run(main)


@pytest.mark.parametrize("operator", ["flat_map", "concat_map"])
def test_async_sources_inside_a_coordinating_operator_are_all_closed(backend: Backend, operator: str) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        async with backend.owner() as owner:

            def inner(_: int) -> Flowable[int]:
                return Flowable.wrap(backend.rx.from_async_iterable(ticks, **owner.keyword)).take(3)

            flow = Flowable.range(4)
            many = flow.flat_map(inner) if operator == "flat_map" else flow.concat_map(inner)
            async with backend.rx.stream(many) as items:
                assert len([x async for x in items]) == 12
            assert ticks.closed == 4
            async with backend.rx.stream(many) as items:
                async for _ in items:
                    break
            assert owner.tasks == 0

    backend.run(main)


@pytest.mark.parametrize("operator", ["flat_map", "concat_map"])
def test_inner_sources_that_are_iterated_and_some_that_push(backend: Backend, operator: str) -> None:
    async def main() -> None:
        async with backend.owner() as owner:

            async def slowly() -> AsyncIterator[int]:
                await backend.sleep(1)
                yield 100

            def inner(x: int) -> Flowable[int]:
                return Flowable.wrap(backend.rx.from_async_iterable(slowly, **owner.keyword)) if x == 2 else Flowable.of(x, x)

            flow = Flowable.range(4)
            many = flow.flat_map(inner) if operator == "flat_map" else flow.concat_map(inner)
            async with backend.rx.stream(many.map(lambda x: x * 2)) as items:
                assert await items.__anext__() == 0
                got = [x async for x in items]
            assert got == ([0, 2, 2, 6, 6, 200] if operator == "flat_map" else [0, 2, 2, 200, 6, 6])
            assert backend.now() == 1

    backend.run(main)


def test_a_source_behind_an_operator_is_asked_for_the_prefetch_and_no_more(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(Flowable.wrap(source).retry(1), prefetch=4) as items:
            with backend.within(1):
                await items.__anext__()
            assert source.requested == 4
            source.next(0, 1, 2)
            assert [await items.__anext__() for _ in range(3)] == [0, 1, 2]
            assert source.requested == 7

    backend.run(main)


def test_the_block_waits_for_a_source_that_a_worker_has_subscribed_to(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        async with backend.owner() as owner:
            source = Flowable.wrap(backend.rx.from_async_iterable(ticks, **owner.keyword))
            many = Flowable.range(2).observe_on(backend.rx.scheduler()).flat_map(lambda _: source)
            async with backend.rx.stream(many) as items:
                async for _ in items:
                    break
            assert ticks.closed == 2
            assert owner.tasks == 0

    backend.run(main)


def test_values_of_singles_and_maybes(backend: Backend) -> None:
    async def main() -> None:
        flow = Flowable.range(10)
        assert await backend.rx.value(flow.to_list()) == list(range(10))
        assert await backend.rx.value(flow.count()) == 10
        assert await backend.rx.value(flow.filter(lambda x: x > 10).first_element(), -1) == -1
        assert await backend.rx.first(flow.skip(3)) == 3

    backend.run(main)


def test_an_error_of_a_function_keeps_its_type(backend: Backend) -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await backend.rx.value(Flowable.range(3).map(lambda x: 1 // (x - 1)).to_list())

    backend.run(main)


def test_observe_on_the_loop(backend: Backend) -> None:
    async def main() -> None:
        here = backend.here()

        def check(x: int) -> int:
            assert backend.here() is here
            return x

        flow = Flowable.range(2000).observe_on(backend.rx.scheduler()).map(check)
        async with backend.rx.stream(flow) as items:
            assert [x async for x in items] == list(range(2000))

    backend.run(main)


def test_time_on_the_loop(backend: Backend) -> None:
    async def main() -> None:
        scheduler = backend.rx.scheduler()
        instants: list[float] = []
        async with backend.rx.stream(Flowable.interval(0.5, scheduler=scheduler).take(4)) as items:
            async for _ in items:
                instants.append(backend.now())
        assert instants == [0.5, 1.0, 1.5, 2.0]

    backend.run(main)


def test_a_bare_async_for_over_a_stream_of_operators_needs_its_block(backend: Backend) -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match="async with"):
            backend.rx.stream(Flowable.range(3)).__aiter__()

    backend.run(main)
