"""Waking an asyncio task from any thread: one flag, and one ``call_soon_threadsafe`` per wake."""

from __future__ import annotations

from asyncio import _get_running_loop, sleep
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar, final

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

A = TypeVar("A")

#: The loop that runs on this thread, or None.
running_loop: Final = _get_running_loop


def current_loop(call: str, /) -> AbstractEventLoop:
    """The event loop that runs on this thread; RuntimeError, naming ``call``, when there is none."""
    loop = running_loop()
    if loop is None:
        raise RuntimeError(
            f"{call} works inside asyncio only, and no event loop runs on this thread.\n"
            f"  Right:  asyncio.run(main())   # with the call in ``async def main()``\n"
            f"  From another thread:  loop.call_soon_threadsafe(...), or make it in asyncio and hand it over"
        )
    return loop


def call_in_loop(loop: AbstractEventLoop, function: Callable[[A], object], argument: A, /) -> bool:
    """Call ``function(argument)`` inside the loop: at once when we are there, soon otherwise; False when it is closed."""
    if running_loop() is loop:
        function(argument)
        return True
    try:
        loop.call_soon_threadsafe(function, argument)
    except RuntimeError:
        if loop.is_closed():
            return False
        raise
    return True


@final
class AsyncioWakeup:
    """One task waits for it, and any thread wakes that task.

    A thread publishes first what there is to see, then raises ``woken``, then looks for the future in ``_waiter``; the task
    that waits goes the other way round. So neither misses the other, and popping the future, one atomic step, decides which
    thread wakes the task.
    """

    __slots__ = ("_waiter", "loop", "woken")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.woken = False
        self._waiter: dict[int, Future[None]] = {}

    def wake(self) -> None:
        self.woken = True
        future = self._waiter.pop(0, None)
        if future is not None:
            call_in_loop(self.loop, _resolve, future)

    async def wait(self) -> None:
        if self.woken:
            await sleep(0)
        else:
            if self._waiter:
                raise RuntimeError("another task is waiting here already")
            future = self._waiter[0] = self.loop.create_future()
            if self._woken_meanwhile() and self._waiter.pop(0, None) is not None:
                await sleep(0)
            else:
                try:
                    await future
                finally:  # cancelled: then no thread is to find it; one that has it already sets what is done
                    self._waiter.pop(0, None)
        self.woken = False  # before the caller looks: what is published from here on wakes again

    async def pause(self) -> None:
        await sleep(0)
        self.woken = False  # before the caller looks

    def _woken_meanwhile(self) -> bool:
        return self.woken


def _resolve(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)
