"""Time operators take the clock of the event loop in which they are subscribed: with a fake one hours take no time."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

import pytest
import trio
from trio.testing import MockClock

import rx_asyncio
import rx_trio
from rx_core import current_scheduler, hookimpl, manager
from rx_ops import Flowable, Maybe, Observable, Single
from rx_testing import VirtualScheduler

HOUR = 3600.0
SOON = 20.0  # seconds, of this world


class FakeClockLoop(asyncio.SelectorEventLoop):
    """Where it would sleep its clock jumps."""

    def __init__(self) -> None:
        super().__init__(Jumping(self))
        self.instant = 0.0

    def time(self) -> float:
        return self.instant


class Jumping(selectors.DefaultSelector):
    def __init__(self, loop: FakeClockLoop) -> None:
        super().__init__()
        self.loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0 if timeout is not None else SOON)
        if not ready and timeout:
            self.loop.instant += timeout
        return ready


class Asyncio:
    """Runs a coroutine function on a loop with a fake clock."""

    name = "asyncio"
    stream = staticmethod(rx_asyncio.stream)

    @staticmethod
    def run(main: Callable[[], Awaitable[Any]]) -> Any:
        async def task() -> Any:
            return await main()

        with asyncio.Runner(loop_factory=FakeClockLoop) as runner:
            return runner.run(task())

    @staticmethod
    def now() -> float:
        return asyncio.get_running_loop().time()

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)


class Trio:
    name = "trio"
    stream = staticmethod(rx_trio.stream)

    @staticmethod
    def run(main: Callable[[], Awaitable[Any]]) -> Any:
        return trio.run(main, clock=MockClock(autojump_threshold=0))

    @staticmethod
    def now() -> float:
        return trio.current_time()

    @staticmethod
    async def sleep(seconds: float) -> None:
        await trio.sleep(seconds)


BACKENDS: list[Any] = [Asyncio, Trio]


@pytest.fixture(params=BACKENDS, ids=lambda backend: str(backend.name))
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def ticks(seconds: float, count: int) -> Flowable[int]:
    return Flowable.interval(seconds).take(count)


#: What each gives, and the hours it takes.
STREAMS: dict[str, tuple[Callable[[], Flowable[Any]], list[Any], float]] = {
    "timer": (lambda: Flowable.timer(HOUR), [0], 1),
    "interval": (lambda: ticks(HOUR, 3), [0, 1, 2], 3),
    "interval_range": (lambda: Flowable.interval_range(5, 2, HOUR), [5, 6], 2),
    "delay": (lambda: Flowable.of(1, 2).delay(HOUR), [1, 2], 1),
    "delay_subscription": (lambda: Flowable.of(1).delay_subscription(HOUR), [1], 1),
    "debounce": (lambda: Flowable.of(1, 2).concat_with(Flowable.never().take(seconds=3 * HOUR)).debounce(HOUR), [2], 3),
    "sample": (lambda: ticks(HOUR, 5).sample(2.2 * HOUR), [1, 3], 5),
    "throttle_first": (lambda: ticks(HOUR, 4).throttle_first(1.5 * HOUR), [0, 2], 4),
    "throttle_latest": (lambda: ticks(HOUR, 3).throttle_latest(1.5 * HOUR), [0, 1], 3),
    "buffer": (lambda: ticks(HOUR, 4).buffer(seconds=2.5 * HOUR), [[0, 1], [2, 3]], 4),
    "window": (lambda: ticks(HOUR, 4).window(seconds=2.5 * HOUR).flat_map(lambda part: part.count()), [2, 2], 4),
    "take": (lambda: ticks(HOUR, 9).take(seconds=2.5 * HOUR), [0, 1], 2.5),
    "skip": (lambda: ticks(HOUR, 4).skip(seconds=2.5 * HOUR), [2, 3], 4),
    "take_last": (lambda: ticks(HOUR, 4).take_last(seconds=1.5 * HOUR), [2, 3], 4),
    "timeout": (lambda: ticks(HOUR, 2).concat_with(Flowable.never()).timeout(2 * HOUR, fallback=Flowable.of(9)), [0, 1, 9], 4),
    "rate_limit": (lambda: Flowable.range(3).rate_limit(1, HOUR), [0, 1, 2], 2),
    "retry_backoff": (
        lambda: Flowable.error(OSError()).retry_backoff(2, HOUR, longest=9 * HOUR, jitter=0.0).on_error_return(repr),
        ["OSError()"],
        3,
    ),
    "inner streams": (lambda: Flowable.range(3).concat_map(lambda n: Flowable.just(n).delay(HOUR)), [0, 1, 2], 3),
    "time_interval": (lambda: ticks(HOUR, 2).time_interval().map(lambda timed: round(timed.seconds / HOUR)), [1, 1], 2),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_the_loop_s_clock_drives_them(name: str, backend: Any) -> None:
    make, expected, hours = STREAMS[name]

    async def main() -> tuple[list[Any], float]:
        began = backend.now()
        async with backend.stream(make()) as items:
            got = [item async for item in items]
        return got, backend.now() - began

    started = monotonic()
    got, took = backend.run(main)
    assert got == expected
    assert took == pytest.approx(hours * HOUR, abs=60)
    assert monotonic() - started < SOON


ONE = {
    "Single.timer": lambda: Single.timer(HOUR),
    "Single.delay": lambda: Single.just(0).delay(HOUR),
    "Maybe.timeout": lambda: Maybe.never().timeout(HOUR, fallback=Maybe.just(0)),
    "Observable.timer": lambda: Observable.timer(HOUR).first(),
}


@pytest.mark.parametrize("make", ONE.values(), ids=list(ONE))
def test_those_of_one_item_do_too(make: Callable[[], Any], backend: Any) -> None:
    async def main() -> tuple[Any, float]:
        began = backend.now()
        got = await make()
        return got, backend.now() - began

    assert backend.run(main) == (0, pytest.approx(HOUR, abs=60))


def test_items_come_on_the_thread_of_the_loop(backend: Any) -> None:
    async def main() -> list[threading.Thread]:
        async with backend.stream(Flowable.of(1).delay(1.0).map(lambda _: threading.current_thread())) as items:
            return [item async for item in items]

    assert backend.run(main) == [threading.main_thread()]


def test_callbacks_may_subscribe(backend: Any) -> None:
    """What runs in the loop and in none of its tasks finds it, too."""
    got: list[int] = []

    async def main() -> None:
        handle = ticks(HOUR, 2).flat_map(lambda n: Flowable.just(n).delay(HOUR)).subscribe(got.append)
        await backend.sleep(4 * HOUR)
        assert handle.is_disposed

    backend.run(main)
    assert got == [0, 1]


def test_a_scheduler_that_is_given_counts(backend: Any) -> None:
    async def main() -> None:
        clock = VirtualScheduler()
        threads: list[threading.Thread] = []
        Flowable.of(1).delay(HOUR, scheduler=clock).subscribe(lambda _: threads.append(threading.current_thread()))
        # The loop waits for it, so that none of its threads is inside the operator, where it would take the item along.
        advancing = threading.Thread(target=clock.advance_by, args=(HOUR,))
        advancing.start()
        advancing.join(SOON)
        assert threads == [advancing]

    backend.run(main)


def test_a_plan_says_which_it_would_take_here(backend: Any) -> None:
    async def main() -> str:
        return Flowable.of(1).delay(1.0).explain()

    assert f"a worker of <{backend.name.capitalize()}Scheduler" in backend.run(main)
    assert "a worker of computation()" in Flowable.of(1).delay(1.0).explain()


def test_who_subscribes_outside_of_a_loop_gets_threads() -> None:
    assert current_scheduler() is None
    threads = Flowable.of(1).delay(0.001).map(lambda _: threading.current_thread()).blocking_list()
    assert threads[0] is not threading.main_thread()


def test_the_scheduler_of_the_loop_can_be_asked_for(backend: Any) -> None:
    async def main() -> tuple[Any, Any]:
        package = rx_trio if backend is Trio else rx_asyncio
        return current_scheduler(), package.scheduler()

    found, own = backend.run(main)
    assert found is own


def test_a_virtual_clock_that_is_installed_counts_inside_a_loop_too(backend: Any) -> None:
    async def main() -> list[int]:
        got: list[int] = []
        with VirtualScheduler().installed() as clock:
            ticks(HOUR, 2).subscribe(got.append)
            clock.advance_by(2 * HOUR)
        return got

    assert backend.run(main) == [0, 1]


def test_what_a_plugin_says_is_a_scheduler() -> None:
    class Wrong:
        @hookimpl
        def rx_current_scheduler(self) -> Any:
            return "computation"

    with manager().enable(Wrong()), pytest.raises(TypeError, match="'computation', which is no Scheduler"):
        current_scheduler()


def test_a_timer_of_a_loop_that_has_ended_is_forgotten(backend: Any) -> None:
    got: list[int] = []

    async def main() -> None:
        Flowable.timer(HOUR).subscribe(got.append)

    backend.run(main)
    assert got == []


def test_trio_as_a_guest_of_asyncio_has_its_own_clock() -> None:
    async def guest() -> list[Any]:
        assert current_scheduler() is rx_trio.scheduler()
        async with rx_trio.stream(Flowable.of(1).delay(0.001)) as items:
            return [item async for item in items]

    async def host() -> list[Any]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        trio.lowlevel.start_guest_run(
            guest,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=done.set_result,
            host_uses_signal_set_wakeup_fd=True,
        )
        outcome = await done
        assert current_scheduler() is rx_asyncio.scheduler()
        return list(outcome.unwrap())

    assert asyncio.run(host()) == [1]
