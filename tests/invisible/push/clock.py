"""Virtual time, in whole milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class Task:
    """Something to be done at a time; among tasks of one time the first planned comes first."""

    def __init__(self, time: int, number: int, action: Callable[[], None]) -> None:
        self.time, self.number, self.action = time, number, action
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Clock:
    def __init__(self) -> None:
        self.now = 0
        self.tasks: list[tuple[int, int, Task]] = []
        self.planned = 0

    def after(self, delay: int, action: Callable[[], None]) -> Task:
        self.planned += 1
        task = Task(self.now + max(0, delay), self.planned, action)
        heappush(self.tasks, (task.time, task.number, task))
        return task

    def every(self, first: int, period: int, action: Callable[[], None]) -> Task:
        """At a fixed rate; the next time is planned when the action is through."""
        start = self.now
        count = 0
        regular = Task(0, 0, action)  # stands for all of them

        def tick() -> None:
            nonlocal count
            if not regular.cancelled:
                action()
            if not regular.cancelled:
                count += 1
                self.after(start + first + count * period - self.now, tick)

        self.after(first, tick)
        return regular

    def advance_to(self, time: int) -> None:
        while self.tasks and self.tasks[0][0] <= time:
            _, _, task = heappop(self.tasks)
            if not task.cancelled:
                self.now = task.time
                task.action()
        self.now = time
