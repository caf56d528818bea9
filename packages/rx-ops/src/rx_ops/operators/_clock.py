"""What operators that look at a clock share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rx_core import Worker

#: Seconds by which sums and differences of floats may miss the instant that is meant (0.1 + 0.2 is more than 0.3).
ROUNDING: Final = 1e-9


class Periodic:
    """Calls ``action`` on a worker at a fixed rate, until the worker is disposed: a late call does not delay the next.

    As in RxJava the next call is scheduled behind this one: what ``action`` schedules for the same instant comes first.
    """

    __slots__ = ("action", "count", "period", "start", "worker")

    worker: Worker
    period: float
    action: Callable[[], object]
    #: When the first call is due, and how many calls there were.
    start: float
    count: int

    def __init__(self, worker: Worker, initial: float, period: float, action: Callable[[], object]) -> None:
        self.worker = worker
        self.period = period
        self.action = action
        self.start = worker.now() + initial
        self.count = 0
        worker.schedule(self.run, initial)

    def run(self) -> None:
        self.action()
        self.count += 1
        due = self.start + self.count * self.period
        self.worker.schedule(self.run, max(0.0, due - self.worker.now()))


def shut_down(worker: Worker) -> RuntimeError:
    """The error for a worker that takes no action although it was not disposed."""
    return RuntimeError(f"{worker!r} was shut down while a stream was running on it")
