"""from_channel(): exact demand, and who closes what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import rx_trio
from rx_testing import TestSubscriber

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize("capacity", [0, 4])
def test_a_channel_with_exact_demand(capacity: int) -> None:
    async def main() -> None:
        send, receive = trio.open_memory_channel[int](capacity)
        subscriber = TestSubscriber[int](request=0)
        sent = 0

        async def produce() -> None:
            nonlocal sent
            async with send:
                for n in range(1000):
                    await send.send(n)
                    sent += 1

        async with trio.open_nursery() as nursery:
            rx_trio.from_channel(receive, nursery=nursery).subscribe(subscriber)
            nursery.start_soon(produce)
            await wait_all_tasks_blocked()
            assert sent == capacity
            subscriber.request(5)
            await wait_all_tasks_blocked()
            assert sent == capacity + 5
            subscriber.assert_values(0, 1, 2, 3, 4)
            subscriber.request(2000)
        assert subscriber.values == list(range(1000))
        subscriber.assert_complete()

    run(main)


@pytest.mark.parametrize("request_first", [0, 3])
def test_cancelling_closes_the_channel(request_first: int) -> None:
    async def main() -> None:
        send, receive = trio.open_memory_channel[int](0)
        subscriber = TestSubscriber[int](request=request_first)
        noticed: list[bool] = []

        async def produce() -> None:
            try:
                while True:
                    await send.send(1)
            except trio.BrokenResourceError:
                noticed.append(True)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(produce)
            rx_trio.from_channel(receive, nursery=nursery).subscribe(subscriber)
            if request_first:
                await wait_all_tasks_blocked()
            subscriber.cancel()
        assert noticed == [True]

    run(main)


def test_a_channel_that_somebody_closes_is_an_error_and_any_channel_will_do() -> None:
    class Numbers(trio.abc.ReceiveChannel[int]):
        n = 0
        closed = False

        async def receive(self) -> int:
            self.n += 1
            if self.n == 4:
                raise trio.EndOfChannel
            return self.n

        async def aclose(self) -> None:
            self.closed = True

    async def main() -> None:
        send, receive = trio.open_memory_channel[int](0)
        subscriber = TestSubscriber[int]()
        async with trio.open_nursery() as nursery:
            rx_trio.from_channel(receive, nursery=nursery).subscribe(subscriber)
            await wait_all_tasks_blocked()
            receive.close()
        subscriber.assert_error(trio.ClosedResourceError)
        send.close()

        numbers = Numbers()
        async with (
            trio.open_nursery() as nursery,
            rx_trio.stream(rx_trio.from_channel(numbers, nursery=nursery)) as items,
        ):
            assert [x async for x in items] == [1, 2, 3]
        assert numbers.closed

    run(main)
