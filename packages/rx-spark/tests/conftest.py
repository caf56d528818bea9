"""One Spark session for the whole run: it belongs to the process, so other folders get the same from ``engine()``.

RX_SPARK_MASTER names another engine than the embedded one: a master that Spark knows, or ``standalone`` for a cluster that the
run starts by itself, or ``speculation`` for one that starts second attempts of slow tasks. tools/clusters.py sets it.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext

from rx_spark._jobs._job import END, SparkJob
from rx_spark._plans._plan import Plan
from rx_spark._session._session import SparkConfig, engine

sys.path.insert(0, str(Path(__file__).parent))  # what tests of this folder share

from frames import Trip, trips, write_trips
from holding import Held
from spark_sources import Sources
from standalone import LOOPBACK, MASTER, Standalone, eventually
from taxi.model import Ride

import rx_spark
from rx_ops import Flowable
from tools.tests import SHORT_LIVED_JAVA

PATIENCE = 120.0 if MASTER else 40.0  # seconds; the first job starts executors and Python workers

#: A second attempt as soon as a task takes longer than another one did.
SPECULATION = tuple(
    (f"spark.speculation{name}", value)
    for name, value in (
        ("", "true"),
        (".interval", "100ms"),
        (".quantile", "0.1"),
        (".multiplier", "1.1"),
        (".minTaskRuntime", "100ms"),
    )
)


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


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another engine has to show: ``@pytest.mark.engine("standalone")``. Leave most cases of a test that has many
    on Spark to the night, because each is a job of half a second: the first stays, and every eighth."""
    cases: Counter[str] = Counter()
    for item in items:
        test, _, case = item.nodeid.partition("[")
        if case and item.get_closest_marker("spark"):
            cases[test] += 1
            if cases[test] > 1 and cases[test] % 8:
                item.add_marker(pytest.mark.nightly)
    here = MASTER.partition("[")[0] or "embedded"
    left = [item for item in items if (asked := item.get_closest_marker("engine")) and here not in asked.args]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """The cluster of this run. Its driver is stopped before it is."""
    hosts = (LOOPBACK, "127.0.0.2") if MASTER == "speculation" else (LOOPBACK,)
    with Standalone(tmp_path_factory.mktemp("cluster"), hosts=hosts) as cluster:
        yield cluster
        context = SparkContext._active_spark_context
        if context is not None:
            context.stop()


@pytest.fixture(scope="session")
def spark_config(request: pytest.FixtureRequest) -> SparkConfig:
    quick = ("spark.driver.extraJavaOptions", SHORT_LIVED_JAVA)
    # 4: a failed task is run again, as on a cluster; an embedded Spark does not by default.
    config = SparkConfig(MASTER or "local[2, 4]", settings=(quick,))
    if MASTER in ("standalone", "speculation"):
        here = (("spark.driver.host", LOOPBACK), ("spark.driver.bindAddress", LOOPBACK))
        more = SPECULATION if MASTER == "speculation" else ()
        config = SparkConfig(request.getfixturevalue("standalone").url, settings=(quick, *here, *more))
    engine(config)
    return config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips in Parquet files."""
    return write_trips(tmp_path_factory.mktemp("frames") / "trips")


@pytest.fixture
def source(folder: Path, spark_config: SparkConfig) -> Flowable[Trip]:
    return rx_spark.parquet(folder, schema=Trip, config=spark_config)


@pytest.fixture
def rides(tmp_path_factory: pytest.TempPathFactory, spark_config: SparkConfig) -> Flowable[Ride]:
    """The same trips for the jobs of the taxi company, in more files."""
    folder = write_trips(tmp_path_factory.mktemp("rides") / "rides", files=4)
    return rx_spark.parquet(folder, schema=Ride, config=spark_config)


@pytest.fixture
def local_rides() -> Flowable[Ride]:
    return Flowable.from_iterable([Ride(trip.id, trip.city, trip.km, trip.day) for trip in trips()])


@pytest.fixture
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Held]]:
    """Makes functions that hold a task at an item, until the test lets it go or is over: the session is shared, and a task that
    is still held behind a test that failed would fail the tests behind it."""
    made: list[Held] = []

    def at(item: int) -> Held:
        made.append(Held(tmp_path_factory.mktemp("notes"), item))
        return made[-1]

    yield at
    for each in made:
        each.go()


@pytest.fixture
def spark(spark_config: SparkConfig, no_leaks: None) -> Iterator[Sources]:
    """Sources whose jobs must be over at the end: no thread of ours, nothing running in Spark."""
    sources = Sources(spark_config)
    yield sources
    assert eventually(lambda: sources.stats.running == 0, 5.0)
    assert eventually(lambda: not active_jobs(spark_config), 5.0)


def active_jobs(config: SparkConfig) -> list[int]:
    """Those that Spark knows of, a moment after they began or ended."""
    return engine(config).session.sparkContext.statusTracker().getActiveJobsIds()


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
    assert eventually(lambda: not active_jobs(spark_config), 5.0)


@pytest.fixture
def run(start: Callable[[Plan], Probe]) -> Callable[[Plan], list[Any]]:
    """All elements of a plan."""
    return lambda plan: start(plan).rest()
