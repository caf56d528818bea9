"""Progress of jobs as a stream: a snapshot at each tick, the newest for a slow consumer, an end when the jobs are over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from frames import ROWS, Trip, write_trips
from holding import Held, until

import rx_spark
from rx_spark import JobStats, Progress, SparkConfig
from rx_spark._jobs._job import SparkJob
from rx_spark._jobs._progress import RunCounts
from rx_spark._plans._plan import Plan, RangeSource
from rx_testing import TestSubscriber, VirtualScheduler

pytestmark = [pytest.mark.spark]


class Counted(JobStats):
    """With jobs that never run, and are over when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def run(self) -> RunCounts:
        job = SparkJob(SparkConfig(), Plan(RangeSource(0, 1)), on_ready=lambda: None)
        self.begin(job)
        assert job.counts is not None
        return job.counts

    def snapshot(self) -> Progress:
        self.asked += 1
        return super().snapshot()


def watched(stats: JobStats, clock: VirtualScheduler, request: int | None = None) -> TestSubscriber[Progress]:
    seen: TestSubscriber[Progress] = TestSubscriber() if request is None else TestSubscriber(request=request)
    stats.progress(2.0, scheduler=clock).subscribe(seen)
    clock.run_due()
    return seen


def test_a_snapshot_comes_at_once_and_then_with_each_tick() -> None:
    clock, stats = VirtualScheduler(), Counted()
    seen = watched(stats, clock)
    assert seen.values == [Progress()]
    stats.run()
    clock.advance_by(1.999)
    assert len(seen.values) == 1
    clock.advance_by(0.001)
    assert seen.values[1:] == [Progress(jobs=1, running=1)]


def test_it_completes_with_the_tick_after_the_last_job() -> None:
    clock, stats = VirtualScheduler(), Counted()
    seen = watched(stats, clock)
    first, second = stats.run(), stats.run()
    first.end()
    clock.advance_by(2.0)
    assert seen.values[-1] == Progress(jobs=2, running=1)
    second.end()
    clock.advance_by(10.0)
    assert seen.values[-1] == Progress(jobs=2, running=0)
    assert seen.values[-1].over
    seen.assert_complete()
    assert clock.run_until_idle() == 0
    seen.assert_valid()


def test_a_slow_consumer_gets_the_newest_and_nothing_is_asked_for_the_others() -> None:
    clock, stats = VirtualScheduler(), Counted()
    stats.run()
    seen = watched(stats, clock, request=1)
    clock.advance_by(20.0)
    stats.run()
    assert (len(seen.values), stats.asked) == (1, 1)
    seen.request(1)
    assert seen.values[1:] == [Progress(jobs=2, running=2)]
    assert stats.asked == 2


def test_cancelling_stops_the_timer() -> None:
    clock, stats = VirtualScheduler(), Counted()
    stats.run()
    seen = watched(stats, clock)
    seen.cancel()
    assert clock.run_until_idle() == 0
    assert stats.asked == 1


def test_jobs_that_are_over_give_one_and_the_end() -> None:
    clock, stats = VirtualScheduler(), Counted()
    stats.run().end()
    seen = watched(stats, clock)
    assert seen.values == [Progress(jobs=1)]
    seen.assert_complete()


def test_a_duration_that_is_none_is_refused_when_it_is_assembled() -> None:
    with pytest.raises(ValueError, match="interval"):
        JobStats().progress(-1.0)


@pytest.mark.cluster
def test_what_is_under_way_is_seen_and_then_the_end(
    tmp_path: Path, spark_config: SparkConfig, held: Callable[[int], Held]
) -> None:
    folder = write_trips(tmp_path / "trips")
    hold, stats = held(ROWS - 1), JobStats()
    source = rx_spark.parquet(folder, schema=Trip, config=spark_config, stats=stats)
    over = Event()
    seen: list[Progress] = []
    written = rx_spark.write_parquet(source.map(hold), tmp_path / "out", schema=Trip)
    running = written.subscribe(lambda _: None, on_error=lambda _: None)
    stats.progress(0.05).subscribe(seen.append, on_complete=over.set)
    assert until(lambda: bool(hold.reached()) and bool(seen) and seen[-1].tasks_running > 0)
    assert not over.is_set()
    hold.go()
    assert over.wait(40.0)
    assert seen[-1].over
    assert seen[-1].tasks_done == seen[-1].tasks > 0
    assert seen[-1].rows_written == ROWS
    running.dispose()
