"""Aggregates of what passes: in columns, in passes of Python, on the driver and without Spark they are the same."""

from __future__ import annotations

import operator
import os
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from frames import CITIES, ROWS, Fare, Total, Trip, to_fare, trips
from holding import Losing

import rx_spark
from rx_fusion import fusion_off
from rx_fusion.symbols import call, it
from rx_ops import Flowable, Row, aggregates
from rx_spark import JobStats, Observed, SparkConfig
from rx_spark._session._session import engine
from rx_spark._workers._blocks import RANGE_BLOCK

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

Trips = Flowable[Trip]


@pytest.fixture
def seen() -> Observed:
    return Observed("trips")


def looked(flow: Trips, seen: Observed) -> Trips:
    """All kinds of aggregates, where a value may be None too."""
    return rx_spark.observe(
        flow,
        seen,
        n=aggregates.count(),
        known=it.km.count(),
        total=it.id.sum(),
        first=it.city.min(),
        last=it.id.max(),
        mean=it.id.average(),
    )


def of_loop(flow: Callable[[Trips], Any]) -> Row:
    seen = Observed("loop")
    flow(looked(Flowable.from_iterable(trips()), seen)).blocking_list()
    assert seen.value is not None
    return seen.value


ALL = Row(n=ROWS, known=ROWS - ROWS // 10, total=sum(range(ROWS)), first="Bonn", last=ROWS - 1, mean=(ROWS - 1) / 2)

#: What stands before and behind the place.
PLACES: dict[str, tuple[Callable[[Trips], Trips], Callable[[Trips], Any]]] = {
    "columns": (lambda flow: flow, lambda flow: flow.map(it.id).to_list()),
    "columns, then one value": (lambda flow: flow, lambda flow: flow.filter(it.id > 100).count()),
    "columns, then a shuffle": (lambda flow: flow, lambda flow: flow.group_reduce(it.city, it.id, operator.add).to_list()),
    "columns, then Python": (lambda flow: flow, lambda flow: flow.map(to_fare).to_list()),
    "columns, then a filter": (lambda flow: flow, lambda flow: flow.filter(it.id >= ROWS).to_list()),
    "a pass": (lambda flow: flow.filter(lambda trip: True), lambda flow: flow.map(it.id).to_list()),
    "a pass, then one value": (lambda flow: flow.filter(lambda trip: True), lambda flow: flow.count()),
    "a pass, then a shuffle": (
        lambda flow: flow.filter(lambda trip: True),
        lambda flow: flow.group_reduce(lambda trip: trip.city, lambda trip: trip.id, operator.add).to_list(),
    ),
    "behind a shuffle": (lambda flow: flow.filter(lambda trip: True).distinct(), lambda flow: flow.map(it.id).to_list()),
    "the driver": (lambda flow: flow.skip(0), lambda flow: flow.to_list()),
}


@pytest.mark.parametrize(("before", "behind"), PLACES.values(), ids=PLACES)
def test_the_values_are_there_with_the_result(
    before: Callable[[Trips], Trips], behind: Callable[[Trips], Any], source: Trips, seen: Observed
) -> None:
    behind(looked(before(source), seen)).blocking_get()
    assert seen.value == ALL == of_loop(lambda flow: flow)
    assert type(seen.value) is type(ALL)


def test_a_pipeline_of_columns_stays_one(source: Trips, seen: Observed) -> None:
    flow = looked(source.filter(it.id > 5), seen).filter(it.id < 50).count()
    assert "Python" not in flow.explain()
    assert flow.blocking_get() == 44
    assert seen.value is not None
    assert (seen.value.n, seen.value.last) == (ROWS - 6, ROWS - 1)


@pytest.mark.parametrize("make", [lambda flow: flow, lambda flow: flow.map(to_fare)], ids=["columns", "a pass"])
def test_a_writer_tells_with_what_it_has_written(
    make: Callable[[Trips], Flowable[Any]], source: Trips, seen: Observed, tmp_path: Path
) -> None:
    flow = rx_spark.observe(make(source), seen, n=it.count(), first=it.city.min())
    assert rx_spark.write_parquet(flow, tmp_path / "out").blocking_get().rows == ROWS
    assert seen.value == Row(n=ROWS, first="Bonn")


def test_every_writer_of_columns_tells(source: Trips, tmp_path: Path, spark_config: SparkConfig) -> None:
    totals = source.filter(it.id < 10).map(call(Fare, it.city, it.id))
    writers: dict[str, Callable[[Flowable[Fare]], Any]] = {
        "csv": lambda flow: rx_spark.write_csv(flow, tmp_path / "csv"),
        "json": lambda flow: rx_spark.write_json(flow, tmp_path / "json", partition_by="city"),
        "table": lambda flow: rx_spark.write_table(flow, "rx_observed"),
    }
    if (spark_config.master or "local[").startswith("local["):  # the database belongs to one process
        url = f"jdbc:derby:{tmp_path}/db;create=true"
        writers["jdbc"] = lambda flow: rx_spark.write_jdbc(flow, url, "fares", mode="overwrite")
    try:
        for name, write in writers.items():
            seen = Observed(name)
            single = write(rx_spark.observe(totals, seen, n=it.count()))
            assert "Python" not in single.explain()
            single.blocking_get()
            assert (name, seen.value) == (name, Row(n=10))
    finally:
        engine(spark_config).application.sql("DROP TABLE IF EXISTS rx_observed")


@pytest.mark.parametrize("condition", [it.id >= 0, lambda trip: True], ids=["columns", "a pass"])
def test_a_writer_that_leaves_what_is_there_has_seen_nothing(
    condition: Any, source: Trips, seen: Observed, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    flow = rx_spark.observe(source.filter(condition), seen, n=it.count())
    rx_spark.write_parquet(flow, tmp_path / "out", mode="ignore").blocking_get()
    assert seen.value == Row(n=0)


def test_a_dataframe_tells_nothing_and_neither_does_a_function_that_leaves_items(source: Trips, seen: Observed) -> None:
    flow = rx_spark.observe(source, seen, n=it.count())
    assert rx_spark.to_dataframe(flow).count() == ROWS
    assert seen.value is None
    rx_spark.foreach_partition(rx_spark.observe(source.filter(lambda trip: True), seen, n=it.count()), id).blocking_await()
    assert seen.value is None
    rx_spark.foreach_partition(rx_spark.observe(source.filter(lambda trip: True), seen, n=it.count()), list).blocking_await()
    assert seen.value == Row(n=ROWS)


def test_it_is_offered_as_an_operator_as_well() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    offered = project["entry-points"]["rx.operators"]["Flowable.observe"]
    assert EntryPoint("Flowable.observe", offered, "rx.operators").load() is rx_spark.observe


def test_two_places_of_one_pipeline(source: Trips) -> None:
    read, kept, made = Observed("read"), Observed("kept"), Observed("made")
    flow = rx_spark.observe(rx_spark.observe(source, read, n=it.count()).filter(it.id < 30), kept, n=it.count())
    totals = rx_spark.observe(
        flow.map(to_fare).group_reduce(it.city, it.cents, operator.add).map(lambda pair: Total(*pair)), made, n=it.count()
    )
    assert totals.count().blocking_get() == len(CITIES)
    assert [each.value for each in (read, kept, made)] == [Row(n=ROWS), Row(n=30), Row(n=len(CITIES))]


def test_numbers_in_order_and_items_of_the_driver(spark_config: SparkConfig, seen: Observed, tmp_path: Path) -> None:
    numbers = rx_spark.observe(rx_spark.range(5000, config=spark_config), seen, n=it.count(), total=aggregates.sum(lambda n: n))
    assert numbers.blocking_list() == list(range(5000))
    assert seen.value == Row(n=5000, total=sum(range(5000)))
    fed = rx_spark.observe(Flowable.from_iterable(trips()).map(to_fare), seen, n=it.count())
    rx_spark.write_parquet(fed, tmp_path / "out", schema=Fare).blocking_get()
    assert seen.value == Row(n=ROWS)


@pytest.mark.parametrize("condition", [it.id < 0, lambda trip: trip.id < 0], ids=["columns", "a pass"])
def test_of_no_items(condition: Any, source: Trips, seen: Observed) -> None:
    assert looked(source.filter(condition), seen).blocking_list() == []
    assert seen.value == Row(n=0, known=0, total=0, first=None, last=None, mean=None)


def test_no_tasks_are_no_items(spark_config: SparkConfig, seen: Observed) -> None:
    assert rx_spark.observe(rx_spark.range(0, config=spark_config), seen, n=it.count()).blocking_list() == []
    assert seen.value == Row(n=0)


@pytest.mark.parametrize("condition", [it.id >= 0, lambda trip: True], ids=["columns", "a pass"])
def test_a_run_that_is_stopped_early_leaves_what_was_there(condition: Any, source: Trips, seen: Observed) -> None:
    flow = looked(source.filter(condition), seen)
    flow.blocking_list()
    assert len(flow.take(3).blocking_list()) == 3
    assert seen.value == ALL
    with pytest.raises(ZeroDivisionError):
        flow.map(lambda trip: trip.id // 0).blocking_list()
    assert seen.value == ALL


def test_a_limit_in_front_of_a_writer_stops_early_and_what_is_behind_it_is_told(
    source: Trips, seen: Observed, tmp_path: Path
) -> None:
    behind = Observed("behind")
    flow = rx_spark.observe(looked(source.filter(lambda trip: True), seen).take(10), behind, n=it.count())
    assert rx_spark.write_parquet(flow, tmp_path / "out", schema=Trip).blocking_get().rows == 10
    assert seen.value is None
    assert behind.value == Row(n=10)


def test_each_run_tells_anew(source: Trips, seen: Observed) -> None:
    least = [5]
    flow = rx_spark.observe(Flowable.defer(lambda: source.filter(it.id >= least[0])), seen, n=it.count())
    flow.blocking_list()
    assert seen.value == Row(n=ROWS - 5)
    least[0] = 100
    flow.blocking_list()
    assert seen.value == Row(n=ROWS - 100)


def test_without_fusion_the_driver_observes(source: Trips, seen: Observed) -> None:
    with fusion_off():
        assert looked(source, seen).count().blocking_get() == ROWS
    assert seen.value == ALL


def test_an_error_of_an_aggregate_is_the_streams(source: Trips, seen: Observed) -> None:
    failing = rx_spark.observe(source, seen, bad=aggregates.sum(lambda trip: 1 // (trip.id - 7)))
    with pytest.raises(ZeroDivisionError) as caught:
        failing.blocking_list()
    assert any("in observe(trips" in note for note in caught.value.__notes__)
    may_be_none = rx_spark.observe(source, seen, total=it.km.sum())
    with pytest.raises(TypeError, match="NoneType"):
        may_be_none.blocking_list()
    assert seen.value is None


# --- what runs again --------------------------------------------------------------------------------------------------


def test_a_task_that_ran_again_counts_once(source: Trips, seen: Observed, tmp_path: Path) -> None:
    once = tmp_path / "once"
    behind = Observed("behind")

    def dying(trip: Trip) -> Trip:
        if trip.id == ROWS - 1:
            try:
                once.touch(exist_ok=False)
            except FileExistsError:
                return trip
            os._exit(1)
        return trip

    flow = rx_spark.observe(looked(source, seen).map(dying), behind, n=it.count())
    assert flow.count().blocking_get() == ROWS
    assert once.exists()
    assert seen.value == ALL
    assert behind.value == Row(n=ROWS)


def test_a_task_that_goes_on_where_an_earlier_attempt_was_counts_each_block_once(
    spark_config: SparkConfig, seen: Observed, tmp_path: Path
) -> None:
    once, count = tmp_path / "once", 40 * RANGE_BLOCK

    def dying(number: int) -> int:
        if number == count - RANGE_BLOCK // 2:
            try:
                once.touch(exist_ok=False)
            except FileExistsError:
                return number
            os._exit(1)
        return number

    numbers = rx_spark.range(count, config=spark_config).map(dying)
    flow = rx_spark.observe(numbers, seen, n=it.count(), total=aggregates.sum(lambda number: number))
    assert flow.blocking_list() == list(range(count))
    assert once.exists()
    assert seen.value == Row(n=count, total=sum(range(count)))


@pytest.mark.engine("embedded")
def test_tasks_that_leave_their_slots_to_others_count_each_block_once(spark_config: SparkConfig, seen: Observed) -> None:
    engine(spark_config)
    tasks, stats = 20, JobStats()  # and 16 slots
    count = 8 * tasks * RANGE_BLOCK
    numbers = rx_spark.range(count, config=replace(spark_config, parallelism=tasks), stats=stats)
    flow = rx_spark.observe(numbers, seen, n=it.count(), total=aggregates.sum(lambda number: number))
    assert sum(1 for _ in flow) == count
    assert seen.value == Row(n=count, total=sum(range(count)))
    rounds = stats.progress(0.01).blocking_last().stages
    assert rounds > 1


@pytest.mark.engine("embedded")
@pytest.mark.parametrize("condition", [it.id >= 0, lambda row: True], ids=["columns", "a pass"])
def test_a_stage_that_ran_again_counts_once(condition: Any, seen: Observed, tmp_path: Path, spark_config: SparkConfig) -> None:
    numbers = rx_spark.dataframe(engine(spark_config).application.range(3200), parallelism=32).filter(condition)
    behind, lost = Observed("behind"), tmp_path / "lost"
    flow = rx_spark.observe(numbers, seen, n=it.count(), total=it.id.sum()).map(lambda row: row.id).distinct()
    flow = rx_spark.observe(flow.map(Losing(lost)), behind, n=it.count(), total=aggregates.sum(lambda number: number))
    assert flow.count().blocking_get() == 3200
    assert lost.exists()
    assert seen.value == behind.value == Row(n=3200, total=sum(range(3200)))


# --- what is refused --------------------------------------------------------------------------------------------------


def test_what_cannot_be_observed_is_refused_at_assembly(source: Trips, seen: Observed) -> None:
    with pytest.raises(TypeError, match=r"observe\('trips'\): an Observed is needed"):
        rx_spark.observe(source, "trips", n=it.count())  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match=r"observe\(\): nothing to compute"):
        rx_spark.observe(source, seen)
    with pytest.raises(TypeError, match=r"observe\(\.\.\., n=3\): that is no aggregate"):
        rx_spark.observe(source, seen, n=3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="a name is text"):
        Observed("")
