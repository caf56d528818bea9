"""What the tests of rails share: schedulers and pools that are driven by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rx_core import Answer, ProcessPool, RemoteCalls, Scheduler, Worker
from rx_testing import VirtualScheduler


def double(item: int) -> int:
    return item * 2


def failing_at(*bad: int) -> Callable[[int], int]:
    def mapper(item: int) -> int:
        if item in bad:
            raise ValueError(item)
        return item

    return mapper


class Several(Scheduler):
    """Workers of several clocks, one after the other."""

    def __init__(self, *clocks: VirtualScheduler) -> None:
        self.clocks = list(clocks)

    def create_worker(self) -> Worker:
        return self.clocks.pop(0).create_worker()

    def now(self) -> float:
        return 0.0

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True


class ByHand(ProcessPool):
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.rails: list[HandCalls] = []

    def connect(self, function: Callable[[list[Any]], Any], answered: Callable[[Answer], object], /) -> RemoteCalls:
        made = HandCalls(function, answered)
        self.rails.append(made)
        return made

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True


class HandCalls(RemoteCalls):
    def __init__(self, function: Callable[[list[Any]], Any], answered: Callable[[Answer], object]) -> None:
        self.function = function
        self.answered = answered
        self.sent: list[list[Any]] = []
        self.closed = 0

    def send(self, items: list[Any], /) -> None:
        self.sent.append(items)

    def close(self) -> None:
        self.closed += 1

    def answer(self, seconds: float = 0.0) -> None:
        items = self.sent.pop(0)
        self.answered(Answer(list(self.function(items)), None, len(items), seconds))
