"""What Spark counted while it ran a job that writes: of its own status store, never by looking at the data."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from rx_spark._java_classes import java_class
from rx_spark._plans._status import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILES: Final = "number of written files"
#: Seconds. A task that is being stopped ends with its Python worker, mostly at once.
SETTLING: Final = 10.0


def numbers_of(session: SparkSession, tag: str) -> tuple[int, int, int]:
    """Files, rows and bytes that the jobs with a tag have written.

    Files are those that the write command says in Spark's plan. Its rows are a number too, but its bytes are text for readers
    ("5.3 KiB"), and a database has no such command. So these two are of the tasks, in all attempts of their stages: a task counts
    what it wrote once that is committed, and of the attempts of one task Spark lets one commit.
    """
    own: Any = session
    status = Status(session)
    status.settle()
    jobs = status.jobs(tag)
    attempts = {(each["stageId"], each["attemptId"]): each for job in jobs for each in status.attempts(status.job(job))}
    rows = sum(each["outputRecords"] for each in attempts.values())
    size = sum(each["outputBytes"] for each in attempts.values())
    return _files(own._jsparkSession.sharedState().statusStore(), jobs), rows, size


def wait_for_tasks(session: SparkSession, tag: str) -> bool:
    """Until no task of the jobs with a tag runs any more; SETTLING seconds at most. Blocks. False: there was no such job."""
    status = Status(session)
    deadline = monotonic() + SETTLING
    while True:
        status.settle()
        jobs = status.jobs(tag)
        running = any(each["numActiveTasks"] for job in jobs for each in status.attempts(status.job(job)))
        if not running or monotonic() > deadline:
            return bool(jobs)
        sleep(0.02)


def _files(store: Any, jobs: list[int]) -> int:
    executions = store.executionsList()
    for at in range(executions.size() - 1, -1, -1):
        execution = executions.apply(at)
        if any(execution.jobs().contains(job) for job in jobs):
            return _metric(store, execution, _FILES)
    return 0


def _jvm() -> Any:
    from pyspark import SparkContext

    return SparkContext._jvm


def _metric(store: Any, execution: Any, name: str) -> int:
    # As a Java map, whose keys arrive here as numbers: a number sent there may become another type of number.
    converters = java_class(_jvm(), "scala.jdk.javaapi.CollectionConverters")
    values = dict(converters.asJava(store.executionMetrics(execution.executionId())))
    metrics = execution.metrics()
    named = [metrics.apply(at) for at in range(metrics.size())]
    found = [values.get(metric.accumulatorId()) for metric in named if metric.name() == name]
    # Adaptive execution plans several times, and only the last plan has run.
    return max((int(text.replace(",", "")) for text in found if text), default=0)
