"""stream(), first() and value(): order, demand, errors, cancellation, waking from threads."""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TypeVar

import pytest
import trio
from trio.testing import MockClock

import rx_trio
from rx_core import (
    DEMAND,
    OPERATOR_CODES,
    ActionDisposable,
    Drain,
    EmptyStreamError,
    FlagDisposable,
    FlowableBase,
    MaybeBase,
    MaybeObserver,
    Run,
    SingleBase,
    SingleObserver,
    Subscriber,
)
from rx_testing import ManualPublisher, ManualSubscription

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    return trio.run(main, clock=MockClock(autojump_threshold=0))


class Generated(FlowableBase[T]):
    """One of ours: opens as a generator, without a queue."""

    def __init__(self, items: Callable[[], Iterator[T | None]]) -> None:
        self.items = items
        self.closed = 0

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        Drain(subscriber).start(lambda drain: self._rx_open(drain, DEMAND))

    def _rx_open(self, run: Run, window: int, /) -> Iterator[T | None]:
        try:
            yield from self.items()
        finally:
            self.closed += 1


OPERATOR_CODES.add(Generated._rx_open.__code__)


def counted(n: int) -> Generated[int]:
    return Generated(lambda: iter(range(n)))


def test_all_elements_in_order() -> None:
    async def main() -> None:
        source = counted(1000)
        async with rx_trio.stream(source) as items:
            assert [x async for x in items] == list(range(1000))
        assert source.closed == 1

    run(main)


def test_an_iterator_that_is_no_generator_is_opened_as_well() -> None:
    class Plain(Generated[int]):
        def _rx_open(self, run: Run, window: int, /) -> Iterator[int | None]:
            return self.items()

    async def main() -> list[int]:
        async with rx_trio.stream(Plain(lambda: iter(range(600)))) as items:
            return [x async for x in items]

    assert run(main) == list(range(600))


def test_our_sources_are_pulled_element_by_element() -> None:
    pulled: list[int] = []

    def endless() -> Iterator[int]:
        n = 0
        while True:
            pulled.append(n)
            yield n
            n += 1

    async def main() -> None:
        source = Generated(endless)
        async with rx_trio.stream(source) as items:
            async for x in items:
                assert pulled == list(range(x + 1))
                if x == 20:
                    break
            assert source.closed == 0
        assert source.closed == 1

    run(main)


def test_a_foreign_source_is_asked_for_a_window_and_again_at_three_quarters() -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with rx_trio.stream(source, prefetch=8) as items:
            assert source.subscriptions[0].requests == [8]
            source.next(*range(8))
            assert [await items.__anext__() for _ in range(5)] == [0, 1, 2, 3, 4]
            assert source.subscriptions[0].requests == [8]
            assert await items.__anext__() == 5
            assert source.subscriptions[0].requests == [8, 6]
            source.complete()
            assert [x async for x in items] == [6, 7]
        assert not source.cancelled

    run(main)


def test_a_demand_window_is_bounded_by_prefetch_too() -> None:
    """An operator that asks for as much as is wanted must not make the queue unbounded."""
    source = ManualPublisher[int]()

    class Concat(Generated[int]):
        def _rx_open(self, run: Run, window: int, /) -> Iterator[int | None]:
            return run.open(source)

    async def main() -> None:
        async with rx_trio.stream(Concat(lambda: iter(())), prefetch=4) as items:
            source.on_request = lambda subscription, n: None
            with trio.move_on_after(1):
                await items.__anext__()
            assert source.requested == 4

    run(main)


def test_errors_keep_their_type_and_are_no_group() -> None:
    source = ManualPublisher[int]()

    got: list[int] = []

    async def consume() -> None:
        async with rx_trio.stream(source) as items:
            source.next(1)
            source.error(ZeroDivisionError("boom"))
            async for x in items:
                got.append(x)

    async def main() -> None:
        with pytest.raises(ZeroDivisionError, match="boom"):
            await consume()
        assert got == [1]

    run(main)


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit])
def test_stop_iteration_and_generator_exit_of_a_function_are_errors_and_no_end(kind: type[BaseException]) -> None:
    def calling() -> Iterator[int]:
        yield 1
        raise kind("mine")

    async def main() -> None:
        async with rx_trio.stream(Generated(calling)) as items:
            assert await items.__anext__() == 1
            with pytest.raises(RuntimeError, match=kind.__name__):
                await items.__anext__()

    run(main)


def test_the_loop_may_be_cancelled_and_taken_up_again() -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with rx_trio.stream(source) as items:
            source.next(1)
            got = []
            with trio.move_on_after(1) as scope:
                async for x in items:
                    got.append(x)
            assert scope.cancelled_caught
            source.next(2, 3)
            source.complete()
            async for x in items:
                got.append(x)
            assert got == [1, 2, 3]

    run(main)


def test_two_loops_one_after_the_other_share_the_elements() -> None:
    async def main() -> None:
        async with rx_trio.stream(counted(10)) as items:
            first: list[int] = []
            async for x in items:
                first.append(x)
                if x == 3:
                    break
            assert [x async for x in items] == [4, 5, 6, 7, 8, 9]
            assert first == [0, 1, 2, 3]
            assert [x async for x in items] == []

    run(main)


def test_each_block_subscribes_anew() -> None:
    async def main() -> None:
        source = counted(3)
        block = rx_trio.stream(source)
        for _ in range(2):
            async with block as items:
                assert [x async for x in items] == [0, 1, 2]
        async with block:
            with pytest.raises(RuntimeError, match="open already"):
                await block.__aenter__()
        assert source.closed == 2  # the last one was never polled

    run(main)


def test_iterating_without_or_after_the_block_is_explained() -> None:
    async def main() -> None:
        block = rx_trio.stream(counted(3))
        with pytest.raises(RuntimeError, match="async with rx_trio"):
            async for _ in block:  # type: ignore[attr-defined]  # the mistake this is about
                pass
        async with block as items:
            pass
        with pytest.raises(RuntimeError, match="was left"):
            async for _ in items:
                pass

    run(main)


def test_bad_arguments() -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="from_async_iterable"):
            rx_trio.stream([1, 2])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="prefetch=0"):
            rx_trio.stream(counted(1), prefetch=0)

    run(main)
    with pytest.raises(RuntimeError, match="no trio run is active"):
        rx_trio.stream(counted(1)).__aenter__().send(None)


def test_two_tasks_on_one_stream_are_refused() -> None:
    source = ManualPublisher[int]()

    async def main() -> None:
        async with rx_trio.stream(source) as items, trio.open_nursery() as nursery:

            async def loop() -> None:
                async for _ in items:
                    pass

            nursery.start_soon(loop)
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(trio.BusyResourceError, match="max_concurrency"):
                await loop()
            nursery.cancel_scope.cancel()

    run(main)


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

            items.run.bell.token = Counting()  # type: ignore[assignment]
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


class One(SingleBase[int]):
    def __init__(self, result: int | Exception) -> None:
        self.result = result

    def subscribe_actual(self, observer: SingleObserver[int], /) -> None:
        observer.on_subscribe(FlagDisposable())
        if isinstance(self.result, Exception):
            observer.on_error(self.result)
        else:
            observer.on_success(self.result)


class Empty(MaybeBase[int]):
    def subscribe_actual(self, observer: MaybeObserver[int], /) -> None:
        observer.on_subscribe(FlagDisposable())
        observer.on_complete()


def test_a_single_and_a_maybe_can_be_awaited() -> None:
    async def main() -> None:
        assert await rx_trio.value(One(7)) == 7
        with pytest.raises(ZeroDivisionError):
            await rx_trio.value(One(ZeroDivisionError()))
        with pytest.raises(EmptyStreamError):
            await rx_trio.value(Empty())
        assert await rx_trio.value(Empty(), "nothing") == "nothing"
        assert await rx_trio.value(Empty(), None) is None
        with pytest.raises(TypeError, match=r"rx_trio\.first"):
            await rx_trio.value(counted(3))  # type: ignore[call-overload]

    run(main)


def test_a_single_that_takes_its_time() -> None:
    class Later(SingleBase[str]):
        observer: SingleObserver[str]
        disposed = 0

        def subscribe_actual(self, observer: SingleObserver[str], /) -> None:
            def dispose() -> None:
                self.disposed += 1

            observer.on_subscribe(ActionDisposable(dispose))
            self.observer = observer

    async def main() -> None:
        later = Later()
        got: list[str] = []

        async def wait() -> None:
            got.append(await rx_trio.value(later))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            await trio.to_thread.run_sync(lambda: later.observer.on_success("here"))
        assert got == ["here"]
        assert later.disposed == 0
        with trio.move_on_after(1) as scope:
            await rx_trio.value(later)
        assert scope.cancelled_caught
        assert later.disposed == 1

    run(main)


def test_first_asks_for_one_and_cancels() -> None:
    def answer(subscription: ManualSubscription[int], n: int) -> None:
        subscription.next(41)

    source = ManualPublisher[int](on_request=answer)

    async def main() -> None:
        assert await rx_trio.first(source) == 41
        assert source.requested == 1
        assert source.cancelled
        assert await rx_trio.first(counted(0), "none") == "none"
        with pytest.raises(EmptyStreamError):
            await rx_trio.first(counted(0))

    run(main)


def test_upstream_raising_while_it_is_closed_is_reported_and_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Generated[int]):
        def _rx_open(self, run: Run, window: int, /) -> Iterator[int | None]:
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
