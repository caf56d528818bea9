"""What the jobs of a source did, for progress, tests and reports."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from rx_ops import Flowable
from rx_spark._jobs._progress import Counts, Progress, RunCounts, total

if TYPE_CHECKING:
    from rx_core import Scheduler
    from rx_spark._jobs._job import SparkJob


class JobStats:
    """Counts the jobs of the sources and writers it is given to: ``rx_spark.range(10, stats=stats)``.

    Readable at any time, from any thread; one object may serve several sources, and a run is counted when it begins.
    A copy in another process starts empty. What Spark counts is in :meth:`snapshot`, and again and again in :meth:`progress`.
    """

    __slots__ = ("_counts", "_ended", "_lock", "_max_buffered", "_running", "_spilled", "elements", "jobs")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[SparkJob, None] = {}
        self._max_buffered = self._spilled = 0
        self._counts: list[RunCounts] = []  # of runs that may not be over
        self._ended: Counts = {}
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

    def snapshot(self) -> Progress:
        """How far the jobs are, as Spark's status store says. Blocks for some milliseconds per job that is under way.

        With the result of a writer, or of a job of columns, the numbers of that job are complete. Items that come back may all be
        here before Spark has counted its tasks: the last item of :meth:`progress` is of the end.
        """
        with self._lock:
            counts = list(self._counts)
        found = [(each, each.over, each.read()) for each in counts]  # not under the lock: Spark is asked
        with self._lock:
            for each, over, numbers in found:
                if over and each in self._counts:
                    self._counts.remove(each)
                    self._ended = total([self._ended, numbers])
            left = [numbers for each, _, numbers in found if each in self._counts]
            known = total([self._ended, *left])
            return Progress(**known | {"jobs": self.jobs, "running": len(self._counts)})

    def progress(self, seconds: float = 0.5, *, scheduler: Scheduler | None = None) -> Flowable[Progress]:
        """How far the jobs are, at once and then every ``seconds``, until there was a run and none is under way.

        The last one has the numbers of the end. It comes with the next tick, so up to ``seconds`` after that end. A stats object
        whose runs are over gives one and completes: take a new one for what is started later.

        ::  --(tasks_done=0)--(tasks_done=3)--(tasks_done=8)|

        Demand:  the newest is given when it is requested; Spark is not asked for what is not requested.
        Errors:  ValueError or TypeError at assembly for a bad duration. None of the jobs': the stream of the job has those.
        Memory:  none.   Thread: a worker of ``scheduler`` (default: computation), which waits milliseconds for Spark's answer.
        Fusion:  source that pushes.
        Source:  RxJava ``interval``; Spark's status store, which its own pages and progress bar show.
        """
        ticks = Flowable.interval(seconds, initial=0.0, scheduler=scheduler)
        return ticks.on_backpressure_latest().map(lambda _: self.snapshot()).take_until(predicate=lambda now: now.over)

    def begin(self, job: SparkJob, /) -> None:
        job.counts = counts = RunCounts()
        with self._lock:
            self._counts.append(counts)
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


def check_stats(name: str, stats: object) -> None:
    """TypeError for what is no stats object."""
    if stats is not None and not isinstance(stats, JobStats):
        raise TypeError(f"{name}(stats={stats!r}): a JobStats is needed.\n  Right:  stats = JobStats()")
