"""Waking a trio task from any thread: one flag, and one ``run_sync_soon`` per wake."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, final

import trio
from trio.lowlevel import Abort, checkpoint, current_task, enable_ki_protection, reschedule, wait_task_rescheduled

if TYPE_CHECKING:
    from trio.lowlevel import RaiseCancelT, Task, TrioToken

A = TypeVar("A")


def current_token(call: str, /) -> TrioToken:
    """The trio run of this thread; RuntimeError, naming ``call``, when there is none."""
    try:
        return trio.lowlevel.current_trio_token()
    except RuntimeError:
        raise RuntimeError(
            f"{call} works inside trio only, and no trio run is active on this thread.\n"
            f"  Right:  trio.run(main)   # with the call in ``async def main()``\n"
            f"  From another thread:  trio.from_thread.run_sync(...), or make it in trio and hand it over"
        ) from None


def in_loop(token: TrioToken, /) -> bool:
    """Whether this code is run by that trio run, now."""
    return trio.lowlevel.in_trio_run() and trio.lowlevel.current_trio_token() is token


def call_in_loop(token: TrioToken, function: Callable[[A], object], argument: A, /) -> bool:
    """Call ``function(argument)`` inside the run: at once when we are there, soon otherwise; False when it has
    ended.
    """
    if in_loop(token):
        function(argument)
        return True
    try:
        token.run_sync_soon(function, argument)
    except trio.RunFinishedError:
        return False
    return True


@final
class TrioWakeup:
    """One task waits for it, and any thread wakes that task.

    A thread publishes first what there is to see, then raises ``woken``, then looks for the task in ``_waiter``; the task
    that waits goes the other way round. So neither misses the other, and popping the task, one atomic step, decides which
    thread wakes it.
    """

    __slots__ = ("_waiter", "token", "woken")

    def __init__(self, token: TrioToken) -> None:
        self.token = token
        self.woken = False
        self._waiter: dict[int, Task] = {}

    @enable_ki_protection
    def wake(self) -> None:
        self.woken = True
        task = self._waiter.pop(0, None)
        if task is not None:
            call_in_loop(self.token, reschedule, task)

    @enable_ki_protection  # between arming and parking nothing may interrupt, or a thread would wake a task that is not parked
    async def wait(self) -> None:
        if self.woken:
            await checkpoint()
        else:
            if self._waiter:
                raise trio.BusyResourceError("another task is waiting here already")
            self._waiter[0] = current_task()
            if self._woken_meanwhile() and self._waiter.pop(0, None) is not None:
                await checkpoint()
            else:
                await wait_task_rescheduled(self._abort)
        self.woken = False  # before the caller looks: what is published from here on wakes again

    async def pause(self) -> None:
        """To be woken from a checkpoint takes much less than from parking."""
        await checkpoint()
        self.woken = False  # before the caller looks

    def _woken_meanwhile(self) -> bool:
        return self.woken

    def _abort(self, _raise_cancel: RaiseCancelT) -> Abort:
        # Without the entry another thread has taken it to wake this task, which will happen.
        return Abort.FAILED if self._waiter.pop(0, None) is None else Abort.SUCCEEDED
