"""from_async_iterable(): exact demand, ends, errors, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked
from trio_parties import Ticks, run

import rx_trio
from rx_core import FlowableBase, RxError
from rx_testing import TestSubscriber

# -- elements ----------------------------------------------------------------------------------------------------------


def test_one_step_for_each_element_requested() -> None:
    async def main() -> None:
        ticks = Ticks()
        subscriber = TestSubscriber[int](request=0)
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(ticks, nursery=nursery).subscribe(subscriber)
            await wait_all_tasks_blocked()
            assert ticks.pulled == 0
            for n in (1, 3, 300):
                before = ticks.pulled
                subscriber.request(n)
                await wait_all_tasks_blocked()
                assert ticks.pulled == before + n
            subscriber.assert_value_count(304).assert_not_terminated()
            subscriber.cancel()
        assert ticks.ends == ["GeneratorExit", "closed"]

    run(main)


def test_the_end_comes_with_the_request_after_the_last_element() -> None:
    async def main() -> None:
        ticks = Ticks(3)
        subscriber = TestSubscriber[int](request=3)
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(ticks, nursery=nursery).subscribe(subscriber)
            await wait_all_tasks_blocked()
            subscriber.assert_values(1, 2, 3).assert_not_terminated()
            subscriber.request(1)
        subscriber.assert_values(1, 2, 3).assert_complete()
        assert ticks.ends == ["closed"]

    run(main)


def test_a_subscriber_may_request_inside_on_next() -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int](request=1, request_in_on_next=1)
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(Ticks(5000), nursery=nursery).subscribe(subscriber)
        subscriber.assert_value_count(5000).assert_complete()
        assert subscriber.max_depth == 1

    run(main)


@pytest.mark.parametrize("n", [0, -1, "two"])
@pytest.mark.parametrize("wait", [True, False])
def test_a_wrong_request_is_an_error_and_closes_the_source(n: Any, wait: bool) -> None:
    async def main() -> None:
        ticks = Ticks(wait=wait)
        subscriber = TestSubscriber[int](request=1 if wait else 0)
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(ticks, nursery=nursery).subscribe(subscriber)
            await wait_all_tasks_blocked()
            subscriber.request(n)
        assert "§3.9" in str(subscriber.errors[0])
        assert isinstance(subscriber.errors[0], TypeError if n == "two" else ValueError)
        assert ticks.ends == (["Cancelled", "closed"] if wait else [])
        subscriber.assert_no_values()

    run(main)


def test_errors_keep_their_type() -> None:
    async def broken() -> AsyncIterator[int]:
        yield 1
        raise ZeroDivisionError("boom")

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(broken, nursery=nursery).subscribe(subscriber)
        subscriber.assert_values(1).assert_error(ZeroDivisionError)

    run(main)


def test_none_is_refused_and_the_source_closed() -> None:
    ends: list[str] = []

    async def nones() -> AsyncIterator[int]:
        try:
            yield 1
            yield None  # type: ignore[misc]  # the mistake this is about
        finally:
            ends.append("closed")

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(nones, nursery=nursery).subscribe(subscriber)
        subscriber.assert_values(1).assert_error(TypeError)
        assert "from_async_iterable" in str(subscriber.errors[0])
        assert ends == ["closed"]

    run(main)


def test_a_generator_has_one_life_and_a_function_many() -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:
            once = rx_trio.from_async_iterable(Ticks(2)(), nursery=nursery)
            ticks = Ticks(2)
            first, second, third, fourth = (TestSubscriber[int]() for _ in range(4))
            once.subscribe(first)
            once.subscribe(second)
            again = rx_trio.from_async_iterable(lambda: ticks(), nursery=nursery)
            again.subscribe(third)
            await wait_all_tasks_blocked()
            ticks.pulled = 0
            again.subscribe(fourth)
        first.assert_values(1, 2).assert_complete()
        second.assert_no_values().assert_error(RuntimeError)
        assert "once only" in str(second.errors[0])
        third.assert_values(1, 2).assert_complete()
        fourth.assert_values(1, 2).assert_complete()

    run(main)


def test_an_iterable_that_is_no_generator() -> None:
    class Iterable:
        def __aiter__(self) -> AsyncIterator[int]:
            return Ticks(2)()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(Iterable(), nursery=nursery)
            for _ in range(2):
                async with rx_trio.stream(source) as items:
                    assert [x async for x in items] == [1, 2]

    run(main)


def test_bad_arguments_are_explained() -> None:
    async def coroutine() -> None:
        raise AssertionError

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            with pytest.raises(TypeError, match=r"Flowable\.from_iterable"):
                rx_trio.from_async_iterable([1], nursery=nursery)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="nursery"):
                rx_trio.from_async_iterable(Ticks(), nursery=None)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="open_memory_channel"):
                rx_trio.from_channel([1], nursery=nursery)  # type: ignore[arg-type]
            source: FlowableBase[int] = rx_trio.from_async_iterable(coroutine, nursery=nursery)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="has to return an async iterable"):
                await rx_trio.first(source)
            kept = nursery
        with pytest.raises(RxError, match="nursery is closed"):
            await rx_trio.first(rx_trio.from_async_iterable(Ticks(), nursery=kept))

    run(main)
    with pytest.raises(RuntimeError, match="inside trio only"):
        rx_trio.from_async_iterable(Ticks(), nursery=None)  # type: ignore[arg-type]


# -- how far ahead -----------------------------------------------------------------------------------------------------


def test_an_endless_source_is_never_more_than_the_window_ahead() -> None:
    async def main() -> None:
        ticks = Ticks()
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(ticks, nursery=nursery)
            ahead = 0
            async with rx_trio.stream(source, prefetch=16) as items:
                async for x in items:
                    await trio.sleep(1)
                    ahead = max(ahead, ticks.pulled - x)
                    if x == 1000:
                        break
            assert 8 <= ahead <= 16
        assert ticks.ends == ["GeneratorExit", "closed"]

    run(main)
