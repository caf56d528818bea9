"""Leaving a block by cancellation: trio goes on cancelling, in the finalizers of sources as well."""

from __future__ import annotations

from collections.abc import AsyncIterator

import trio
from trio.testing import MockClock

import rx_trio


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

    trio.run(main, clock=MockClock(autojump_threshold=0))
