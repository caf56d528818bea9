"""Arrivals: sources whose signals count when they come, whatever is wanted downstream at that moment.

Operators that look at the clock cannot leave an item in a queue until somebody polls it. They are told of it on the thread that
sends it, write down what matters of it (the newest item, say), and the run acts on that. What is written down is published in one
atomic step of a dict or deque, and the run is woken afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from rx_core import Disposable, Items, MissingBackpressureError, PolicyInbox, Publisher, Run, Scheduler, Worker

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
