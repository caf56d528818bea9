"""The warning that much comes back from Spark for an operator on the driver."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from operator import add
from typing import Any

import pytest

import rx_spark
from rx_fusion import fusion_enabled
from rx_ops import Flowable
from rx_spark import JobStats, ManyRowsWarning, SparkConfig

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is moved to Spark"),
]

ITEMS = 5_000


@pytest.fixture
def source(spark_config: SparkConfig) -> Callable[[int | None], Flowable[int]]:
    def made(warn_rows: int | None, stats: JobStats | None = None) -> Flowable[int]:
        return rx_spark.range(ITEMS, config=replace(spark_config, warn_rows=warn_rows), stats=stats)

    return made


def told(flow: Flowable[Any]) -> list[str]:
    """What the run of ``flow`` warns of, for each job."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        flow.blocking_list()
    assert all(each.category is ManyRowsWarning for each in caught)
    return [str(each.message) for each in caught]


def test_the_operator_that_cut_is_named_once_with_its_remedy(source: Callable[[int | None], Flowable[int]]) -> None:
    (text,) = told(source(100).map(abs).scan(add).map(str))
    assert text.startswith(
        "more than 100 items have come back from Spark for scan(add) of rx_spark.range(5000).map(abs), which runs on the driver: "
        "it needs its items in order, one after another.\n"
    )
    assert "  Instead:  reduce first" in text
    assert text.endswith("SparkConfig(warn_rows=1_000), or None")


@pytest.mark.parametrize(
    ("build", "operator"),
    [
        (lambda flow: flow.flat_map(Flowable.just), "flat_map("),
        (lambda flow: flow.group_by(lambda n: n % 3).flat_map(lambda group: group.to_list()), "group_by("),
        (lambda flow: Flowable.merge(flow, Flowable.of(1)), "merge() of"),
    ],
)
def test_operators_that_coordinate_streams_are_named_too(
    build: Callable[[Flowable[int]], Flowable[Any]], operator: str, source: Callable[[int | None], Flowable[int]]
) -> None:
    (text,) = told(build(source(100)))
    assert f"have come back from Spark for {operator}" in text


@pytest.mark.parametrize(
    "build",
    [
        lambda flow: flow,
        lambda flow: flow.map(str),
        lambda flow: flow.to_list().to_flowable(),
        lambda flow: flow.count().to_flowable().flat_map(Flowable.range),
        lambda flow: flow.take(50).map(str).scan(add),
        lambda flow: flow.share(),  # its subscribers have asked for them
        lambda flow: flow.filter(lambda n: n < 50).scan(add),
    ],
)
def test_what_the_program_asked_for_and_what_is_little_is_no_matter(
    build: Callable[[Flowable[int]], Flowable[Any]], source: Callable[[int | None], Flowable[int]]
) -> None:
    assert told(build(source(100))) == []


def test_the_number_is_a_setting(source: Callable[[int | None], Flowable[int]]) -> None:
    assert SparkConfig().warn_rows == 1_000_000
    assert told(source(ITEMS).scan(add)) == []
    assert told(source(ITEMS - 1).scan(add)) != []
    assert told(source(None).scan(add)) == []


def test_each_run_warns_anew(source: Callable[[int | None], Flowable[int]]) -> None:
    flow = source(100).scan(add)
    assert len(told(flow)) == len(told(flow)) == 1


def test_where_warnings_are_errors_the_stream_ends_with_it_and_so_does_the_job(
    spark_config: SparkConfig,
) -> None:
    stats = JobStats()
    flow = rx_spark.range(ITEMS, config=replace(spark_config, warn_rows=100), stats=stats).scan(add)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ManyRowsWarning)
        with pytest.raises(ManyRowsWarning, match=r"for scan\(add\)"):
            flow.blocking_list()
    assert stats.running == 0
