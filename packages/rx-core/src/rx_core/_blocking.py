"""Running a pipeline on the thread that wants its items: no subscriber, no queue of our own, a lock to wait on.

``for x in flow`` and the ``blocking_*`` terminals poll the pipeline's generator directly and sleep only where it says "nothing
now". User functions run on the waiting thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TypeVar

from rx_core._demand import UNBOUNDED
from rx_core._protocols import Publisher
from rx_core._run import Openable, Run, close
from rx_core._user_code import unwrap_stop

T = TypeVar("T")


class BlockingRun(Run):
    """The run of a thread that waits. ``demand`` is what a source that must be asked is asked for at a time."""

    __slots__ = ("_demand", "_dirty", "_later", "_signal", "cancelled", "pipeline")

    def __init__(self, demand: int = UNBOUNDED, origin: object = None) -> None:
        super().__init__()
        self.pipeline = self if origin is None else origin
        self.cancelled = False
        self._demand = demand
        self._dirty = False
        self._later: deque[Callable[[], object]] = deque()
        self._signal = threading.Lock()
        self._signal.acquire()

    @property
    def root(self) -> BlockingRun:
        return self

    @property
    def demand(self) -> int:
        return self._demand

    def wake(self) -> None:
        if not self._dirty:
            self._dirty = True
            try:
                self._signal.release()
            except RuntimeError:
                pass  # released already and not yet taken: one signal is enough

    poke = wake

    def later(self, action: Callable[[], object], /) -> None:
        self._later.append(action)
        self.wake()

    def wait(self, seconds: float | None = None) -> bool:
        """Sleep until something was published since the last wait; False when ``seconds`` passed first."""
        while self._later:
            self._later.popleft()()
        deadline = None if seconds is None else monotonic() + seconds
        while not self._dirty:
            if deadline is None:
                self._signal.acquire()
            elif not self._signal.acquire(timeout=max(0.0, deadline - monotonic())):
                return False
        self._dirty = False  # before polling: what arrives from here on raises it again
        return True

    def end(self) -> None:
        self.cancelled = True
        self.release()
        self.finalize()


def blocking_items(source: Publisher[T] | Openable[T], window: int, demand: int, seconds: float | None = None) -> Iterator[T]:
    """Iterate ``source`` on this thread. Leaving the loop early cancels it.

    ``window`` bounds what waits at a boundary. With ``seconds`` the whole iteration has to be over in time: TimeoutError.
    """
    run = BlockingRun(demand, source)
    deadline = None if seconds is None else monotonic() + seconds
    items = run.open(source, window)
    try:
        for item in items:
            if item is not None:
                yield item
            elif deadline is None:
                run.wait()
            elif not run.wait(max(0.0, deadline - monotonic())):
                raise TimeoutError(f"no end after {seconds} seconds: {source!r}")
    except RuntimeError as error:
        unwrapped = unwrap_stop(error)
        if unwrapped is error:
            raise
        raise as_runtime_error(unwrapped) from unwrapped
    finally:
        close(items)
        run.end()


def as_runtime_error(error: BaseException) -> BaseException:
    """A StopIteration cannot leave a generator; where one must be raised from one, it travels as RuntimeError's cause."""
    if isinstance(error, StopIteration):
        return RuntimeError("a function in the pipeline raised StopIteration")
    return error
