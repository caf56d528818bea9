"""What Spark counts of jobs: by columns, in passes, through shuffles, in writers; tasks that failed; what stays of it."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import Any

import pytest
from frames import CITIES, ROWS, Fare, Total, Trip, to_fare, trips, write_trips

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import JobStats, Progress, SparkConfig
from rx_spark._plans._status import Status

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trips(tmp_path_factory.mktemp("frames") / "trips")


@pytest.fixture
def stats() -> JobStats:
    return JobStats()


@pytest.fixture
def source(folder: Path, spark_config: SparkConfig, stats: JobStats) -> Flowable[Trip]:
    return rx_spark.parquet(folder, schema=Trip, config=spark_config, stats=stats)


def whole(stats: JobStats, jobs: int = 1) -> Progress:
    """What there is when all is over."""
    seen = stats.progress(0.01).blocking_last()
    assert (seen.jobs, seen.running, seen.over) == (jobs, 0, True)
    assert seen.tasks == seen.tasks_done > 0
    assert seen.stages == seen.stages_done > 0
    assert seen.tasks_running == 0
    return seen


def test_before_there_is_a_job_there_is_nothing() -> None:
    assert JobStats().snapshot() == Progress()
    assert not Progress().over


def test_a_job_of_columns(source: Flowable[Trip], stats: JobStats) -> None:
    assert source.filter(it.id >= 10).count().blocking_get() == ROWS - 10
    seen = whole(stats)
    assert seen.rows_read == ROWS
    assert seen.bytes_read > 0
    assert (seen.rows_written, seen.tasks_failed) == (0, 0)


def test_a_pass(source: Flowable[Trip], stats: JobStats) -> None:
    assert source.map(lambda trip: trip.id).sum().blocking_get() == sum(range(ROWS))
    assert whole(stats).rows_read == ROWS


def test_a_shuffle(source: Flowable[Trip], stats: JobStats) -> None:
    assert source.group_reduce(lambda trip: trip.city, it.id, operator.add).count().blocking_get() == len(CITIES)
    seen = whole(stats)
    assert seen.stages > 1
    assert seen.rows_shuffled > 0
    assert seen.bytes_shuffled > 0


def test_a_write(source: Flowable[Trip], stats: JobStats, tmp_path: Path) -> None:
    written = rx_spark.write_parquet(source.map(to_fare), tmp_path / "out").blocking_get()
    seen = whole(stats)
    assert (seen.rows_written, seen.bytes_written) == (written.rows, written.bytes) == (ROWS, written.bytes)


def test_the_result_of_a_writer_or_of_columns_comes_when_all_is_counted(
    source: Flowable[Trip], stats: JobStats, tmp_path: Path
) -> None:
    rx_spark.write_parquet(source.map(to_fare), tmp_path / "out").blocking_get()
    assert (stats.snapshot().over, stats.snapshot().rows_written) == (True, ROWS)
    source.filter(it.id != 7).count().blocking_get()
    assert (stats.snapshot().over, stats.snapshot().rows_read) == (True, 2 * ROWS)


def test_numbers_in_blocks(spark_config: SparkConfig, stats: JobStats) -> None:
    assert rx_spark.range(5000, config=spark_config, stats=stats).map(lambda n: n + 1).blocking_list()[-1] == 5000
    assert whole(stats).rows_written == 0


def test_items_of_the_driver_that_a_task_writes(spark_config: SparkConfig, stats: JobStats, tmp_path: Path) -> None:
    fares = Flowable.from_iterable(map(to_fare, trips()))
    assert rx_spark.write_parquet(fares, tmp_path / "own", schema=Fare, stats=stats).blocking_get().rows == ROWS
    assert whole(stats).rows_written == ROWS


def test_a_stream_that_comes_back_and_is_fed_to_a_writer_is_two_jobs(
    source: Flowable[Trip], stats: JobStats, tmp_path: Path
) -> None:
    totals = source.map(it.id).scan(operator.add).map(lambda total: Total("all", total))
    rx_spark.write_parquet(totals, tmp_path / "out", schema=Total).blocking_get()
    seen = whole(stats, jobs=2)
    assert (seen.rows_read, seen.rows_written) == (ROWS, ROWS)


def test_several_runs_are_added_up(source: Flowable[Trip], stats: JobStats) -> None:
    for _ in range(3):
        source.filter(it.id != 5).count().blocking_get()
    assert whole(stats, jobs=3).rows_read == 3 * ROWS


def test_a_task_that_failed_and_ran_again(source: Flowable[Trip], stats: JobStats, tmp_path: Path) -> None:
    once = tmp_path / "once"

    def dying(trip: Trip) -> int:
        if trip.id == 7:
            try:
                once.touch(exist_ok=False)
            except FileExistsError:
                return trip.id
            os._exit(1)
        return trip.id

    assert source.map(dying).sum().blocking_get() == sum(range(ROWS))
    assert whole(stats).tasks_failed == 1


def test_a_limit_leaves_no_run_behind(source: Flowable[Trip], stats: JobStats) -> None:
    assert len(source.map(lambda trip: trip.id).take(3).blocking_list()) == 3
    assert len(source.take(0).blocking_list()) == 0
    seen = stats.progress(0.01).blocking_last()
    assert (seen.jobs, seen.running) == (2, 0)


def test_a_job_that_fails_is_over(source: Flowable[Trip], stats: JobStats) -> None:
    with pytest.raises(ZeroDivisionError):
        source.map(lambda trip: trip.id // 0).blocking_list()
    assert stats.progress(0.01).blocking_last().over


def test_numbers_of_jobs_that_are_over_are_kept_here(
    source: Flowable[Trip], stats: JobStats, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.filter(it.id < 5).count().blocking_get()
    before = stats.snapshot()
    _forbid(monkeypatch)
    assert stats.snapshot() == before


def test_without_stats_spark_is_asked_nothing(folder: Path, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    _forbid(monkeypatch)
    assert rx_spark.parquet(folder, schema=Trip, config=spark_config).filter(it.id < 5).count().blocking_get() == 5


def _forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_args: Any) -> None:
        pytest.fail("Spark was asked")

    monkeypatch.setattr(Status, "__init__", asked)
    monkeypatch.setattr(Status, "jobs", asked)


def test_what_is_no_stats_object_is_refused(source: Flowable[Trip], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"write_parquet\(stats=1\): a JobStats is needed"):
        rx_spark.write_parquet(source, tmp_path / "out", stats=1)  # type: ignore[arg-type]  # on purpose
