"""Virtual time, in whole milliseconds."""

from __future__ import annotations

from collections.abc import Callable


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
        self.tasks: list[Task] = []
        self.planned = 0

    def after(self, delay: int, action: Callable[[], None]) -> Task:
        self.planned += 1
        task = Task(self.now + delay, self.planned, action)
        self.tasks.append(task)
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
        while due := [task for task in self.tasks if task.time <= time]:
            task = min(due, key=lambda task: (task.time, task.number))
            self.tasks.remove(task)
            if not task.cancelled:
                self.now = task.time
                task.action()
        self.now = time
