"""Reductions to one value whose partial results come to the driver, as where an executor may be lost."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

import rx_spark
from rx_ops import Flowable
from rx_spark import JobStats, SparkConfig
from rx_spark._jobs import _compile
from rx_spark._session import _session
from rx_spark._workers._partials import OVERHEAD, TOO_MUCH, PartialsReader, PartialsWriter, packed_of
from rx_spark._workers._shuffle import Folding, ReduceMerger, ReduceWriter

MANY = 5_000


class Row:
    """What Spark gives back of a row."""

    def __init__(self, row: tuple[int, int, int, int, bytes]) -> None:
        self.block, self.cell = row[2], bytearray(row[4])


def blocks(*numbers: int) -> Any:
    return iter([(number, [f"{number}a", f"{number}b"]) for number in numbers])


def test_neighbours_meet_in_order_whichever_task_ends_first() -> None:
    combine = Folding(operator.add)
    rows = [row for task in ((1, 3), (0, 2, 4)) for row in PartialsWriter(ReduceWriter(combine), 1 << 20).rows(blocks(*task))]
    assert len(rows) == 2, "a row for each task"
    packed = packed_of(map(Row, rows))
    assert packed is not None
    ((_, merged),) = PartialsReader(packed, ReduceMerger(combine)).blocks(iter([object()]), 0)
    assert list(merged) == ["0a0b1a1b2a2b3a3b4a4b"]


def test_a_task_with_nothing_sends_nothing_and_one_with_too_much_says_so_and_ends() -> None:
    writer = ReduceWriter(Folding(operator.add))
    assert list(PartialsWriter(writer, 1).rows(blocks())) == []
    left = blocks(0, 1, 2)
    (row,) = PartialsWriter(writer, OVERHEAD).rows(left)
    assert row[2] == TOO_MUCH
    assert [block for block, _ in left] == [1, 2], "it went on"
    assert packed_of([Row((0, 0, 1, 0, b"x")), Row(row)]) is None


@pytest.fixture
def losing(spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch) -> SparkConfig:
    """The session as if its executors were processes of their own."""
    monkeypatch.setattr(_session, "_is_embedded", lambda _: False)
    return spark_config


REDUCTIONS: dict[str, Callable[[Flowable[int]], Any]] = {
    "sum": lambda flow: flow.sum(),
    "count": lambda flow: flow.count(),
    "min": lambda flow: flow.min(key=lambda n: (n % 7, -n)),
    "max": lambda flow: flow.max(key=lambda n: n % 7),
    "reduce": lambda flow: flow.map(lambda n: (n,)).reduce(operator.add),
    "and a pass": lambda flow: flow.sum().map(lambda n: n + 1),
    "of a value": lambda flow: flow.sum().to_flowable().map(lambda n: n + 1).count(),
    "of groups": lambda flow: flow.group_reduce(lambda n: n % 5, lambda n: n, operator.add).map(lambda pair: pair[1]).sum(),
}


@pytest.mark.spark
@pytest.mark.parametrize("count", [MANY, 1, 0])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_answer_is_that_of_a_local_loop(name: str, count: int, losing: SparkConfig) -> None:
    reduced = REDUCTIONS[name]
    answer = list(reduced(rx_spark.range(count, config=losing).map(lambda n: n * 3)).to_flowable())
    if name == "of groups":
        assert answer == [sum(range(0, count * 3, 3))]
    else:
        assert answer == list(reduced(Flowable.range(0, count).map(lambda n: n * 3)).to_flowable())


@pytest.mark.cluster
@pytest.mark.spark
def test_nothing_is_shuffled_unless_partial_results_are_large(losing: SparkConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> int:
        stats = JobStats()
        numbers = rx_spark.range(MANY, config=losing, stats=stats).map(lambda n: (n,))
        assert numbers.reduce(operator.add).blocking_get() == tuple(range(MANY))
        return stats.snapshot().rows_shuffled

    assert run() == 0
    monkeypatch.setattr(_compile, "MOST_BYTES", 1 << 15)
    assert run() > 0


@pytest.mark.spark
def test_the_task_that_merges_reads_no_row(losing: SparkConfig) -> None:
    stats = JobStats()
    frame = _session.engine(losing).application.range(300)
    assert rx_spark.dataframe(frame, stats=stats).map(lambda row: row.id).sum().blocking_get() == sum(range(300))
    assert stats.progress(0.01).blocking_last().rows_read == 300


@pytest.mark.spark
def test_an_iterable_is_read_once_also_when_partial_results_are_large(
    losing: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_compile, "MOST_BYTES", 1 << 15)
    flow = rx_spark.from_iterable(iter(range(MANY)), config=losing).map(lambda n: (n,))
    assert flow.reduce(operator.add).blocking_get() == tuple(range(MANY))


@pytest.mark.spark
def test_an_error_before_the_reduction_is_the_one_that_is_told(losing: SparkConfig) -> None:
    with pytest.raises(ZeroDivisionError):
        rx_spark.range(MANY, config=losing).map(lambda n: 1 // (n - 4000)).sum().blocking_get()
    with pytest.raises(ZeroDivisionError):
        rx_spark.range(MANY, config=losing).reduce(lambda first, second: 1 // 0).blocking_get()


@pytest.mark.spark
def test_a_fetch_from_an_executor_that_is_gone_is_tried_again_after_a_second(spark_config: SparkConfig) -> None:
    settings = _session.engine(spark_config).session.sparkContext.getConf()
    wait, retries = settings.get("spark.shuffle.io.retryWait"), settings.get("spark.shuffle.io.maxRetries")
    assert (wait, retries) == ("1s", "15"), "as long as Spark's own three times five seconds"
