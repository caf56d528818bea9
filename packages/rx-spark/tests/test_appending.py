"""Jobs that write to one folder or table at the same time: each job's rows are all there, or none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from threading import Event
from time import sleep
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from frames import ROWS, Fare, Trip, refused, to_fare, trips
from holding import Held, until

import rx_spark
from rx_ops import Flowable
from rx_spark import SparkConfig, SparkJobError, Written
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

PATIENCE = 60.0


def fares_in(path: Path) -> list[tuple[str, int]]:
    """With pyarrow alone; partition folders are columns again."""
    rows = ds.dataset(path, partitioning="hive").to_table().to_pylist()
    return sorted((row["city"], row["cents"]) for row in rows)


@pytest.mark.parametrize("by", [(), "city"], ids=["files", "folders"])
@pytest.mark.parametrize("fails", [False, True], ids=["well", "failing"])
def test_two_jobs_append_to_a_folder_at_the_same_time(
    fails: bool, by: Any, source: Flowable[Trip], held: Callable[[int], Held], tmp_path: Path
) -> None:
    """The first has finished tasks and is held in another one while the second begins and ends. Spark's committer keeps what is
    not committed yet in a folder that all jobs share, and the first to end deletes it."""
    (tmp_path / "out").mkdir()
    hold = held(ROWS // 2)
    append = partial(rx_spark.write_parquet, mode="append", partition_by=by)
    got: list[Any] = []
    over = Event()
    append(source.map(hold).map(to_fare), tmp_path / "out").do_finally(over.set).subscribe(got.append, got.append)
    assert until(lambda: bool(hold.reached()))
    if fails:
        with pytest.raises(ValueError, match="has no fare"):
            append(source.map(refused), tmp_path / "out").blocking_get()
    else:
        assert append(source.map(to_fare), tmp_path / "out").blocking_get().rows == ROWS
    hold.go()
    assert over.wait(PATIENCE)
    assert got[0].rows == ROWS
    assert fares_in(tmp_path / "out") == sorted([(fare.city, fare.cents) for fare in map(to_fare, trips())] * (1 if fails else 2))
    assert not (tmp_path / "out" / "_temporary").exists()


@pytest.mark.parametrize("fails", [False, True], ids=["well", "failing"])
@pytest.mark.parametrize("catalog", ["", "spark_catalog.default."], ids=["short name", "whole name"])
def test_two_jobs_append_to_a_table_at_the_same_time(
    catalog: str, fails: bool, source: Flowable[Trip], held: Callable[[int], Held]
) -> None:
    application = engine(SparkConfig()).application
    application.sql("CREATE TABLE appended_trips (city STRING, cents BIGINT) USING parquet")
    hold = held(ROWS // 2)
    append = partial(rx_spark.write_table, mode="append")
    got: list[Any] = []
    over = Event()
    try:
        append(source.map(hold).map(to_fare), f"{catalog}appended_trips").do_finally(over.set).subscribe(got.append, got.append)
        assert until(lambda: bool(hold.reached()))
        if fails:
            with pytest.raises(ValueError, match="has no fare"):
                append(source.map(refused), f"{catalog}appended_trips").blocking_get()
        else:
            append(source.map(to_fare), f"{catalog}appended_trips").blocking_get()
        hold.go()
        assert over.wait(PATIENCE)
        if fails:  # which has deleted what was not committed
            assert isinstance(got[0], SparkJobError)
            assert "another job that wrote to" in str(got[0])
        else:
            assert got[0].rows == ROWS
            assert application.table("appended_trips").count() == ROWS * 2
        (location,) = application.sql("DESCRIBE FORMATTED appended_trips").filter("col_name = 'Location'").collect()
        assert not (Path(location.data_type.removeprefix("file:")) / "_temporary").exists()
    finally:
        application.sql("DROP TABLE appended_trips")


@pytest.mark.parametrize("by", [(), "city"], ids=["all", "some"])
def test_rows_that_another_program_has_deleted_before_the_commit_are_missed(
    by: Any, source: Flowable[Trip], held: Callable[[int], Held], tmp_path: Path
) -> None:
    """As Spark does at the end of each job that writes to the folder. Partitions are opened with their first row: those of the
    task that is held are there when the job commits. Moved away in one step: while a folder is deleted file by file, tasks
    write to it."""
    hold = held(ROWS // 2)
    (tmp_path / "out").mkdir()
    got: list[Any] = []
    over = Event()
    written = rx_spark.write_parquet(source.map(hold).map(to_fare), tmp_path / "out", mode="append", partition_by=by)
    written.do_finally(over.set).subscribe(got.append, got.append)
    assert until(lambda: bool(hold.reached()))
    assert until(lambda: any((tmp_path / "out" / "_temporary").rglob("task_*")))  # at least one of the other tasks is over
    (tmp_path / "out" / "_temporary").rename(tmp_path / "deleted")
    hold.go()
    assert over.wait(PATIENCE)
    with pytest.raises(SparkJobError, match=r"another job that wrote to .*/out has deleted"):
        raise got[0]


@pytest.mark.parametrize("mode", ["error", "ignore"])
def test_a_folder_that_another_job_has_begun_is_there(
    mode: Any, source: Flowable[Trip], held: Callable[[int], Held], tmp_path: Path
) -> None:
    hold = held(ROWS // 2)
    got: list[Any] = []
    over = Event()
    written = rx_spark.write_parquet(source.map(hold).map(to_fare), tmp_path / "out")
    written.do_finally(over.set).subscribe(got.append, got.append)
    assert until(lambda: bool(hold.reached()))
    second = rx_spark.write_parquet(source.map(to_fare), tmp_path / "out", mode=mode)
    if mode == "error":
        with pytest.raises(FileExistsError):
            second.blocking_get()
    else:
        assert second.blocking_get() == Written(0, 0, 0)
    hold.go()
    assert over.wait(PATIENCE)
    assert got[0].rows == ROWS == pq.read_table(tmp_path / "out").num_rows


@pytest.mark.parametrize("seed", range(8))
def test_of_jobs_that_append_at_random_each_is_whole_or_not_there(seed: int, tmp_path: Path, spark_config: SparkConfig) -> None:
    """Some compute on Spark and some are fed from here; some fail and some are cancelled, at any time."""
    random = Random(seed)
    (tmp_path / "out").mkdir()
    append = partial(rx_spark.write_parquet, mode="append", partition_by=random.choice([(), "city"]), schema=Fare)
    ways, told, over = random.choices(["well", "fails", "cancelled"], [2, 1, 1], k=5), dict[int, Any](), list[Event]()
    for job, way in enumerate(ways):
        numbers = Flowable.range(ROWS) if random.random() < 0.3 else rx_spark.range(ROWS, config=spark_config)
        fares = numbers.map(Numbered(job, random.randrange(ROWS) if way == "fails" else -1, random.random() / 1_000))
        over.append(ended := Event())
        taken = partial(told.__setitem__, job)
        running = append(fares, tmp_path / "out").do_finally(ended.set).subscribe(taken, taken)
        ended.wait(random.random() / 2)
        if way == "cancelled":
            running.dispose()
    assert all(each.wait(PATIENCE) for each in over)
    assert until(lambda: [file.name for file in tmp_path.iterdir()] == ["out"])  # a cancelled job clears up behind its tasks
    assert until(lambda: not (tmp_path / "out" / "_temporary").exists())
    found = Counter(cents for _, cents in fares_in(tmp_path / "out")) if ds.dataset(tmp_path / "out").files else Counter()
    for job, way in enumerate(ways):
        whole = isinstance(told.get(job), Written)
        assert whole or way != "well", told[job]
        assert found[job] in ({ROWS} if whole else {0} if job in told else {0, ROWS})


@dataclass(frozen=True)
class Numbered:
    """Makes fares of the number of a job, slowly; refuses one of them."""

    job: int
    refused: int
    seconds: float

    def __call__(self, number: int) -> Fare:
        if number == self.refused:
            raise ValueError(f"{number} is refused")
        sleep(self.seconds)
        return Fare("abc"[number % 3], self.job)
