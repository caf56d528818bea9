"""Programs in a loop that leaves no task behind, and other tasks that get their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    async def checked() -> T:
        result = await main()
        await turns(2)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, f"left behind: {others}"
        return result

    return asyncio.run(checked())


async def turns(n: int = 5) -> None:
    for _ in range(n):
        await asyncio.sleep(0)
