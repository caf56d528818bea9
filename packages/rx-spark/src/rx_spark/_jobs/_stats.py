"""What the jobs of a source did, for progress, tests and reports."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rx_spark._jobs._job import SparkJob


class JobStats:
    """Counts the jobs of the sources it is given to: ``rx_spark.range(10, stats=stats)``.

    Readable at any time, from any thread; one object may serve several sources, and a run is counted when it begins.
    A copy in another process starts empty.
    """

    __slots__ = ("_lock", "_max_buffered", "_running", "_spilled", "elements", "jobs")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[SparkJob, None] = {}
        self._max_buffered = self._spilled = 0
        #: Jobs that were started.
        self.jobs = 0
        #: Items that came back from Spark in runs that are over.
        self.elements = 0

    @property
    def running(self) -> int:
        """Jobs that have neither ended nor been cancelled."""
        return len(self._running)

    @property
    def max_buffered(self) -> int:
        """The largest number of items that one job had in the driver's memory at a time."""
        with self._lock:
            return max(self._max_buffered, *(job.max_buffered for job in self._running), 0)

    @property
    def spilled(self) -> int:
        """Items that had to wait on disk."""
        with self._lock:
            return self._spilled + sum(job.spilled for job in self._running)

    def begin(self, job: SparkJob, /) -> None:
        with self._lock:
            self.jobs += 1
            self._running[job] = None

    def end(self, job: SparkJob, received: int, /) -> None:
        with self._lock:
            self._running.pop(job, None)
            self.elements += received
            self._max_buffered = max(self._max_buffered, job.max_buffered)
            self._spilled += job.spilled

    def __reduce__(self) -> tuple[type[JobStats], tuple[()]]:
        return JobStats, ()

    def __repr__(self) -> str:
        return (
            f"<JobStats jobs={self.jobs} running={self.running} elements={self.elements} "
            f"max_buffered={self.max_buffered} spilled={self.spilled}>"
        )
