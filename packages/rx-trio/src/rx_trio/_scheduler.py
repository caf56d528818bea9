"""A scheduler whose workers run inside a trio loop.

One system task serves all workers of a scheduler: so actions run one at a time, on the loop's thread, and no nursery
has to be passed around. It sleeps in a cancel scope whose deadline is the next timer, by trio's clock, which is why
tests with an autojumping clock see exact instants.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING, ClassVar, Final, final

import trio
from trio.lowlevel import checkpoint

from rx_core import DISPOSED, BaseDisposable, Scheduler, Worker, WorkerInterruptedError, dropped, on_schedule
from rx_trio._wakeup import QUANTUM, Wakeup, current_token, in_loop

if TYPE_CHECKING:
    from types import TracebackType

Action = Callable[[], object]

#: Actions between two checkpoints at the most; each may deliver QUANTUM items.
_TURN: Final = 32


@final
class _Timed(BaseDisposable):
    """A scheduled action. The thread that pops it from its worker's ``actions`` has it. Disposed means: it was dropped
    unstarted.
    """

    __slots__ = ("_dropped", "_worker", "due")

    def __init__(self, worker: TrioWorker, due: float) -> None:
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
class TrioWorker(Worker):
    """A worker in a trio loop. ``schedule`` and ``dispose`` are for any thread."""

    __slots__ = ("_actions", "_disposed", "_scheduler")

    quantum: ClassVar[int | None] = QUANTUM

    def __init__(self, scheduler: TrioScheduler) -> None:
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


@final
class TrioScheduler(Scheduler):
    """Workers on the trio loop in which it was made: by :func:`scheduler` or :func:`open_scheduler`.

    When the loop or the block ends, what was accepted to run now still runs, so that streams find out and end with an
    error; timers are dropped. What a scheduled action raises goes to the ``rx_on_error`` hooks.
    """

    __slots__ = ("_clock", "_compact_at", "_ended", "_gone", "_heap", "_inbox", "_number", "_shut", "_wakeup")

    def __init__(self, call: str = "TrioScheduler()") -> None:
        self._wakeup = Wakeup(call)
        self._clock = trio.lowlevel.current_clock()
        self._inbox: deque[_Timed] = deque()
        self._shut = False
        self._gone = threading.Event()
        self._ended = trio.Event()
        # Touched by the task only.
        self._heap: list[tuple[float, int, _Timed]] = []
        self._number = 0
        self._compact_at = 64
        trio.lowlevel.spawn_system_task(self._serve, name="rx_trio scheduler")

    # any thread -----------------------------------------------------------------------------------

    def create_worker(self) -> TrioWorker:
        if self._shut:
            raise RuntimeError(
                f"{self!r}: its trio loop has ended, or it was shut down; it runs nothing more.\n"
                f"  Take a new one inside trio:  rx_trio.scheduler()"
            )
        return TrioWorker(self)

    def now(self) -> float:
        return self._clock.current_time()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """End the task. In the loop itself it cannot be waited for: True only when it has ended before."""
        self._shut = True
        self._wakeup.wake()
        if in_loop(self._wakeup.token):
            return self._gone.is_set()
        return self._gone.wait(timeout)

    @property
    def is_shut_down(self) -> bool:
        return self._shut

    def _submit(self, timed: _Timed) -> bool:
        self._inbox.append(timed)
        wakeup = self._wakeup
        if not wakeup.woken:
            wakeup.wake()
        return not self._shut

    # the task -------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        try:
            while not self._shut:
                due = self._turn()
                if due == -inf:
                    await checkpoint()
                else:
                    with trio.CancelScope(deadline=due):
                        await self._wakeup.wait()
        finally:
            self._finish()

    def _turn(self) -> float:
        """Run what is due, and say when to come again: -inf is at once, inf only when called."""
        inbox, heap, clock = self._inbox, self._heap, self._clock
        for _ in range(_TURN):
            if inbox and not heap and inbox[0].due <= clock.current_time():
                timed = inbox.popleft()  # nothing behind it can be due before it
            else:
                for _ in range(len(inbox)):
                    self._push(inbox.popleft())
                if not heap:
                    return inf
                if heap[0][0] > clock.current_time() and heap[0][2].is_waiting:
                    return heap[0][0]
                timed = heappop(heap)[2]
            action = timed.take()
            if action is not None:
                _run(action)
                if self._shut:
                    break
        return -inf

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
                _run(action)
        self._gone.set()
        self._ended.set()

    async def ended(self) -> None:
        """Wait until the task has ended, inside the loop."""
        await self._ended.wait()

    def __repr__(self) -> str:
        return f"<TrioScheduler{', ended' if self._shut else ''}>"


def _run(action: Action) -> None:
    try:
        action()
    except Exception as error:
        dropped(error)
    except BaseException as error:  # in a system task it would crash the loop
        wrapped = WorkerInterruptedError(
            f"{type(error).__name__} ended an action on a trio scheduler, which cannot end the program.\n"
            f"  To stop the stream instead:  raise an Exception, or cancel its subscription"
        )
        wrapped.__cause__ = error
        dropped(wrapped)


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


@final
class RunningScheduler(Scheduler):
    """What the name ``trio`` stands for: the scheduler of whichever loop runs on the calling thread at that moment."""

    __slots__ = ()

    def create_worker(self) -> Worker:
        """A worker of the running loop. RuntimeError on a thread without one."""
        return scheduler().create_worker()

    def now(self) -> float:
        return scheduler().now()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Nothing of its own: each loop's scheduler ends with the loop."""
        return True

    def __repr__(self) -> str:
        return "scheduler('trio')"
