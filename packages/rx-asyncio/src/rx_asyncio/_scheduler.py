"""A scheduler whose workers run inside an asyncio event loop.

It is no task: whatever was scheduled runs in one callback of the loop for each batch, and the next timer is one more, by the
loop's own clock, which is why tests with a clock of theirs see exact instants.
"""

from __future__ import annotations

import threading
from asyncio import Event
from collections.abc import AsyncIterator
from contextvars import Context
from math import inf
from typing import TYPE_CHECKING, ClassVar, Final, cast, final

from rx_asyncio._wakeup import current_loop, running_loop
from rx_core.tasks import AGAIN, LoopScheduler

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle
    from types import AsyncGeneratorType, TracebackType


@final
class AsyncioScheduler(LoopScheduler):
    """Workers on the event loop in which it was made: by :func:`scheduler` or :func:`open_scheduler`.

    When the loop (``asyncio.run``, ``Runner``, or who calls ``shutdown_asyncgens``) or the block ends, what was accepted to run
    now still runs, so that streams find out and end with an error; timers are dropped. What a scheduled action raises goes to
    the ``rx_on_error`` hooks; a KeyboardInterrupt or SystemExit leaves the loop, as from any callback.
    """

    __slots__ = ("_context", "_ended", "_gone", "_loop", "_timer", "_watch", "_woken")

    package: ClassVar[str] = "rx_asyncio"
    passing: ClassVar[tuple[type[BaseException], ...]] = (KeyboardInterrupt, SystemExit)

    def __init__(self, call: str = "AsyncioScheduler()") -> None:
        super().__init__()
        self._loop: AbstractEventLoop = current_loop(call)
        #: A callback would run in the context of the caller that happened to come first.
        self._context = Context()
        self._woken = False
        self._timer: TimerHandle | None = None
        self._gone = threading.Event()
        self._ended = Event()
        # The loop closes the async generators that were begun in it when it ends; this one tells us.
        self._watch = cast("AsyncGeneratorType[None, None]", self._until_closed())
        try:
            self._watch.asend(None).send(None)
        except StopIteration:
            pass

    async def _until_closed(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._end()

    # any thread -----------------------------------------------------------------------------------

    def now(self) -> float:
        return self._loop.time()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """End it. In the loop itself at once; from another thread this waits until the loop has done it."""
        self._shut = True
        if running_loop() is self._loop:
            self._end()
            return True
        try:
            self._loop.call_soon_threadsafe(self._end)
        except RuntimeError:  # the loop is closed
            self._gone.set()
        return self._gone.wait(timeout)

    def _wake(self) -> None:
        if self._woken:
            return
        self._woken = True  # before the call: the turn takes it back before it looks
        try:
            if running_loop() is self._loop:
                self._loop.call_soon(self._run_turn, context=self._context)
            else:
                self._loop.call_soon_threadsafe(self._run_turn, context=self._context)
        except RuntimeError:  # closed without shutdown_asyncgens: nothing runs any more, and the caller takes its action back
            self._shut = True
            self._gone.set()

    # in the loop ----------------------------------------------------------------------------------

    def _run_turn(self) -> None:
        self._woken = False
        if self._shut:
            return
        due = AGAIN  # also when an action leaves the loop
        try:
            due = self._turn()
        finally:
            if not self._shut:
                self._come_again(due)

    def _come_again(self, due: float) -> None:
        if due == AGAIN:
            self._wake()
            return
        timer = self._timer
        if timer is not None:
            if timer.when() == due:
                return
            timer.cancel()
            self._timer = None
        if due < inf:
            self._timer = self._loop.call_at(due, self._ring, context=self._context)

    def _ring(self) -> None:
        self._timer = None
        self._run_turn()

    def _end(self) -> None:
        if self._gone.is_set():
            return
        self._gone.set()
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if not self._watch.ag_running:  # or it is what has told; left to be collected it would cost the loop a task
            try:
                self._watch.aclose().send(None)
            except StopIteration:
                pass
        _current.pop(self._loop, None)
        try:
            self._context.run(self._finish)
        finally:
            self._ended.set()

    async def ended(self) -> None:
        """Wait until it has ended, inside the loop."""
        await self._ended.wait()


#: Of each loop that has one. A loop that was closed without telling is left here until another loop asks.
_current: Final[dict[AbstractEventLoop, AsyncioScheduler]] = {}


def scheduler() -> AsyncioScheduler:
    """The scheduler of the running event loop, one for each loop, ended with it.

    Thread:  call it in asyncio; what it returns may be used from any thread. RuntimeError outside asyncio.
    """
    loop = current_loop("rx_asyncio.scheduler()")
    found = _current.get(loop)
    if found is not None and not found.is_shut_down:
        return found
    for other in list(_current):
        if other.is_closed():
            _current.pop(other, None)
    made = _current[loop] = AsyncioScheduler("rx_asyncio.scheduler()")
    return made


@final
class _OpenScheduler:
    __slots__ = ("_scheduler",)

    _scheduler: AsyncioScheduler

    async def __aenter__(self) -> AsyncioScheduler:
        self._scheduler = AsyncioScheduler("rx_asyncio.open_scheduler()")
        return self._scheduler

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._scheduler.shutdown(0)


def open_scheduler() -> _OpenScheduler:
    """A scheduler of its own for one block: ``async with rx_asyncio.open_scheduler() as s: ...``. Leaving the block ends
    it.
    """
    return _OpenScheduler()
