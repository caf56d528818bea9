"""One job of a user's own package, from Parquet to partitioned Parquet: the same answers on every engine as in a local loop.

The ordinary run takes the embedded engine; tools/clusters.py runs this, and the tests of rows and writers, on clusters.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from frames import trips
from standalone import MASTER, Standalone
from taxi.jobs import JOBS, fares, revenue
from taxi.model import Revenue, Ride

import rx_spark
from rx_ops import Flowable
from rx_spark import SparkConfig
from rx_spark._session._session import engine
from rx_spark._session._ship import is_own

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


def local_rides() -> Flowable[Ride]:
    return Flowable.from_iterable([Ride(trip.id, trip.city, trip.km, trip.day) for trip in trips()])


def written(path: Path) -> Counter[Any]:
    """With pyarrow alone; partition folders are columns again, as text."""
    rows = ds.dataset(path, partitioning="hive").to_table().to_pylist()
    return Counter((row["city"], str(row["day"]), row["cents"]) for row in rows)


def expected(items: Flowable[Any]) -> Counter[Any]:
    return Counter((item.city, str(item.day), item.cents) for item in items)


def test_the_users_package_is_not_installed(spark_config: SparkConfig) -> None:
    assert is_own("taxi")
    assert is_own("tariffs")
    session = engine(spark_config)
    assert (session.shipment is not None) == (MASTER == "standalone")


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_items_are_those_of_the_local_loop(job: Callable[[Flowable[Ride]], Flowable[Any]], rides: Flowable[Ride]) -> None:
    assert Counter(job(rides)) == Counter(job(local_rides()))


@pytest.mark.parametrize("job", [fares, revenue])
def test_files_are_those_of_the_local_loop(
    job: Callable[[Flowable[Ride]], Flowable[Any]], rides: Flowable[Ride], tmp_path: Path
) -> None:
    answer = expected(job(local_rides()))
    told = rx_spark.write_parquet(job(rides), tmp_path / "out", partition_by="day", schema=Revenue).blocking_get()
    assert written(tmp_path / "out") == answer
    assert told.rows == answer.total()
    assert {file.parent.name for file in (tmp_path / "out").rglob("*.parquet")} == {f"day={day}" for _, day, _ in answer}


def test_nothing_of_the_job_runs_here(rides: Flowable[Ride], tmp_path: Path) -> None:
    plan = rx_spark.write_parquet(revenue(rides), tmp_path / "out", schema=Revenue).explain()
    assert [line for line in plan.splitlines() if not line.startswith("   · ")] == plan.splitlines()[:1]  # one node, Spark's
    assert "columns: filter(it.id >= 20)" in plan
    assert "shuffle: group_reduce(day_of, it.cents, add), combined per key on both sides" in plan
    assert "written by the executors: write_parquet(" in plan


def failing(ride: Ride) -> Ride:
    if ride.id == 150:
        raise LookupError(f"ride {ride.id} is not known")
    return ride


def test_an_error_is_the_users_own_and_leaves_no_files(rides: Flowable[Ride], tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="ride 150 is not known"):
        Counter(revenue(rides, failing))
    with pytest.raises(LookupError, match="ride 150 is not known"):
        rx_spark.write_parquet(fares(rides, failing), tmp_path / "out", schema=Revenue).blocking_get()
    assert not (tmp_path / "out").exists()


ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.engine("standalone")
def test_the_corpus_program_gives_its_answer_on_a_cluster(tmp_path: Path) -> None:
    """Several modules, none of them installed; on a cluster of its own, because the cores of the other are taken."""

    def answer(*arguments: str) -> dict[str, Any]:
        command = [sys.executable, "examples/corpus", "--json", "--input", "packages/rx-spark/src", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        found: dict[str, Any] = json.loads(done.stdout)
        return {name: value for name, value in found.items() if name not in ("engines", "engine")}

    with Standalone(tmp_path, workers=1) as cluster:
        assert answer("--engine", "spark", "--master", cluster.url) == answer("--engine", "local")
