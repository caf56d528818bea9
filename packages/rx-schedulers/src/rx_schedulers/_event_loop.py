"""An event loop: one serial executor with one inbox, one timer heap, and at most one thread.

Nothing here takes a lock, because anything may be scheduled or disposed from a finalizer that the collector runs in the
middle of our own code. Every hand-over is one atomic operation of a deque or dict, in the order *publish, then look*:
a loop that has nothing to do puts an entry into ``_idle`` and looks into the inbox once more; a thread that schedules appends
to the inbox and looks at ``_idle`` afterwards. Whichever comes second sees the other, and popping the only entry of ``_idle``
decides which of them acts. While the loop runs ``_idle`` is empty, so scheduling is an append and nothing else: no wake-up, no
system call.

It is not a ``rx_core.gate.Gate``: the thread that publishes never does the work, and what it finds in ``_idle`` says whether it
has to wake a thread or to start one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from time import monotonic
from typing import Final, final

from rx_core import DISPOSED, BaseDisposable, Worker, on_schedule
from rx_schedulers._actions import Action, call, interrupted, report
from rx_schedulers._loop_thread import THREADS, LoopThread
from rx_schedulers._wakeup import Wakeup

#: How long an event loop keeps its thread without work.
IDLE_SECONDS: Final = 60.0

_ASLEEP: Final = "asleep"  # in ``_idle``: a thread waits for a wake-up
_ABSENT: Final = "absent"  # in ``_idle``: there is no thread
_LONGEST_WAIT: Final = 3600.0  # waking up for nothing once an hour keeps clear of the platform's limits
_BACKLOG: Final = 512  # timers that may lie in the inbox of a sleeping event loop before it is woken to sort them


@final
class Task(BaseDisposable):
    """One scheduled action. Its entry in ``actions`` decides between run and dispose: the thread that pops it has it.

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


class EventLoopGroup:
    """The event loops of one scheduler: their names, those that run at the moment, and their common end."""

    __slots__ = ("_numbers", "clock", "idle_seconds", "kind", "running", "shut")

    def __init__(self, kind: str, idle_seconds: float | None, clock: Callable[[], float] = monotonic) -> None:
        self.kind = kind
        self.idle_seconds = idle_seconds
        self.clock = clock
        self.shut = False
        #: Which thread (or, for loops without one, which call) runs which loop now.
        self.running: dict[object, EventLoop] = {}
        self._numbers = count(1)

    @property
    def shared(self) -> bool:
        """Whether a loop has several workers."""
        return self.kind in ("computation", "single")

    def next_name(self) -> str:
        return f"rx-{self.kind}-{next(self._numbers)}"

    def check_open(self) -> None:
        if self.shut:
            raise RuntimeError(
                f"this {self.kind} scheduler was shut down and runs nothing more.\n"
                f"  For another one:  make your own and shut that down, the shared ones live as long as the process"
            )

    def shutdown(self, timeout: float | None) -> bool:
        """End all loops and wait for their threads; False when one still runs after ``timeout`` seconds or is ours."""
        self.shut = True  # published before the look at what runs: a thread that starts now sees it
        for loop in list(self.running.values()):
            loop.rouse()
        deadline = None if timeout is None else monotonic() + timeout
        for runner in list(self.running):
            if isinstance(runner, LoopThread):
                runner.finish(deadline)
        return not self.running


class EventLoop:
    """Runs tasks one at a time, by due time and then in order of arrival."""

    __slots__ = (
        "_compact_at",
        "_heap",
        "_idle",
        "_inbox",
        "_retiring",
        "_sequence",
        "_wake_at",
        "_wakeup",
        "closed",
        "group",
        "name",
    )

    def __init__(self, group: EventLoopGroup) -> None:
        self.group = group
        self.name = group.next_name()
        self.closed = False
        self._inbox: deque[Task] = deque()
        self._idle: dict[int, str] = {0: _ABSENT}
        self._wakeup = Wakeup()
        self._wake_at = inf  # when a sleeping event loop wakes by itself
        # Only the thread that runs the event loop touches these.
        self._heap: list[tuple[float, int, Task]] = []
        self._sequence = 0
        self._compact_at = 64
        self._retiring = False

    @property
    def kind(self) -> str:
        return self.group.kind

    @property
    def shared(self) -> bool:
        return self.group.shared

    # any thread -----------------------------------------------------------------------------------

    def submit(self, task: Task) -> bool:
        """Take ``task``; False when the event loop has ended, which ``task`` may have run in before. Raises RuntimeError when the
        system gives no thread."""
        group = self.group
        if self.closed or group.shut:  # over(), without a call: time operators come here for each item
            return False
        self._inbox.append(task)
        if self._idle and (task.due < self._wake_at or len(self._inbox) > _BACKLOG):
            self._open()
        return not (self.closed or group.shut)  # type: ignore[redundant-expr]  # set meanwhile

    def _open(self) -> None:
        state = self._idle.pop(0, None)
        if state is _ASLEEP:
            self._wakeup.wake()
        elif state is _ABSENT:
            self._start()

    def _start(self) -> None:
        thread = LoopThread(self)
        self.group.running[thread] = self
        THREADS[thread] = None
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # no threads left, or the interpreter is ending
            thread.ended()
            self._idle[0] = _ABSENT
            raise

    def rouse(self) -> None:
        """Wake a sleeping event loop, so that it looks at its flags."""
        state = self._idle.pop(0, None)
        if state is _ASLEEP:
            self._wakeup.wake()
        elif state is _ABSENT:  # as long as this thread holds the entry no other one starts the event loop
            if self.over():
                self._drop_all()
            elif self._offer(_ABSENT):
                self._start()

    def waiting(self) -> int:
        """About how many tasks have not started; exact when nothing happens meanwhile."""
        return sum(not task.is_disposed for task in (*list(self._inbox), *(entry[2] for entry in list(self._heap))))

    def over(self) -> bool:
        """Whether the event loop or its scheduler has been ended."""
        return self.closed or self.group.shut

    def close(self) -> None:
        """End after the action that runs now; what waits is dropped."""
        self.closed = True
        self.rouse()

    def retire(self) -> None:
        """End the thread now if there is nothing to do for it; the next task starts another one."""
        self._retiring = True
        self.rouse()

    def when_free(self, done: Callable[[EventLoop], object]) -> None:
        """Call ``done`` with this event loop once no action runs on it: at once, or on its thread after what it runs now."""
        if self._idle:  # no action runs now, and the caller has no more of them
            done(self)
            return
        actions: dict[Task, Action] = {}
        task = Task(actions, self.group.clock(), at_once=True)
        actions[task] = lambda: done(self)
        self.submit(task)

    # the thread that runs the event loop ----------------------------------------------------------------

    def run(self) -> None:
        """Run what is due and wait for more, until there was nothing to do for the idle time or the event loop is ended."""
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
        """Sleep until ``due``, a wake-up or the end of the idle time; False when the thread has to leave the loop."""
        idle, group = self._idle, self.group
        self._wake_at = due
        if self._offer(_ASLEEP):
            return True
        if due == inf:
            seconds = 0.0 if self._retiring else group.idle_seconds
        else:
            self._retiring = False
            seconds = min(max(due - group.clock(), 0.0), _LONGEST_WAIT)
        woken = self._wakeup.sleep(seconds)
        if idle.pop(0, None) is None or woken:
            # Woken: then there is an entry only if the wake-up was for an earlier sleep. Not woken, but the entry is
            # taken: another thread is about to wake this one, and the next sleep will end at once.
            return True
        if due != inf:
            return True
        self._retiring = False
        self._compact_at = 64
        return self._offer(_ABSENT)

    def _offer(self, state: str) -> bool:
        """Say that the loop is idle. True: a task came in between, it is not idle any more and has to go on."""
        inbox = self._inbox
        self._idle[0] = state
        # Does nothing but take the deque's own lock on builds without the GIL: what was appended before is visible now,
        # and a thread that appends later sees the entry.
        inbox.rotate(0)
        if not (inbox or self.over()):
            return False
        taken = self._idle.pop(0, None) is not None
        return taken or state is _ASLEEP  # absent and not ours any more: another thread was started

    def _run(self, task: Task) -> None:
        action = task.actions.pop(task, None)
        if action is None:
            return
        try:
            call(action)
        except BaseException as error:  # SystemExit, KeyboardInterrupt: must not end the event loop silently
            report(interrupted(error))

    def _drop_all(self) -> None:
        heap, inbox = self._heap, self._inbox
        while heap:
            heap.pop()[2].dispose()
        while inbox:
            inbox.popleft().dispose()

    # the thread, and the end of the process --------------------------------------------------------------

    def thread_ended(self, thread: object) -> None:
        """``thread`` does not run this event loop any more."""
        self.group.running.pop(thread, None)

    def shut(self) -> None:
        """End this event loop and all others of its scheduler after their actions that run now."""
        self.group.shut = True
        self.rouse()

    def forget_thread(self) -> None:
        """After a fork: the thread stayed behind, and so does what it had to do."""
        self._heap.clear()
        self._inbox.clear()
        self._wakeup = Wakeup()
        self._wake_at = inf
        self._idle[0] = _ABSENT


class LoopWorker(Worker):
    """A worker's view of an event loop, which several workers may share: it knows and drops its own tasks only."""

    __slots__ = ("_actions", "_disposed", "_loop", "_release")

    def __init__(self, loop: EventLoop, release: Callable[[EventLoop], object] | None = None) -> None:
        self._loop = loop
        self._actions: dict[Task, Action] = {}
        self._disposed = False
        self._release = {} if release is None else {0: release}

    def schedule(self, action: Action, /, delay: float = 0.0) -> BaseDisposable:
        loop = self._loop
        if self._disposed or loop.closed or loop.group.shut:
            return DISPOSED
        return self.put(on_schedule(action), delay)

    def put(self, action: Action, delay: float) -> BaseDisposable:
        """``schedule`` for an action that the ``rx_on_schedule`` hooks have seen already."""
        loop = self._loop
        now = loop.group.clock()
        task = Task(self._actions, now + delay, False) if delay > 0 else Task(self._actions, now, True)
        self._actions[task] = action
        if self._disposed:  # publish first, look afterwards: dispose() sees the task or we see dispose()
            task.dispose()
            return DISPOSED
        try:
            taken = loop.submit(task)
        except BaseException:
            task.dispose()
            raise
        if not taken and (self._actions.pop(task, None) is not None or loop.group.shut):
            return DISPOSED
        return task  # it may be over already, and have disposed this worker

    def now(self) -> float:
        return self._loop.group.clock()

    def dispose(self) -> None:
        self._disposed = True
        self._actions.clear()
        release = self._release.pop(0, None)
        if release is not None:
            release(self._loop)

    @property
    def is_disposed(self) -> bool:
        return self._disposed or self._loop.over()
