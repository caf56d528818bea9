"""Workers on a ``concurrent.futures.Executor`` that belongs to the caller."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, final

from rx_core import DISPOSED, BaseDisposable, Disposable, Worker, on_schedule
from rx_core.gate import Gate
from rx_schedulers._actions import Action, call, interrupted, report
from rx_schedulers._event_loop import IDLE_SECONDS, EventLoop, EventLoopGroup, LoopWorker
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
    itself makes ``schedule`` raise RuntimeError; a delayed action that it refuses later goes to the error hook.
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
        self._timers = EventLoopGroup("timer", IDLE_SECONDS)
        self._timing = EventLoop(self._timers)
        #: What runs or waits in the executor for us.
        self.tasks: dict[Future[None], None] = {}

    def create_worker(self) -> Worker:
        """A serial worker of its own. Raises RuntimeError after :meth:`shutdown`."""
        if self._timers.shut:
            raise RuntimeError("this scheduler was shut down; its executor was left alone, so wrap it again")
        return _ExecutorWorker(self, LoopWorker(self._timing))

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
    __slots__ = ("_actions", "_disposed", "_scheduler", "_tasks", "_timer")

    def __init__(self, scheduler: ExecutorScheduler, timer: LoopWorker) -> None:
        self._scheduler = scheduler
        self._timer = timer
        self._actions: dict[_ExecutorTask, Action] = {}
        self._tasks = _ExecutorGate(self)
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
        # Publish first, look afterwards: dispose() sees the task or we see dispose(), which the task may have called when it ran.
        if self._over() and (self._actions.pop(task, None) is not None or self._scheduler.is_shut):
            task.dispose()
            return DISPOSED
        return task

    def _enqueue(self, task: _ExecutorTask) -> None:
        try:
            self._tasks.put(task)
        except BaseException:
            task.dispose()
            raise

    def run(self, task: _ExecutorTask) -> None:
        """On a thread of the executor."""
        action = self._actions.pop(task, None)
        if action is not None and not self.is_disposed:
            try:
                call(action)
            except BaseException as error:
                report(interrupted(error))

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
class _ExecutorGate(Gate):
    """Makes a worker serial: the thread that publishes hands the token over to a task of the executor, which runs what waits."""

    __slots__ = ("_inbox", "_left", "_worker")

    def __init__(self, worker: _ExecutorWorker) -> None:
        super().__init__()
        self._worker = worker
        self._inbox: deque[_ExecutorTask] = deque()
        #: How many actions may run before other tasks of the executor get their turn.
        self._left = _BATCH

    def put(self, task: _ExecutorTask) -> None:
        self._inbox.append(task)
        self.drain()

    def drain(self) -> None:
        self.dirty = True
        try:
            self.token.pop()
        except IndexError:
            return
        try:
            self._worker._scheduler.submit(self._turn, self._cancelled)
        except BaseException:
            self.token.append(0)
            raise

    def _turn(self) -> None:
        """On a thread of the executor, with the token."""
        self._left = _BATCH
        self.work([0])
        if self._inbox or self.dirty:
            try:
                self.drain()  # the next task, behind those of others
            except Exception as error:
                self._drop()
                report(error)

    def look(self, held: int, /) -> int:
        inbox = self._inbox
        while self._left:
            try:
                task = inbox.popleft()
            except IndexError:
                break
            self._left -= 1
            self._worker.run(task)
        return held

    def _cancelled(self) -> None:
        """The executor threw the task away that has the token."""
        self._drop()
        self.token.append(0)

    def _drop(self) -> None:
        self._worker._actions.clear()
        self._inbox.clear()


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
