"""What Spark counted while it ran a job: of its own status store, never by looking at the data."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILES: Final = "number of written files"
#: Seconds. A task that is being stopped ends with its Python worker, mostly at once.
SETTLING: Final = 10.0


def numbers_of(session: SparkSession, tag: str) -> tuple[int, int, int]:
    """Files, rows and bytes that the jobs with a tag have written."""
    own: Any = session
    context: Any = session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()  # what is told of tasks comes later than their end
    jobs = set(context.statusTracker().getJobIdsForTag(tag))
    stages = [data for job in jobs for data in _stages(context, job)]
    rows = sum(data.outputRecords() for data in stages)
    size = sum(data.outputBytes() for data in stages)
    return _files(own._jsparkSession.sharedState().statusStore(), jobs), rows, size


def wait_for_tasks(session: SparkSession, tag: str) -> bool:
    """Until no task of the jobs with a tag runs any more; SETTLING seconds at most. Blocks. False: there was no such job."""
    context: Any = session.sparkContext._jsc.sc()
    deadline = monotonic() + SETTLING
    while True:
        context.listenerBus().waitUntilEmpty()
        jobs = list(context.statusTracker().getJobIdsForTag(tag))
        running = any(data.numActiveTasks() for job in jobs for data in _stages(context, job))
        if not running or monotonic() > deadline:
            return bool(jobs)
        sleep(0.02)


def _stages(context: Any, job: int) -> list[Any]:
    """What is known of each stage of a job."""
    info = context.statusTracker().getJobInfo(job)
    return [context.statusStore().lastStageAttempt(stage) for stage in info.get().stageIds()] if info.isDefined() else []


def _files(store: Any, jobs: set[int]) -> int:
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
    values = dict(_jvm().scala.jdk.javaapi.CollectionConverters.asJava(store.executionMetrics(execution.executionId())))
    metrics = execution.metrics()
    named = [metrics.apply(at) for at in range(metrics.size())]
    found = [values.get(metric.accumulatorId()) for metric in named if metric.name() == name]
    # Adaptive execution plans several times, and only the last plan has run.
    return max((int(text.replace(",", "")) for text in found if text), default=0)
