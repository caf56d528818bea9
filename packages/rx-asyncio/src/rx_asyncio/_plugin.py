"""What this package offers to rx_core: the scheduler called ``asyncio``, and ``await`` of a Single, Maybe or Completable.

Loaded with all plugins, also in programs that never use asyncio: so asyncio is left to the functions.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from rx_core import CompletableBase, Scheduler, SingleBase, hookimpl


@hookimpl
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:
    """``scheduler("asyncio")`` is made once per process and loops come and go: so it looks for the loop when it is
    used.
    """
    return {"asyncio": _running}


def _running() -> Scheduler:
    from rx_asyncio._scheduler import scheduler
    from rx_core.tasks import RunningScheduler

    return RunningScheduler("asyncio", scheduler)


@hookimpl
def rx_current_scheduler() -> Scheduler | None:
    if "asyncio" not in sys.modules:
        return None  # then none of its loops runs either
    import asyncio

    if asyncio._get_running_loop() is None:
        return None
    from rx_asyncio._scheduler import scheduler

    return scheduler()


@hookimpl
def rx_awaitable(source: object) -> Awaitable[object] | None:
    """In a task of an event loop: the value of a Single, the value of a Maybe or None, the end of a Completable."""
    if "asyncio" not in sys.modules:
        return None  # then none of its loops runs either
    import asyncio

    # A loop may be the host of another library's, whose tasks are none of asyncio's.
    if asyncio._get_running_loop() is None or asyncio.current_task() is None:
        return None
    from rx_asyncio._stream import value

    given = cast("Any", source)
    if isinstance(source, SingleBase):
        return value(given)
    return _end(given) if isinstance(source, CompletableBase) else value(given, None)


async def _end(source: Any) -> None:
    """Whatever a Completable was made of, its items are not signalled."""
    from rx_asyncio._stream import value

    await value(source, None)
