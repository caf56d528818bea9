"""Arrivals: sources whose signals count when they come, whatever is wanted downstream at that moment.

Operators that look at the clock cannot leave an item in a queue until somebody polls it. They are told of it on the thread that
sends it, write down what matters of it (the newest item, say), and the run acts on that. What is written down is published in one
atomic step of a dict or deque, and the run is woken afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Generic, TypeVar

from rx_core import Disposable, Items, MissingBackpressureError, PolicyInbox, Publisher, Run, Scheduler, Worker, user_call

T = TypeVar("T")


def arrivals(run: Run, source: Publisher[T], arrived: Callable[[T], object]) -> Items[Any]:
    """Subscribe to ``source``, ask it for everything, and call ``arrived`` with each item on the thread that sends it.

    What is returned gives None while the source goes on, ends when it is complete and raises its error. No item waits in it.
    Close it to cancel.
    """
    return admitted(run, PolicyInbox(run, partial(_tell, arrived)), source)


def _tell(arrived: Callable[[T], object], _inbox: PolicyInbox[T], item: T) -> None:
    arrived(item)


def admitted(run: Run, inbox: PolicyInbox[T], source: Publisher[T]) -> Items[T]:
    """The items that the policy of ``inbox`` lets through."""
    run.own(inbox)
    inbox.subscribe_later(source)  # a synchronous source sends all it has, and the run has to be free to act on that
    return inbox.stream()


def wanted(run: Run, operator: str, item: T) -> T:
    """``item``, if somebody asked for one: what comes at its own time cannot wait for a request."""
    if not run.outstanding:
        raise MissingBackpressureError(f"{operator}() had an element to give and nobody had requested it")
    return item


def own_worker(run: Run, scheduler: Scheduler) -> Worker:
    """The worker of one run, given back with it."""
    worker = scheduler.create_worker()
    run.own(worker)
    return worker


def giving_back(run: Run, resource: Disposable, items: Iterator[T]) -> Iterator[T]:
    """``items``, and what they needed given back when they are over: the run may go on with other sources for long."""
    try:
        yield from items
    finally:
        run.disown(resource)
        resource.dispose()


class Bell:
    """Says that something happened, as often as it happens; the run looks when it gets to it. Holds nothing."""

    __slots__ = ("_run", "_rung")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rung: deque[None] = deque(maxlen=1)

    def ring(self, _cause: object = None, /) -> None:
        """Thread-safe."""
        self._rung.append(None)
        self._run.poke()

    def __bool__(self) -> bool:
        return bool(self._rung)

    def answer(self) -> bool:
        """Whether it rang since the last answer; for the run's owner."""
        if self._rung:
            self._rung.pop()
            return True
        return False


class Beat:
    """Calls ``action`` on a worker at a fixed rate: a late call does not delay the next."""

    __slots__ = ("_action", "_count", "_period", "_start", "_worker")

    def __init__(self, worker: Worker, initial: float, period: float, action: Callable[[], object]) -> None:
        self._worker, self._period, self._action = worker, period, action
        self._count = 0
        self._start = worker.now() + initial
        worker.schedule(self._beat, initial)

    def _beat(self) -> None:
        self._count += 1
        due = self._start + self._count * self._period
        self._worker.schedule(self._beat, max(0.0, due - self._worker.now()))
        self._action()


class Held(Generic[T]):
    """An item that is either given or dropped: who takes it has it, everybody else finds nothing."""

    __slots__ = ("_cell", "due")

    def __init__(self, item: T) -> None:
        self._cell = {0: item}
        #: Its time has come. Set on the thread of the clock.
        self.due = False

    def take(self) -> T | None:
        return self._cell.pop(0, None)

    @property
    def waits(self) -> bool:
        """Whether nobody took it yet."""
        return bool(self._cell)


class Newest(Generic[T]):
    """The newest item of a source. The source's thread puts, the run takes; what was replaced goes to ``on_drop``."""

    __slots__ = ("_on_drop", "_operator", "held")

    def __init__(self, operator: str, on_drop: Callable[[T], object] | None) -> None:
        self._operator = operator
        self._on_drop = on_drop
        self.held: Held[T] | None = None

    def put(self, item: T, overtaken: Callable[[T], object] | None = None) -> Held[T]:
        """Put ``item``. One that was due, and that the run had no time for yet, goes to ``overtaken`` if that is given."""
        made = Held(item)
        before, self.held = self.held, made
        replaced = None if before is None else before.take()
        if before is not None and replaced is not None:
            if before.due and overtaken is not None:
                overtaken(replaced)
            elif self._on_drop is not None:
                user_call(self._operator, self._on_drop, replaced)
        return made

    def take(self) -> T | None:
        return None if self.held is None else self.held.take()

    @property
    def waits(self) -> bool:
        """Whether there is an item to take."""
        return self.held is not None and self.held.waits
