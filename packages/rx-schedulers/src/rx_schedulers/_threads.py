"""The schedulers that have threads: computation, io, single and new_thread."""

from __future__ import annotations

import os
from collections import deque
from itertools import count
from typing import final

from rx_core import Worker
from rx_schedulers._event_loop import IDLE_SECONDS, EventLoop, EventLoopGroup, LoopWorker
from rx_schedulers._shared import Place


def cpu_count() -> int:
    """The processors this process may use, which in a container are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _ThreadScheduler(Place):
    __slots__ = ("_group",)

    def __init__(self, kind: str, idle_seconds: float | None) -> None:
        self._group = EventLoopGroup(kind, idle_seconds)

    def now(self) -> float:
        """Seconds on the monotonic clock of the machine."""
        return self._group.clock()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        """Drop what waits, end the threads after the actions they run now, and wait for that up to ``timeout`` seconds.

        False when a thread has not ended by then, or when one of them is the caller. The scheduler stays shut.
        """
        return self._group.shutdown(timeout)

    def __repr__(self) -> str:
        # As one writes it: a plan that shows it must not change with the number of threads that happen to run.
        return f"{self._group.kind}()" + (" (shut down)" if self._group.shut else "")


@final
class ComputationScheduler(_ThreadScheduler):
    """As many event loops as processors, for work that keeps one busy.

    Workers share the event loops in turn: two workers may be on one thread, each serial for itself, so an action that blocks
    holds up other workers. Threads are called ``rx-computation-<n>``, start with the first action and end after
    ``idle_seconds`` without one (the next action starts another).
    """

    __slots__ = ("_loops", "_turn")

    def __init__(self, threads: int | None = None, *, idle_seconds: float | None = IDLE_SECONDS) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"ComputationScheduler(threads={threads}): at least one thread is needed")
        super().__init__("computation", idle_seconds)
        self._loops = tuple(EventLoop(self._group) for _ in range(threads or cpu_count()))
        self._turn = count()

    def create_worker(self) -> Worker:
        """The next event loop in turn. Raises RuntimeError after :meth:`shutdown`."""
        self._group.check_open()
        return LoopWorker(self._loops[next(self._turn) % len(self._loops)])


@final
class IoScheduler(_ThreadScheduler):
    """An event loop for each worker, for work that waits: as many threads as workers are alive at a time.

    A disposed worker's event loop goes to the next worker, once the action that runs on it has returned. Threads are called
    ``rx-io-<n>`` and end after ``idle_seconds`` without an action. There is no upper bound: bound the number of
    workers, for example with ``flat_map(..., max_concurrency=)``.
    """

    __slots__ = ("_free",)

    def __init__(self, *, idle_seconds: float | None = IDLE_SECONDS) -> None:
        super().__init__("io", idle_seconds)
        self._free: deque[EventLoop] = deque()  # the last one back is the first one out: its thread is the warmest

    def create_worker(self) -> Worker:
        """An event loop that is free, or a new one. Raises RuntimeError after :meth:`shutdown`."""
        self._group.check_open()
        try:
            loop = self._free.pop()
        except IndexError:
            loop = EventLoop(self._group)
        return LoopWorker(loop, self._take_back)

    def _take_back(self, loop: EventLoop) -> None:
        # Not before the running action has returned: the next worker would wait behind a stranger's blocking call.
        loop.when_free(self._free.append)


@final
class SingleScheduler(_ThreadScheduler):
    """One event loop for all workers: everything on one thread, ``rx-single-1``, which stays until :meth:`shutdown`."""

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        super().__init__("single", None)
        self._loop = EventLoop(self._group)

    def create_worker(self) -> Worker:
        """A view of the one event loop. Raises RuntimeError after :meth:`shutdown`."""
        self._group.check_open()
        return LoopWorker(self._loop)


@final
class NewThreadScheduler(_ThreadScheduler):
    """A thread of its own for each worker, never reused for another one.

    It is called ``rx-new_thread-<n>``, starts with the first action and ends when the worker is disposed; a worker that
    is forgotten instead loses its thread after ``idle_seconds`` without an action (and gets another when it is used
    again).
    """

    __slots__ = ()

    def __init__(self, *, idle_seconds: float | None = IDLE_SECONDS) -> None:
        super().__init__("new_thread", idle_seconds)

    def create_worker(self) -> Worker:
        """A new event loop. Raises RuntimeError after :meth:`shutdown`."""
        self._group.check_open()
        return LoopWorker(EventLoop(self._group), EventLoop.close)
