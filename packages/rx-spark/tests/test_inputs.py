"""How finely sources are cut into tasks. No Spark: the session only says how many rows it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

import rx_spark
from rx_fusion import fusion_enabled
from rx_spark import SparkConfig
from rx_spark._jobs import _inputs
from rx_spark._jobs._inputs import TASK_NUMBERS, TASKS_PER_CORE, read
from rx_spark._plans._plan import RangeSource
from rx_spark._session._session import Engine
from rx_spark._workers._blocks import GREAT_RANGE_BLOCK, RANGE_BLOCK, range_reader

CORES = 4


def tasks_of(count: int, *, cluster: bool, at_once: bool) -> int:
    asked: list[int] = []
    session = SimpleNamespace(range=lambda start, end, step, partitions: asked.append(partitions))
    here: Any = SimpleNamespace(session=session, parallelism=CORES, loses=cluster)
    read(RangeSource(0, count), cast(Engine, here), lambda: False, None, [], None, at_once=at_once, stable=False)
    return asked[0]


@pytest.mark.parametrize(
    ("count", "tasks"),
    [
        (1, CORES),
        (CORES * TASK_NUMBERS, CORES),
        (CORES * TASK_NUMBERS + 1, CORES + 1),
        (10 * TASK_NUMBERS, 10),
        (1000 * CORES * TASK_NUMBERS, TASKS_PER_CORE * CORES),
    ],
)
def test_on_a_cluster_a_job_without_demand_has_more_tasks_than_cores(count: int, tasks: int) -> None:
    assert tasks_of(count, cluster=True, at_once=True) == tasks


def test_tasks_that_wait_for_demand_are_as_many_as_cores() -> None:
    assert tasks_of(1000 * TASK_NUMBERS, cluster=True, at_once=False) == CORES


def test_on_this_machine_there_are_as_many_tasks_as_cores() -> None:
    assert tasks_of(1000 * TASK_NUMBERS, cluster=False, at_once=True) == CORES


@pytest.mark.parametrize(
    ("build", "size"),
    [
        (lambda numbers: numbers.map(str).distinct().count(), RANGE_BLOCK),
        (lambda numbers: numbers.group_reduce(lambda n: n, lambda _: 1, lambda a, b: a + b), RANGE_BLOCK),
        (lambda numbers: numbers.map(lambda n: n + 1), RANGE_BLOCK),
        (lambda numbers: numbers.map(lambda n: n + 1).sum(), GREAT_RANGE_BLOCK),
        (lambda numbers: numbers.count(), GREAT_RANGE_BLOCK),
    ],
    ids=["distinct", "groups", "a stream", "a sum", "a count"],
)
@pytest.mark.skipif(not fusion_enabled(), reason="without fusion the driver does it")
@pytest.mark.spark
def test_blocks_are_great_where_one_value_is_kept_of_each(
    build: Callable[[Any], Any], size: int, spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds keys asks for room behind a block: with great ones it would hold more of them."""
    sizes: list[int] = []

    def asked(source: RangeSource, tasks: int, largest: int) -> Any:
        sizes.append(largest)
        return range_reader(source, tasks, largest)

    monkeypatch.setattr(_inputs, "range_reader", asked)
    made = build(rx_spark.range(100, config=spark_config))
    assert made.blocking_list() if hasattr(made, "blocking_list") else made.blocking_get()
    assert sizes == [size]
