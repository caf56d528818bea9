"""Sources in a nursery: finalizers, who leaves or is cancelled when, other tasks and threads."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator

import pytest

from rx_core import FlowableBase, Publisher, RxError, Subscriber, WorkerInterruptedError
from rx_testing import TestSubscriber
from tests.tasks.backends import Backend
from tests.tasks.parties import Leave, Ticks

# -- finalizers --------------------------------------------------------------------------------------------------------


def test_a_source_that_is_suspended_may_await_in_its_finalizer_and_the_block_waits_for_it(backend: Backend) -> None:
    ends: list[str] = []

    async def careful() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            await backend.sleep(5)
            ends.append("after five seconds")

    async def main() -> None:
        async with backend.owner() as owner:
            source = backend.rx.from_async_iterable(careful, **owner.keyword)
            async with backend.rx.stream(source, prefetch=4) as items:
                async for _ in items:
                    break
            assert ends == ["after five seconds"]
            assert backend.now() == 5
            assert owner.tasks == 0

    backend.run(main)


def test_the_block_waits_for_sources_behind_operators_and_not_for_what_it_did_not_open(backend: Backend) -> None:
    async def main() -> None:
        ends: list[str] = []

        async def careful(name: str) -> AsyncIterator[int]:
            try:
                for n in range(1000):
                    yield n
            finally:
                await backend.sleep(5)
                ends.append(name)

        class Foreign:
            """Somebody's operator, which knows nothing of us."""

            def __init__(self, source: Publisher[int]) -> None:
                self.source = source

            def subscribe(self, subscriber: Subscriber[int], /) -> None:
                self.source.subscribe(subscriber)

        async with backend.owner() as owner:
            inner = backend.rx.from_async_iterable(lambda: careful("inner"), **owner.keyword)
            by_hand = TestSubscriber[int](request=3)
            async with backend.rx.stream(Foreign(inner), prefetch=4) as items:
                async for _ in items:
                    backend.rx.from_async_iterable(lambda: careful("by hand"), **owner.keyword).subscribe(by_hand)
                    break
            assert ends == ["inner"]
            assert backend.now() == 5
            by_hand.cancel()
        assert ends == ["inner", "by hand"]

    backend.run(main)


def test_a_source_that_keeps_scopes_and_nurseries_open_between_its_elements(backend: Backend) -> None:
    ends: list[str] = []

    async def structured() -> AsyncIterator[int]:
        async with backend.owner() as owner:
            owner.start(backend.forever)
            with backend.scope():
                for n in range(10):
                    yield n
            owner.cancel()
        ends.append("left")

    async def main() -> None:
        for take in (3, 10, 100):
            async with backend.owner() as owner:
                source = backend.rx.from_async_iterable(structured, **owner.keyword)
                got: list[int] = []
                async with backend.rx.stream(source, prefetch=2) as items:
                    async for x in items:
                        got.append(x)
                        if len(got) == take:
                            break
                assert got == list(range(min(take, 10)))
                assert owner.tasks == 0

    backend.run(main)


# -- who leaves --------------------------------------------------------------------------------------------------------


def test_break_while_the_source_is_waiting_cancels_it_there(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend, wait=True)
        async with backend.owner() as owner:
            async with backend.rx.stream(backend.rx.from_async_iterable(ticks, **owner.keyword)) as items:
                async for _ in items:
                    await backend.settle()
                    break
            assert ticks.ends == [backend.cancelled.__name__, "closed"]

    backend.run(main)


def test_a_cancelled_nursery_is_an_error_downstream(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend, wait=True)
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(ticks, **owner.keyword).subscribe(subscriber)
            await backend.sleep(2.5)
            owner.cancel()
        subscriber.assert_values(1, 2).assert_error(RxError)
        assert f"{backend.loop.owner} was cancelled" in str(subscriber.errors[0])
        assert ticks.ends == [backend.cancelled.__name__, "closed"]

    backend.run(main)


def test_a_cancelled_nursery_is_no_error_for_who_cancelled_before(backend: Backend) -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(Ticks(backend, wait=True), **owner.keyword).subscribe(subscriber)
            await backend.sleep(2.5)
            subscriber.cancel()
            owner.cancel()
        subscriber.assert_values(1, 2).assert_not_terminated()

    backend.run(main)


def test_what_a_subscriber_raises_reaches_the_nursery_with_its_type(backend: Backend) -> None:
    def refuse(item: int) -> None:
        raise KeyError(item)

    async def main() -> None:
        ticks = Ticks(backend)
        subscriber = TestSubscriber[int](on_value=refuse)
        with pytest.raises(ExceptionGroup) as info:
            async with backend.owner() as owner:
                backend.rx.from_async_iterable(ticks, **owner.keyword).subscribe(subscriber)
        assert [type(error) for error in info.value.exceptions] == [KeyError]
        subscriber.assert_values(1).assert_not_terminated()
        assert ticks.ends == ["GeneratorExit", "closed"]

    backend.run(main)


def test_a_base_exception_of_the_source_leaves_nobody_waiting(backend: Backend) -> None:
    async def exits() -> AsyncIterator[int]:
        yield 1
        raise Leave(3)

    async def main() -> None:
        subscriber = TestSubscriber[int]()
        with pytest.raises(BaseExceptionGroup) as info:
            async with backend.owner() as owner:
                backend.rx.from_async_iterable(exits, **owner.keyword).subscribe(subscriber)
        assert [type(error) for error in info.value.exceptions] == [Leave]
        subscriber.assert_values(1).assert_error(WorkerInterruptedError)

    backend.run(main)


def test_a_failing_finalizer_is_reported(backend: Backend, caplog: pytest.LogCaptureFixture) -> None:
    async def failing() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            raise OSError("finalizer")

    async def main() -> None:
        async with backend.owner() as owner:
            assert await backend.rx.first(backend.rx.from_async_iterable(failing, **owner.keyword)) == 1

    backend.run(main)
    assert "finalizer" in caplog.text


# -- other tasks and threads -------------------------------------------------------------------------------------------


def test_other_tasks_run_although_the_source_never_waits(backend: Backend) -> None:
    async def main() -> None:
        subscriber = TestSubscriber[int]()
        async with backend.owner() as owner:
            backend.rx.from_async_iterable(Ticks(backend), **owner.keyword).subscribe(subscriber)
            for _ in range(5):
                await backend.checkpoint()
            subscriber.cancel()
        assert 0 < len(subscriber.values) < 256 * 8

    backend.run(main)


def test_subscribing_requesting_and_cancelling_from_a_thread(backend: Backend) -> None:
    async def main() -> None:
        ticks = Ticks(backend)
        async with backend.owner() as owner:
            source = backend.rx.from_async_iterable(ticks, **owner.keyword)
            subscriber = TestSubscriber[int](request=0)

            def use() -> None:
                source.subscribe(subscriber)
                for _ in range(2000):
                    subscriber.request(10)
                subscriber.await_count(20_000)
                subscriber.cancel()

            await backend.thread(use)
        assert subscriber.values == list(range(1, 20_001))
        assert set(subscriber.value_threads) == {threading.current_thread().name}
        subscriber.assert_not_terminated()
        assert ticks.pulled == 20_000
        assert ticks.ends == ["GeneratorExit", "closed"]

    backend.run_real(main)


def test_cancelling_from_a_thread_in_the_middle(backend: Backend) -> None:
    async def main() -> None:
        for round_ in range(20):
            ticks = Ticks(backend)
            async with backend.owner() as owner:
                there = threading.Event()

                def note(item: int, last: int = 100 * round_ + 1, there: threading.Event = there) -> None:
                    if item == last:
                        there.set()

                # Bounded, or a source that never waits may keep the interpreter from the thread for seconds.
                subscriber = TestSubscriber[int](request=5000, on_value=note)
                backend.rx.from_async_iterable(ticks, **owner.keyword).subscribe(subscriber)

                def stop(subscriber: TestSubscriber[int] = subscriber, there: threading.Event = there) -> None:
                    there.wait()
                    subscriber.cancel()

                await backend.thread(stop)
            subscriber.assert_not_terminated()
            assert ticks.ends[-1] == "closed"

    backend.run_real(main)


def test_subscribing_after_the_loop_has_ended(backend: Backend) -> None:
    kept: list[FlowableBase[int]] = []

    async def main() -> None:
        async with backend.owner() as owner:
            kept.append(backend.rx.from_async_iterable(Ticks(backend), **owner.keyword))

    backend.run_real(main)
    subscriber = TestSubscriber[int]()
    kept[0].subscribe(subscriber)
    subscriber.assert_no_values().assert_error(RxError)
    assert "event loop has ended" in str(subscriber.errors[0])
    subscriber.request(1)
    subscriber.cancel()
