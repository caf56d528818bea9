"""Under which text Spark's pages show jobs, stages and SQL executions: the pipeline, and the line that built it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frames import Fare, Total, Trip, to_fare, trips, write_trips

import rx_spark
from rx_core.build_places import build_lines
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import SparkConfig
from rx_spark._plans._status import Status
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

Trips = Flowable[Trip]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trips(tmp_path_factory.mktemp("frames") / "trips")


def _running_total(source: Trips) -> Flowable[Total]:
    return source.map(it.id).scan(operator.add).map(lambda total: Total("all", total))


RUNS: dict[str, Callable[[Trips, Path], Any]] = {
    "columns": lambda source, out: source.filter(lambda trip: trip.id > 3).map(it.id).max().blocking_get(),
    "a column alone": lambda source, out: source.filter(it.id > 3).count().blocking_get(),
    "a pass": lambda source, out: source.map(lambda trip: trip.id).blocking_list(),
    "a shuffle": lambda source, out: source.map(to_fare).group_reduce(it.city, it.cents, operator.add).blocking_list(),
    "a write of columns": lambda source, out: rx_spark.write_parquet(source.filter(it.id < 9), out).blocking_get(),
    "a write of a pass": lambda source, out: rx_spark.write_parquet(source.map(to_fare), out).blocking_get(),
    "a table": lambda source, out: rx_spark.write_table(source.map(to_fare), "rx_described").blocking_get(),
    "a feed": lambda source, out: rx_spark.write_parquet(_running_total(source), out, schema=Total).blocking_get(),
    "a feed without Spark": lambda source, out: rx_spark.write_json(
        Flowable.from_iterable(trips()).map(to_fare), out, schema=Fare
    ).blocking_get(),
    "effects": lambda source, out: rx_spark.foreach_partition(source.map(to_fare), list).blocking_await(),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_jobs_stages_and_executions_carry_the_pipeline_and_its_line(
    run: Callable[[Trips, Path], Any], folder: Path, tmp_path: Path, spark_config: SparkConfig
) -> None:
    here = engine(spark_config)
    before = _last(here.frames)
    try:
        with build_lines():
            run(rx_spark.parquet(folder, schema=Trip, config=spark_config), tmp_path / "out")
    finally:
        here.application.sql("DROP TABLE IF EXISTS rx_described")
    shown = _since(here.frames, before)
    assert shown, "no SQL execution"
    for execution, jobs, stages in shown:
        assert "rx_spark.parquet(" in execution or ".write_" in execution
        assert "test_descriptions.py" in execution
        assert {*jobs, *stages} == {execution}


def _last(session: Any) -> int:
    executions = session._jsparkSession.sharedState().statusStore().executionsList()
    return max((executions.apply(at).executionId() for at in range(executions.size())), default=-1)


def _since(session: Any, last: int) -> list[tuple[str, list[str], list[str]]]:
    """Of each SQL execution that ran jobs: its description, those of its jobs, and those of the stages that ran."""
    status = Status(session)
    status.settle()
    executions = session._jsparkSession.sharedState().statusStore().executionsList()
    found = []
    for at in range(executions.size()):
        execution = executions.apply(at)
        ids = session.sparkContext._jvm.scala.jdk.javaapi.CollectionConverters.asJava(execution.jobs())
        if execution.executionId() > last and len(ids):
            jobs = [status.job(job) for job in ids]
            stages = [each for job in jobs for each in status.attempts(job) if each["status"] != "SKIPPED"]
            found.append((execution.description(), [_text(job) for job in jobs], [_text(stage) for stage in stages]))
    return found


def _text(data: dict[str, Any]) -> str:
    return str(data.get("description"))
