"""Leaving the block of a stream: what is cancelled, Ctrl-C, and other tasks meanwhile."""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from rx_core import Subscriber
from rx_core.streams import Stopping
from rx_testing import ManualPublisher
from tests.tasks.backends import Backend
from tests.tasks.parties import Generated

# -- leaving the block, and other tasks --------------------------------------------------------------------------------


@pytest.mark.parametrize("leave", ["break", "raise", "cancel"])
def test_leaving_the_block_cancels_upstream(backend: Backend, leave: str) -> None:
    source = ManualPublisher[int]()

    async def block() -> None:
        async with backend.rx.stream(source) as items:
            source.next(1, 2)
            async for _ in items:
                if leave == "break":
                    break
                if leave == "raise":
                    raise KeyError("mine")

    async def main() -> None:
        if leave == "cancel":
            with backend.within(1) as scope:
                await block()
            assert scope.cancelled_caught
        elif leave == "raise":
            with pytest.raises(KeyError, match="mine"):
                await block()
        else:
            await block()
        assert source.subscriptions[0].cancellations == 1

    backend.run(main)


@pytest.mark.parametrize(("seconds", "least", "most"), [(1e-7, 20, 40), (1e-5, 300, 340), (1.0, 20_000, 21_000)])
def test_other_tasks_run_while_a_long_stream_is_iterated(
    backend: Backend, seconds: float, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkpoints are rare while elements cost little, and one for each when it takes a second."""
    time = 0.0

    def cost(n: int) -> Iterator[int]:
        nonlocal time
        for x in range(n):
            time += seconds
            yield x

    monkeypatch.setattr("rx_core.tasks._items.perf_counter", lambda: time)

    async def main() -> None:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await backend.checkpoint()

        async with backend.owner() as owner:
            owner.start(beat)
            async with backend.rx.stream(Generated(lambda: cost(20_480))) as items:
                async for _ in items:
                    pass
            owner.cancel()
        assert least <= beats <= most

    backend.run(main)


@pytest.mark.parametrize("prefetch", [1, 16, 1024])
def test_elements_from_another_thread(backend: Backend, prefetch: int) -> None:
    n = 20_000
    loop = threading.get_ident()
    threads: set[int] = set()

    class Threaded:
        """A foreign publisher that sends from a thread of its own, what was requested and no more."""

        def subscribe(self, subscriber: Subscriber[int], /) -> None:
            wanted = threading.Semaphore(0)

            class Subscription:
                stopped = False

                def request(self, k: int, /) -> None:
                    wanted.release(k)

                def cancel(self) -> None:
                    self.stopped = True
                    wanted.release()

            subscription = Subscription()

            def send() -> None:
                threads.add(threading.get_ident())
                for i in range(n):
                    wanted.acquire()
                    if subscription.stopped:
                        return
                    subscriber.on_next(i)
                subscriber.on_complete()

            subscriber.on_subscribe(subscription)
            self.thread = threading.Thread(target=send)
            self.thread.start()

    async def main() -> None:
        source = Threaded()
        async with backend.rx.stream(source, prefetch=prefetch) as items:
            got = [x async for x in items]
        assert got == list(range(n))
        source.thread.join()
        # The control: cancelled in the middle, the same source ends its thread.
        async with backend.rx.stream(source, prefetch=prefetch) as items:
            async for x in items:
                if x == 50:
                    break
        source.thread.join()

    backend.run_real(main)
    assert loop not in threads


def test_control_c_closes_upstream_and_propagates(backend: Backend) -> None:
    closed: list[str] = []

    def items() -> Iterator[int]:
        try:
            yield 1
            signal.raise_signal(signal.SIGINT)
            yield 2
        finally:
            closed.append("upstream")

    foreign = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(foreign), backend.rx.stream(Generated(items)) as stream:
            async for _ in stream:
                pass

    with pytest.raises(KeyboardInterrupt):
        backend.run_real(main)
    assert closed == ["upstream"]
    assert foreign.cancelled


def test_control_c_while_waiting_closes_upstream_and_propagates(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(source) as items, backend.owner() as owner:

            async def interrupt() -> None:
                await backend.settle()
                signal.raise_signal(signal.SIGINT)

            owner.start(interrupt)
            async for _ in items:
                pass

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)) as info:
        backend.run_real(main)
    error: BaseException = info.value
    while isinstance(error, BaseExceptionGroup):  # the nursery of this test
        (error,) = error.exceptions
    assert isinstance(error, KeyboardInterrupt)
    assert source.cancelled


def test_one_call_of_the_loop_for_each_wake_from_another_thread(backend: Backend) -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with backend.rx.stream(source) as items:
            calls = backend.counted(items._arrivals.wakeup)
            async with backend.owner() as owner:
                got: list[int] = []

                async def loop() -> None:
                    async for x in items:
                        got.append(x)

                owner.start(loop)
                await backend.settle()
                thread = threading.Thread(target=lambda: source.next(*range(100)))
                thread.start()
                thread.join()  # blocks the loop, so that all 100 arrive before it wakes up
                await backend.settle()
                assert got == list(range(100))
                assert len(calls) == 1
                source.complete()

    backend.run(main)


# -- when it is over ---------------------------------------------------------------------------------------------------


def test_upstream_raising_while_it_is_closed_is_reported_and_not_raised(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Generated[int]):
        def _passive_items(self, _run: Stopping | None, _beneath: object = None, /) -> Iterator[int]:
            try:
                yield 1
            finally:
                raise OSError("finalizer")

    async def main() -> None:
        async with backend.rx.stream(Failing(lambda: iter(()))) as stream:
            async for _ in stream:
                break

    backend.run(main)
    assert "finalizer" in caplog.text


def test_a_stream_of_a_source_in_a_nursery_of_the_same_function(backend: Backend) -> None:
    async def ticks() -> AsyncIterator[int]:
        for n in range(5):
            await backend.sleep(1)
            yield n

    async def main() -> None:
        async with backend.owner() as owner:
            source = backend.rx.from_async_iterable(ticks, **owner.keyword)
            async with backend.rx.stream(source) as items:
                assert [x async for x in items] == [0, 1, 2, 3, 4]
            assert backend.now() == 5
            assert owner.tasks == 0

    backend.run(main)
