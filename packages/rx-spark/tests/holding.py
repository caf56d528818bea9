"""Functions that hold a task at one of its items until the test lets it go, and note which tasks there were.

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
    """Passes items on; stops at the one whose ``id`` is ``at``, as long as there is no file ``go``.

    ``tasks`` has a file for each attempt of each task that came here: stage, partition, attempt and process id.
    """

    folder: Path
    at: int

    def __call__(self, item: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        note = self.folder / f"task-{context.stageId()}-{context.partitionId()}-{context.taskAttemptId()}-{os.getpid()}"
        if not note.exists():
            note.touch()
        if _number(item) == self.at and not (self.folder / "go").exists():
            (self.folder / f"reached-{os.getpid()}").touch()
            for _ in range(int(PATIENCE / TICK)):
                if (self.folder / "go").exists():
                    break
                Event().wait(TICK)
        return item

    # --- the test's side ----------------------------------------------------------------------------------------------

    def reached(self) -> list[int]:
        """The Python workers that are being held."""
        return [int(file.name.partition("-")[2]) for file in self.folder.glob("reached-*")]

    def go(self) -> None:
        (self.folder / "go").touch()

    def tasks(self) -> list[tuple[int, int]]:
        """(stage, partition) of each attempt. A task that ran again is there twice."""
        names = [file.name.split("-") for file in self.folder.glob("task-*")]
        return [(int(stage), int(partition)) for _, stage, partition, *_ in names]


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


def _number(item: Any) -> int:
    return int(item if isinstance(item, int) else item.id)
