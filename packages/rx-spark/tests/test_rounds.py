"""Streams in order with more tasks than slots: tasks that wait for demand leave theirs to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

import rx_spark
from rx_ops import Flowable
from rx_spark import BadRecords, JobStats, SparkConfig
from rx_spark._session._session import engine
from rx_spark._workers._blocks import RANGE_BLOCK

pytestmark = pytest.mark.spark

TASKS, SLOTS = 20, 16  # of the embedded session: eight for each of two cores
COUNT = 8 * TASKS * RANGE_BLOCK


@pytest.fixture
def config(spark_config: SparkConfig) -> SparkConfig:
    engine(spark_config)  # or the session would be made with slots for them all
    return replace(spark_config, parallelism=TASKS)


@pytest.mark.engine("embedded")
def test_order_waits_for_no_task_that_has_no_slot(config: SparkConfig) -> None:
    stats = JobStats()
    flow = rx_spark.range(COUNT, config=config, stats=stats).map(lambda number: number + 1)
    assert all(item == expected for item, expected in zip(flow, range(1, COUNT + 1), strict=True))
    assert 0 < stats.spilled <= SLOTS * RANGE_BLOCK, "each task finishes the block it is at, and leaves"


@pytest.mark.nightly
@pytest.mark.engine("embedded")
def test_a_consumer_that_stops_stops_the_tasks_of_all_rounds(config: SparkConfig) -> None:
    stats = JobStats()
    flow = rx_spark.range(100 * COUNT, config=config, stats=stats)
    iterator = iter(flow)
    assert list(islice(iterator, COUNT // 2)) == list(range(COUNT // 2))
    assert stats.spilled <= SLOTS * RANGE_BLOCK
    del iterator


@pytest.mark.engine("embedded")
@pytest.mark.parametrize("kind", ["iterable", "text"])
def test_every_source_with_an_order_goes_on_in_a_further_round(kind: str, config: SparkConfig, tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(300_000)]
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(lines))
    make: dict[str, Callable[[], Flowable[str]]] = {
        "iterable": lambda: rx_spark.from_iterable(lines, config=config, stats=stats),
        "text": lambda: rx_spark.text(file, config=config, stats=stats),
    }
    stats = JobStats()
    assert list(make[kind]().map(str.upper)) == [line.upper() for line in lines]
    assert stats.spilled < len(lines) // 2


@pytest.mark.nightly
@pytest.mark.engine("embedded")
def test_lines_that_are_left_out_are_counted_once(config: SparkConfig, tmp_path: Path) -> None:
    """A task tells of them when it ends: it cannot leave blocks to another one, so what is too early goes to disk."""
    lines = [b"line %d" % number if number % 1000 else b"bad \xff" for number in range(300_000)]
    file = tmp_path / "lines.txt"
    file.write_bytes(b"\n".join(lines))
    bad = BadRecords()
    flow = rx_spark.text(file, on_bad="collect", bad=bad, config=config)
    assert list(flow) == [line.decode() for line in lines if not line.startswith(b"bad")]
    assert bad.count == 300


@pytest.mark.nightly
@pytest.mark.engine("embedded")
def test_two_streams_that_need_each_other_share_the_slots(config: SparkConfig) -> None:
    stats = JobStats()
    numbers = rx_spark.range(COUNT // 4, config=config, stats=stats)
    squares = rx_spark.range(COUNT // 4, config=config, stats=stats).map(lambda number: number * number)
    pairs = Flowable.zip(numbers, squares)
    assert sum(1 for number, square in pairs if number * number == square) == COUNT // 4
