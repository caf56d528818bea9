"""How far jobs are: numbers of Spark's status store, at a moment, and for one run those of its end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rx_spark._plans._status import Status
from rx_spark._transport._sink import Tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What the jobs of a :class:`JobStats` have done at a moment. Spark counts; no function of a pipeline is asked.

    A run is one Spark job or several: adaptive execution makes one of each stage when it comes to it, so ``tasks`` and ``stages``
    grow while a run is under way. Rows and bytes are those that Spark's own readers, writers and shuffles count: of ``text``,
    ``range`` and ``from_iterable`` Spark reads a row for each task, and Python the rest. What had to be done twice, because an
    executor was lost, is counted twice. A task's numbers come when it ends, and every 10 seconds before
    (``spark.executor.heartbeatInterval``).
    """

    #: Runs that were started, and those that are under way.
    jobs: int = 0
    running: int = 0
    stages: int = 0
    stages_done: int = 0
    tasks: int = 0
    tasks_done: int = 0
    tasks_running: int = 0
    #: Attempts that failed; Spark has started another one for each, unless the job failed.
    tasks_failed: int = 0
    rows_read: int = 0
    bytes_read: int = 0
    rows_written: int = 0
    bytes_written: int = 0
    rows_shuffled: int = 0
    bytes_shuffled: int = 0
    #: Bytes that sorts and aggregates moved out of memory, as they were there and as they are on disk.
    memory_spilled: int = 0
    disk_spilled: int = 0

    @property
    def over(self) -> bool:
        """Whether there was a run, and none is under way."""
        return self.jobs > 0 and self.running == 0


#: Seconds that the end of a run waits for Spark to know of it. It takes some milliseconds, unless Spark is very busy.
PATIENCE: Final = 2.0
Counts: TypeAlias = dict[str, int]
_FROM_STAGES: Final = {
    "rows_read": "inputRecords",
    "bytes_read": "inputBytes",
    "rows_written": "outputRecords",
    "bytes_written": "outputBytes",
    "rows_shuffled": "shuffleWriteRecords",
    "bytes_shuffled": "shuffleWriteBytes",
    "memory_spilled": "memoryBytesSpilled",
    "disk_spilled": "diskBytesSpilled",
}


def total(parts: list[Counts]) -> Counts:
    return {each.name: sum(part.get(each.name, 0) for part in parts) for each in fields(Progress)}


class RunCounts:
    """What Spark says of one run. Its thread says when the run begins and when it is over; any thread reads.

    Nothing happens in between, unless it is read: then Spark's store is asked. At the end it is asked once more, because Spark
    forgets old jobs, and all of them when its session stops.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: tuple[Status, str] | None = None
        self._counts: Counts = {}
        self.over = False

    def begin(self, session: SparkSession, tag: str) -> None:
        self._asked = Status(session), tag

    def end(self) -> None:
        """The run is over: the numbers stay as they are now. Any further call does nothing."""
        if self.over:
            return
        asked = self._asked
        if asked is not None:
            try:
                asked[0].settle(PATIENCE)
            except Exception:
                pass  # Spark is too busy to say, or gone: what is known will do
            self._look(*asked)
        with self._lock:
            self.over = True

    def read(self) -> Counts:
        asked = self._asked
        if asked is not None and not self.over:
            self._look(*asked)
        return self._counts

    def _look(self, status: Status, tag: str) -> None:
        try:
            found = _counted(status, tag)
        except Exception:
            return  # the session has stopped
        with self._lock:
            if not self.over:
                self._counts = found


def _counted(status: Status, tag: str) -> Counts:
    jobs = [status.job(job) for job in status.jobs(tag)]
    stages = {(each["stageId"], each["attemptId"]): each for job in jobs for each in status.attempts(job)}
    of_stages = {name: sum(each[theirs] for each in stages.values()) for name, theirs in _FROM_STAGES.items()}
    return total([of_stages, *map(_of_job, jobs)])


def _of_job(job: dict[str, Any]) -> Counts:
    tasks = job["numTasks"] - job["numSkippedTasks"]  # skipped: another job has done them
    stages = len(job["stageIds"]) - job["numSkippedStages"]
    return {
        "stages": stages,
        "stages_done": min(stages, job["numCompletedStages"]),
        "tasks": tasks,
        "tasks_done": min(tasks, job["numCompletedTasks"]),  # more where a stage ran again
        "tasks_running": job["numActiveTasks"],
        "tasks_failed": job["numFailedTasks"],
    }


def tasks_of(session: SparkSession, tag: str) -> Tasks:
    """How many tasks of the jobs with a tag run, and how many are left to run. Raises when the session has stopped.

    The answer may be some seconds old in a session that the application has made (``spark.ui.liveUpdate.period``).
    """
    status = Status(session)
    attempts = [each for job in status.jobs(tag) for each in status.attempts(status.job(job))]
    under_way = [each for each in attempts if each["status"] in ("ACTIVE", "PENDING")]
    running = sum(each["numActiveTasks"] for each in under_way)
    return Tasks(running, sum(each["numTasks"] - each["numCompleteTasks"] for each in under_way) - running)
