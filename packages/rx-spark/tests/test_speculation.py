"""Two attempts of one task at the same time: what both do counts once.

The cluster starts a second attempt of each task that takes longer than another one. A function holds the task at one of its
items; the test waits until a second attempt is there too, and lets both go on.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from frames import ROWS
from holding import Held
from standalone import eventually
from taxi.jobs import fares, revenue
from taxi.model import Revenue, Ride
from trials import NUMBERS, PATIENCE, Answer, every_trial, place

import rx_spark
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import Observed, SparkConfig
from rx_spark._session._session import engine

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.engine("speculation"), pytest.mark.timeout(300)]


def release(hold: Held, answer: Answer) -> None:
    """When both attempts are at the item; or where the second one came first, for then the first gets there and waits."""
    eventually(lambda: len(hold.reached()) > 1 or (hold.only_by_the_second() and second_attempt()) or answer.is_over, PATIENCE)
    if answer.is_over:
        answer.get()  # raises what ended it
    assert second_attempt(), f"no second attempt was started: {hold.reached()}"
    hold.go()


def second_attempt() -> bool:
    """Whether more tasks of a stage run, or are over, than it has."""
    tracker = engine(SparkConfig()).session.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(each.numActiveTasks + each.numCompletedTasks > each.numTasks for each in stages if each is not None)


@every_trial
def test_a_stream_has_each_item_once(trial: int, rides: Flowable[Ride], held: Callable[[int], Held]) -> None:
    """Without an order: in one, no task ends before those in front of it, and Spark calls none of them slow."""
    hold = held(place(trial, ROWS, "speculation"))
    seen = Observed("rides")
    answer = Answer(rx_spark.observe(rides.map(hold), seen, n=it.count(), total=it.id.sum()).map(lambda ride: ride.id))
    release(hold, answer)
    assert answer.get() == Counter(range(ROWS))
    assert seen.value is not None
    assert tuple(seen.value) == (ROWS, sum(range(ROWS)))


@every_trial
def test_what_goes_into_a_shuffle_is_counted_once(trial: int, rides: Flowable[Ride], held: Callable[[int], Held]) -> None:
    hold = held(20 + place(trial, ROWS - 20, "speculation into"))
    answer = Answer(revenue(rides, hold))
    release(hold, answer)
    assert answer.get() == Counter(revenue(rides))


@every_trial
def test_what_comes_out_of_a_shuffle_comes_once(trial: int, spark_config: SparkConfig, held: Callable[[int], Held]) -> None:
    keys = 500
    hold = held(place(trial, keys, "speculation out"))
    pairs = rx_spark.range(NUMBERS, config=spark_config).group_reduce(lambda n: n % keys, lambda n: n, operator.add)
    answer = Answer(pairs.map(lambda pair: (hold(pair[0]), pair[1])))
    release(hold, answer)
    assert answer.get() == Counter((key, sum(range(key, NUMBERS, keys))) for key in range(keys))


@every_trial
def test_files_have_each_row_once(trial: int, rides: Flowable[Ride], held: Callable[[int], Held], tmp_path: Path) -> None:
    hold = held(20 + place(trial, ROWS - 20, "speculation write"))
    writing = rx_spark.write_parquet(fares(rides, hold), tmp_path / "out", schema=Revenue)
    answer = Answer(writing.to_flowable())
    release(hold, answer)
    ((told, times),) = answer.get().items()
    found = Counter(map(tuple, (row.values() for row in pq.read_table(tmp_path / "out").to_pylist())))
    assert found == Counter((fare.city, fare.day, fare.cents) for fare in fares(rides))
    assert (told.rows, times) == (found.total(), 1)


def test_without_a_slow_task_there_is_one_attempt(spark_config: SparkConfig, held: Callable[[int], Held]) -> None:
    """The control: an item that is not held is reached once."""
    hold = held(NUMBERS // 2)
    hold.go()
    assert rx_spark.range(NUMBERS, config=spark_config).map(hold).count().blocking_get() == NUMBERS
    assert hold.reached() == []
