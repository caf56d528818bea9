"""subscribe() and to_channel(): backpressure, who cancels whom, error types."""

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


def test_one_callback_at_a_time_and_in_order() -> None:
    got: list[int] = []

    async def main() -> None:
        running = 0

        async def work(item: int) -> None:
            nonlocal running
            running += 1
            assert running == 1
            await trio.sleep(1)
            got.append(item)
            running -= 1

        async with trio.open_nursery() as nursery:
            handle = rx_trio.subscribe(nursery, numbers(20), work)
            assert not handle.is_disposed
        assert trio.current_time() == 20
        assert handle.is_disposed

    run(main)
    assert got == list(range(20))


@pytest.mark.parametrize("limit", [2, 8])
def test_up_to_max_concurrency_callbacks(limit: int) -> None:
    got: list[int] = []
    most = 0

    async def main() -> None:
        running = 0

        async def work(item: int) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await trio.sleep(1)
            got.append(item)
            running -= 1

        async with trio.open_nursery() as nursery:
            rx_trio.subscribe(nursery, numbers(40), work, max_concurrency=limit)
        assert trio.current_time() == 40 / limit

    run(main)
    assert sorted(got) == list(range(40))
    assert most == limit


@pytest.mark.parametrize("limit", [1, 4])
def test_the_source_is_asked_as_callbacks_get_free(limit: int) -> None:
    async def main() -> None:
        source = numbers(10_000)

        async def work(item: int) -> None:
            await trio.sleep(1)

        async with trio.open_nursery() as nursery:
            with rx_trio.subscribe(nursery, source, work, max_concurrency=limit, prefetch=8):
                for second in range(1, 50):
                    await trio.sleep(1)
                    assert source.requested <= (second + 1) * limit + 8
        assert source.cancelled
        assert trio.current_time() == 49

    run(main)


@pytest.mark.parametrize("limit", [1, 4])
def test_a_callback_error_cancels_upstream_and_keeps_its_type(limit: int) -> None:
    async def main() -> None:
        source = numbers(10_000)
        cleaned: list[int] = []

        async def work(item: int) -> None:
            try:
                await trio.sleep(1 + item)
            finally:
                cleaned.append(item)
            raise KeyError(item)

        with pytest.raises(ExceptionGroup) as info:
            async with trio.open_nursery() as nursery:  # which makes the only group
                rx_trio.subscribe(nursery, source, work, max_concurrency=limit)
        assert [repr(error) for error in info.value.exceptions] == ["KeyError(0)"]
        assert source.cancelled
        assert sorted(cleaned) == list(range(limit))

    run(main)


def test_several_callbacks_that_really_failed_make_a_group() -> None:
    async def main() -> None:
        async def work(item: int) -> None:
            with trio.CancelScope(shield=True):
                await trio.sleep(1)
            raise KeyError(item)

        with pytest.raises(ExceptionGroup) as info:
            async with trio.open_nursery() as nursery:
                rx_trio.subscribe(nursery, numbers(100), work, max_concurrency=2)
        (inner,) = info.value.exceptions
        assert isinstance(inner, ExceptionGroup)
        assert sorted(map(repr, inner.exceptions)) == ["KeyError(0)", "KeyError(1)"]

    run(main)


@pytest.mark.parametrize("limit", [1, 4])
def test_an_error_of_the_publisher_is_raised_in_the_nursery(limit: int) -> None:
    async def main() -> None:
        source = ManualPublisher[int]()
        got: list[int] = []

        async def work(item: int) -> None:
            got.append(item)

        async def consume() -> None:
            async with trio.open_nursery() as nursery:
                rx_trio.subscribe(nursery, source, work, max_concurrency=limit)
                source.next(1, 2)
                source.error(ZeroDivisionError("boom"))

        with pytest.raises(ExceptionGroup) as info:
            await consume()
        assert [repr(error) for error in info.value.exceptions] == ["ZeroDivisionError('boom')"]
        assert got == [1, 2]

    run(main)


@pytest.mark.parametrize("limit", [1, 4])
def test_cancelling_the_nursery_cancels_callbacks_and_upstream(limit: int) -> None:
    async def main() -> None:
        source = numbers(10_000)
        cancelled = 0

        async def work(item: int) -> None:
            nonlocal cancelled
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                cancelled += 1
                raise

        async with trio.open_nursery() as nursery:
            handle = rx_trio.subscribe(nursery, source, work, max_concurrency=limit)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert source.subscriptions[0].cancellations == 1
        assert cancelled == limit
        assert handle.is_disposed

    run(main)


def test_the_handle_cancels_from_another_thread() -> None:
    async def main() -> None:
        source = ManualPublisher[int]()

        async def work(item: int) -> None:
            raise AssertionError

        async with trio.open_nursery() as nursery:
            handle = rx_trio.subscribe(nursery, source, work)
            await trio.to_thread.run_sync(handle.dispose)
        assert source.cancelled
        handle.dispose()
        assert not nursery.child_tasks

    trio.run(main)


def test_a_hot_source_is_subscribed_to_at_once() -> None:
    async def main() -> None:
        source = ManualPublisher[int]()
        got: list[int] = []

        async def work(item: int) -> None:
            got.append(item)

        async with trio.open_nursery() as nursery:
            rx_trio.subscribe(nursery, source, work)
            source.next(1)
            source.complete()
        assert got == [1]

    run(main)


def test_mistakes_are_explained() -> None:
    async def work(item: int) -> None: ...

    async def main() -> None:
        source = numbers(3)
        async with trio.open_nursery() as nursery:
            with pytest.raises(TypeError, match="rx_trio"):
                rx_trio.subscribe(nursery, source, None)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="needs the nursery"):
                rx_trio.subscribe(source, source, work)  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="needs a publisher"):
                rx_trio.subscribe(nursery, [1], work)  # type: ignore[arg-type]
            with pytest.raises(ValueError, match="max_concurrency=0"):
                rx_trio.subscribe(nursery, source, work, max_concurrency=0)
        with pytest.raises(RuntimeError, match="closed"):
            rx_trio.subscribe(nursery, source, work)
        assert source.subscriptions[0].cancelled or source.subscriptions[0]._ended
        with pytest.raises(ExceptionGroup) as info:
            async with trio.open_nursery() as nursery:
                rx_trio.subscribe(nursery, source, print)  # type: ignore[arg-type]
        assert "needs an async function" in str(info.value.exceptions[0])

    run(main)


# to_channel -----------------------------------------------------------------------------------------------------------


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
