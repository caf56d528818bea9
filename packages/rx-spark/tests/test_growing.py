"""A cluster that gets another worker while a job runs: its cores are used, and what comes is what it would have been."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import pytest
from holding import Held
from standalone import Standalone, eventually
from trials import PATIENCE, Answer

import rx_spark
from rx_spark import SparkConfig
from rx_spark._jobs._inputs import TASK_NUMBERS
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.engine("standalone"), pytest.mark.timeout(300)]

BEFORE = 20_000  # items until the worker is started


def where(_item: object) -> int:
    """The executor: the process from which it forks its Python workers."""
    return os.getppid()


def whole(cluster: Standalone, config: SparkConfig) -> None:
    """Wait until each worker has an executor, and Spark knows of its core."""
    cluster.fill()
    context = engine(config).session.sparkContext
    assert eventually(lambda: context.defaultParallelism == len(cluster.workers), PATIENCE)


@contextmanager
def another_worker(cluster: Standalone, config: SparkConfig) -> Iterator[None]:
    worker = cluster.grow()
    try:
        whole(cluster, config)
        yield
    finally:
        cluster.shrink(worker)
        context = engine(config).session.sparkContext
        eventually(lambda: context.defaultParallelism == len(cluster.workers), PATIENCE)


def test_a_stream_that_runs_goes_on_with_more_tasks(standalone: Standalone, spark_config: SparkConfig) -> None:
    whole(standalone, spark_config)
    items = iter(rx_spark.range(1 << 40, config=spark_config).map(lambda n: (n, where(n))))
    seen: set[int] = set()
    with suppress(StopIteration):
        for expected in range(BEFORE):
            number, executor = next(items)
            assert number == expected
            seen.add(executor)
    assert len(seen) == 2
    with another_worker(standalone, spark_config):
        deadline = monotonic() + PATIENCE
        for expected, (number, executor) in enumerate(items, BEFORE):
            assert number == expected  # in order, none lost, none twice
            seen.add(executor)
            if len(seen) > 2:
                break
            assert monotonic() < deadline, f"no task runs on the new worker: {seen}"
        items.close()  # type: ignore[attr-defined]  # a generator


def test_the_tasks_of_a_shuffle_run_on_a_worker_that_comes_late(
    standalone: Standalone, spark_config: SparkConfig, held: Callable[[int], Held]
) -> None:
    """They are cut finer than cores: with one held on each core the others wait, for the new worker too."""
    whole(standalone, spark_config)
    first = held(0)
    second = held(8 * 1024)  # blocks of as many numbers go to the tasks in turns
    numbers = rx_spark.range(12 * TASK_NUMBERS, config=spark_config).map(first).map(second)
    answer = Answer(numbers.map(where).distinct())
    assert eventually(lambda: bool(first.reached() and second.reached()), PATIENCE)
    with another_worker(standalone, spark_config):
        first.go()
        second.go()
        found = answer.get()
    assert len(found) == 3
