"""What leaving a stream waits for: the subscriptions with a task of their own that belong to the task that iterates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, final

import trio
from trio.lowlevel import current_task

from rx_trio._wakeup import in_loop

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
        """The task that waits was cancelled: cancel what is still awaited in there. Called inside trio."""


#: For which streams each task works now, the innermost last.
_working: dict[Task, list[Endings]] = {}


def working_here(token: TrioToken, /) -> Endings | None:
    """The endings of the stream for which the current task works, if this is a task of that loop and it works for one."""
    if not in_loop(token) or not trio.lowlevel.in_trio_task():
        return None
    streams = _working.get(current_task())
    return streams[-1] if streams else None


@final
class Endings:
    """The subscriptions of one stream that leaving it has to wait for. It belongs to the loop."""

    __slots__ = ("_noted",)

    def __init__(self) -> None:
        self._noted: dict[Ending, None] = {}

    def attach(self) -> Task:
        """From here on the current task works for this stream; what it subscribes to meanwhile may belong to it."""
        task = current_task()
        _working.setdefault(task, []).append(self)
        return task

    def detach(self, task: Task, /) -> None:
        streams = _working[task]
        streams.remove(self)
        if not streams:
            del _working[task]

    def note(self, ending: Ending, /) -> None:
        """Leaving waits for ``ending``, if leaving cancels it or it was cancelled before, until it is forgotten."""
        self._noted[ending] = None

    def forget(self, ending: Ending, /) -> None:
        self._noted.pop(ending, None)

    async def ended(self) -> None:
        """Wait for the subscriptions that were cancelled. Not a checkpoint when there are none."""
        # Not for the others: a subscription that was made by hand inside the block lives on.
        endings = [ending for ending in self._noted if ending.is_cancelled]
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
