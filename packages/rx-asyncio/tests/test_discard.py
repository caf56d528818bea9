"""do_on_discard in front of a task that iterates."""

from __future__ import annotations

from loops import run

import rx_asyncio
from rx_ops import Flowable


def test_a_task_that_leaves_has_not_taken_what_was_read_ahead() -> None:
    gone: list[int] = []

    async def main() -> None:
        async with rx_asyncio.stream(Flowable.range(1_000).hide().do_on_discard(gone.append)) as items:
            async for item in items:
                assert item == 0
                break

    run(main)
    assert gone == list(range(1, len(gone) + 1))
    assert gone
