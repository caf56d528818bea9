"""The schedulers without threads: work runs on the thread that schedules it."""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic
from typing import Final, final

from rx_core import DISPOSED, BaseDisposable, FlagDisposable, Worker, on_schedule
from rx_schedulers._actions import Action, call
from rx_schedulers._event_loop import EventLoop, EventLoopGroup, LoopWorker, Task
from rx_schedulers._shared import Place
from rx_schedulers._wakeup import Wakeup


class _Local(threading.local):
    #: The event loops that wait for the outermost schedule() of this thread to run them; None when there is none.
    waiting: deque[EventLoop] | None = None


_local = _Local()

#: Of an action that has run. Not DISPOSED, which says that it never will.
_RAN: Final = FlagDisposable()
_RAN.dispose()


@final
class _CallerLoop(EventLoop):
    """An event loop that is run by the call which finds it idle, and left as soon as it has nothing more to do."""

    __slots__ = ()

    def _start(self) -> None:
        waiting = _local.waiting
        if waiting is not None:  # we are inside an action: run when it has returned
            waiting.append(self)
            return
        _local.waiting = waiting = deque((self,))
        loop: EventLoop = self
        here = object()
        try:
            while waiting:
                loop = waiting.popleft()
                loop.group.running[here] = loop
                try:
                    loop.run()
                finally:
                    loop.group.running.pop(here, None)
        except BaseException:  # KeyboardInterrupt, say: it ends the caller, and with it what was to run inside its call
            for left in (loop, *waiting):
                left._drop_all()
                left.forget_thread()
            raise
        finally:
            _local.waiting = None

    def _run(self, task: Task) -> None:
        action = task.actions.pop(task, None)
        if action is not None:
            call(action)  # other BaseExceptions reach the caller, who can act on them


@final
class TrampolineScheduler(Place):
    """Runs actions on the calling thread, one after the other: what an action schedules waits until it has returned.

    So recursion becomes a loop. The outermost ``schedule()`` returns when nothing is left to do on that thread; **a
    delay blocks it** until the action is due. Another thread that schedules on a worker which is being run leaves the
    action to that thread. An Exception of an action goes to the ``rx_on_error`` hooks; other BaseExceptions reach the
    outermost caller and drop the rest.
    """

    __slots__ = ("_group",)

    def __init__(self) -> None:
        self._group = EventLoopGroup("trampoline", 0.0)

    def create_worker(self) -> Worker:
        """A queue of its own. Raises RuntimeError after :meth:`shutdown`."""
        self._group.check_open()
        return LoopWorker(_CallerLoop(self._group), EventLoop.close)

    def now(self) -> float:
        """Seconds on the monotonic clock of the machine."""
        return self._group.clock()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Drop what waits; True when no thread is inside an action of this scheduler. Does not wait for other threads."""
        return self._group.shutdown(timeout)

    def __repr__(self) -> str:
        return "trampoline()"


@final
class ImmediateScheduler(Place):
    """Runs each action inside ``schedule()``, on the calling thread, nested if need be. **A delay blocks the caller.**

    There is no queue, so two threads that share a worker run at the same time, and recursion deepens the stack: for
    anything that schedules itself again use ``trampoline``. An Exception of the action goes to the ``rx_on_error``
    hooks; other BaseExceptions reach the caller.
    """

    __slots__ = ("_shut",)

    def __init__(self) -> None:
        self._shut = False

    def create_worker(self) -> Worker:
        """A worker. Raises RuntimeError after :meth:`shutdown`."""
        if self._shut:
            raise RuntimeError("this immediate scheduler was shut down and runs nothing more")
        return _ImmediateWorker()

    def now(self) -> float:
        """Seconds on the monotonic clock of the machine."""
        return monotonic()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Nothing ever waits here, so the answer is True at once; no more workers are made."""
        self._shut = True
        return True

    def __repr__(self) -> str:
        return "immediate()"


@final
class _ImmediateWorker(Worker):
    __slots__ = ("_disposed", "_wakeup")

    def __init__(self) -> None:
        self._disposed = False
        self._wakeup = Wakeup()

    def schedule(self, action: Action, /, delay: float = 0.0) -> BaseDisposable:
        if self._disposed:
            return DISPOSED
        action = on_schedule(action)
        if delay > 0 and self._wakeup.sleep(delay):
            self._wakeup.wake()  # disposed: the next thread that waits has to know as well
            return DISPOSED
        call(action)
        return _RAN

    def now(self) -> float:
        return monotonic()

    def dispose(self) -> None:
        if not self._disposed:
            self._disposed = True
            self._wakeup.wake()

    @property
    def is_disposed(self) -> bool:
        return self._disposed
