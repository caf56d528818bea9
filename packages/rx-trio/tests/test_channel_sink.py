"""to_channel(): backpressure, who cancels whom, error types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import rx_trio
from rx_testing import ManualPublisher, ManualSubscription

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main, clock=MockClock(autojump_threshold=0))


def numbers(n: int) -> ManualPublisher[int]:
    """Answers demand from inside request, and completes after ``n`` elements."""

    def answer(subscription: ManualSubscription[int], k: int) -> None:
        for _ in range(k):
            if subscription.sent == n:
                break
            subscription.next(subscription.sent)
        if subscription.sent == n and not subscription._ended:
            subscription.complete()

    return ManualPublisher[int](on_request=answer)


@pytest.mark.parametrize("capacity", [0, 4, 1000])
def test_everything_arrives_in_order_and_the_channel_is_closed(capacity: int) -> None:
    async def main() -> None:
        send, receive = trio.open_memory_channel[int](capacity)
        results: list[bool] = []

        async def fill() -> None:
            results.append(await rx_trio.to_channel(numbers(1000), send))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fill)
            assert [x async for x in receive] == list(range(1000))
        assert results == [True]

    run(main)


def test_the_source_is_asked_as_the_channel_takes() -> None:
    async def main() -> None:
        send, receive = trio.open_memory_channel[int](4)
        source = numbers(100_000)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rx_trio.to_channel, source, send)
            await wait_all_tasks_blocked()
            for taken in range(1, 500):
                assert await receive.receive() == taken - 1
                await wait_all_tasks_blocked()
                assert source.requested <= taken + 4 + 1 + 128
            nursery.cancel_scope.cancel()
        assert source.cancelled
        with pytest.raises(trio.ClosedResourceError):
            send.send_nowait(1)

    run(main)


def test_a_receiver_that_goes_away_cancels_upstream() -> None:
    async def main() -> None:
        send, receive = trio.open_memory_channel[int](0)
        source = numbers(100_000)
        results: list[bool] = []

        async def fill() -> None:
            results.append(await rx_trio.to_channel(source, send))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fill)
            assert [await receive.receive() for _ in range(3)] == [0, 1, 2]
            await wait_all_tasks_blocked()
            receive.close()
        assert results == [False]
        assert source.cancelled

    run(main)


def test_an_error_is_raised_after_the_channel_was_closed() -> None:
    async def main() -> None:
        send, receive = trio.open_memory_channel[int](10)
        source = ManualPublisher[int]()

        async def end() -> None:
            await wait_all_tasks_blocked()
            source.next(1)
            source.error(ZeroDivisionError("boom"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(end)
            with pytest.raises(ZeroDivisionError, match="boom"):
                await rx_trio.to_channel(source, send)
        assert [x async for x in receive] == [1]
        with pytest.raises(TypeError, match="sending end"):
            await rx_trio.to_channel(source, receive)  # type: ignore[arg-type]

    run(main)


def test_from_a_channel_through_a_stream_into_a_channel() -> None:
    async def main() -> None:
        first_send, first_receive = trio.open_memory_channel[int](2)
        second_send, second_receive = trio.open_memory_channel[int](2)

        async def produce() -> None:
            async with first_send:
                for n in range(500):
                    await first_send.send(n)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(produce)
            nursery.start_soon(rx_trio.to_channel, rx_trio.from_channel(first_receive, nursery=nursery), second_send)
            assert [x async for x in second_receive] == list(range(500))
        assert not nursery.child_tasks

    run(main)


def test_closing_the_far_end_reaches_the_source() -> None:
    ends: list[str] = []

    async def endless() -> AsyncIterator[int]:
        try:
            n = 0
            while True:
                yield n
                n += 1
        finally:
            ends.append("closed")

    async def main() -> None:
        send, receive = trio.open_memory_channel[int](0)
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(endless, nursery=nursery)
            nursery.start_soon(rx_trio.to_channel, source, send)
            async with receive:
                assert [await receive.receive() for _ in range(3)] == [0, 1, 2]
        assert ends == ["closed"]

    run(main)
