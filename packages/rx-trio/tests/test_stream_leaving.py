"""Leaving the block of a stream: what is cancelled, Ctrl-C, and other tasks meanwhile."""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import trio
from trio_parties import Generated, run

import rx_trio
from rx_core import Subscriber
from rx_core.streams import Stopping
from rx_testing import ManualPublisher

# -- leaving the block, and other tasks --------------------------------------------------------------------------------


@pytest.mark.parametrize("leave", ["break", "raise", "cancel"])
def test_leaving_the_block_cancels_upstream(leave: str) -> None:
    source = ManualPublisher[int]()

    async def block() -> None:
        async with rx_trio.stream(source) as items:
            source.next(1, 2)
            async for _ in items:
                if leave == "break":
                    break
                if leave == "raise":
                    raise KeyError("mine")

    async def main() -> None:
        if leave == "cancel":
            with trio.move_on_after(1) as scope:
                await block()
            assert scope.cancelled_caught
        elif leave == "raise":
            with pytest.raises(KeyError, match="mine"):
                await block()
        else:
            await block()
        assert source.subscriptions[0].cancellations == 1

    run(main)


@pytest.mark.parametrize(("seconds", "least", "most"), [(1e-7, 20, 40), (1e-5, 300, 340), (1.0, 20_000, 21_000)])
def test_other_tasks_run_while_a_long_stream_is_iterated(
    seconds: float, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkpoints are rare while elements cost little, and one for each when it takes a second."""
    time = 0.0

    def cost(n: int) -> Iterator[int]:
        nonlocal time
        for x in range(n):
            time += seconds
            yield x

    monkeypatch.setattr("rx_trio._stream.perf_counter", lambda: time)

    async def main() -> None:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(beat)
            async with rx_trio.stream(Generated(lambda: cost(20_480))) as items:
                async for _ in items:
                    pass
            nursery.cancel_scope.cancel()
        assert least <= beats <= most

    run(main)


@pytest.mark.parametrize("prefetch", [1, 16, 1024])
def test_elements_from_another_thread(prefetch: int) -> None:
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
        async with rx_trio.stream(source, prefetch=prefetch) as items:
            got = [x async for x in items]
        assert got == list(range(n))
        source.thread.join()
        # The control: cancelled in the middle, the same source ends its thread.
        async with rx_trio.stream(source, prefetch=prefetch) as items:
            async for x in items:
                if x == 50:
                    break
        source.thread.join()

    trio.run(main)
    assert loop not in threads


def test_control_c_closes_upstream_and_propagates() -> None:
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
        async with rx_trio.stream(foreign), rx_trio.stream(Generated(items)) as stream:
            async for _ in stream:
                pass

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
    assert closed == ["upstream"]
    assert foreign.cancelled


def test_control_c_while_waiting_closes_upstream_and_propagates() -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with rx_trio.stream(source) as items, trio.open_nursery() as nursery:

            async def interrupt() -> None:
                await trio.testing.wait_all_tasks_blocked()
                signal.raise_signal(signal.SIGINT)

            nursery.start_soon(interrupt)
            async for _ in items:
                pass

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)) as info:
        trio.run(main)
    error: BaseException = info.value
    while isinstance(error, BaseExceptionGroup):  # the nursery of this test
        (error,) = error.exceptions
    assert isinstance(error, KeyboardInterrupt)
    assert source.cancelled


def test_no_run_sync_soon_in_the_loop_and_one_for_each_wake_outside() -> None:
    source = ManualPublisher[int]()
    calls = 0

    async def main() -> None:
        nonlocal calls
        async with rx_trio.stream(source) as items:
            token = trio.lowlevel.current_trio_token()

            class Counting:
                def run_sync_soon(self, function: Callable[..., object], *args: object) -> None:
                    nonlocal calls
                    calls += 1
                    token.run_sync_soon(function, *args)

            items._arrivals.wakeup.token = Counting()  # type: ignore[assignment]
            async with trio.open_nursery() as nursery:
                got: list[int] = []

                async def loop() -> None:
                    async for x in items:
                        got.append(x)

                nursery.start_soon(loop)
                await trio.testing.wait_all_tasks_blocked()
                thread = threading.Thread(target=lambda: source.next(*range(100)))
                thread.start()
                thread.join()  # blocks the loop, so that all 100 arrive before it wakes up
                await trio.testing.wait_all_tasks_blocked()
                assert got == list(range(100))
                assert calls == 1
                source.complete()

    run(main)


# -- when it is over ---------------------------------------------------------------------------------------------------


def test_upstream_raising_while_it_is_closed_is_reported_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Generated[int]):
        def _passive_items(self, _run: Stopping | None, /) -> Iterator[int]:
            try:
                yield 1
            finally:
                raise OSError("finalizer")

    async def main() -> None:
        async with rx_trio.stream(Failing(lambda: iter(()))) as stream:
            async for _ in stream:
                break

    run(main)
    assert "finalizer" in caplog.text


def test_a_stream_of_a_source_in_a_nursery_of_the_same_function() -> None:
    async def ticks() -> AsyncIterator[int]:
        for n in range(5):
            await trio.sleep(1)
            yield n

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            source = rx_trio.from_async_iterable(ticks, nursery=nursery)
            async with rx_trio.stream(source) as items:
                assert [x async for x in items] == [0, 1, 2, 3, 4]
            assert trio.current_time() == 5
            assert not nursery.child_tasks

    run(main)
