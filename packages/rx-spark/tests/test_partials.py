"""Reductions to one value whose partial results come to the driver: where an executor may be lost, or they are plain values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import rx_spark
from rx_ops import Flowable, it
from rx_spark import JobStats, Observed, SparkConfig
from rx_spark._jobs import _compile
from rx_spark._session import _session
from rx_spark._workers._partials import OVERHEAD, TOO_MUCH, PartialsReader, PartialsWriter, packed_of
from rx_spark._workers._to_one import Folding, ReduceMerger, ReduceWriter

MANY = 5_000


class Row:
    """What Spark gives back of a row."""

    def __init__(self, row: tuple[int, int, int, int, bytes]) -> None:
        self.block, self.seq, self.cell = row[2], row[3], bytearray(row[4])


def blocks(*numbers: int) -> Any:
    return iter([(number, [f"{number}a", f"{number}b"]) for number in numbers])


def test_neighbours_meet_in_order_whichever_task_ends_first() -> None:
    combine = Folding(operator.add)
    rows = [row for task in ((1, 3), (0, 2, 4)) for row in PartialsWriter(ReduceWriter(combine), 1 << 20).rows(blocks(*task))]
    assert len(rows) == 2, "a row for each task"
    packed = packed_of(map(Row, rows))
    assert packed is not None
    ((_, merged),) = PartialsReader(packed.tasks, ReduceMerger(combine)).blocks(iter([object()]), 0)
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


OURS: dict[str, tuple[Callable[[Flowable[Any]], Any], Any]] = {
    "sum": (lambda flow: flow.sum(), sum(range(MANY))),
    "sum from a start": (lambda flow: flow.sum(0.5), sum(range(MANY)) + 0.5),
    "count": (lambda flow: flow.count(), MANY),
    "min": (lambda flow: flow.min(), 0),
    "max of text": (lambda flow: flow.map(str).max(), max(map(str, range(MANY)))),
    "at most one": (lambda flow: flow.sum().to_flowable().take(1).single(), sum(range(MANY))),
}


def fraction(number: int) -> Any:
    return Fraction(number)


def in_tuple(number: int) -> Any:
    return (number,)


def shuffled(reduced: Callable[[Flowable[Any]], Any], config: SparkConfig) -> tuple[Any, int]:
    """The value, and how many rows were shuffled for it."""
    stats = JobStats()
    flow: Flowable[int] = rx_spark.range(MANY, config=config, stats=stats)
    return reduced(flow.map(lambda n: n)).blocking_get(), stats.snapshot().rows_shuffled


@pytest.mark.spark
@pytest.mark.parametrize("name", OURS)
def test_plain_values_of_our_own_reductions_are_merged_by_the_driver(name: str, spark_config: SparkConfig) -> None:
    reduced, answer = OURS[name]
    assert shuffled(reduced, spark_config) == (answer, 0)


@pytest.mark.spark
def test_what_calls_a_function_of_the_users_is_merged_by_executors(
    spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> None:
        raise AssertionError("merged by the driver")

    monkeypatch.setattr(PartialsReader, "merged", refused)
    empty: Any = ()
    assert shuffled(lambda flow: flow.map(in_tuple).sum(empty), spark_config)[0] == tuple(range(MANY))
    assert shuffled(lambda flow: flow.min(key=lambda n: -n), spark_config)[0] == MANY - 1
    assert shuffled(lambda flow: flow.map(fraction).sum(), spark_config) == (Fraction(sum(range(MANY))), 0)
    assert shuffled(lambda flow: flow.reduce(operator.add), spark_config)[0] == sum(range(MANY))
    with pytest.raises(AssertionError, match="merged by the driver"):
        shuffled(lambda flow: flow.sum(), spark_config)


@pytest.mark.parametrize(
    ("reduced", "by_driver"),
    [
        (lambda flow: flow.sum(), True),
        (lambda flow: flow.count(), True),
        (lambda flow: flow.min(), True),
        (lambda flow: flow.max(), True),
        (lambda flow: flow.max(key=str), False),
        (lambda flow: flow.reduce(operator.add), False),
    ],
)
def test_explain_says_who_merges(reduced: Callable[[Flowable[Any]], Any], by_driver: bool, spark_config: SparkConfig) -> None:
    (line,) = [
        line for line in reduced(rx_spark.range(9, config=spark_config).map(str)).explain().splitlines() if "combine:" in line
    ]
    assert ("combined in order by the driver;" in line) == by_driver


def test_explain_says_that_nothing_is_merged_by_the_driver_where_something_is_counted(
    spark_config: SparkConfig, tmp_path: Path
) -> None:
    (tmp_path / "lines.txt").write_text("a\nb\n")
    observed = rx_spark.range(9, config=spark_config).map(str).observe(Observed("numbers"), n=it.count()).count()
    undecoded = rx_spark.text(tmp_path / "lines.txt", on_bad="skip", config=spark_config).map(len).sum()
    for reduced in (observed, undecoded):
        said = reduced.explain()
        assert "combine:" not in said
        assert "in one more task: something is counted on the way, in one run only" in said


@pytest.mark.spark
def test_values_that_do_not_go_together_are_told_as_on_executors(spark_config: SparkConfig) -> None:
    def mixed(n: int) -> Any:
        return str(n) if n == 3 else n

    with pytest.raises(TypeError, match="not supported between") as raised:
        rx_spark.range(4, config=spark_config).map(mixed).max().blocking_get()
    assert any("max" in note for note in raised.value.__notes__)


def inverse_to(number: int) -> Callable[[int], int]:
    return lambda n: 1 // (n - number)


@pytest.mark.spark
def test_an_error_of_a_task_is_told_and_no_value_of_the_others(spark_config: SparkConfig) -> None:
    for number in (0, MANY - 1):
        with pytest.raises(ZeroDivisionError):
            rx_spark.range(MANY, config=spark_config).map(inverse_to(number)).sum().blocking_get()


@pytest.mark.spark
def test_rows_are_sorted_for_what_is_used_item_by_item_and_not_for_one_value(
    spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.classic.dataframe import DataFrame

    sorts: list[object] = []
    sort = DataFrame.sortWithinPartitions

    def sorted_rows(self: Any, *by: Any) -> Any:
        sorts.append(by)
        return sort(self, *by)

    monkeypatch.setattr(DataFrame, "sortWithinPartitions", sorted_rows)
    numbers = _session.engine(spark_config).application.range(MANY).repartition(3)
    ids = rx_spark.dataframe(numbers).map(lambda row: row.id)
    assert ids.map(lambda n: n + 1).sum().blocking_get() == sum(range(MANY)) + MANY
    assert not sorts
    assert ids.map(lambda n: n + 1).count().blocking_get() == MANY
    assert not sorts
    assert sorted(ids.map(lambda n: n + 1)) == list(range(1, MANY + 1))
    assert len(sorts) == 1


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
