"""What leaving a stream waits for: the subscriptions with a task of their own that belong to the task that iterates."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from rx_core.tasks._loop import Ending, Loop

#: For which streams each task works now, the innermost last.
_working: dict[Hashable, list[Endings]] = {}


def working_here(loop: Loop, /) -> Endings | None:
    """The endings of the stream for which the current task works, if this is a task of that loop and it works for one."""
    if not _working or not loop.is_here():
        return None
    task = loop.task()
    streams = None if task is None else _working.get(task)
    return streams[-1] if streams else None


@final
class Endings:
    """The subscriptions of one stream that leaving it has to wait for. It belongs to the loop."""

    __slots__ = ("_loop", "_noted")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._noted: dict[Ending, None] = {}

    def attach(self) -> Hashable | None:
        """From here on the current task works for this stream; what it subscribes to meanwhile may belong to it."""
        task = self._loop.task()
        if task is not None:
            _working.setdefault(task, []).append(self)
        return task

    def detach(self, task: Hashable | None, /) -> None:
        if task is None:
            return
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
        except self._loop.cancelled:
            for ending in endings:
                ending.hurry()
            await self._loop.outlast(endings)
            raise
