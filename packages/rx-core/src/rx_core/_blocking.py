"""Running a pipeline on the thread that wants its items: no subscriber, no queue of our own, a lock to wait on.

``for x in flow`` and the ``blocking_*`` terminals poll the pipeline's generator directly and sleep only where it says "nothing
now". User functions run on the waiting thread.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, Final, TypeVar

from rx_core._demand import UNBOUNDED
from rx_core._protocols import Publisher
from rx_core._run import NOTHING, Items, Openable, Run, close
from rx_core._user_code import unwrap_stop

T = TypeVar("T")


#: How many actions that were put off may run inside one another.
_DEEPEST = 4

#: Stays empty: most runs never put anything off, and there may be one for each of many short streams.
_NONE_YET: Final[deque[Any]] = deque()


class BlockingRun(Run):
    """The run of a thread that waits. ``demand`` is what a source that must be asked is asked for at a time.

    A source that sends while this thread subscribes to it finds the run free: each item is pulled through at once and kept in
    ``ready``, so that a pipeline which has enough stops the source. The thread gives them away when it is back.
    """

    __slots__ = (
        "_acting",
        "_deadline",
        "_demand",
        "_dirty",
        "_enough",
        "_keep",
        "_later",
        "_pulling",
        "_seconds",
        "_signal",
        "_stopped",
        "_thread",
        "cancelled",
        "failure",
        "items",
        "pipeline",
        "ready",
    )

    def __init__(
        self,
        demand: int = UNBOUNDED,
        origin: object = None,
        *,
        keep: int = UNBOUNDED,
        seconds: float | None = None,
        enough: int = UNBOUNDED,
    ) -> None:
        self.last = False
        self._owned = {}
        self._after = []
        self.pipeline = self if origin is None else origin
        self.cancelled = False
        #: What runs, the items it gave while this thread was with a source, and what it failed with then.
        self.items: Items[Any] = NOTHING
        self.ready: deque[Any] = _NONE_YET
        self.failure: BaseException | None = None
        self._demand = demand
        self._keep = keep
        self._enough = enough
        self._stopped = False
        self._seconds = seconds
        self._deadline = None if seconds is None else monotonic() + seconds
        self._dirty = False
        self._later: deque[Callable[[], object]] = _NONE_YET
        self._acting: list[Callable[[], object]] = []
        self._thread = 0
        self._pulling = False
        self._signal = threading.Lock()
        self._signal.acquire()
        if seconds is not None:
            self.__class__ = _TimedRun

    @property
    def root(self) -> BlockingRun:
        return self

    @property
    def demand(self) -> int:
        return self._demand

    def _waits_outside(self, source: Any) -> bool:
        # What is behind it may send more than is asked for, and wait for that somewhere else. What only iterates does not.
        return self._enough == 1 or self._seconds is not None or not getattr(source, "_rx_iterates", False)

    def wake(self) -> None:
        if not self._dirty:
            self._dirty = True
            try:
                self._signal.release()
            except RuntimeError:
                pass  # released already and not yet taken: one signal is enough
        if self._acting and self._thread == threading.get_ident():
            self._pull()

    poke = wake

    def later(self, action: Callable[[], object], /) -> None:
        if self._later is _NONE_YET:
            self._later = deque()
        self._later.append(action)
        self.wake()

    def wait(self) -> None:
        """Sleep until something was published since the last wait. TimeoutError when the time is over."""
        self._act()
        while not self._dirty:
            if self._deadline is None:
                self._signal.acquire()
            elif not self._signal.acquire(timeout=max(0.0, self._deadline - monotonic())):
                raise self._too_late()
        self._dirty = False  # before polling: what arrives from here on raises it again

    def _act(self) -> None:
        """Do what was put off. Further down the stack one source may wait for another, but not for a chain without end."""
        acting = self._acting
        if len(acting) == _DEEPEST or (acting and not getattr(acting[-1], "lets_others_in", True)):
            return
        left = len(self._later) if acting else UNBOUNDED
        while self._later and left:
            if self.ready and not acting:
                return  # it is this thread's turn
            left -= 1
            action = self._later.popleft()
            acting.append(action)
            self._thread = threading.get_ident()
            try:
                action()
            finally:
                acting.pop()
            self.wake()  # who put it off goes on

    def _pull(self) -> None:
        """A source sends on this very thread. Its item goes through the pipeline now, and the end of that stops the source."""
        if self._pulling:
            return  # further up the stack; it looks again
        if self.is_cancelled:  # meanwhile, by the clock
            self.release()
            return
        self._pulling = True
        try:
            while self._dirty and not self.cancelled and len(self.ready) < self._keep:
                self._dirty = False
                for item in self.items:
                    if item is None:
                        break
                    if self.ready is _NONE_YET:
                        self.ready = deque()
                    self.ready.append(item)
                    if len(self.ready) >= self._enough:
                        self._stop(None)
                        break
                    if len(self.ready) >= self._keep:
                        self._dirty = True  # who iterates looks again
                        break
                else:
                    self._stop(self.failure)
                if self._deadline is not None and monotonic() > self._deadline:
                    self._stop(self._too_late())
        except BaseException as error:  # raised where somebody iterates, and not through the source
            self._stop(error)
        finally:
            self._pulling = False
        if self._later and not self.cancelled and len(self.ready) < self._keep:
            self._act()

    def _stop(self, failure: BaseException | None) -> None:
        self.failure = failure
        self.cancelled = True
        close(self.items)
        self.release()

    def _too_late(self) -> TimeoutError:
        return TimeoutError(f"no end after {self._seconds} seconds: {self.pipeline!r}")

    def end(self) -> None:
        self.cancelled = True
        if self._owned:
            self.release()
        if self._after:
            self.finalize()


class _TimedRun(BlockingRun):
    """With a time limit, which everybody keeps who looks whether somebody still listens: a stream may be busy for ever with items
    of which none comes to who waits.
    """

    __slots__ = ()

    def dropped_one(self) -> None:
        if self._thread == threading.get_ident() and self.cancelled:
            self.release()

    @property
    def cancelled(self) -> bool:
        deadline = self._deadline
        if not self._stopped and deadline is not None and monotonic() > deadline:
            self._stopped = True
            self.failure = self._too_late()
        return self._stopped

    @cancelled.setter
    def cancelled(self, value: bool) -> None:
        self._stopped = value


class Waiting:
    """A thread that waits for items, before and while it needs a run.

    Most streams that somebody iterates never wait for anything: for them no :class:`BlockingRun` is made. One that may have to
    is given ``run`` and yields None where it has nothing now.
    """

    __slots__ = ("_demand", "_enough", "_keep", "_origin", "_run", "_seconds", "gives_one", "items")

    def __init__(
        self,
        demand: int = UNBOUNDED,
        origin: object = None,
        keep: int = UNBOUNDED,
        seconds: float | None = None,
        enough: int = UNBOUNDED,
    ) -> None:
        self._demand = demand
        self._origin = origin
        self._keep = keep
        self._seconds = seconds
        self._enough = enough
        self._run: BlockingRun | None = None
        #: What gives the items.
        self.items: Items[Any] = NOTHING
        #: There is one item at most, and nothing is done after it: to go on to the end is cheaper than to leave.
        self.gives_one = False

    @property
    def run(self) -> BlockingRun:
        run = self._run
        if run is None:
            run = BlockingRun(self._demand, self._origin, keep=self._keep, seconds=self._seconds, enough=self._enough)
            run.items = self.items
            self._run = run
        return run

    def open(self, source: Publisher[T] | Openable[T], window: int) -> Items[T]:
        """Start ``source`` in the run: its items, which are those of this as well."""
        run = self.run
        items = self.items = run.items = run.open(source, window)
        return items

    def check(self) -> None:
        """Raise what stopped the run while this thread was with a source."""
        if self._run is not None and self._run.failure is not None:
            raise self._run.failure

    def end(self) -> None:
        close(self.items)
        if self._run is not None:
            self._run.end()


def blocking_items(
    source: Publisher[T] | Openable[T], window: int, demand: int, seconds: float | None = None, keep: int = UNBOUNDED
) -> Iterator[T]:
    """Iterate ``source`` on this thread. Leaving the loop early cancels it.

    ``window`` bounds what waits at a boundary. With ``seconds`` the whole iteration has to be over in time: TimeoutError. While
    a source sends on this very thread, no further one is begun when ``keep`` items wait for whoever iterates.
    """
    return waited_for(Waiting(demand, source, keep=keep, seconds=seconds), source, window)


def waited_for(waiting: Waiting, source: Publisher[T] | Openable[T] | None = None, window: int = 0) -> Iterator[T]:
    """The items one by one. They are those of ``source``, started with the first of them, or what ``waiting`` has already."""
    try:
        for item in waiting.items if source is None else waiting.open(source, window):
            if item is not None:
                yield item
            else:
                run = waiting.run
                run.wait()
                while run.ready:
                    yield run.ready.popleft()
        waiting.check()
    except RuntimeError as error:
        unwrapped = unwrap_stop(error)
        if unwrapped is error:
            raise
        raise as_runtime_error(unwrapped) from unwrapped
    finally:
        waiting.end()


def first_waited_for(waiting: Waiting, source: Publisher[T] | Openable[T] | None = None, window: int = 0) -> T | None:
    """The first item, as :func:`waited_for`, or None where there is none. The rest is cancelled, and not waited for where it is
    sent on this very thread."""
    try:
        items: Items[T] = waiting.items if source is None else waiting.open(source, window)
        for item in items:
            if item is not None:
                if waiting.gives_one:
                    next(items, None)
                    waiting.items = NOTHING
                return item
            run = waiting.run
            run.wait()
            if run.ready:
                first: T = run.ready.popleft()
                return first
        waiting.check()
        return None
    finally:
        waiting.end()


def as_runtime_error(error: BaseException) -> BaseException:
    """A StopIteration cannot leave a generator; where one must be raised from one, it travels as RuntimeError's cause."""
    if isinstance(error, StopIteration):
        return RuntimeError("a function in the pipeline raised StopIteration")
    return error
