"""What Spark counted while it ran a job: of its own status store, never by looking at the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILES: Final = "number of written files"


def numbers_of(session: SparkSession, tag: str) -> tuple[int, int, int]:
    """Files, rows and bytes that the jobs with a tag have written."""
    own: Any = session
    context: Any = session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()  # what is told of tasks comes later than their end
    jobs = set(context.statusTracker().getJobIdsForTag(tag))
    rows = size = 0
    for job in jobs:
        info = context.statusTracker().getJobInfo(job)
        for stage in info.get().stageIds() if info.isDefined() else ():
            data = context.statusStore().lastStageAttempt(stage)
            rows += data.outputRecords()
            size += data.outputBytes()
    return _files(own._jsparkSession.sharedState().statusStore(), jobs), rows, size


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
