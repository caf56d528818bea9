"""What this package offers to rx_core: the scheduler called ``trio``, and ``await`` of a Single, Maybe or Completable.

Loaded with all plugins, also in programs that never use trio: so trio, which takes longer to import than everything else
together, is left to the functions.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from rx_core import CompletableBase, Scheduler, SingleBase, hookimpl


@hookimpl
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:
    """``scheduler("trio")`` is made once per process and loops come and go: so it looks for the loop when it is
    used.
    """
    return {"trio": _running}


def _running() -> Scheduler:
    from rx_core.tasks import RunningScheduler
    from rx_trio._scheduler import scheduler

    return RunningScheduler("trio", scheduler)


@hookimpl(tryfirst=True)  # trio may be the guest of another library's loop, which runs then as well
def rx_current_scheduler() -> Scheduler | None:
    if not _runs_here():
        return None
    from rx_trio._scheduler import scheduler

    return scheduler()


@hookimpl
def rx_waiting_refused() -> str | None:
    if not _runs_here():
        return None
    return (
        "a loop of trio runs on it, which would stand still.\n"
        "  One item:     await stream.first(), await single\n"
        "  Many:         async with rx_trio.stream(flow) as items: ...\n"
        "  On a thread:  await trio.to_thread.run_sync(stream.blocking_list)"
    )


def _runs_here() -> bool:
    if "trio" not in sys.modules:
        return False  # then none of its loops runs either
    import trio

    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


@hookimpl
def rx_awaitable(source: object) -> Awaitable[object] | None:
    """Where a trio loop runs in this thread: the value of a Single, the value of a Maybe or None, the end of a Completable."""
    if not _runs_here():
        return None
    from rx_trio._stream import value

    given = cast("Any", source)
    if isinstance(source, SingleBase):
        return value(given)
    return _end(given) if isinstance(source, CompletableBase) else value(given, None)


async def _end(source: Any) -> None:
    """Whatever a Completable was made of, its items are not signalled."""
    from rx_trio._stream import value

    await value(source, None)
