"""Spark's own status store: what it knows of jobs and stages, as plain dictionaries.

The store belongs to the driver's JVM, and Spark fills it for its web pages, whether there are any or not. Reading it costs two
calls to the JVM for each job and two for each stage, and no task takes part in it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rx_spark._java_classes import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The JVM, and what writes its answers as JSON: to ask for each number by itself takes thirty times as many calls.
_writer: list[tuple[Any, Any]] = []


class Status:
    """The status store of a session. Any thread; each call blocks for about a millisecond."""

    def __init__(self, session: SparkSession) -> None:
        self._python: Any = session.sparkContext
        self._context: Any = self._python._jsc.sc()
        self._store: Any = self._context.statusStore()

    def settle(self, seconds: float = 10.0) -> None:
        """Wait until the store knows what has happened: it is told later than actions return. Raises when that takes longer."""
        self._context.listenerBus().waitUntilEmpty(int(seconds * 1000))

    def jobs(self, tag: str) -> list[int]:
        """The jobs with a tag."""
        return list(self._context.statusTracker().getJobIdsForTag(tag))

    def job(self, job: int) -> dict[str, Any]:
        """Numbers of tasks, ids of stages and the like: Spark's ``JobData``. LookupError: the store has forgotten it."""
        try:
            found = self._store.job(job)
        except Exception as error:  # NoSuchElementException, as py4j wraps it
            raise LookupError(f"Spark knows no job {job}") from error
        made: dict[str, Any] = json.loads(self._written(found))
        return made

    def attempts(self, job: dict[str, Any]) -> list[dict[str, Any]]:
        """Every attempt of every stage of a job: Spark's ``StageData``. An attempt after the first runs what is missing."""
        found: list[dict[str, Any]] = []
        nothing = self._python._gateway.new_array(self._python._jvm.double, 0)
        for stage in job["stageIds"]:
            try:
                made = self._store.stageData(stage, False, java_class(self._python._jvm, "java.util.ArrayList")(), False, nothing)
            except Exception:
                continue  # not submitted yet, or forgotten
            found += json.loads(self._written(made))
        return found

    def _written(self, value: Any) -> str:
        jvm = self._python._jvm
        if not _writer or _writer[0][0] is not jvm:
            _writer[:] = [(jvm, java_class(jvm, "org.apache.spark.status.api.v1.JacksonMessageWriter")().mapper())]
        return str(_writer[0][1].writeValueAsString(value))
