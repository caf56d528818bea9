"""What Spark's scheduler says of a job while it runs: its tasks, and how many cores there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_spark._transport._sink import Tasks

if TYPE_CHECKING:
    from pyspark import SparkContext


def tasks_of(context: SparkContext, tag: str) -> Tasks:
    """The tasks of the jobs with a tag. A stage that is not there yet has none.

    The answer may be some seconds old in a session that the application has made (``spark.ui.liveUpdate.period``).
    """
    tracker: Any = context._jsc.sc().statusTracker()
    running = waiting = 0
    for job in tracker.getJobIdsForTag(tag):
        found = tracker.getJobInfo(job)
        for stage in found.get().stageIds() if found.isDefined() else ():
            info = tracker.getStageInfo(stage)
            if info.isDefined():
                active = info.get().numActiveTasks()
                running += active
                waiting += max(0, info.get().numTasks() - info.get().numCompletedTasks() - active)
    return Tasks(running, waiting)
