"""Lines of rich's progress display, one for each run. Imported where rich is needed, because it is an extra."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final, Protocol

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

#: Ended lines that stay on the display while others are under way.
MOST_ENDED: Final = 20


class Counting(Protocol):
    """A run that is shown."""

    @property
    def items(self) -> int: ...


class Line:
    """The line of one run on a display."""

    __slots__ = ("bar", "run", "task", "title")

    def __init__(self, bar: Progress, run: Counting, title: str, total: int | None) -> None:
        self.bar = bar
        self.run = run
        self.title = title
        self.task = bar.add_task(escape(title), total=total)

    def show(self) -> None:
        self.bar.update(self.task, completed=self.run.items)

    def end(self, how: str) -> None:
        """``how`` it ended: "" where it completed."""
        items = self.run.items
        if how:
            self.bar.update(self.task, completed=items, description=escape(f"{self.title}, {how}"))
        else:
            self.bar.update(self.task, completed=items, total=items)
        self.bar.stop_task(self.task)


class Display:
    """The display that all runs share which are not shown on one of the user's: a terminal has room for one.

    It starts with the first run and stops with the last. rich's thread asks each run for its number ten times a second. It holds
    locks of rich's then, which adding, starting and stopping take too: so it may not take ours.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.bar: Progress | None = None
        #: Of runs under way; replaced as a whole, for the thread that reads it.
        self.lines: tuple[Line, ...] = ()
        self.ended: list[Line] = []

    def add(self, run: Counting, title: str, total: int | None) -> Line:
        with self.lock:
            if self.bar is None:
                self.bar = Asking(self)
                self.bar.start()
            line = Line(self.bar, run, title, total)
            self.lines += (line,)
            return line

    def refresh(self) -> None:
        for line in self.lines:
            try:
                line.show()
            except KeyError:  # ended meanwhile, and removed
                pass

    def end(self, line: Line, how: str) -> None:
        with self.lock:
            self.lines = tuple(other for other in self.lines if other is not line)
            self.ended.append(line)
            try:
                line.end(how)
                if len(self.ended) > MOST_ENDED:
                    first = self.ended.pop(0)
                    first.bar.remove_task(first.task)
            finally:
                bar = self.bar
                if not self.lines and bar is not None:
                    self.bar = None
                    self.ended = []
                    bar.stop()


class Asking(Progress):
    """Draws on standard error, and asks for the numbers each time before it does."""

    def __init__(self, display: Display) -> None:
        self.display = display
        columns = (BarColumn(), MofNCompleteColumn(), Rate(), TimeElapsedColumn(), TimeRemainingColumn())
        super().__init__(TextColumn("{task.description}"), *columns, console=Console(stderr=True))

    def get_renderables(self) -> Iterable[RenderableType]:
        self.display.refresh()
        yield from super().get_renderables()


class Rate(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s")


#: Of the process.
DISPLAY: Final = Display()
