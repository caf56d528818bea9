"""What dies on a cluster costs time and nothing else: a Python worker, an executor, a worker with its executor.

A function holds a task at one of its items; the test kills what runs it, lets it go, and compares the whole answer with that of a
local loop. RX_KILLS says how often each is done, at other items each time.
"""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from frames import ROWS
from holding import Held
from standalone import Standalone, alive, ancestors, eventually, is_executor, kill
from taxi.jobs import day_of, fares, revenue
from taxi.model import Revenue, Ride
from trials import NUMBERS, PATIENCE, Answer, every_trial, place

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import SparkConfig
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.engine("standalone"), pytest.mark.timeout(300)]

VICTIMS = ("python", "executor", "worker")

every_victim = pytest.mark.parametrize("victim", VICTIMS)


@pytest.fixture
def cluster(standalone: Standalone, spark_config: SparkConfig) -> Iterator[Standalone]:
    """Whole again after each test: two workers, two executors."""
    yield standalone
    standalone.fill()
    assert eventually(lambda: len(standalone.executors()) == 2, PATIENCE)
    engine(spark_config)


def strike(cluster: Standalone, hold: Held, victim: str) -> None:
    """Kill what runs the task that is held, then let its next attempt go on. The kill is looked at: the process is gone."""
    assert eventually(lambda: bool(hold.reached()), PATIENCE), "no task came to the item"
    (python, *_) = hold.reached()
    chain = list(ancestors(python))
    executor = next(pid for pid in chain if is_executor(pid))
    worker = cluster.worker_of(executor).process
    kill({"python": python, "executor": executor, "worker": worker.pid}[victim])
    if victim == "worker":
        worker.wait(10)
        if not eventually(lambda: not alive(executor), 10.0):
            kill(executor)  # it ends by itself once it misses its worker, unless it was lost before it knew that one
    assert eventually(lambda: not alive(python), PATIENCE), "the task outlived the kill"
    assert victim == "python" or eventually(lambda: not alive(executor), PATIENCE), "the executor outlived the kill"
    hold.go()


class Noted:
    """Notes every hundredth number that passes, each process in a file of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    def __call__(self, number: int) -> int:
        if number % 100 == 99:
            with (self.folder / str(os.getpid())).open("a") as file:
                file.write(f"{number}\n")
        return number

    def counts(self) -> Counter[int]:
        return Counter(int(line) for file in self.folder.iterdir() for line in file.read_text().splitlines())

    def numbers(self) -> set[int]:
        return set(self.counts())

    def again(self) -> int:
        """How many passed once more."""
        return sum(count - 1 for count in self.counts().values())


TASKS = 8


def several(config: SparkConfig) -> Flowable[int]:
    return rx_spark.range(NUMBERS, config=replace(config, parallelism=TASKS))


@pytest.fixture
def noted(tmp_path: Path) -> Noted:
    return Noted(tmp_path / "effects")


def only_one_task_again(noted: Noted) -> None:
    assert noted.numbers() == set(range(99, NUMBERS, 100))
    assert 0 < noted.again() <= NUMBERS // 100 // TASKS + 10  # blocks are not quite equal


# --- a pass -----------------------------------------------------------------------------------------------------------


@every_trial
@every_victim
def test_a_pass_is_exact(
    victim: str, trial: int, cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held]
) -> None:
    hold = held(place(trial, NUMBERS, f"pass {victim}"))
    answer = Answer(rx_spark.range(NUMBERS, config=spark_config).map(hold).map(lambda n: n * 3))
    strike(cluster, hold, victim)
    assert answer.in_order() == list(range(0, NUMBERS * 3, 3))
    assert hold.ran_again()


@every_trial
@every_victim
def test_a_pass_over_rows_is_exact(
    victim: str,
    trial: int,
    cluster: Standalone,
    rides: Flowable[Ride],
    local_rides: Flowable[Ride],
    held: Callable[[int], Held],
) -> None:
    hold = held(20 + place(trial, ROWS - 20, f"rows {victim}"))
    answer = Answer(fares(rides, hold))
    strike(cluster, hold, victim)
    assert answer.get() == Counter(fares(local_rides))
    assert hold.ran_again()


@every_trial
@every_victim
def test_rows_in_an_order_are_exact(
    victim: str, trial: int, cluster: Standalone, rides: Flowable[Ride], held: Callable[[int], Held]
) -> None:
    """What a function made is columns again, in an order, and behind it the held task has the next part of that."""
    hold = held(place(trial, ROWS, f"sorted {victim}"))
    ordered = rx_spark.as_rows(rides.map(lambda ride: ride), Ride).sorted(it.id, reverse=True)
    answer = Answer(ordered.map(hold).map(lambda ride: ride.id))
    strike(cluster, hold, victim)
    assert answer.in_order() == list(range(ROWS - 1, -1, -1))
    assert hold.ran_again()


# --- a shuffle --------------------------------------------------------------------------------------------------------


@every_trial
@every_victim
def test_what_goes_into_a_shuffle_is_counted_once(
    victim: str, trial: int, cluster: Standalone, rides: Flowable[Ride], local_rides: Flowable[Ride], held: Callable[[int], Held]
) -> None:
    hold = held(20 + place(trial, ROWS - 20, f"into {victim}"))
    answer = Answer(revenue(rides, hold))
    strike(cluster, hold, victim)
    assert answer.get() == Counter(revenue(local_rides))
    assert hold.ran_again()


@every_trial
@every_victim
def test_what_comes_out_of_a_shuffle_comes_once(
    victim: str, trial: int, cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held]
) -> None:
    """An executor takes the files of its maps along, and these run again too."""
    keys = 500
    hold = held(place(trial, keys, f"out {victim}"))
    pairs = rx_spark.range(NUMBERS, config=spark_config).group_reduce(lambda n: n % keys, lambda n: n, operator.add)
    answer = Answer(pairs.map(lambda pair: (hold(pair[0]), pair[1])))
    strike(cluster, hold, victim)
    assert answer.get() == Counter((key, sum(range(key, NUMBERS, keys))) for key in range(keys))
    assert hold.ran_again()


def test_of_a_shuffle_only_the_task_that_was_killed_is_computed_again(
    cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held], noted: Noted
) -> None:
    """Spark runs all of the lost executor's tasks again, and those that had ended give the copies that the driver has."""
    hold = held(NUMBERS - 1)  # in the last task
    numbers = several(spark_config).map(noted).map(hold)
    answer = Answer(numbers.group_reduce(lambda n: n % 5, lambda n: n, operator.add))
    strike(cluster, hold, "executor")
    assert answer.get() == Counter((key, sum(range(key, NUMBERS, 5))) for key in range(5))
    only_one_task_again(noted)


def test_control_what_is_too_large_for_a_copy_is_computed_again(
    cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held], noted: Noted
) -> None:
    hold = held(NUMBERS - 1)  # in the last task
    texts = several(spark_config).map(noted).map(hold).map(lambda n: f"{n:0500}")
    answer = Answer(texts.distinct().map(int))
    strike(cluster, hold, "executor")
    assert answer.get() == Counter(range(NUMBERS))
    assert noted.again() > NUMBERS // 100 // TASKS * 2


# --- one value --------------------------------------------------------------------------------------------------------


@every_trial
@every_victim
def test_one_value_is_exact(
    victim: str, trial: int, cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held]
) -> None:
    hold = held(place(trial, NUMBERS, f"value {victim}"))
    answer = Answer(rx_spark.range(NUMBERS, config=spark_config).map(hold).map(lambda n: (n, n, 1)).reduce(joined).to_flowable())
    strike(cluster, hold, victim)
    assert answer.in_order() == [(0, NUMBERS - 1, NUMBERS)]
    assert hold.ran_again()


def joined(before: tuple[int, int, int], behind: tuple[int, int, int]) -> tuple[int, int, int]:
    """First, last and number. Associative only, so it fails where neighbours do not meet."""
    assert before[1] + 1 == behind[0]
    return before[0], behind[1], before[2] + behind[2]


def test_of_one_value_only_the_task_that_was_killed_is_computed_again(
    cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held], noted: Noted
) -> None:
    """What the others had is on the driver, also of those that had run on the executor that is lost."""
    hold = held(NUMBERS - 1)  # in the last task
    answer = Answer(several(spark_config).map(noted).map(hold).sum().to_flowable())
    strike(cluster, hold, "executor")
    assert answer.in_order() == [sum(range(NUMBERS))]
    only_one_task_again(noted)


# --- a write ----------------------------------------------------------------------------------------------------------


def written(path: Path) -> Counter[Any]:
    """With pyarrow alone; partition folders are columns again, as text."""
    rows = ds.dataset(path, partitioning="hive").to_table().to_pylist()
    return Counter((row["city"], str(row["day"]), row["cents"]) for row in rows)


@every_trial
@every_victim
@pytest.mark.parametrize("job", [fares, revenue])
def test_files_have_each_row_once(
    job: Callable[..., Flowable[Any]],
    victim: str,
    trial: int,
    cluster: Standalone,
    rides: Flowable[Ride],
    local_rides: Flowable[Ride],
    held: Callable[[int], Held],
    tmp_path: Path,
) -> None:
    hold = held(20 + place(trial, ROWS - 20, f"write {job.__name__} {victim}"))
    answer = Answer(rx_spark.write_parquet(job(rides, hold), tmp_path / "out", partition_by="day", schema=Revenue).to_flowable())
    strike(cluster, hold, victim)
    ((told, times),) = answer.get().items()
    expected = Counter((row.city, str(row.day), row.cents) for row in job(local_rides))
    assert written(tmp_path / "out") == expected
    assert (told.rows, times) == (expected.total(), 1)
    assert hold.ran_again()


# --- controls ---------------------------------------------------------------------------------------------------------


def test_without_a_kill_no_task_runs_again(cluster: Standalone, spark_config: SparkConfig, held: Callable[[int], Held]) -> None:
    hold = held(NUMBERS // 2)
    answer = Answer(rx_spark.range(NUMBERS, config=spark_config).map(hold).map(lambda n: n * 3))
    assert eventually(lambda: bool(hold.reached()), PATIENCE)
    hold.go()
    assert answer.get() == Counter(range(0, NUMBERS * 3, 3))
    assert not hold.ran_again()


def test_what_a_task_does_beside_its_items_is_done_again(
    cluster: Standalone, rides: Flowable[Ride], held: Callable[[int], Held], tmp_path: Path
) -> None:
    """The comparison can fail: effects of a function, which nothing takes back, are there twice after a kill."""
    hold = held(150)
    effects = tmp_path / "effects"
    effects.mkdir()

    def noted(ride: Ride) -> Any:
        with (effects / str(os.getpid())).open("a") as file:
            file.write(f"{ride.id}\n")
        return hold(ride)

    answer = Answer(fares(rides, noted).map(day_of))
    strike(cluster, hold, "executor")
    answer.get()
    counts = Counter(line for file in effects.iterdir() for line in file.read_text().splitlines())
    assert set(map(int, counts)) == set(range(20, ROWS))
    assert max(counts.values()) == 2
    assert counts["150"] == 2


def test_columns_are_exact_when_an_executor_dies_between_jobs(cluster: Standalone, rides: Flowable[Ride]) -> None:
    (first, *_) = cluster.executors()
    kill(first)
    assert rides.map(it.id).sum().blocking_get() == sum(range(ROWS))
    assert eventually(lambda: first not in cluster.executors(), PATIENCE)
