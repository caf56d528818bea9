"""Workers on somebody's ``concurrent.futures.Executor``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, final

from rx_core import DISPOSED, BaseDisposable, Disposable, Worker, on_schedule
from rx_schedulers._lane import IDLE_SECONDS, Action, Lane, LaneGroup, LaneWorker, call, interrupted, report
from rx_schedulers._shared import Place

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

#: Actions of one worker that run in one task of the executor, before other tasks get their turn.
_BATCH = 64


@final
class ExecutorScheduler(Place):
    """Runs actions on an executor that belongs to the caller.

    Each worker is serial: it has at most one task in the executor at a time, whatever its size. Delays are counted by
    one thread of this scheduler, ``rx-timer-<n>``, which starts with the first delay and ends when it has been idle for
    a minute: an executor has no clock. :meth:`shutdown` leaves the executor alone. An executor that was shut down
    itself makes ``schedule`` raise RuntimeError.
    """

    __slots__ = ("_executor", "_timers", "_timing", "tasks")

    def __init__(self, executor: Executor) -> None:
        if any(base.__name__ == "ProcessPoolExecutor" for base in type(executor).__mro__):
            raise TypeError(
                "from_executor() needs an executor whose tasks share our memory, a ProcessPoolExecutor's do not.\n"
                "  For threads:  from_executor(ThreadPoolExecutor())"
            )
        if not callable(getattr(executor, "submit", None)):
            raise TypeError(f"from_executor() needs an Executor, got {executor!r}: for example ThreadPoolExecutor()")
        self._executor = executor
        self._timers = LaneGroup("timer", IDLE_SECONDS)
        self._timing = Lane(self._timers)
        #: What runs or waits in the executor for us.
        self.tasks: dict[Future[None], None] = {}

    def create_worker(self) -> Worker:
        """A serial lane of its own. Raises RuntimeError after :meth:`shutdown`."""
        if self._timers.shut:
            raise RuntimeError("this scheduler was shut down; its executor was left alone, so wrap it again")
        return _ExecutorWorker(self, LaneWorker(self._timing))

    def now(self) -> float:
        """Seconds on the monotonic clock of the machine."""
        return monotonic()

    @property
    def is_shut(self) -> bool:
        return self._timers.shut

    def submit(self, drain: Callable[[], None], cancelled: Callable[[], object]) -> None:
        def finished(task: Future[None]) -> None:
            self.tasks.pop(task, None)
            if task.cancelled():
                cancelled()

        task = self._executor.submit(drain)
        self.tasks[task] = None
        task.add_done_callback(finished)  # after the line before: it is called at once for a task that has ended

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Drop what waits and wait up to ``timeout`` seconds for what runs; the executor itself is left alone."""
        from concurrent.futures import wait

        ended = self._timers.shutdown(timeout)
        return not wait(list(self.tasks), timeout).not_done and ended

    def __repr__(self) -> str:
        return f"from_executor({type(self._executor).__name__})"


@final
class _ExecutorWorker(Worker):
    __slots__ = ("_actions", "_disposed", "_inbox", "_scheduler", "_timer", "_token")

    def __init__(self, scheduler: ExecutorScheduler, timer: LaneWorker) -> None:
        self._scheduler = scheduler
        self._timer = timer
        self._actions: dict[_ExecutorTask, Action] = {}
        self._inbox: deque[_ExecutorTask] = deque()
        self._token = {0: True}  # whoever pops it brings the next drain into the executor
        self._disposed = False

    def schedule(self, action: Action, /, delay: float = 0.0) -> BaseDisposable:
        if self.is_disposed:
            return DISPOSED
        task = _ExecutorTask(self._actions)
        self._actions[task] = on_schedule(action)
        try:
            if delay > 0:
                task.timer = self._timer.put(lambda: self._enqueue(task), delay)
            else:
                self._enqueue(task)
        except BaseException:
            task.dispose()
            raise
        if self._over():  # publish first, look afterwards: dispose() sees the task or we see dispose()
            task.dispose()
            return DISPOSED
        return task

    def _enqueue(self, task: _ExecutorTask) -> None:
        self._inbox.append(task)
        if self._token.pop(0, False):
            try:
                self._submit()
            except BaseException:
                task.dispose()
                raise

    def _submit(self) -> None:
        try:
            self._scheduler.submit(self._drain, self._cancelled)
        except BaseException:
            self._token[0] = True
            raise

    def _drain(self) -> None:
        inbox, ran = self._inbox, 0
        while True:
            try:
                task = inbox.popleft()
            except IndexError:
                self._token[0] = True
                inbox.rotate(0)  # see Lane._offer
                if inbox and self._token.pop(0, False):
                    continue
                return
            if ran == _BATCH:
                inbox.appendleft(task)
                break
            ran += 1
            action = self._actions.pop(task, None)
            del task
            if action is not None and not self.is_disposed:
                try:
                    call(action)
                except BaseException as error:
                    report(interrupted(error))
                del action
        try:
            self._submit()  # the turn of others
        except Exception as error:
            self._cancelled()
            report(error)

    def _cancelled(self) -> None:
        """The executor threw our task away: so nothing that waits will run."""
        self._actions.clear()
        self._inbox.clear()
        self._token[0] = True

    def now(self) -> float:
        return monotonic()

    def dispose(self) -> None:
        self._disposed = True
        self._timer.dispose()
        self._actions.clear()

    @property
    def is_disposed(self) -> bool:
        return self._over()

    def _over(self) -> bool:
        return self._disposed or self._scheduler.is_shut


@final
class _ExecutorTask(BaseDisposable):
    __slots__ = ("actions", "timer")

    def __init__(self, actions: dict[_ExecutorTask, Action]) -> None:
        self.actions = actions
        self.timer: Disposable = DISPOSED

    def dispose(self) -> None:
        self.actions.pop(self, None)
        self.timer.dispose()

    @property
    def is_disposed(self) -> bool:
        return self not in self.actions
