"""How finely sources are cut into tasks. No Spark: the session only says how many rows it is asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rx_spark._jobs._inputs import TASK_NUMBERS, TASKS_PER_CORE, read
from rx_spark._plans._plan import RangeSource
from rx_spark._session._session import Engine

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
