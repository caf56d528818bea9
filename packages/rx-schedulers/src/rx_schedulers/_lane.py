"""A lane: one serial executor with one inbox, one timer heap, and at most one thread.

Nothing here takes a lock, because anything may be scheduled or disposed from a finalizer that the collector runs in the
middle of our own code. Every hand-over is one atomic operation of a deque or dict, in the order *publish, then look*:
the lane opens its gate and looks into the inbox once more; who schedules appends to the inbox and looks at the gate
afterwards. Whoever comes second sees the other, and popping the gate's only entry decides who acts. A running lane has
an empty gate, so scheduling on it is an append and nothing else: no wake-up, no system call.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from time import monotonic
from typing import Final, final

from rx_core import DISPOSED, BaseDisposable, Worker, WorkerInterruptedError, dropped, on_schedule
from rx_schedulers._wakeup import Wakeup

Action = Callable[[], object]

#: How long a lane keeps its thread without work.
IDLE_SECONDS: Final = 60.0

_ASLEEP: Final = "asleep"  # in the gate: a thread waits for a wake-up
_ABSENT: Final = "absent"  # in the gate: there is no thread
_LONGEST_WAIT: Final = 3600.0  # waking up for nothing once an hour keeps clear of the platform's limits
_BACKLOG: Final = 512  # timers that may lie in the inbox of a sleeping lane before it is woken to sort them
_AT_EXIT_SECONDS: Final = 1.0


def call(action: Action, /) -> None:
    """Run one action. An Exception goes to the rx_on_error hooks; other BaseExceptions pass."""
    try:
        action()
    except Exception as error:
        dropped(error)


def interrupted(error: BaseException, /) -> WorkerInterruptedError:
    """What to report when ``error`` ended an action on a thread where nobody could act on it."""
    wrapped = WorkerInterruptedError(
        f"{type(error).__name__} ended an action on thread {threading.current_thread().name!r}; "
        f"a background thread cannot end the program.\n"
        f"  To stop the stream instead:  raise an Exception, or cancel its subscription"
    )
    wrapped.__cause__ = error
    return wrapped


def report(error: Exception, /) -> None:
    """``dropped``, for places that have to go on even when a hook answers with a BaseException."""
    try:
        dropped(error)
    except BaseException:
        import logging

        logging.getLogger("rx.schedulers").exception("an rx_on_error hook was interrupted while it got %r", error)


@final
class Task(BaseDisposable):
    """One scheduled action. Its entry in ``actions`` decides between run and dispose: whoever pops it has it.

    Disposed means: it will not start any more, or it has started.
    """

    __slots__ = ("actions", "at_once", "due")

    def __init__(self, actions: dict[Task, Action], due: float, at_once: bool) -> None:
        self.actions = actions
        self.due = due
        self.at_once = at_once  # without a delay: due when it was scheduled

    def dispose(self) -> None:
        self.actions.pop(self, None)

    @property
    def is_disposed(self) -> bool:
        return self not in self.actions


class LaneGroup:
    """The lanes of one scheduler: their names, those that run at the moment, and their common end."""

    __slots__ = ("_numbers", "clock", "idle_seconds", "kind", "running", "shut")

    def __init__(self, kind: str, idle_seconds: float | None, clock: Callable[[], float] = monotonic) -> None:
        self.kind = kind
        self.idle_seconds = idle_seconds
        self.clock = clock
        self.shut = False
        #: Which thread (or, for lanes without one, which call) runs which lane now.
        self.running: dict[object, Lane] = {}
        self._numbers = count(1)

    def next_name(self) -> str:
        return f"rx-{self.kind}-{next(self._numbers)}"

    def check_open(self) -> None:
        if self.shut:
            raise RuntimeError(
                f"this {self.kind} scheduler was shut down and runs nothing more.\n"
                f"  For another one:  make your own and shut that down, the shared ones live as long as the process"
            )

    def shutdown(self, timeout: float | None) -> bool:
        """End all lanes and wait for their threads; False when one still runs after ``timeout`` seconds or is ours."""
        self.shut = True  # published before the look at what runs: a thread that starts now sees it
        for lane in list(self.running.values()):
            lane.rouse()
        deadline = None if timeout is None else monotonic() + timeout
        for runner in list(self.running):
            if isinstance(runner, LaneThread):
                runner.finish(deadline)
        return not self.running


class Lane:
    """Runs tasks one at a time, by due time and then in order of arrival."""

    __slots__ = (
        "_compact_at",
        "_gate",
        "_heap",
        "_inbox",
        "_retiring",
        "_sequence",
        "_wake_at",
        "_wakeup",
        "closed",
        "group",
        "name",
    )

    def __init__(self, group: LaneGroup) -> None:
        self.group = group
        self.name = group.next_name()
        self.closed = False
        self._inbox: deque[Task] = deque()
        self._gate: dict[int, str] = {0: _ABSENT}
        self._wakeup = Wakeup()
        self._wake_at = inf  # when a sleeping lane wakes by itself
        # Only the thread that runs the lane touches these.
        self._heap: list[tuple[float, int, Task]] = []
        self._sequence = 0
        self._compact_at = 64
        self._retiring = False

    # any thread -----------------------------------------------------------------------------------

    def submit(self, task: Task) -> bool:
        """Take ``task``; False when the lane has ended. Raises RuntimeError when the system gives no thread."""
        if self.over():
            return False
        self._inbox.append(task)
        if self._gate and (task.due < self._wake_at or len(self._inbox) > _BACKLOG):
            self._open()
        return not self.over()

    def _open(self) -> None:
        state = self._gate.pop(0, None)
        if state is _ASLEEP:
            self._wakeup.wake()
        elif state is _ABSENT:
            self._start()

    def _start(self) -> None:
        thread = LaneThread(self)
        self.group.running[thread] = self
        _threads[thread] = None
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # no threads left, or the interpreter is ending
            thread.ended()
            self._gate[0] = _ABSENT
            raise

    def rouse(self) -> None:
        """Wake a sleeping lane, so that it looks at its flags."""
        state = self._gate.pop(0, None)
        if state is _ASLEEP:
            self._wakeup.wake()
        elif state is _ABSENT:  # as long as we hold the entry nobody starts the lane
            if self.over():
                self._drop_all()
            elif self._offer(_ABSENT):
                self._start()

    def waiting(self) -> int:
        """About how many tasks have not started; exact when nothing happens meanwhile."""
        return sum(not task.is_disposed for task in (*list(self._inbox), *(entry[2] for entry in list(self._heap))))

    def over(self) -> bool:
        """Whether the lane or its scheduler has been ended."""
        return self.closed or self.group.shut

    def close(self) -> None:
        """End after the action that runs now; what waits is dropped."""
        self.closed = True
        self.rouse()

    def retire(self) -> None:
        """End the thread now if there is nothing to do for it; the next task starts another one."""
        self._retiring = True
        self.rouse()

    def when_free(self, done: Callable[[Lane], object]) -> None:
        """Call ``done`` with this lane once no action runs on it: at once, or on its thread after what it runs now."""
        if self._gate:  # no action runs now, and the caller has no more of them
            done(self)
            return
        actions: dict[Task, Action] = {}
        task = Task(actions, self.group.clock(), at_once=True)
        actions[task] = lambda: done(self)
        self.submit(task)

    # the thread that runs the lane ----------------------------------------------------------------

    def loop(self) -> None:
        """Run what is due and wait for more, until there was nothing to do for the idle time or the lane is ended."""
        inbox, heap, clock = self._inbox, self._heap, self.group.clock
        while not self.over():
            arrived = len(inbox)
            if arrived:
                task = inbox.popleft()
                if not heap and task.at_once:  # what came later cannot be due earlier
                    self._run(task)
                    del task  # while we wait nothing must be kept alive
                    continue
                self._push(task)
                del task
                for _ in range(arrived - 1):  # not "while inbox": a fast producer must not hold up what is due
                    self._push(inbox.popleft())
            if heap:
                due, _, task = heap[0]
                dead = task.is_disposed
                if dead or due <= clock():
                    heappop(heap)
                    if not dead:
                        self._run(task)
                    del task
                    continue
                del task
            if not self._wait(heap[0][0] if heap else inf):
                return
        self._drop_all()

    def _push(self, task: Task) -> None:
        if task.is_disposed:
            return
        heap = self._heap
        self._sequence += 1
        heappush(heap, (task.due, self._sequence, task))
        if len(heap) > self._compact_at:  # timers that were disposed leave now, not at their distant instants
            heap[:] = [entry for entry in heap if not entry[2].is_disposed]
            heapify(heap)
            self._compact_at = 2 * len(heap) + 64

    def _wait(self, due: float) -> bool:
        """Sleep until ``due``, a wake-up or the end of the idle time; False when the thread has to leave the lane."""
        gate, group = self._gate, self.group
        self._wake_at = due
        if self._offer(_ASLEEP):
            return True
        if due == inf:
            seconds = 0.0 if self._retiring else group.idle_seconds
        else:
            self._retiring = False
            seconds = min(max(due - group.clock(), 0.0), _LONGEST_WAIT)
        woken = self._wakeup.sleep(seconds)
        if gate.pop(0, None) is None or woken:
            # Woken: then there is something in the gate only if the wake-up was for an earlier sleep. Not woken, but the entry is
            # taken: another thread is about to wake this one, and the next sleep will end at once.
            return True
        if due != inf:
            return True
        self._retiring = False
        self._compact_at = 64
        return self._offer(_ABSENT)

    def _offer(self, state: str) -> bool:
        """Open the gate; True when something came in between, the gate is shut again and the lane has to go on."""
        inbox = self._inbox
        self._gate[0] = state
        # Does nothing but take the deque's own lock on builds without the GIL: what was appended before is visible now,
        # and who appends later sees the gate.
        inbox.rotate(0)
        if not (inbox or self.over()):
            return False
        taken = self._gate.pop(0, None) is not None
        return taken or state is _ASLEEP  # absent and not ours any more: somebody started another thread

    def _run(self, task: Task) -> None:
        action = task.actions.pop(task, None)
        if action is None:
            return
        try:
            call(action)
        except BaseException as error:  # SystemExit, KeyboardInterrupt: must not end the lane silently
            report(interrupted(error))

    def _drop_all(self) -> None:
        heap, inbox = self._heap, self._inbox
        while heap:
            heap.pop()[2].dispose()
        while inbox:
            inbox.popleft().dispose()

    def _forget_thread(self) -> None:
        """After a fork: the thread stayed behind, and so does what it had to do."""
        self._heap.clear()
        self._inbox.clear()
        self._wakeup = Wakeup()
        self._wake_at = inf
        self._gate[0] = _ABSENT


class LaneWorker(Worker):
    """A worker's view of a lane, which several workers may share: it knows and drops its own tasks only."""

    __slots__ = ("_actions", "_disposed", "_lane", "_release")

    def __init__(self, lane: Lane, release: Callable[[Lane], object] | None = None) -> None:
        self._lane = lane
        self._actions: dict[Task, Action] = {}
        self._disposed = False
        self._release = {} if release is None else {0: release}

    def schedule(self, action: Action, /, delay: float = 0.0) -> BaseDisposable:
        if self.is_disposed:
            return DISPOSED
        return self.put(on_schedule(action), delay)

    def put(self, action: Action, delay: float) -> BaseDisposable:
        """``schedule`` for an action that the ``rx_on_schedule`` hooks have seen already."""
        lane = self._lane
        now = lane.group.clock()
        task = Task(self._actions, now + delay, False) if delay > 0 else Task(self._actions, now, True)
        self._actions[task] = action
        if self._disposed:  # publish first, look afterwards: dispose() sees the task or we see dispose()
            task.dispose()
            return DISPOSED
        try:
            taken = lane.submit(task)
        except BaseException:
            task.dispose()
            raise
        if not taken:
            task.dispose()
            return DISPOSED
        return task

    def now(self) -> float:
        return self._lane.group.clock()

    def dispose(self) -> None:
        self._disposed = True
        self._actions.clear()
        release = self._release.pop(0, None)
        if release is not None:
            release(self._lane)

    @property
    def is_disposed(self) -> bool:
        return self._disposed or self._lane.over()


# Threads and the end of the process -----------------------------------------------------------------------------------
#
# The threads are daemons, so that an interval nobody stopped cannot keep a program from ending. Daemons that are left
# alone die in the middle of whatever they do when the interpreter takes itself apart, which has crashed more than one
# program. So when the main thread and all threads of the program have ended, an atexit function ends the lanes and
# waits for their threads (one second for all of them together); only an action that does not return is left to the
# daemon's fate.

_threads: dict[LaneThread, None] = {}


@final
class LaneThread(threading.Thread):
    """The thread of a lane. ``retire()`` ends it if it is idle: so leak checks tell cached threads from leaked ones."""

    def __init__(self, lane: Lane) -> None:
        super().__init__(name=lane.name, daemon=True)
        self.lane = lane
        self._ended = threading.Event()

    def run(self) -> None:
        try:
            self.lane.loop()
        finally:
            self.ended()

    def ended(self) -> None:
        self.lane.group.running.pop(self, None)
        _threads.pop(self, None)
        self._ended.set()

    def finish(self, deadline: float | None) -> None:
        """Wait for the end, up to ``deadline`` on the monotonic clock."""
        if self is threading.current_thread():
            return
        # Not join() alone: that one refuses threads which are about to start.
        if self._ended.wait(None if deadline is None else max(deadline - monotonic(), 0.0)) and self.ident is not None:
            self.join(None if deadline is None else max(deadline - monotonic(), 0.1))

    def retire(self) -> None:
        self.lane.retire()

    def __repr__(self) -> str:
        state = "alive" if self.is_alive() else "ended"
        return f"<thread {self.name!r}, {state}, {self.lane.waiting()} actions wait>"


@atexit.register
def _end_all_lanes() -> None:
    threads = list(_threads)
    for thread in threads:
        thread.lane.group.shut = True
        thread.lane.rouse()
    deadline = monotonic() + _AT_EXIT_SECONDS
    for thread in threads:
        thread.finish(deadline)


def _after_fork_in_child() -> None:
    for thread in list(_threads):
        if thread is not threading.current_thread():
            thread.lane.group.running.pop(thread, None)
            _threads.pop(thread, None)
            thread.lane._forget_thread()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
