"""Cancellation in asyncio: it goes on, is never a signal, and reaches what was not begun yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from loops import run, turns

import rx_asyncio
from rx_asyncio._scope import Scope
from rx_core import RxError
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber


async def endless() -> AsyncIterator[int]:
    n = 0
    while True:
        await asyncio.sleep(0)
        yield n
        n += 1


# -- the scope ---------------------------------------------------------------------------------------------------------


def test_a_scope_takes_back_its_own_cancellation_and_no_other() -> None:
    async def main() -> None:
        with Scope() as scope:
            scope.cancel()
            scope.cancel()
            await asyncio.sleep(1000)
            raise AssertionError
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)

        async def both() -> None:
            with Scope() as inner:
                inner.cancel()
                this = asyncio.current_task()
                assert this is not None
                this.cancel()  # from elsewhere: this one goes on
                await asyncio.sleep(1000)

        other = asyncio.create_task(both())
        with pytest.raises(asyncio.CancelledError):
            await other

    run(main)


def test_a_scope_that_is_cancelled_before_it_is_entered() -> None:
    async def main() -> None:
        scope = Scope()
        scope.cancel()
        with scope:
            await asyncio.sleep(1000)
            raise AssertionError

    run(main)


# -- before the first step ---------------------------------------------------------------------------------------------


def test_a_source_whose_task_is_cancelled_before_its_first_step_tells_the_subscriber() -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int]()
        with Scope() as scope:
            async with asyncio.TaskGroup() as group:
                rx_asyncio.from_async_iterable(endless, group=group).subscribe(subscriber)
                scope.cancel()
                await asyncio.sleep(0)
        subscriber.assert_no_values().assert_error(RxError)
        assert "TaskGroup was cancelled" in str(subscriber.errors[0])

    run(main)


def test_a_subscription_that_is_disposed_before_its_first_step_cancels_its_source() -> None:
    async def main() -> None:
        source = ManualPublisher[int]()
        with Scope() as scope:
            async with asyncio.TaskGroup() as group:

                async def work(item: int) -> None:
                    raise AssertionError

                handle = rx_asyncio.subscribe(group, source, work)
                scope.cancel()
                await asyncio.sleep(0)
        assert source.cancelled
        assert handle.is_disposed

    run(main)


# -- from elsewhere ----------------------------------------------------------------------------------------------------


def test_a_cancelled_future_inside_a_source_is_an_rx_error() -> None:
    async def main() -> None:
        broken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        broken.cancel()

        async def uses() -> AsyncIterator[int]:
            yield 1
            yield await broken

        subscriber = TestSubscriber[int]()
        rx_asyncio.from_async_iterable(uses).subscribe(subscriber)
        await turns()
        subscriber.assert_values(1).assert_error(RxError)
        assert "task was cancelled" in str(subscriber.errors[0])

    run(main)


def test_a_loop_that_ends_tells_the_subscribers_of_its_sources() -> None:
    subscriber = TestSubscriber[int]()
    ends: list[str] = []

    async def closing() -> AsyncIterator[int]:
        try:
            while True:
                await asyncio.sleep(0)
                yield 1
        finally:
            ends.append("closed")

    async def main() -> None:
        rx_asyncio.from_async_iterable(closing).subscribe(subscriber)
        await turns()

    asyncio.run(main())
    subscriber.assert_error(RxError)
    assert ends == ["closed"]


def test_a_cancelled_task_goes_on_being_cancelled_out_of_a_stream() -> None:
    async def main() -> None:
        source = ManualPublisher[int]()

        async def consume() -> None:
            async with rx_asyncio.stream(source) as items:
                async for _ in items:
                    pass

        task = asyncio.create_task(consume())
        await turns()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert source.subscriptions[0].cancellations == 1

    run(main)


def test_a_timeout_around_a_stream_is_a_timeout() -> None:
    async def main() -> None:
        flow = Flowable.wrap(rx_asyncio.from_async_iterable(endless))

        async def consume() -> None:
            async with asyncio.timeout(0.01), rx_asyncio.stream(flow) as items:
                async for _ in items:
                    pass

        with pytest.raises(TimeoutError):
            await consume()

    run(main)


# -- finalizers --------------------------------------------------------------------------------------------------------


def test_a_cancelled_block_lets_finalizers_wait_and_the_second_cancellation_ends_that() -> None:
    ends: list[str] = []

    async def careful() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                ends.append("hurried")
                raise

    async def main() -> None:
        async def consume() -> None:
            async with rx_asyncio.stream(rx_asyncio.from_async_iterable(careful), prefetch=1) as items:
                async for _ in items:
                    await asyncio.sleep(1000)

        task = asyncio.create_task(consume())
        await turns()
        task.cancel()
        await turns()
        assert not task.done()
        assert ends == []
        task.cancel()
        await turns()
        assert task.cancelled()
        assert ends == ["hurried"]

    run(main)


def test_a_task_group_inside_a_source() -> None:
    """It cancels the task of its block: that is the source's own, not that of the stream."""
    ends: list[str] = []

    async def structured() -> AsyncIterator[int]:
        async def helper() -> None:
            try:
                await asyncio.sleep(1000)
            finally:
                ends.append("helper")

        async with asyncio.TaskGroup() as group:
            task = group.create_task(helper())
            for n in range(10):
                yield n
            task.cancel()

    async def main() -> None:
        for take in (3, 100):
            async with rx_asyncio.stream(rx_asyncio.from_async_iterable(structured), prefetch=2) as items:
                got: list[int] = []
                async for item in items:
                    got.append(item)
                    if len(got) == take:
                        break
            assert got == list(range(min(take, 10)))
        assert ends == ["helper", "helper"]

    run(main)


# -- without a group ---------------------------------------------------------------------------------------------------


def test_what_a_subscriber_raises_without_a_group_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(item: int) -> None:
        raise KeyError("refused")

    async def main() -> None:
        subscriber = TestSubscriber[int](on_value=refuse)
        rx_asyncio.from_async_iterable(endless).subscribe(subscriber)
        await turns()
        subscriber.assert_not_terminated()

    run(main)
    assert "refused" in caplog.text


def test_a_pipeline_of_a_module_takes_the_loop_in_which_it_is_subscribed() -> None:
    flow = Flowable.wrap(rx_asyncio.from_async_iterable(endless)).take(3)

    async def main() -> list[int]:
        return await flow.to_list()

    assert run(main) == run(main) == [0, 1, 2]
    with pytest.raises(RxError, match="outside of an event loop"):
        flow.blocking_list()


def test_an_abandoned_task_is_kept_alive_by_its_subscription() -> None:
    """An event loop refers to tasks weakly."""
    import gc

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        rx_asyncio.from_async_iterable(endless).subscribe(subscriber)
        for _ in range(10):
            gc.collect()
            await turns(1)
        assert subscriber.values
        subscriber.cancel()

    run(main)
