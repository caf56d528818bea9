"""A scheduler whose clock only moves when the test says so.

Time is counted in whole nanoseconds inside, so that ``advance_by(0.1)`` ten times is exactly ``1.0`` and a test can
name an instant and mean it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING, ClassVar, final

from rx_core import DISPOSED, BaseDisposable, Scheduler, Worker, on_schedule
from rx_testing._leaks import opened

if TYPE_CHECKING:
    from typing import Self

Action = Callable[[], object]

_THREADED = ("computation", "io", "single", "new_thread", "virtual")
_NANOS = 1_000_000_000


def _nanos(seconds: float, what: str) -> int:
    if not -inf < seconds < inf:
        raise ValueError(f"{what}: {seconds!r} is not a number of seconds")
    return round(seconds * _NANOS)


@final
class VirtualScheduler(Scheduler):
    """Runs actions on the thread that moves the clock, at their exact instants, by due time and then as scheduled.

    ::

        clock = VirtualScheduler()
        flow.delay(2.0, scheduler=clock).subscribe(subscriber)
        clock.advance_by(1.999)   # nothing yet
        clock.advance_by(0.001)   # now

    Nothing runs by itself: not even an action without delay, which waits for the next ``advance_by(0)``. Scheduling is
    thread-safe; moving the clock belongs to one thread at a time and not to an action (RuntimeError). An exception
    raised by an action, of whatever kind, comes out of the call that moved the clock; the clock then stands at that
    action's instant and the remaining actions still wait.
    """

    __slots__ = ("_heap", "_inbox", "_live", "_now", "_sequence", "_shut", "_token")

    #: The name under which the plugin of this package offers it.
    name: ClassVar[str] = "virtual"

    def __init__(self, start: float = 0.0) -> None:
        self._now = _nanos(start, "VirtualScheduler(start)")
        self._inbox: deque[_Task] = deque()  # any thread appends
        self._heap: list[tuple[int, int, _Task]] = []  # only the holder of the token touches it
        self._live: dict[_Task, Action] = {}  # popping from here is what decides between run and dispose
        self._sequence = 0
        self._shut = False
        self._token = {0: True}

    # what Scheduler promises ----------------------------------------------------------------------

    def create_worker(self) -> Worker:
        worker = self._worker()
        opened(worker)
        return worker

    def _worker(self) -> _VirtualWorker:
        """A worker that no leak check asks about: for sources that tests make."""
        if self._shut:
            raise RuntimeError("this VirtualScheduler was shut down; make a new one for each test")
        return _VirtualWorker(self)

    def now(self) -> float:
        """Seconds on the virtual clock."""
        return self._now / _NANOS

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Drop everything that waits; there are no threads, so the answer is True at once."""
        self._shut = True
        self._live.clear()
        return True

    # what tests do --------------------------------------------------------------------------------

    def advance_by(self, seconds: float) -> int:
        """Move the clock forward by ``seconds`` and run what falls due on the way; returns how many actions ran."""
        return self._advance(self._now + _nanos(seconds, "advance_by()"))

    def advance_to(self, instant: float) -> int:
        """Move the clock forward to ``instant`` and run what falls due on the way; returns how many actions ran."""
        return self._advance(_nanos(instant, "advance_to()"))

    def run_due(self) -> int:
        """Run what is due now, without moving the clock; returns how many actions ran."""
        return self._advance(self._now)

    def run_until_idle(self, max_actions: int = 100_000) -> int:
        """Move the clock as far as anything waits; returns how many actions ran.

        Raises RuntimeError after ``max_actions``, because an interval never runs out of work.
        """
        ran = self._advance(None, max_actions)
        if self._live and not self._shut:
            raise RuntimeError(
                f"run_until_idle() ran {ran} actions and {len(self._live)} still wait: does something repeat?\n"
                f"  To stop at an instant:  .advance_by(seconds)\n"
                f"  To allow more:          .run_until_idle(max_actions=...)"
            )
        return ran

    @contextmanager
    def installed(self, *names: str) -> Iterator[Self]:
        """For a ``with`` block be the scheduler that the registry returns for ``names``; default: all with threads.

        Time operators look their scheduler up when they are subscribed, so a pipeline that was built before runs on
        this clock too. Counts for the whole process.
        """
        from rx_core import manager  # brings pluggy, which the other uses of this module need not pay for

        with manager().enable(_installed(self, names or _THREADED)):
            yield self

    @property
    def pending(self) -> int:
        """How many actions wait, disposed ones not counted."""
        return len(self._live)

    @property
    def next_due(self) -> float | None:
        """The instant of the next waiting action, None when nothing waits."""
        due = min((task.due for task in list(self._live)), default=None)
        return None if due is None else due / _NANOS

    def _advance(self, target: int | None, limit: int | None = None) -> int:
        if target is not None and target < self._now:
            raise ValueError(f"virtual time only goes forward: it is {self.now()}, asked for {target / _NANOS}")
        if self._token.pop(0, None) is None:
            raise RuntimeError(
                "the virtual clock is being moved already, by another thread or by the action that asks now.\n"
                "  In an action, schedule what comes later:  worker.schedule(action, delay)"
            )
        ran = 0
        try:
            while limit is None or ran < limit:
                action = self._next(target)
                if action is None:
                    break
                ran += 1
                action()
                del action  # or it would live until the next one
            else:
                return ran
            if target is not None:
                self._now = target
        finally:
            self._token[0] = True
        return ran

    def _next(self, target: int | None) -> Action | None:
        """Take the next action that is due by ``target``, having moved the clock to its instant."""
        inbox, heap = self._inbox, self._heap
        while inbox:
            task = inbox.popleft()
            self._sequence += 1
            heappush(heap, (task.due, self._sequence, task))
        if len(heap) > 2 * len(self._live) + 64:  # mostly disposed ones: let them go now rather than at their instant
            heap[:] = [entry for entry in heap if entry[2] in self._live]
            heapify(heap)
        while heap and (target is None or heap[0][0] <= target):
            due, _, task = heappop(heap)
            action = self._live.pop(task, None)
            if action is not None:
                self._now = max(self._now, due)
                task.worker.mine.pop(task, None)
                return action
        return None

    def _put(self, worker: _VirtualWorker, action: Action, delay: float) -> BaseDisposable:
        ahead = _nanos(delay, "schedule(delay)")
        task = _Task(worker, self._now + max(ahead, 0))
        action = on_schedule(action)
        worker.mine[task] = None
        self._live[task] = action
        if worker.is_disposed or self._shut:  # publish first, look afterwards: dispose() sees it or we do
            task.dispose()
            return DISPOSED
        self._inbox.append(task)
        return task

    def _drop(self, task: _Task) -> None:
        self._live.pop(task, None)

    def _waits(self, task: _Task) -> bool:
        return task in self._live

    def __repr__(self) -> str:
        return f"VirtualScheduler(now={self.now()}, pending={self.pending})"


def _installed(clock: VirtualScheduler, names: Sequence[str]) -> object:
    """A plugin that offers ``clock`` under all ``names``."""
    from rx_core import hookimpl

    class Installed:
        @hookimpl
        def rx_schedulers(self) -> Mapping[str, Callable[[], Scheduler]]:
            return dict.fromkeys(names, lambda: clock)

        @hookimpl(tryfirst=True)
        def rx_current_scheduler(self) -> Scheduler | None:
            """Inside an event loop, too, time operators run on this clock where it stands in for their default."""
            return clock if "computation" in names else None

    return Installed()


@final
class _VirtualWorker(Worker):
    __slots__ = ("_disposed", "mine", "scheduler")

    def __init__(self, scheduler: VirtualScheduler) -> None:
        self.scheduler = scheduler
        self.mine: dict[_Task, None] = {}
        self._disposed = False

    def schedule(self, action: Action, /, delay: float = 0.0) -> BaseDisposable:
        if self._disposed:
            return DISPOSED
        return self.scheduler._put(self, action, delay)

    def now(self) -> float:
        return self.scheduler.now()

    def dispose(self) -> None:
        self._disposed = True
        for task in list(self.mine):
            task.dispose()

    @property
    def is_disposed(self) -> bool:
        return self._disposed

    @property
    def is_over(self) -> bool:
        return self._disposed or self.scheduler._shut

    def __repr__(self) -> str:
        state = "disposed" if self._disposed else "not disposed"
        return f"a worker of {self.scheduler!r}: {state}, {len(self.mine)} actions wait on it"


@final
class _Task(BaseDisposable):
    """One scheduled action; disposed means: it will not start any more, or it has started."""

    __slots__ = ("due", "worker")

    def __init__(self, worker: _VirtualWorker, due: int) -> None:
        self.worker = worker
        self.due = due

    def dispose(self) -> None:
        self.worker.mine.pop(self, None)
        self.worker.scheduler._drop(self)

    @property
    def is_disposed(self) -> bool:
        return not self.worker.scheduler._waits(self)
