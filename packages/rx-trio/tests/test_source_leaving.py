"""Sources in a nursery: finalizers, who leaves or is cancelled when, other tasks and threads."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import wait_all_tasks_blocked
from trio_parties import Ticks, run

import rx_trio
from rx_core import FlowableBase, Publisher, RxError, Subscriber, WorkerInterruptedError
from rx_testing import TestSubscriber

# -- finalizers --------------------------------------------------------------------------------------------------------


def test_a_source_that_is_suspended_may_await_in_its_finalizer_and_the_block_waits_for_it() -> None:
    ends: list[str] = []

    async def careful() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            await trio.sleep(5)
            ends.append("after five seconds")

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(careful, nursery=nursery)
            async with rx_trio.stream(source, prefetch=4) as items:
                async for _ in items:
                    break
            assert ends == ["after five seconds"]
            assert trio.current_time() == 5
            assert not nursery.child_tasks

    run(main)


def test_the_block_waits_for_sources_behind_operators_and_not_for_what_it_did_not_open() -> None:
    async def main() -> None:
        ends: list[str] = []

        async def careful(name: str) -> AsyncIterator[int]:
            try:
                for n in range(1000):
                    yield n
            finally:
                await trio.sleep(5)
                ends.append(name)

        class Foreign:
            """Somebody's operator, which knows nothing of us."""

            def __init__(self, source: Publisher[int]) -> None:
                self.source = source

            def subscribe(self, subscriber: Subscriber[int], /) -> None:
                self.source.subscribe(subscriber)

        async with trio.open_nursery() as nursery:
            inner = rx_trio.from_async_iterable(lambda: careful("inner"), nursery=nursery)
            by_hand = TestSubscriber[int](request=3)
            async with rx_trio.stream(Foreign(inner), prefetch=4) as items:
                async for _ in items:
                    rx_trio.from_async_iterable(lambda: careful("by hand"), nursery=nursery).subscribe(by_hand)
                    break
            assert ends == ["inner"]
            assert trio.current_time() == 5
            by_hand.cancel()
        assert ends == ["inner", "by hand"]

    run(main)


def test_a_cancelled_block_does_not_wait_for_what_a_finalizer_awaits() -> None:
    ends: list[str] = []

    async def careful() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            try:
                await trio.sleep(1000)
            finally:
                ends.append(f"at {trio.current_time():g}")

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(careful, nursery=nursery)
            with trio.move_on_after(3) as scope:
                async with rx_trio.stream(source, prefetch=1) as items:
                    async for _ in items:
                        await trio.sleep_forever()
            assert scope.cancelled_caught
            assert ends == ["at 3"]
            assert not nursery.child_tasks

    run(main)


def test_a_source_that_keeps_scopes_and_nurseries_open_between_its_elements() -> None:
    ends: list[str] = []

    async def structured() -> AsyncIterator[int]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            with trio.CancelScope():
                for n in range(10):
                    yield n
            nursery.cancel_scope.cancel()
        ends.append("left")

    async def main() -> None:
        for take in (3, 10, 100):
            async with trio.open_nursery() as nursery:
                source = rx_trio.from_async_iterable(structured, nursery=nursery)
                got: list[int] = []
                async with rx_trio.stream(source, prefetch=2) as items:
                    async for x in items:
                        got.append(x)
                        if len(got) == take:
                            break
                assert got == list(range(min(take, 10)))
                assert not nursery.child_tasks

    run(main)


# -- who leaves --------------------------------------------------------------------------------------------------------


def test_break_while_the_source_is_waiting_cancels_it_there() -> None:
    async def main() -> None:
        ticks = Ticks(wait=True)
        async with trio.open_nursery() as nursery:
            async with rx_trio.stream(rx_trio.from_async_iterable(ticks, nursery=nursery)) as items:
                async for _ in items:
                    await wait_all_tasks_blocked()
                    break
            assert ticks.ends == ["Cancelled", "closed"]

    run(main)


def test_a_cancelled_nursery_is_an_error_downstream() -> None:
    async def main() -> None:
        ticks = Ticks(wait=True)
        subscriber = TestSubscriber[int]()
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(ticks, nursery=nursery).subscribe(subscriber)
            await trio.sleep(2.5)
            nursery.cancel_scope.cancel()
        subscriber.assert_values(1, 2).assert_error(RxError)
        assert "nursery was cancelled" in str(subscriber.errors[0])
        assert ticks.ends == ["Cancelled", "closed"]

    run(main)


def test_a_cancelled_nursery_is_no_error_for_who_cancelled_before() -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(Ticks(wait=True), nursery=nursery).subscribe(subscriber)
            await trio.sleep(2.5)
            subscriber.cancel()
            nursery.cancel_scope.cancel()
        subscriber.assert_values(1, 2).assert_not_terminated()

    run(main)


def test_what_a_subscriber_raises_reaches_the_nursery_with_its_type() -> None:
    def refuse(item: int) -> None:
        raise KeyError(item)

    async def main() -> None:
        ticks = Ticks()
        subscriber = TestSubscriber[int](on_value=refuse)
        with pytest.raises(ExceptionGroup) as info:
            async with trio.open_nursery() as nursery:
                rx_trio.from_async_iterable(ticks, nursery=nursery).subscribe(subscriber)
        assert [type(error) for error in info.value.exceptions] == [KeyError]
        subscriber.assert_values(1).assert_not_terminated()
        assert ticks.ends == ["GeneratorExit", "closed"]

    run(main)


def test_a_base_exception_of_the_source_leaves_nobody_waiting() -> None:
    async def exits() -> AsyncIterator[int]:
        yield 1
        raise SystemExit(3)

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        with pytest.raises(BaseExceptionGroup) as info:
            async with trio.open_nursery() as nursery:
                rx_trio.from_async_iterable(exits, nursery=nursery).subscribe(subscriber)
        assert [type(error) for error in info.value.exceptions] == [SystemExit]
        subscriber.assert_values(1).assert_error(WorkerInterruptedError)

    run(main)


def test_a_failing_finalizer_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def failing() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            raise OSError("finalizer")

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            assert await rx_trio.first(rx_trio.from_async_iterable(failing, nursery=nursery)) == 1

    run(main)
    assert "finalizer" in caplog.text


# -- other tasks and threads -------------------------------------------------------------------------------------------


def test_other_tasks_run_although_the_source_never_waits() -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with trio.open_nursery() as nursery:
            rx_trio.from_async_iterable(Ticks(), nursery=nursery).subscribe(subscriber)
            for _ in range(5):
                await trio.lowlevel.checkpoint()
            subscriber.cancel()
        assert 0 < len(subscriber.values) < 256 * 8

    run(main)


def test_subscribing_requesting_and_cancelling_from_a_thread() -> None:
    async def main() -> None:
        ticks = Ticks()
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(ticks, nursery=nursery)
            subscriber = TestSubscriber[int](request=0)

            def use() -> None:
                source.subscribe(subscriber)
                for _ in range(2000):
                    subscriber.request(10)
                subscriber.await_count(20_000)
                subscriber.cancel()

            await trio.to_thread.run_sync(use)
        assert subscriber.values == list(range(1, 20_001))
        assert set(subscriber.value_threads) == {threading.current_thread().name}
        subscriber.assert_not_terminated()
        assert ticks.pulled == 20_000
        assert ticks.ends == ["GeneratorExit", "closed"]

    trio.run(main)


def test_cancelling_from_a_thread_in_the_middle() -> None:
    async def main() -> None:
        for round_ in range(20):
            ticks = Ticks()
            async with trio.open_nursery() as nursery:
                there = threading.Event()

                def note(item: int, last: int = 100 * round_ + 1, there: threading.Event = there) -> None:
                    if item == last:
                        there.set()

                # Bounded, or a source that never waits may keep the interpreter from the thread for seconds.
                subscriber = TestSubscriber[int](request=5000, on_value=note)
                rx_trio.from_async_iterable(ticks, nursery=nursery).subscribe(subscriber)

                def stop(subscriber: TestSubscriber[int] = subscriber, there: threading.Event = there) -> None:
                    there.wait()
                    subscriber.cancel()

                await trio.to_thread.run_sync(stop)
            subscriber.assert_not_terminated()
            assert ticks.ends[-1] == "closed"

    trio.run(main)


def test_subscribing_after_the_loop_has_ended() -> None:
    kept: list[FlowableBase[int]] = []

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            kept.append(rx_trio.from_async_iterable(Ticks(), nursery=nursery))

    trio.run(main)
    subscriber = TestSubscriber[int]()
    kept[0].subscribe(subscriber)
    subscriber.assert_no_values().assert_error(RxError)
    assert "trio run has ended" in str(subscriber.errors[0])
    subscriber.request(1)
    subscriber.cancel()
