"""map_async and filter_async over a pipeline of Spark: the tasks make the calls, several at a time."""

from __future__ import annotations

import asyncio
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest
from frames import ROWS, Fare, Trip, trips
from spark_sources import Sources

import rx_asyncio
import rx_spark
from rx_fusion import fusion_enabled, fusion_off
from rx_ops import Flowable, aggregates
from rx_spark import NotPortableError, Observed, SparkConfig, check

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

fused_only = pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark")


class Where(NamedTuple):
    """A result, and what it was made by."""

    value: int
    process: int
    most: int


@dataclass
class Counting:
    """Says how many of its calls are under way at a time."""

    running: int = 0
    most: int = 0

    async def __call__(self, item: int) -> Where:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0.002)
            return Where(10 * item, os.getpid(), self.most)
        finally:
            self.running -= 1


async def ten_times(item: int) -> int:
    await asyncio.sleep(0)
    return 10 * item


async def is_even(item: int) -> bool:
    await asyncio.sleep(0)
    return item % 2 == 0


async def to_fare(trip: Trip) -> Fare:
    await asyncio.sleep(0)
    return Fare(trip.city, trip.id)


async def not_seven(item: int) -> int:
    if item == 700:
        raise LookupError("seven hundred")
    return item


@fused_only
def test_calls_are_made_by_the_tasks_several_at_a_time_and_results_come_in_order(spark: Sources) -> None:
    flow = spark.range(400).compose(rx_asyncio.map_async(Counting(), concurrency=16))
    found = flow.blocking_list()
    assert [each.value for each in found] == [10 * n for n in range(400)]
    assert os.getpid() not in {each.process for each in found}
    assert max(each.most for each in found) == 16  # blocks of 25 items and fewer do not end that
    assert spark.stats.jobs == 1


@fused_only
def test_what_is_before_and_behind_runs_on_the_executors_too(spark: Sources) -> None:
    flow = (
        spark.from_iterable(range(100))
        .map(lambda n: n + 1)
        .compose(rx_asyncio.filter_async(is_even))
        .compose(rx_asyncio.map_async(ten_times, ordered=False))
        .map(lambda n: n + 1)
    )
    expected = [10 * n + 1 for n in range(2, 101, 2)]
    assert flow.blocking_list() == expected
    assert flow.sum().blocking_get() == sum(expected)
    assert sorted(flow.group_reduce(lambda n: n % 3, lambda _: 1, lambda a, b: a + b)) == [(0, 17), (1, 16), (2, 17)]
    assert dict(flow.group_by(lambda n: n % 3).flat_map(lambda group: group.count().map(lambda n: (group.key, n)))) == {
        0: 17,
        1: 16,
        2: 17,
    }
    assert [step.where for step in check(flow.count()).steps] == ["pass"] * 5 + ["shuffle"]


@fused_only
def test_results_are_written_where_they_are(source: Flowable[Trip], spark_config: SparkConfig, tmp_path: Path) -> None:
    made = rx_spark.write_parquet(source.compose(rx_asyncio.map_async(to_fare)), tmp_path / "fares").blocking_get()
    assert made.rows == ROWS
    written = pq.read_table(tmp_path / "fares").to_pylist()
    assert sorted((row["city"], row["cents"]) for row in written) == sorted((trip.city, trip.id) for trip in trips())


@fused_only
def test_the_plan_says_who_calls(source: Flowable[Trip], spark: Sources) -> None:
    plan = spark.range(9).map(abs).compose(rx_asyncio.map_async(ten_times)).filter(bool).explain()
    for line in (
        "range(9).map(abs).map_async(ten_times).filter(bool)",
        "rewritten: async_calls",
        "executors: one fused pass: map(abs)",
        "executors: map_async(ten_times), several calls at a time in each task, results in order",
        "executors: one fused pass: filter(bool)",
    ):
        assert line in plan
    assert (
        "Python from map_async(to_fare): an async function is no column"
        in source.compose(rx_asyncio.map_async(to_fare)).explain()
    )


def test_an_error_keeps_its_type_and_comes_behind_the_results_before_it(spark: Sources) -> None:
    flow = spark.range(1000).compose(rx_asyncio.map_async(not_seven))

    async def main() -> tuple[list[int], LookupError]:
        found: list[int] = []
        try:
            async with rx_asyncio.stream(flow) as items:
                async for item in items:
                    found.append(item)
        except LookupError as error:
            return found, error
        raise AssertionError(found)

    found, error = asyncio.run(main())
    assert found == list(range(700))
    assert error.args == ("seven hundred",)
    assert any(note.startswith("in map_async(not_seven)") for note in error.__notes__)


def test_leaving_early_ends_the_job(spark: Sources) -> None:
    async def main() -> int:
        async with rx_asyncio.stream(spark.range(10_000_000).compose(rx_asyncio.map_async(ten_times))) as items:
            async for item in items:
                if item == 50:
                    return item
        raise AssertionError

    assert asyncio.run(main()) == 50  # and the fixture waits for the job to be over


@fused_only
def test_what_cannot_travel_is_refused_before_the_job(spark: Sources) -> None:
    lock = threading.Lock()

    async def locked(item: int) -> int:
        with lock:
            return item

    with pytest.raises(NotPortableError, match="map_async"):
        spark.range(9).compose(rx_asyncio.map_async(locked)).blocking_list()
    assert spark.stats.jobs == 0


def test_behind_a_wall_or_without_fusion_the_calls_are_made_here(spark: Sources) -> None:
    async def main(flow: Flowable[int]) -> list[Any]:
        found = await flow.compose(rx_asyncio.map_async(Counting())).to_list()
        return [*{each.process for each in found}, sum(each.value for each in found)]

    assert asyncio.run(main(spark.range(9).hide())) == [os.getpid(), 360]
    assert asyncio.run(main(spark.range(100).take(9))) == [os.getpid(), 360]  # few items, that are there
    with fusion_off():
        assert asyncio.run(main(spark.range(9))) == [os.getpid(), 360]


@fused_only
def test_what_passes_before_the_calls_is_observed_exactly(spark: Sources) -> None:
    """Blocks are told one by one there: those that the calls look ahead to do not count for the one before."""
    seen = Observed("numbers")
    flow = rx_spark.observe(spark.range(1000), seen, n=aggregates.count()).compose(rx_asyncio.map_async(ten_times))
    assert flow.blocking_list() == [10 * n for n in range(1000)]
    assert seen.value is not None
    assert seen.value.n == 1000


@fused_only
@pytest.mark.timeout(60)
def test_a_python_worker_that_dies_costs_no_result_and_doubles_none(spark: Sources, tmp_path: Path) -> None:
    async def dies_once(item: int) -> int:
        await asyncio.sleep(0)
        if item == 777:
            try:
                (tmp_path / "died").touch(exist_ok=False)
            except FileExistsError:
                return item
            os.kill(os.getpid(), 9)
        return item

    assert spark.range(2000).compose(rx_asyncio.map_async(dies_once)).blocking_list() == list(range(2000))
    assert (tmp_path / "died").exists()
