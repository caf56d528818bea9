"""How far an ordered job has come: which of its blocks tasks have finished, and which are left for others.

A task that waits for demand may be asked to leave its slot to another. The blocks that it has not finished are then read by the
tasks of a further Spark job, in which the source is cut anew: a *round*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Remaining:
    """Blocks to read: some by their numbers, and behind them all from ``tail`` to ``total``."""

    holes: tuple[int, ...]
    tail: int
    total: int

    def __len__(self) -> int:
        return len(self.holes) + max(0, self.total - self.tail)

    def of_task(self, task: int, tasks: int) -> Iterator[int]:
        """The blocks of one of several tasks, in rising order; all tasks are busy near the same place of the source."""
        yield from self.holes[task::tasks]
        # The task behind the one with the last hole has the first block of the tail.
        yield from range(self.tail + (task - len(self.holes)) % tasks, self.total, tasks)


def all_blocks(total: int) -> Remaining:
    return Remaining((), 0, total)


class Finished:
    """The blocks that are finished: all before ``first``, and some behind it.

    Memory: the numbers of blocks that are finished ahead of one that is not, a few for each task.
    """

    __slots__ = ("_ahead", "first")

    def __init__(self) -> None:
        self.first = 0
        self._ahead: set[int] = set()

    def add(self, block: int) -> None:
        self._ahead.add(block)
        while self.first in self._ahead:
            self._ahead.remove(self.first)
            self.first += 1

    def remaining(self, total: int) -> Remaining:
        tail = max(self._ahead, default=self.first - 1) + 1
        return Remaining(tuple(block for block in range(self.first, tail) if block not in self._ahead), tail, total)
