"""Schedulers whose workers run in an event loop: which action is next. How the loop calls them is each package's own.

All workers of a scheduler are served by one turn at a time, in the loop's thread.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import ClassVar, Final, final

from rx_core._context import on_schedule
from rx_core._disposables import DISPOSED, BaseDisposable
from rx_core._errors import WorkerInterruptedError
from rx_core._hooks import dropped
from rx_core._schedulers import Scheduler, Worker
from rx_core.tasks._pump import QUANTUM

Action = Callable[[], object]

#: Actions in one turn at the most; each may deliver QUANTUM items.
_TURN: Final = 32

#: What :meth:`LoopScheduler._turn` returns when there is more to do at once.
AGAIN: Final = -inf


@final
class _Timed(BaseDisposable):
    """A scheduled action. The thread that pops it from its worker's ``actions`` has it. Disposed means: it was dropped
    unstarted.
    """

    __slots__ = ("_dropped", "_worker", "due")

    def __init__(self, worker: LoopWorker, due: float) -> None:
        self._worker = worker
        self._dropped = False
        self.due = due

    def take(self) -> Action | None:
        return self._worker._actions.pop(self, None)

    def dispose(self) -> None:
        if self.take() is not None:
            self._dropped = True

    @property
    def is_waiting(self) -> bool:
        return self in self._worker._actions

    @property
    def is_disposed(self) -> bool:
        return self._dropped


@final
class LoopWorker(Worker):
    """A worker in an event loop. ``schedule`` and ``dispose`` are for any thread."""

    __slots__ = ("_actions", "_disposed", "_scheduler")

    quantum: ClassVar[int | None] = QUANTUM

    def __init__(self, scheduler: LoopScheduler) -> None:
        self._scheduler = scheduler
        self._actions: dict[_Timed, Action] = {}
        self._disposed = False

    def schedule(self, action: Action, /, delay: float = 0.0) -> BaseDisposable:
        if self.is_disposed:
            return DISPOSED
        due = self._scheduler.now()
        if delay > 0:
            due += delay
        timed = _Timed(self, due)
        self._actions[timed] = on_schedule(action)
        if self._disposed or not self._scheduler._submit(timed):
            # Published first, looked at afterwards: dispose() found it, or we take it back, or it was still run.
            if timed.take() is not None:
                return DISPOSED
        return timed

    def now(self) -> float:
        return self._scheduler.now()

    def dispose(self) -> None:
        self._disposed = True
        for timed in list(self._actions):
            timed.dispose()

    @property
    def is_disposed(self) -> bool:
        return self._disposed or self._scheduler.is_shut_down

    def __repr__(self) -> str:
        return f"<worker of {self._scheduler!r}>"


class LoopScheduler(Scheduler):
    """Base of the schedulers of event loops.

    When the loop ends, or the scheduler is shut down, what was accepted to run now still runs, so that streams find out and end
    with an error; timers are dropped. What a scheduled action raises goes to the ``rx_on_error`` hooks.
    """

    __slots__ = ("_compact_at", "_heap", "_inbox", "_number", "_shut")

    #: The package that users call, for messages.
    package: ClassVar[str]
    #: What an action may end the program with, because the loop passes it on.
    passing: ClassVar[tuple[type[BaseException], ...]] = ()

    def __init__(self) -> None:
        self._inbox: deque[_Timed] = deque()
        self._shut = False
        # Touched in the loop only.
        self._heap: list[tuple[float, int, _Timed]] = []
        self._number = 0
        self._compact_at = 64

    # any thread -----------------------------------------------------------------------------------

    def create_worker(self) -> LoopWorker:
        if self._shut:
            raise RuntimeError(
                f"{self!r}: its event loop has ended, or it was shut down; it runs nothing more.\n"
                f"  Take a new one inside the loop:  {self.package}.scheduler()"
            )
        return LoopWorker(self)

    @property
    def is_shut_down(self) -> bool:
        return self._shut

    def _submit(self, timed: _Timed) -> bool:
        """Take an action and have it run. False when the scheduler has ended meanwhile."""
        self._inbox.append(timed)
        self._wake()
        return not self._shut

    @abstractmethod
    def _wake(self) -> None:
        """There is something in the inbox, or the end has come: have the loop make a turn."""

    # in the loop ----------------------------------------------------------------------------------

    def _turn(self) -> float:
        """Run what is due, and say when to come again: AGAIN is at once, inf only when woken."""
        inbox, heap, now = self._inbox, self._heap, self.now
        for _ in range(_TURN):
            if inbox and not heap and inbox[0].due <= now():
                timed = inbox.popleft()  # nothing behind it can be due before it
            else:
                for _ in range(len(inbox)):
                    self._push(inbox.popleft())
                if not heap:
                    return inf
                if heap[0][0] > now() and heap[0][2].is_waiting:
                    return heap[0][0]
                timed = heappop(heap)[2]
            action = timed.take()
            if action is not None:
                self._run(action)
                if self._shut:
                    break
        return AGAIN

    def _push(self, timed: _Timed) -> None:
        if not timed.is_waiting:
            return
        heap = self._heap
        self._number += 1
        heappush(heap, (timed.due, self._number, timed))
        if len(heap) > self._compact_at:  # dropped timers leave now and not at their distant instants
            heap[:] = [entry for entry in heap if entry[2].is_waiting]
            heapify(heap)
            self._compact_at = 2 * len(heap) + 64

    def _finish(self) -> None:
        self._shut = True  # before the look at what was accepted: who comes later takes it back
        now = self.now()
        while self._inbox:
            self._push(self._inbox.popleft())
        while self._heap:
            due, _, timed = heappop(self._heap)
            if due > now:
                timed.dispose()
            elif (action := timed.take()) is not None:
                self._run(action)

    def _run(self, action: Action) -> None:
        try:
            action()
        except Exception as error:
            dropped(error)
        except self.passing:
            raise
        except BaseException as error:  # it would crash the loop
            wrapped = WorkerInterruptedError(
                f"{type(error).__name__} ended an action on {self!r}, which cannot end the program.\n"
                f"  To stop the stream instead:  raise an Exception, or cancel its subscription"
            )
            wrapped.__cause__ = error
            dropped(wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{', ended' if self._shut else ''}>"


@final
class RunningScheduler(Scheduler):
    """What a loop's name stands for: the scheduler of whichever loop runs on the calling thread at that moment."""

    __slots__ = ("_find", "_name")

    def __init__(self, name: str, find: Callable[[], LoopScheduler]) -> None:
        self._name = name
        self._find = find

    def create_worker(self) -> Worker:
        """A worker of the running loop. RuntimeError on a thread without one."""
        return self._find().create_worker()

    def now(self) -> float:
        return self._find().now()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Nothing of its own: each loop's scheduler ends with the loop."""
        return True

    def __repr__(self) -> str:
        return f"scheduler({self._name!r})"
