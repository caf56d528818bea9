"""Ends that write no files: foreach_partition and to_dataframe."""

from __future__ import annotations

import operator
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from frames import CITIES, ROWS, Fare, Total, Trip, refused, to_fare, trips
from pyspark.errors import PythonException

import rx_spark
from rx_fusion import fusion_off
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_ops.processors import PublishProcessor
from rx_spark import NotPortableError, SchemaError, SparkConfig
from rx_spark._session._session import engine

PATIENCE = 20.0


@dataclass(frozen=True)
class Saving:
    """Writes the items of each partition to a file of its own: an effect that can be looked at from here."""

    folder: Path

    def __call__(self, items: Iterator[Any]) -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        name = f"here-{threading.get_ident()}" if context is None else f"task-{context.partitionId()}"
        with open(self.folder / name, "w", encoding="utf-8") as file:
            for item in items:
                file.write(f"{item}\n")

    def lines(self) -> list[str]:
        return sorted(line for file in self.folder.iterdir() for line in file.read_text(encoding="utf-8").splitlines())


# --- foreach_partition ------------------------------------------------------------------------------------------------

PIPELINES: dict[str, Callable[[Flowable[Trip]], Flowable[Any]]] = {
    "rows": lambda flow: flow,
    "columns": lambda flow: flow.filter(it.id < 30).map(it.city),
    "a pass": lambda flow: flow.map(to_fare),
    "a shuffle": lambda flow: flow.group_reduce(lambda trip: trip.city, lambda trip: trip.id, operator.add),
    "an end on the driver": lambda flow: flow.map(it.id).sorted().scan(operator.add),
}


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_each_partition_is_given_to_the_function(
    make: Callable[[Flowable[Trip]], Flowable[Any]], source: Flowable[Trip], tmp_path: Path
) -> None:
    save = Saving(tmp_path)
    rx_spark.foreach_partition(make(source), save).blocking_await()
    expected = make(Flowable.from_iterable(trips())).to_list().blocking_get()
    assert save.lines() == sorted(map(str, expected))


def test_it_runs_on_the_executors_and_is_an_operator(tmp_path: Path, spark_config: SparkConfig) -> None:
    flow: Any = rx_spark.range(1000, config=spark_config)
    completable = flow.foreach_partition(Saving(tmp_path))
    assert "executors: foreach_partition(Saving" in completable.explain()
    completable.blocking_await()
    assert {file.name for file in tmp_path.iterdir()} == {"task-0", "task-1"}


@pytest.mark.parametrize("form", ["unfused", "hidden"])
def test_a_pipeline_that_ends_on_the_driver_has_one_partition_here(form: str, source: Flowable[Trip], tmp_path: Path) -> None:
    save = Saving(tmp_path)
    if form == "unfused":
        with fusion_off():
            rx_spark.foreach_partition(source.map(to_fare), save).blocking_await()
    else:
        rx_spark.foreach_partition(source.map(to_fare).hide(), save).blocking_await()
    assert [file.name for file in tmp_path.iterdir()] == [f"here-{threading.get_ident()}"]
    assert save.lines() == sorted(str(to_fare(trip)) for trip in trips())


def test_what_is_not_iterated_is_not_computed(tmp_path: Path, spark_config: SparkConfig) -> None:
    def first(items: Iterator[int]) -> None:
        Path(tmp_path / f"first-{next(items)}").touch()

    def fail_late(number: int) -> int:
        if number % 1000 > 900:
            raise ValueError(f"{number} was not asked for")
        return number

    rx_spark.foreach_partition(rx_spark.range(2000, config=spark_config).map(fail_late), first).blocking_await()
    assert "first-0" in {file.name for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="was not asked for"):
        rx_spark.foreach_partition(rx_spark.range(2000, config=spark_config).map(fail_late), list).blocking_await()


def test_its_errors_and_those_before_it_come_as_themselves(source: Flowable[Trip], tmp_path: Path) -> None:
    def closed(items: Iterator[Any]) -> None:
        raise sqlite3.OperationalError(f"no connection for {len(list(items))} items")

    with pytest.raises(sqlite3.OperationalError, match="no connection for"):
        rx_spark.foreach_partition(source.map(to_fare), closed).blocking_await()
    with pytest.raises(ValueError, match=f"trip {ROWS - 5} has no fare"):
        rx_spark.foreach_partition(source.map(refused), Saving(tmp_path)).blocking_await()
    with pytest.raises(sqlite3.OperationalError, match="no connection for 2 items"):
        rx_spark.foreach_partition(Flowable.of(1, 2), closed).blocking_await()
    with pytest.raises(ValueError, match="of the source"):
        rx_spark.foreach_partition(Flowable.error(ValueError("of the source")), list).blocking_await()


def test_an_error_before_a_shuffle_calls_nothing(source: Flowable[Trip], tmp_path: Path) -> None:
    totals = source.map(refused).group_reduce(lambda fare: fare.city, lambda fare: fare.cents, operator.add)
    with pytest.raises(ValueError, match="has no fare"):
        rx_spark.foreach_partition(totals, Saving(tmp_path)).blocking_await()
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_would_do_nothing_is_refused(source: Flowable[Trip]) -> None:
    def lazy(items: Iterator[Any]) -> Iterator[Any]:
        yield from items

    with pytest.raises(TypeError, match=r"foreach_partition\(.*lazy\): calling it does nothing"):
        rx_spark.foreach_partition(source, lazy)
    with pytest.raises(TypeError, match="expected a function as function"):
        rx_spark.foreach_partition(source, None)  # type: ignore[arg-type]  # on purpose


def test_a_function_that_cannot_travel_is_named(source: Flowable[Trip]) -> None:
    lock = threading.Lock()

    def locked(items: Iterator[Any]) -> None:
        with lock:
            list(items)

    with pytest.raises(NotPortableError, match="lock"):
        rx_spark.foreach_partition(source, locked).blocking_await()


def test_a_cancelled_function_here_does_not_take_a_part_for_all() -> None:
    hot: PublishProcessor[int] = PublishProcessor()
    stop: PublishProcessor[int] = PublishProcessor()
    ready, over = threading.Event(), threading.Event()
    seen: list[Any] = []

    def save(items: Iterator[int]) -> None:
        try:
            seen.extend(items)
            seen.append("committed")
        finally:
            over.set()

    completable = rx_spark.foreach_partition(hot.do_on_subscribe(lambda _: ready.set()), save).take_until(stop)
    thread = threading.Thread(target=completable.blocking_await, daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    hot.on_next(1)
    stop.on_next(0)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert over.wait(PATIENCE)
    assert seen == [1]
    assert not hot.has_subscribers


# --- to_dataframe -----------------------------------------------------------------------------------------------------


def test_columns_and_passes_are_dataframes_of_the_application(source: Flowable[Trip], spark_config: SparkConfig) -> None:
    application = engine(spark_config).application
    cities = rx_spark.to_dataframe(source.filter(it.id < 30).map(it.city))
    assert cities.sparkSession is application
    assert {row.value for row in cities.distinct().collect()} == set(CITIES)
    fares = rx_spark.to_dataframe(source.map(to_fare))
    assert fares.sparkSession is application
    assert fares.columns == ["city", "cents"]
    expected = sum(to_fare(trip).cents for trip in trips())
    assert fares.groupBy().sum("cents").collect()[0][0] == expected
    assert fares.join(cities.withColumnRenamed("value", "city").distinct(), "city").count() == ROWS


@pytest.mark.parametrize("key", [it.city, lambda trip: trip.city], ids=["columns", "lambda"])
def test_pairs_have_the_names_of_the_schema(key: Any, source: Flowable[Trip]) -> None:
    frame = rx_spark.to_dataframe(source.group_reduce(key, it.id, operator.add), Total)
    expected = {city: sum(range(at, ROWS, 3)) for at, city in enumerate(CITIES)}
    for _ in range(2):  # each action computes it anew
        assert {row.city: row.total for row in frame.collect()} == expected


def test_numbers_and_a_limit(spark_config: SparkConfig) -> None:
    flow = rx_spark.range(10_000, config=spark_config).map(lambda n: Total("Ulm", n)).take(10)
    assert sorted(row.total for row in rx_spark.to_dataframe(flow, Total).collect()) == list(range(10))


def test_nothing_runs_before_an_action(source: Flowable[Trip]) -> None:
    frame = rx_spark.to_dataframe(source.map(refused))
    with pytest.raises(PythonException, match=f"trip {ROWS - 5} has no fare"):
        frame.collect()


def test_what_is_no_dataframe_is_told_with_what_to_do(source: Flowable[Trip]) -> None:
    with pytest.raises(TypeError, match=r"does not begin on Spark(.|\n)*write_parquet(.|\n)*blocking_list"):
        rx_spark.to_dataframe(Flowable.of(Fare("Ulm", 1)), Fare)
    with pytest.raises(TypeError, match="the pipeline ends here, because scan"):
        rx_spark.to_dataframe(source.scan(lambda a, b: b), Trip)
    with fusion_off(), pytest.raises(TypeError, match="fusion is switched off"):
        rx_spark.to_dataframe(source.map(to_fare))
    with pytest.raises(TypeError, match="which columns"):
        rx_spark.to_dataframe(source.map(lambda trip: trip.city))
    with pytest.raises(SchemaError, match=r"Fare\.cents: there is no such column"):
        rx_spark.to_dataframe(source, Fare)
