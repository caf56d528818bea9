"""A scheduler whose workers run inside a trio loop.

One system task serves all workers of a scheduler: so actions run one at a time, on the loop's thread, and no nursery
has to be passed around. It sleeps in a cancel scope whose deadline is the next timer, by trio's clock, which is why
tests with an autojumping clock see exact instants.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, final

import trio
from trio.lowlevel import checkpoint

from rx_core.tasks import AGAIN, LoopScheduler
from rx_trio._wakeup import TrioWakeup, current_token, in_loop

if TYPE_CHECKING:
    from types import TracebackType


@final
class TrioScheduler(LoopScheduler):
    """Workers on the trio loop in which it was made: by :func:`scheduler` or :func:`open_scheduler`.

    When the loop or the block ends, what was accepted to run now still runs, so that streams find out and end with an
    error; timers are dropped. What a scheduled action raises goes to the ``rx_on_error`` hooks.
    """

    __slots__ = ("_clock", "_ended", "_gone", "_wakeup")

    package: ClassVar[str] = "rx_trio"

    def __init__(self, call: str = "TrioScheduler()") -> None:
        super().__init__()
        self._wakeup = TrioWakeup(current_token(call))
        self._clock = trio.lowlevel.current_clock()
        self._gone = threading.Event()
        self._ended = trio.Event()
        trio.lowlevel.spawn_system_task(self._serve, name="rx_trio scheduler")

    # any thread -----------------------------------------------------------------------------------

    def now(self) -> float:
        return self._clock.current_time()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """End the task. In the loop itself it cannot be waited for: True only when it has ended before."""
        self._shut = True
        self._wakeup.wake()
        if in_loop(self._wakeup.token):
            return self._gone.is_set()
        return self._gone.wait(timeout)

    def _wake(self) -> None:
        if not self._wakeup.woken:
            self._wakeup.wake()

    # the task -------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        try:
            while not self._shut:
                due = self._turn()
                if due == AGAIN:
                    await checkpoint()
                else:
                    with trio.CancelScope(deadline=due):
                        await self._wakeup.wait()
        finally:
            self._finish()
            self._gone.set()
            self._ended.set()

    async def ended(self) -> None:
        """Wait until the task has ended, inside the loop."""
        await self._ended.wait()


_current: trio.lowlevel.RunVar[TrioScheduler] = trio.lowlevel.RunVar("rx_trio_scheduler")


def scheduler() -> TrioScheduler:
    """The scheduler of the running trio loop, one for each loop, ended with it.

    Thread:  call it in trio; what it returns may be used from any thread. RuntimeError outside trio.
    """
    current_token("rx_trio.scheduler()")
    try:
        found = _current.get()
    except LookupError:
        pass
    else:
        if not found.is_shut_down:
            return found
    made = TrioScheduler("rx_trio.scheduler()")
    _current.set(made)
    return made


@final
class _OpenScheduler:
    __slots__ = ("_scheduler",)

    _scheduler: TrioScheduler

    async def __aenter__(self) -> TrioScheduler:
        self._scheduler = TrioScheduler("rx_trio.open_scheduler()")
        return self._scheduler

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._scheduler.shutdown(0)
        with trio.CancelScope(shield=True):  # it only has to wake up
            await self._scheduler.ended()


def open_scheduler() -> _OpenScheduler:
    """A scheduler of its own for one block: ``async with rx_trio.open_scheduler() as s: ...``. Leaving the block ends
    it.
    """
    return _OpenScheduler()
