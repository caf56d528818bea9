"""Functions that hold a task at one of its items until the test lets it go, and note whether the item comes again.

They talk through files: the test, the driver and the executors share a machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

PATIENCE = 120.0
TICK = 0.02


@dataclass(frozen=True)
class Held:
    """Passes items on; stops at the one whose ``id`` is ``at``, as long as there is no file ``go``."""

    folder: Path
    at: int

    def __call__(self, item: Any) -> Any:
        if _number(item) == self.at and (self.folder / "go").exists():
            (self.folder / f"again-{os.getpid()}").touch()
        elif _number(item) == self.at:
            (self.folder / f"reached-{os.getpid()}").touch()
            (self.folder / f"attempt-{_attempt()}").touch()
            for _ in range(int(PATIENCE / TICK)):
                if (self.folder / "go").exists():
                    break
                Event().wait(TICK)
        return item

    # --- the test's side ----------------------------------------------------------------------------------------------

    def reached(self) -> list[int]:
        """The Python workers that are being held."""
        return [int(file.name.partition("-")[2]) for file in self.folder.glob("reached-*")]

    def only_by_the_second(self) -> bool:
        """Whether the second attempt of the task has come to the item, and not the first."""
        return [file.name for file in self.folder.glob("attempt-*")] == ["attempt-1"]

    def go(self) -> None:
        (self.folder / "go").touch()

    def ran_again(self) -> bool:
        """Whether the item came once more: to another attempt, perhaps before the test had let it go, or in a further round."""
        return len(self.reached()) > 1 or any(self.folder.glob("again-*"))


@dataclass(frozen=True)
class Losing:
    """Passes items on. The first one to come here deletes the shuffle files of its executor, once: tasks that read them later
    fail, and Spark runs both stages again as far as that is needed.
    """

    done: Path

    def __call__(self, item: Any) -> Any:
        try:
            self.done.touch(exist_ok=False)
        except FileExistsError:
            return item
        for folder in os.environ["SPARK_LOCAL_DIRS"].split(","):
            for file in Path(folder).glob("*/shuffle_*.data"):
                file.unlink(missing_ok=True)
        return item


def until(condition: Callable[[], bool]) -> bool:
    """Whether a condition becomes true in time."""
    return any(condition() or Event().wait(TICK) for _ in range(int(PATIENCE / TICK)))


def _attempt() -> int:
    """Which attempt of its task this is, from 0 on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.attemptNumber()


def _number(item: Any) -> int:
    return int(item if isinstance(item, int) else item.id)
