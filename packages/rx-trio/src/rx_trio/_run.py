"""The run of a task that iterates: what a waiting thread is in rx_core, a parked trio task is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, final

import trio
from trio.lowlevel import checkpoint, current_task, enable_ki_protection

from rx_core import Run
from rx_trio._bell import Bell, in_loop

if TYPE_CHECKING:
    from trio.lowlevel import Task, TrioToken


class Ending(Protocol):
    """A subscription with a task of its own, which takes its time to end."""

    @property
    def is_cancelled(self) -> bool:
        """Whether it ends, or has ended."""

    async def ended(self) -> None:
        """Return when it has ended."""

    def hurry(self) -> None:
        """Whoever waits was cancelled: cancel what is still awaited in there. Called inside trio."""


#: Which runs each task polls now, the innermost last.
_polled: dict[Task, list[TrioRun]] = {}


def polled_here(token: TrioToken, /) -> TrioRun | None:
    """The run that the current task polls, if this is a task of that loop and it polls one."""
    if not in_loop(token) or not trio.lowlevel.in_trio_task():
        return None
    runs = _polled.get(current_task())
    return runs[-1] if runs else None


@final
class TrioRun(Run):
    """Polls a pipeline's generator in a trio task. Waking is thread-safe; everything else belongs to that task.

    ``demand`` is what a source that must be asked is asked for at a time.
    """

    __slots__ = ("_demand", "_endings", "bell", "cancelled", "woken")

    def __init__(self, demand: int, call: str) -> None:
        super().__init__()
        self.cancelled = False
        self.woken = False
        self.bell = Bell(call)
        self._demand = demand
        self._endings: dict[Ending, None] = {}

    @property
    def root(self) -> TrioRun:
        return self

    @property
    def demand(self) -> int:
        return self._demand

    @enable_ki_protection  # who sees it raised relies on the ring
    def wake(self) -> None:
        self.woken = True
        bell = self.bell
        if not bell.rung:
            bell.ring()

    poke = wake

    async def wait(self) -> None:
        """Park until it was woken since the last wait."""
        await self.bell.wait()
        self.woken = False  # before the caller looks

    async def pause(self) -> None:
        """Let others go on, for the caller to look once more before it parks: to be woken from that takes much longer."""
        await checkpoint()
        self.bell.rung = self.woken = False

    def attach(self) -> Task:
        """From here on the current task polls this run; what it subscribes to meanwhile may belong to it."""
        task = current_task()
        _polled.setdefault(task, []).append(self)
        return task

    def detach(self, task: Task, /) -> None:
        runs = _polled[task]
        runs.remove(self)
        if not runs:
            del _polled[task]

    def note(self, ending: Ending, /) -> None:
        """Whoever leaves this run waits for ``ending``, if leaving cancels it, until it is forgotten."""
        self._endings[ending] = None

    def forget(self, ending: Ending, /) -> None:
        self._endings.pop(ending, None)

    def end(self) -> None:
        """Cancel what was opened. Returns at once; the finalizers of asynchronous sources are waited for by
        :meth:`ended`.
        """
        self.cancelled = True
        self.release()
        self.finalize()

    async def ended(self) -> None:
        """Wait for the asynchronous sources that :meth:`end` cancelled. Not a checkpoint when there are none."""
        # Not for the others: a subscription that was made by hand inside the block is not ours, and lives on.
        endings = [ending for ending in self._endings if ending.is_cancelled]
        try:
            for ending in endings:
                await ending.ended()
        except trio.Cancelled:
            for ending in endings:
                ending.hurry()
            with trio.CancelScope(shield=True):
                for ending in endings:
                    await ending.ended()
            raise
