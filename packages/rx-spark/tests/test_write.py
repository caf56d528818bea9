"""Writers: rows go from the executors to files and tables, and a job that fails leaves nothing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from frames import CITIES, ROWS, Fare, Total, Trip, refused, to_fare, trips
from holding import Held, Losing, until

import rx_spark
from rx_fusion.symbols import it, sym
from rx_ops import Flowable
from rx_spark import SchemaError, SparkConfig, Written
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


def read(path: Path) -> list[dict[str, Any]]:
    """With pyarrow alone; partition folders are columns again."""
    rows: list[dict[str, Any]] = ds.dataset(path, partitioning="hive").to_table().to_pylist()
    return sorted(rows, key=repr)


def test_rows_of_columns_are_written_without_python(source: Flowable[Trip], tmp_path: Path) -> None:
    single = rx_spark.write_parquet(source.filter(it.id < 30), tmp_path / "out", partition_by="city")
    assert "written by the executors: write_parquet(" in single.explain()
    assert "Python from" not in single.explain()
    written = single.blocking_get()
    assert (written.files, written.rows) == (3, 30)
    assert written.bytes == sum(file.stat().st_size for file in (tmp_path / "out").rglob("*.parquet"))
    assert {row["city"] for row in read(tmp_path / "out")} == set(CITIES)
    assert sorted(row["id"] for row in read(tmp_path / "out")) == list(range(30))


def test_a_mapper_that_says_what_it_returns_needs_no_schema(source: Flowable[Trip], tmp_path: Path) -> None:
    written = rx_spark.write_parquet(source.map(to_fare), tmp_path / "out").blocking_get()
    assert written.rows == ROWS
    expected = [{"city": fare.city, "cents": fare.cents} for fare in map(to_fare, trips())]
    assert read(tmp_path / "out") == sorted(expected, key=repr)


@pytest.mark.parametrize("key", [it.city, lambda trip: trip.city], ids=["columns", "lambda"])
def test_pairs_are_written_under_the_names_of_a_class(key: Any, source: Flowable[Trip], tmp_path: Path) -> None:
    totals = source.group_reduce(key, it.id, operator.add)
    rx_spark.write_json(totals, tmp_path / "out", schema=Total).blocking_get()
    found = ds.dataset(tmp_path / "out", format="json").to_table().to_pylist()
    expected = {city: sum(range(at, ROWS, 3)) for at, city in enumerate(CITIES)}
    assert {row["city"]: row["total"] for row in found} == expected


def test_csv_and_tables(source: Flowable[Trip], tmp_path: Path, spark_config: SparkConfig) -> None:
    pairs = source.filter(it.id < 3).map(sym(lambda trip: (trip.city, trip.id)))
    rx_spark.write_csv(pairs, tmp_path / "csv", schema=Total).blocking_get()
    lines = sorted(line for file in (tmp_path / "csv").glob("*.csv") for line in file.read_text().splitlines()[1:])
    assert lines == ["Bonn,2", "Köln,1", "Ulm,0"]
    try:
        assert rx_spark.write_table(pairs, "rx_totals", schema=Total).blocking_get().rows == 3
        assert sorted(rx_spark.table("rx_totals", schema=Total).map(it.total).to_list().blocking_get()) == [0, 1, 2]
    finally:
        engine(spark_config).application.sql("DROP TABLE IF EXISTS rx_totals")


def test_what_is_there_is_kept_replaced_or_added_to(source: Flowable[Trip], tmp_path: Path) -> None:
    flow = source.map(it.id).filter(it < 5)
    first = rx_spark.write_parquet(flow, tmp_path / "out").blocking_get()
    assert isinstance(first, Written)
    assert first.rows == 5
    with pytest.raises(FileExistsError, match="mode='overwrite'"):
        rx_spark.write_parquet(flow, tmp_path / "out").blocking_get()
    rx_spark.write_parquet(flow, tmp_path / "out", mode="append").blocking_get()
    assert len(read(tmp_path / "out")) == 10
    rx_spark.write_parquet(flow, tmp_path / "out", mode="overwrite").blocking_get()
    assert [row["value"] for row in read(tmp_path / "out")] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match=r"write_parquet\(mode='replace'\): one of 'error'"):
        rx_spark.write_parquet(flow, tmp_path / "out", mode="replace")  # type: ignore[arg-type]  # on purpose


def test_the_writers_are_operators_as_well(source: Flowable[Trip], tmp_path: Path) -> None:
    flow: Any = source.filter(it.id < 4)
    assert flow.write_parquet(tmp_path / "out").blocking_get().rows == 4


@pytest.mark.nightly  # a stage that runs again takes 15 s
@pytest.mark.engine("embedded")
def test_what_a_stage_wrote_before_it_ran_again_is_counted(tmp_path: Path, spark_config: SparkConfig) -> None:
    here = engine(spark_config)
    numbers = rx_spark.dataframe(here.application.range(3200), parallelism=32)  # more tasks than there are slots
    lost = tmp_path / "lost"
    sums = numbers.group_reduce(lambda row: row["id"], lambda row: 1, operator.add).map(Losing(lost))
    written = rx_spark.write_parquet(sums, tmp_path / "out", schema=Pair).blocking_get()
    assert lost.exists()
    files = list((tmp_path / "out").glob("*.parquet"))
    assert len(read(tmp_path / "out")) == 3200
    assert written == Written(len(files), 3200, sum(file.stat().st_size for file in files))


class Pair(NamedTuple):
    key: int
    ones: int


# --- what fails -------------------------------------------------------------------------------------------------------


def test_a_function_that_fails_leaves_nothing_behind(source: Flowable[Trip], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"trip {ROWS - 5} has no fare") as caught:
        rx_spark.write_parquet(source.map(refused), tmp_path / "out").blocking_get()
    assert any("in map(refused)" in note for note in caught.value.__notes__)
    assert not (tmp_path / "out").exists()


def test_a_failed_job_leaves_what_was_there(source: Flowable[Trip], tmp_path: Path) -> None:
    rx_spark.write_parquet(source.map(to_fare), tmp_path / "out").blocking_get()
    before = sorted(file.name for file in (tmp_path / "out").rglob("*"))
    with pytest.raises(ValueError, match="has no fare"):
        rx_spark.write_parquet(source.map(refused), tmp_path / "out", mode="append").blocking_get()
    assert sorted(file.name for file in (tmp_path / "out").rglob("*")) == before


def test_a_write_that_is_refused_leaves_what_another_job_is_writing_there(source: Flowable[Trip], tmp_path: Path) -> None:
    theirs = tmp_path / "out" / "_temporary" / "0" / "part-00000"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("not committed yet")
    with pytest.raises(FileExistsError):
        rx_spark.write_parquet(source, tmp_path / "out").blocking_get()
    assert theirs.exists()


def test_an_error_before_a_shuffle_is_no_smaller_answer(source: Flowable[Trip], tmp_path: Path) -> None:
    totals = source.map(refused).group_reduce(lambda fare: fare.city, lambda fare: fare.cents, operator.add)
    with pytest.raises(ValueError, match="has no fare"):
        rx_spark.write_parquet(totals, tmp_path / "out", schema=Total).blocking_get()
    assert not (tmp_path / "out").exists()


def test_an_element_that_does_not_fit_is_told_with_its_value(source: Flowable[Trip], tmp_path: Path) -> None:
    wrong = source.map(lambda trip: Fare(trip.city, trip.city))  # type: ignore[arg-type]  # on purpose
    with pytest.raises(SchemaError, match=r"'(Ulm|Köln|Bonn)' \(str\) does not fit column 'cents' of type int64"):
        rx_spark.write_parquet(wrong, tmp_path / "out", schema=Fare).blocking_get()
    assert not (tmp_path / "out").exists()


def test_columns_that_are_not_known_are_asked_for(source: Flowable[Trip], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"\.write_parquet\(\.\.\., schema=Trip\)"):
        rx_spark.write_parquet(source.map(lambda trip: trip.city), tmp_path / "out")
    with pytest.raises(SchemaError, match=r"write_parquet\(partition_by='town'\): there is no such column; there are id, city"):
        rx_spark.write_parquet(source, tmp_path / "out", partition_by="town")
    with pytest.raises(SchemaError, match=r"Fare\.cents: there is no such column"):
        rx_spark.write_parquet(source, tmp_path / "out", schema=Fare)


def test_a_cancelled_write_leaves_nothing(source: Flowable[Trip], tmp_path: Path) -> None:
    begun = Event()
    single = rx_spark.write_parquet(source.map(slowly), tmp_path / "out")
    held = single.subscribe(lambda _written: None, on_error=lambda _error: None)
    (tmp_path / "go").touch()
    begun.wait(1.0)
    held.dispose()
    tracker = engine(SparkConfig()).session.sparkContext.statusTracker()
    for _ in range(500):
        if not tracker.getActiveJobsIds() and not (tmp_path / "out").exists():
            break
        begun.wait(0.02)
    assert tracker.getActiveJobsIds() == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mode", ["error", "append"])
def test_the_same_can_be_written_right_after_a_cancel(
    mode: Any, source: Flowable[Trip], held: Callable[[int], Held], tmp_path: Path
) -> None:
    """Also while Spark still stops the tasks of the job that was cancelled."""
    hold = held(ROWS // 2)
    running = rx_spark.write_parquet(source.map(hold).map(to_fare), tmp_path / "out", mode=mode).subscribe(print)
    assert until(lambda: bool(hold.reached()))
    running.dispose()
    rx_spark.write_parquet(source.map(to_fare), tmp_path / "out", mode=mode).blocking_get()
    assert pq.read_table(tmp_path / "out").num_rows == ROWS
    hold.go()


def test_the_same_table_can_be_written_right_after_a_cancel(source: Flowable[Trip], held: Callable[[int], Held]) -> None:
    hold = held(ROWS // 2)
    running = rx_spark.write_table(source.map(hold).map(to_fare), "cancelled_trips").subscribe(print)
    assert until(lambda: bool(hold.reached()))
    running.dispose()
    assert rx_spark.write_table(source.map(to_fare), "cancelled_trips").blocking_get().rows == ROWS
    hold.go()
    engine(SparkConfig()).application.sql("DROP TABLE cancelled_trips")


def slowly(trip: Trip) -> Fare:
    Event().wait(0.05)
    return to_fare(trip)


def test_parquet_of_one_file_is_whole(source: Flowable[Trip], tmp_path: Path) -> None:
    rx_spark.write_parquet(source, tmp_path / "out").blocking_get()
    assert sum(pq.read_metadata(file).num_rows for file in (tmp_path / "out").glob("*.parquet")) == ROWS


@pytest.mark.parametrize("options", [{}, {"partitionOverwriteMode": "dynamic"}], ids=["whole", "partitions"])
def test_a_failed_overwrite_of_nothing_leaves_nothing(options: dict[str, str], source: Flowable[Trip], tmp_path: Path) -> None:
    single = rx_spark.write_parquet(
        source.map(refused), tmp_path / "out", mode="overwrite", partition_by="city", options=options, schema=Fare
    )
    with pytest.raises(ValueError, match="has no fare"):
        single.blocking_get()
    assert list(tmp_path.iterdir()) == []


def test_a_limit_is_kept(source: Flowable[Trip], tmp_path: Path) -> None:
    assert rx_spark.write_parquet(source.map(to_fare).take(10), tmp_path / "ten").blocking_get().rows == 10
    assert rx_spark.write_parquet(source.map(to_fare).take(0), tmp_path / "none").blocking_get().rows == 0
    assert (tmp_path / "none").exists()
