"""Streams of the driver, written by Spark: hot, slow, long or failing."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.dataset as ds
import pytest
from frames import CITIES, ROWS, Fare, Total, Trip, to_fare, trips

import rx_spark
from rx_fusion import fusion_off
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_ops.processors import PublishProcessor
from rx_spark import SchemaError, SparkConfig, SparkJobError, Written
from rx_spark._session._session import engine
from rx_spark._transport._wire import CHUNK

PATIENCE = 40.0

pytestmark = pytest.mark.usefixtures("idle")


@pytest.fixture
def idle(spark_config: SparkConfig) -> Iterator[None]:
    """After each test nothing runs in Spark, and no feed is at work."""
    yield
    tracker = engine(spark_config).session.sparkContext.statusTracker()
    assert wait_until(lambda: not tracker.getActiveJobsIds() and not feeds())


def feeds() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rx-spark-feed"]


def wait_until(condition: Callable[[], bool]) -> bool:
    pause = threading.Event()
    for _ in range(500):
        if condition():
            return True
        pause.wait(0.02)
    return condition()


def read(path: Path) -> list[dict[str, Any]]:
    """With pyarrow alone; partition folders are columns again."""
    rows: list[dict[str, Any]] = ds.dataset(path, partitioning="hive").to_table().to_pylist()
    return sorted(rows, key=repr)


def fares(count: int) -> list[Fare]:
    return [Fare(CITIES[number % 3], number) for number in range(count)]


# --- the same files, wherever the pipeline ends -----------------------------------------------------------------------

PIPELINES: dict[str, tuple[Callable[[Flowable[Trip]], Flowable[Any]], type[Any] | None]] = {
    "rows": (lambda flow: flow, None),
    "columns": (lambda flow: flow.filter(it.id < 100).map(it.city), None),
    "a mapper that says what it returns": (lambda flow: flow.filter(it.id < 100).map(to_fare).filter(lambda fare: True), None),
    "pairs": (lambda flow: flow.group_reduce(it.city, it.id, operator.add), Total),
}


@pytest.mark.parametrize(("make", "schema"), PIPELINES.values(), ids=PIPELINES)
def test_without_fusion_the_files_hold_the_same(
    make: Callable[[Flowable[Trip]], Flowable[Any]], schema: type[Any] | None, source: Flowable[Trip], tmp_path: Path
) -> None:
    fused = rx_spark.write_parquet(make(source), tmp_path / "fused", schema=schema)
    assert "driver feeds" not in fused.explain()
    fused.blocking_get()
    with fusion_off():
        rx_spark.write_parquet(make(source), tmp_path / "off", schema=schema).blocking_get()
    assert read(tmp_path / "off") == read(tmp_path / "fused")


def test_hidden_pipelines_write_the_same(source: Flowable[Trip], tmp_path: Path) -> None:
    hidden = rx_spark.write_parquet(source.map(to_fare).hide(), tmp_path / "hidden", schema=Fare, partition_by="city")
    assert "driver feeds one task" in hidden.explain()
    assert hidden.blocking_get().files == 3
    rx_spark.write_parquet(source.map(to_fare), tmp_path / "fused", partition_by="city").blocking_get()
    assert read(tmp_path / "hidden") == read(tmp_path / "fused")


def test_what_only_the_driver_can_do_is_written(source: Flowable[Trip], tmp_path: Path) -> None:
    running = source.map(lambda trip: 1).scan(operator.add).map(lambda total: Fare("Ulm", total))
    single = rx_spark.write_parquet(running, tmp_path / "out", schema=Fare)
    assert "driver feeds one task: the pipeline ends here, because scan" in single.explain()
    assert single.blocking_get().rows == ROWS
    assert sorted(row["cents"] for row in read(tmp_path / "out")) == list(range(1, ROWS + 1))


def test_plans_say_why_the_driver_feeds(source: Flowable[Trip], tmp_path: Path) -> None:
    plan = rx_spark.write_parquet(Flowable.of(Fare("Ulm", 1)), tmp_path / "out", schema=Fare).explain()
    assert "driver feeds one task: the pipeline does not begin on Spark" in plan
    assert "the task asks for a chunk of at most 1,024 items at a time; 2 more wait here" in plan
    assert f"written by the executors: write_parquet('{tmp_path / 'out'}')" in plan
    with fusion_off():
        plan = rx_spark.write_parquet(source.map(to_fare), tmp_path / "out").explain()
    assert "because fusion is switched off" in plan


def test_every_form_of_row_is_written(tmp_path: Path) -> None:
    rows: list[Any] = [Total("Ulm", 1), ("Bonn", 2)]
    rx_spark.write_json(Flowable.from_iterable(rows), tmp_path / "out", schema=Total).blocking_get()
    found = ds.dataset(tmp_path / "out", format="json").to_table().to_pylist()
    assert sorted(found, key=repr) == [{"city": "Bonn", "total": 2}, {"city": "Ulm", "total": 1}]


def test_columns_that_are_not_known_are_asked_for(source: Flowable[Trip], tmp_path: Path) -> None:
    for flow in (Flowable.range(3), source.hide(), source.scan(lambda a, b: a)):
        with pytest.raises(TypeError, match=r"\.write_parquet\(\.\.\., schema=Trip\)"):
            rx_spark.write_parquet(flow, tmp_path / "out")
    with pytest.raises(SchemaError, match=r"partition_by='town'\): there is no such column; there are city, cents"):
        rx_spark.write_parquet(Flowable.range(3), tmp_path / "out", schema=Fare, partition_by="town")


# --- hot, slow, long, empty -------------------------------------------------------------------------------------------


def test_a_hot_source_is_written_as_it_comes(tmp_path: Path) -> None:
    hot: PublishProcessor[Fare] = PublishProcessor()
    done = threading.Event()
    written: list[Written] = []
    rx_spark.write_parquet(hot, tmp_path / "out", schema=Fare).do_finally(done.set).subscribe(written.append)
    for fare in fares(50):  # the job begins with the first of them
        hot.on_next(fare)
    assert wait_until(lambda: bool(feeds()))
    hot.on_next(Fare("Ulm", 50))
    hot.on_complete()
    assert done.wait(PATIENCE)
    assert [each.rows for each in written] == [51]
    assert sorted(row["cents"] for row in read(tmp_path / "out")) == list(range(51))


class Counted:
    """An item that is counted as long as it is there."""

    alive: ClassVar[int] = 0
    most: ClassVar[int] = 0

    def __init__(self, number: int) -> None:
        self.city, self.cents = "Ulm", number
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self) -> None:
        Counted.alive -= 1


@pytest.mark.parametrize("pushed", [False, True], ids=["iterated", "pushed"])
def test_few_items_of_a_long_source_are_under_way(pushed: bool, tmp_path: Path) -> None:
    long = Flowable.range(200_000).map(Counted)
    Counted.most = Counted.alive = 0
    flow = Flowable.merge(long.hide(), Flowable.empty().hide()) if pushed else long
    written = rx_spark.write_parquet(flow, tmp_path / "out", schema=Fare).blocking_get()
    assert written.rows == 200_000
    assert Counted.most <= (5 if pushed else 2) * CHUNK
    assert wait_until(lambda: Counted.alive == 0)


def test_an_empty_source_writes_an_empty_table(tmp_path: Path) -> None:
    nothing: Flowable[Fare] = Flowable.empty()
    assert rx_spark.write_parquet(nothing, tmp_path / "out", schema=Fare).blocking_get().rows == 0
    assert ds.dataset(tmp_path / "out").schema.names == ["city", "cents"]


def test_what_is_there_is_kept_or_refused(tmp_path: Path) -> None:
    left: list[str] = []
    flow = Flowable.from_iterable(fares(10)).concat_with(Flowable.never()).do_on_cancel(lambda: left.append("left"))
    rx_spark.write_parquet(Flowable.from_iterable(fares(3)), tmp_path / "out", schema=Fare).blocking_get()
    with pytest.raises(FileExistsError, match="mode='overwrite'"):
        rx_spark.write_parquet(flow, tmp_path / "out", schema=Fare).blocking_get()
    assert left == ["left"]
    assert rx_spark.write_parquet(flow, tmp_path / "out", schema=Fare, mode="ignore").blocking_get() == Written(0, 0, 0)
    assert left == ["left", "left"]
    rx_spark.write_parquet(Flowable.from_iterable(fares(2)), tmp_path / "out", schema=Fare, mode="append").blocking_get()
    assert len(read(tmp_path / "out")) == 5


# --- what fails -------------------------------------------------------------------------------------------------------


def test_an_error_of_the_flow_comes_as_itself_and_nothing_is_committed(tmp_path: Path) -> None:
    error = ValueError("after 5,000 items")

    def failing() -> Iterator[Fare]:
        yield from fares(5000)
        raise error

    with pytest.raises(ValueError, match="after 5,000 items") as caught:
        rx_spark.write_parquet(Flowable.from_iterable(failing()), tmp_path / "out", schema=Fare).blocking_get()
    assert caught.value is error
    assert not (tmp_path / "out").exists()


def test_a_failed_feed_leaves_what_was_there(source: Flowable[Trip], tmp_path: Path) -> None:
    rx_spark.write_parquet(source.map(to_fare), tmp_path / "out").blocking_get()
    before = sorted(file.name for file in (tmp_path / "out").rglob("*"))
    broken = Flowable.from_iterable(fares(5000)).concat_with(Flowable.error(OSError("gone")))
    with pytest.raises(OSError, match="gone"):
        rx_spark.write_parquet(broken, tmp_path / "out", schema=Fare, mode="append").blocking_get()
    assert sorted(file.name for file in (tmp_path / "out").rglob("*")) == before


def test_an_item_that_does_not_fit_is_told_with_its_value(tmp_path: Path) -> None:
    flow = Flowable.from_iterable([*fares(3000), Fare("Ulm", "dear")])  # type: ignore[arg-type]  # on purpose
    with pytest.raises(SchemaError, match=r"'dear' \(str\) does not fit column 'cents' of type int64"):
        rx_spark.write_parquet(flow, tmp_path / "out", schema=Fare).blocking_get()
    with pytest.raises(SchemaError, match=r"Trip\(.* is no Fare \(city: str, cents: int\)"):
        rx_spark.write_parquet(Flowable.from_iterable(trips()), tmp_path / "out", schema=Fare).blocking_get()
    assert not (tmp_path / "out").exists()


def test_cancelling_the_single_cancels_source_and_job(tmp_path: Path) -> None:
    hot: PublishProcessor[Fare] = PublishProcessor()
    held = rx_spark.write_parquet(hot, tmp_path / "out", schema=Fare).subscribe(lambda _written: None)
    hot.on_next(Fare("Ulm", 1))
    tracker = engine(SparkConfig()).session.sparkContext.statusTracker()
    assert wait_until(lambda: bool(tracker.getActiveJobsIds()))
    held.dispose()
    assert not hot.has_subscribers
    assert wait_until(lambda: not tracker.getActiveJobsIds() and not (tmp_path / "out").exists())


@dataclass(frozen=True)
class Place:
    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return _place, (self.name,)


@dataclass(frozen=True)
class Visit:
    place: Place


def _place(name: str) -> Place:
    if os.path.isabs(name) and not os.path.exists(name):
        Path(name).touch()
        os._exit(1)
    return Place(name)


def test_a_task_that_runs_again_fails_the_job(tmp_path: Path) -> None:
    flow = Flowable.from_iterable([*(Visit(Place("Ulm")) for _ in range(3000)), Visit(Place(str(tmp_path / "died")))])
    with pytest.raises(SparkJobError, match="ran again, and what its first attempt had taken cannot be given twice"):
        rx_spark.write_parquet(flow, tmp_path / "out", schema=Visit).blocking_get()
    assert (tmp_path / "died").exists()
    assert not (tmp_path / "out").exists()
