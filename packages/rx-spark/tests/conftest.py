"""One Spark session for the whole run: it belongs to the process, so other folders get the same from ``engine()``."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from rx_spark._job import END, SparkJob
from rx_spark._plan import Plan
from rx_spark._session import SparkConfig, engine

sys.path.insert(0, str(Path(__file__).parent))  # what tests of this folder share

from spark_sources import Sources

PATIENCE = 40.0  # seconds; the first job starts Python workers


class Probe:
    """A job with a consumer that waits for ``on_ready`` instead of polling in circles."""

    def __init__(self, config: SparkConfig, plan: Plan) -> None:
        self._ready = threading.Event()
        self.job = SparkJob(config, plan, on_ready=self._ready.set)
        self.job.start()

    def next(self) -> Any:
        while True:
            self._ready.clear()
            item = self.job.poll()
            if item is not None:
                return item
            assert self._ready.wait(PATIENCE), "nothing arrived"

    def take(self, n: int) -> list[Any]:
        items: list[Any] = []
        while len(items) < n and (item := self.next()) is not END:
            items.append(item)
        return items

    def rest(self) -> list[Any]:
        return self.take(1 << 62)

    def until_error(self) -> tuple[list[Any], Exception]:
        items: list[Any] = []
        while True:
            try:
                item = self.next()
            except Exception as error:
                return items, error
            assert item is not END, f"no error after {items!r}"
            items.append(item)


@pytest.fixture(scope="session")
def spark_config() -> SparkConfig:
    # 4: a failed task is run again, as on a cluster; an embedded Spark does not by default.
    config = SparkConfig("local[2, 4]", settings=(("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),))
    engine(config)
    return config


@pytest.fixture
def spark(spark_config: SparkConfig, no_leaks: None) -> Iterator[Sources]:
    """Sources whose jobs must be over at the end: no thread of ours, nothing running in Spark."""
    sources = Sources(spark_config)
    yield sources
    tracker = engine(spark_config).session.sparkContext.statusTracker()
    deadline = monotonic() + 5
    while (sources.stats.running or tracker.getActiveJobsIds()) and monotonic() < deadline:
        threading.Event().wait(0.01)
    assert sources.stats.running == 0
    assert tracker.getActiveJobsIds() == []


@pytest.fixture
def start(spark_config: SparkConfig) -> Iterator[Callable[[Plan], Probe]]:
    """Starts jobs; at the end all their threads must be gone, and Spark must be idle."""
    probes: list[Probe] = []

    def begin(plan: Plan) -> Probe:
        probes.append(Probe(spark_config, plan))
        return probes[-1]

    yield begin
    for each in probes:
        assert each.job.close()
    assert engine(spark_config).session.sparkContext.statusTracker().getActiveJobsIds() == []


@pytest.fixture
def run(start: Callable[[Plan], Probe]) -> Callable[[Plan], list[Any]]:
    """All elements of a plan."""
    return lambda plan: start(plan).rest()
