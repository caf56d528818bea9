"""The doors of this package with the operators of rx_ops between them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import pytest
import trio
from trio.testing import MockClock

import rx_trio
from rx_ops import Flowable
from rx_testing import ManualPublisher

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main, clock=MockClock(autojump_threshold=0))


class Ticks:
    """One element each second, and a finalizer that takes its time."""

    def __init__(self) -> None:
        self.pulled = 0
        self.closed = 0

    async def __call__(self) -> AsyncIterator[int]:
        try:
            while True:
                await trio.sleep(1)
                self.pulled += 1
                yield self.pulled
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.5)
            self.closed += 1


def test_an_async_source_through_fused_stages_and_take() -> None:
    async def main() -> None:
        ticks = Ticks()
        async with trio.open_nursery() as nursery:
            flow = Flowable.wrap(rx_trio.from_async_iterable(ticks, nursery=nursery))
            chain = flow.map(lambda x: x * 2).filter(lambda x: x % 3 == 0).take(3)
            async with rx_trio.stream(chain) as items:
                assert [x async for x in items] == [6, 12, 18]
            assert ticks.pulled == 9
            assert ticks.closed == 1
            assert not nursery.child_tasks

    run(main)


@pytest.mark.parametrize("operator", ["flat_map", "concat_map"])
def test_async_sources_inside_a_coordinating_operator_are_all_closed(operator: str) -> None:
    async def main() -> None:
        ticks = Ticks()
        async with trio.open_nursery() as nursery:

            def inner(_: int) -> Flowable[int]:
                return Flowable.wrap(rx_trio.from_async_iterable(ticks, nursery=nursery)).take(3)

            flow = Flowable.range(4)
            many = flow.flat_map(inner) if operator == "flat_map" else flow.concat_map(inner)
            async with rx_trio.stream(many) as items:
                assert len([x async for x in items]) == 12
            assert ticks.closed == 4
            async with rx_trio.stream(many) as items:
                async for _ in items:
                    break
            assert not nursery.child_tasks

    run(main)


@pytest.mark.parametrize("operator", ["flat_map", "concat_map"])
def test_inner_sources_that_are_iterated_and_some_that_push(operator: str) -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:

            async def slowly() -> AsyncIterator[int]:
                await trio.sleep(1)
                yield 100

            def inner(x: int) -> Flowable[int]:
                return Flowable.wrap(rx_trio.from_async_iterable(slowly, nursery=nursery)) if x == 2 else Flowable.of(x, x)

            flow = Flowable.range(4)
            many = flow.flat_map(inner) if operator == "flat_map" else flow.concat_map(inner)
            async with rx_trio.stream(many.map(lambda x: x * 2)) as items:
                assert await items.__anext__() == 0
                got = [x async for x in items]
            assert got == ([0, 2, 2, 6, 6, 200] if operator == "flat_map" else [0, 2, 2, 200, 6, 6])
            assert trio.current_time() == 1

    run(main)


def test_a_source_behind_an_operator_is_asked_for_the_prefetch_and_no_more() -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with rx_trio.stream(Flowable.wrap(source).retry(1), prefetch=4) as items:
            with trio.move_on_after(1):
                await items.__anext__()
            assert source.requested == 4
            source.next(0, 1, 2)
            assert [await items.__anext__() for _ in range(3)] == [0, 1, 2]
            assert source.requested == 7

    run(main)


def test_the_block_waits_for_a_source_that_a_worker_has_subscribed_to() -> None:
    async def main() -> None:
        ticks = Ticks()
        async with trio.open_nursery() as nursery:
            source = Flowable.wrap(rx_trio.from_async_iterable(ticks, nursery=nursery))
            many = Flowable.range(2).observe_on(rx_trio.scheduler()).flat_map(lambda _: source)
            async with rx_trio.stream(many) as items:
                async for _ in items:
                    break
            assert ticks.closed == 2
            assert not nursery.child_tasks

    run(main)


def test_values_of_singles_and_maybes() -> None:
    async def main() -> None:
        flow = Flowable.range(10)
        assert await rx_trio.value(flow.to_list()) == list(range(10))
        assert await rx_trio.value(flow.count()) == 10
        assert await rx_trio.value(flow.filter(lambda x: x > 10).first_element(), -1) == -1
        assert await rx_trio.first(flow.skip(3)) == 3

    run(main)


def test_an_error_of_a_function_keeps_its_type() -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await rx_trio.value(Flowable.range(3).map(lambda x: 1 // (x - 1)).to_list())

    run(main)


def test_observe_on_the_loop() -> None:
    async def main() -> None:
        here = trio.lowlevel.current_trio_token()

        def check(x: int) -> int:
            assert trio.lowlevel.current_trio_token() is here
            return x

        flow = Flowable.range(2000).observe_on(rx_trio.scheduler()).map(check)
        async with rx_trio.stream(flow) as items:
            assert [x async for x in items] == list(range(2000))

    run(main)


def test_time_on_the_loop() -> None:
    async def main() -> None:
        scheduler = rx_trio.scheduler()
        instants: list[float] = []
        async with rx_trio.stream(Flowable.interval(0.5, scheduler=scheduler).take(4)) as items:
            async for _ in items:
                instants.append(trio.current_time())
        assert instants == [0.5, 1.0, 1.5, 2.0]

    run(main)


def test_a_bare_async_for_over_a_stream_of_operators_needs_its_block() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match="async with"):
            rx_trio.stream(Flowable.range(3)).__aiter__()  # type: ignore[attr-defined]  # the mistake this is about

    run(main)
