"""A stream that another thread fills: nothing is lost, nothing sleeps through, and no more waits than may."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from rx_core import LARGEST_PREFETCH, BufferWatch
from rx_ops import Flowable
from rx_schedulers import single
from rx_testing import ManualPublisher
from tests.tasks.backends import Backend


@pytest.fixture(params=[1e-6, 5e-3], ids=["1us", "5ms"])
def interval(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("interval")
@pytest.mark.parametrize("prefetch", [1, 2, 7, 128, None])
def test_every_element_in_order_and_never_more_than_may_wait(backend: Backend, prefetch: int | None) -> None:
    async def main() -> list[int]:
        flow = Flowable.range(20_000).observe_on(single())
        async with backend.rx.stream(flow) if prefetch is None else backend.rx.stream(flow, prefetch=prefetch) as items:
            with backend.within(1e9):
                return [item async for item in items]

    with BufferWatch() as watch:
        assert backend.run_real(main) == [*range(20_000)]
    assert len(watch.peaks) == 1
    assert watch.peak <= (prefetch or LARGEST_PREFETCH)


@pytest.mark.usefixtures("interval")
def test_no_wake_is_lost_when_the_thread_waits_for_each_element_to_be_taken(backend: Backend) -> None:
    rounds = 2_000
    source: ManualPublisher[int] = ManualPublisher(unchecked=True)
    taken = [Event() for _ in range(rounds)]

    def feed() -> None:
        for number in range(rounds):
            source.next(number)
            if not taken[number].wait(30):
                return
        source.complete()

    async def main() -> int:
        count = 0
        async with backend.rx.stream(source) as items:
            thread = Thread(target=feed)
            thread.start()
            with backend.within(1e9):
                async for item in items:
                    count += 1
                    taken[item].set()
        thread.join()
        return count

    assert backend.run_real(main) == rounds


def test_other_tasks_run_while_a_thread_keeps_the_stream_busy(backend: Backend) -> None:
    turns = [0]

    async def other() -> None:
        while True:
            turns[0] += 1
            await backend.checkpoint()

    async def main() -> None:
        async with backend.owner() as owner:
            owner.start(other)
            async with backend.rx.stream(Flowable.range(50_000).observe_on(single())) as items:
                async for _ in items:
                    pass
            owner.cancel()

    backend.run_real(main)
    assert turns[0] > 10


def test_a_cancelled_loop_goes_on_later_without_a_gap(backend: Backend) -> None:
    async def main() -> list[int]:
        got: list[int] = []
        async with backend.rx.stream(Flowable.range(5_000).observe_on(single())) as items:
            for size in (10, 500, 1_500):
                with backend.within(1e9) as scope:
                    async for item in items:
                        got.append(item)
                        if len(got) == size:
                            scope.cancel()
            async for item in items:
                got.append(item)
        return got

    assert backend.run_real(main) == [*range(5_000)]
