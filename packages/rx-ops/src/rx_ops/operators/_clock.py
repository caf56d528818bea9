"""What operators that look at a clock share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import DISPOSED

if TYPE_CHECKING:
    from rx_core import Disposable, Worker
    from rx_core.streams import Op


class Periodic:
    """Calls ``action`` on a worker at a fixed rate, until the worker is disposed: a late call does not delay the next.

    As in RxJava the next call is scheduled behind this one: what ``action`` schedules for the same instant comes first.
    """

    __slots__ = ("action", "count", "op", "period", "start", "worker")

    op: Op[Any]
    worker: Worker
    period: float
    action: Callable[[], object]
    #: When the first call is due, and how many calls there were.
    start: float
    count: int

    def __init__(self, op: Op[Any], worker: Worker, initial: float, period: float, action: Callable[[], object]) -> None:
        self.op = op
        self.worker = worker
        self.period = period
        self.action = action
        self.start = worker.now() + initial
        self.count = 0
        scheduled(op, worker, self.run, initial)

    def run(self) -> None:
        self.action()
        self.count += 1
        due = self.start + self.count * self.period
        scheduled(self.op, self.worker, self.run, max(0.0, due - self.worker.now()))


def scheduled(op: Op[Any], worker: Worker, action: Callable[[], object], seconds: float = 0.0) -> Disposable:
    """``worker.schedule`` for ``op``, which ends with an error where the worker takes no action: else it would wait for ever."""
    try:
        made = worker.schedule(action, seconds)
    except Exception as error:
        op.end_with(error)
        return DISPOSED
    if made is DISPOSED:
        op.end_with(shut_down(worker))
    return made


def shut_down(worker: Worker) -> RuntimeError:
    """The error for a worker that takes no action although it was not disposed."""
    return RuntimeError(f"{worker!r} was shut down while a stream was running on it")
