"""The contract of demand that docs/guides/spark-demand.md tells, measured: what is under way, and what a cancel ends."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rx_spark
from rx_ops import it, stages
from rx_spark import SparkConfig
from rx_spark._jobs._feed_op import CHUNKS_AHEAD
from rx_spark._pipelines._reasons import is_few
from rx_spark._plans._plan import Distinct, Pass, Plan, RangeSource
from rx_spark._session._session import engine
from rx_spark._transport import _sink
from rx_spark._transport._credits import SPOOLED_BYTES, WINDOW
from rx_spark._transport._kept import COPY_BYTES, JOB_BYTES
from rx_spark._transport._wire import CHUNK, FRAME_BYTES, ROWS
from rx_spark._workers._passes import ROWS_WRITTEN
from rx_testing import TestSubscriber

GUIDE: Final = Path(__file__).parents[3] / "docs" / "guides" / "spark-demand.md"
PATIENCE: Final = 40.0
QUIET: Final = 0.5  # seconds without a further item: nothing is on its way
Start = Callable[[Plan], Any]


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> float:
    """Wait for what other processes do; how long it took."""
    began = monotonic()
    while not condition():
        assert monotonic() - began < seconds, "it did not happen"
        threading.Event().wait(0.01)
    return monotonic() - began


def settled(size: Callable[[], int]) -> int:
    """A number that grows, when it has stopped growing."""
    now = size()
    while True:
        threading.Event().wait(QUIET)
        if now == (now := size()):
            return now


def map_(function: Callable[[Any], Any]) -> Pass:
    return Pass(((stages.map_, (function,)),))


@pytest.fixture
def tasks(spark_config: SparkConfig) -> int:
    return engine(spark_config).parallelism


# --- what the page says -----------------------------------------------------------------------------------------------


def said(row: str) -> str:
    """The figure in the row of the page that begins so."""
    found = re.search(rf"^\| {re.escape(row)} \| ([^|]+) \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"{GUIDE.name} has no row {row!r}"
    return found[1].strip()


def test_the_page_has_the_numbers_of_the_library() -> None:
    assert said("items of a chunk, at most") == f"{CHUNK:,}"
    assert said("rows of a chunk, where Spark alone makes them, at most") == f"{ROWS:,}"
    assert said("bytes of a chunk, about") == f"{FRAME_BYTES >> 20} MiB"
    assert said("chunks of a task that were not taken, at most") == str(WINDOW)
    assert said("items under way with 8 tasks, at most") == f"{(8 * WINDOW + 1) * CHUNK:,}"
    assert said("bytes under way with 8 tasks, about") == f"{(8 * WINDOW + 1) * FRAME_BYTES >> 20} MiB"
    assert said("chunks of a stream of this process that a writer is ahead") == str(CHUNKS_AHEAD)
    assert said("items that a task has before it writes them") == f"{ROWS_WRITTEN:,}"
    assert said("seconds until Spark is asked to end the tasks") == str(_sink.TICK)
    assert said("seconds without an item until those that wait make room") == f"{_sink.STARVED:.0f}"
    assert said("bytes in the driver's file, of a stream that can go on in a further job") == f"{SPOOLED_BYTES >> 20} MiB"
    assert said("bytes of a copy of what a task gave to a shuffle, on a cluster, at most") == f"{COPY_BYTES >> 20} MiB"
    assert said("bytes of all such copies, until the job is over, at most") == f"{JOB_BYTES >> 20} MiB"


# --- what is under way ------------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("taken", [1, 5_000, 50_000])
def test_a_consumer_that_stops_leaves_two_chunks_for_each_task(taken: int, start: Start, tasks: int, tmp_path: Path) -> None:
    counter = tmp_path / "computed"

    def counted(number: int) -> int:
        with open(counter, "ab", buffering=0) as file:
            file.write(b".")
        return number

    probe = start(Plan(RangeSource(0, 10_000_000), (map_(counted),)))
    assert probe.take(taken) == list(range(taken))
    ahead = settled(lambda: counter.stat().st_size) - taken
    assert 0 < ahead <= (tasks * WINDOW + 1) * CHUNK
    assert probe.job.max_buffered <= (tasks * WINDOW + 1) * CHUNK
    assert probe.job.spilled == 0


@pytest.mark.spark
def test_rows_that_no_function_makes_come_in_larger_chunks(spark_config: SparkConfig, tasks: int, tmp_path: Path) -> None:
    for at in range(8):
        numbers = range(at * 50_000, (at + 1) * 50_000)
        pq.write_table(pa.table({"n": list(numbers)}), tmp_path / f"{at}.parquet")
    stats = rx_spark.JobStats()
    flow = rx_spark.parquet(str(tmp_path), config=spark_config, stats=stats).filter(it.n >= 0).map(it.n)
    assert f"at most {WINDOW} chunks of {ROWS:,} rows per task are ahead" in flow.explain()
    assert f"at most {WINDOW} chunks of {CHUNK:,} per task are ahead" in flow.map(lambda n: n + 1).explain()
    with TestSubscriber[int](request=100_000) as subscriber:
        flow.subscribe(subscriber)
        subscriber.await_count(100_000, PATIENCE)
        settled(lambda: stats.max_buffered)
        assert CHUNK < stats.max_buffered <= (tasks * WINDOW + 1) * ROWS
        assert stats.spilled == 0
        subscriber.request(300_000).await_terminal(PATIENCE).assert_complete()
    assert sorted(subscriber.values) == list(range(400_000))


@pytest.mark.spark
def test_large_items_come_in_small_chunks(start: Start, tasks: int) -> None:
    def large(number: int) -> bytes:
        return bytes([number % 256]) * 20_000

    probe = start(Plan(RangeSource(0, 10_000_000), (map_(large),)))
    probe.take(1_000)  # by then the chunks have their size

    def payloads() -> list[int]:
        partitions = list(probe.job._sink._partitions.values())
        return [len(frame.payload) for partition in partitions for frame in list(partition.frames) if frame.payload]

    settled(lambda: sum(payloads()))
    found = payloads()
    assert found, "nothing waits"
    assert max(found) <= FRAME_BYTES
    assert sum(found) <= tasks * WINDOW * FRAME_BYTES


@pytest.mark.spark
def test_what_stands_before_a_shuffle_runs_to_its_end_whatever_is_requested(start: Start, tmp_path: Path) -> None:
    counter = tmp_path / "computed"

    def counted(number: int) -> int:
        if number % 1_000 == 0:
            with open(counter, "ab", buffering=0) as file:
                file.write(b".")
        return number

    probe = start(Plan(RangeSource(0, 200_000), (map_(counted), Distinct())))
    assert len(probe.take(1)) == 1
    assert settled(lambda: counter.stat().st_size) == 200


# --- what a cancel ends -----------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("waits", [True, False], ids=["tasks that wait for demand", "tasks that compute"])
def test_a_cancel_ends_the_tasks_within_a_second_and_leaves_nothing(
    waits: bool, start: Start, spark_config: SparkConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"  # that of the machine is everybody's
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    took = []
    for attempt in range(3):  # on a busy machine one may take longer
        folder = tmp_path / str(attempt)
        folder.mkdir()
        took.append(_cancelled(waits, start, spark_config, str(folder)))
        assert os.listdir(temporary) == []
        if took[-1] < 1.0:
            break
    assert took[-1] < 1.0, took


def _cancelled(waits: bool, start: Start, spark_config: SparkConfig, folder: str) -> float:
    """How many seconds a cancelled job took to end; its busy Python workers end, too."""

    def busy(number: int) -> int:
        Path(folder, str(os.getpid())).touch()
        while number >= 0 and not waits:
            number += 1
        return number

    tracker = engine(spark_config).session.sparkContext.statusTracker()
    probe = start(Plan(RangeSource(0, 10_000_000), (map_(busy),)))
    if waits:
        probe.take(3)
    until(lambda: bool(os.listdir(folder)))
    probe.job.cancel()
    took = until(lambda: not tracker.getActiveJobsIds())
    if not waits:  # a task that computes takes its Python worker along, when Spark looks next; one that waits leaves it
        until(lambda: not any(alive(int(pid)) for pid in os.listdir(folder)), seconds=10.0)
    assert probe.job.close()
    return took


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_first_chunk_is_what_counts_as_few() -> None:
    from rx_spark._pipelines._calls import Call

    assert is_few(Call("take", ("count",), (CHUNK,), "limit"))
    assert not is_few(Call("take", ("count",), (CHUNK + 1,), "limit"))
