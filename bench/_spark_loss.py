"""What a late loss of an executor costs: work on a cluster of this machine, undisturbed and with one killed at 90 % of its time.

The cluster is Spark's own ``local-cluster``: two executors of one core, each a process, and Spark starts another for the one that
was killed. Both ways have to give the same answer, and a round in which no executor died does not count.
"""

from __future__ import annotations

import operator
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bench._report import heading
from bench._spark_memory import descendants

if TYPE_CHECKING:
    from rx_spark import SparkConfig

MASTER: Final = "local-cluster[2,1,1024]"
EXECUTORS: Final = 2
ROWS: Final = 20_000_000
LOST_AT: Final = 0.9
TARGET: Final = 1.35
#: Seconds until a cluster has all its executors again.
PATIENCE: Final = 60.0


class Pair(NamedTuple):
    number: int
    twice: int


def works(rows: int, folder: Path, config: SparkConfig) -> dict[str, Callable[[], Any]]:
    import rx_spark

    numbers = rx_spark.range(rows, config=config)

    def written() -> int:
        target = str(folder / "written")
        made = rx_spark.write_parquet(numbers.map(lambda n: Pair(n, n * 2)), target, schema=Pair, mode="overwrite")
        return made.blocking_get().rows

    return {
        "a pass of functions, a sum": lambda: (
            numbers.map(lambda n: n + 1).filter(lambda n: n % 3 == 1).map(lambda n: n * 2).sum().blocking_get()
        ),
        "groups through a shuffle": lambda: (
            numbers.group_reduce(lambda n: n % 1000, lambda n: n, operator.add).map(lambda pair: pair[1]).sum().blocking_get()
        ),
        "a function, written as Parquet": written,
    }


def executors() -> list[int]:
    """The process ids of the executors' JVMs that are alive."""
    return [pid for pid, name in descendants(os.getpid()) if name == "java" and _runs_executor(pid)]


def _runs_executor(pid: int) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False  # it has ended meanwhile


def whole() -> None:
    """Wait until all executors are there."""
    deadline = monotonic() + PATIENCE
    while len(executors()) < EXECUTORS:
        if monotonic() > deadline:
            raise TimeoutError(f"{len(executors())} of {EXECUTORS} executors after {PATIENCE:.0f} s")
        threading.Event().wait(0.1)
    threading.Event().wait(2.0)  # the process is there before it has told Spark


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = perf_counter()
    answer = work()
    return perf_counter() - begun, answer


def disturbed(work: Callable[[], Any], seconds: float) -> tuple[float, Any]:
    """The same with an executor killed after so many seconds."""
    killed: list[int] = []

    def kill() -> None:
        victim = executors()[0]
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        took, answer = timed(work)
    finally:
        timer.cancel()
        timer.join()
    return (took if killed else 0.0), answer


def run_spark_loss(rows: int, rounds: int, wanted: Callable[[str], bool], *, names_only: bool = False) -> str:
    """The table, or the names of its rows."""
    from rx_spark import SparkConfig

    config = SparkConfig(MASTER, parallelism=16)
    with tempfile.TemporaryDirectory(prefix="rx-bench-spark-") as folder:
        chosen = {name: work for name, work in works(rows, Path(folder), config).items() if wanted(name)}
        if names_only:
            return "\n".join(chosen)
        lines = [heading(), "", f"{rows:,} items, {rounds} rounds on {MASTER}.", ""]
        lines += ["| work | undisturbed, s | an executor lost at 90 %, s | ratio | target |", "| --- | --- | --- | --- | --- |"]
        for name, work in chosen.items():
            lines.append(_line(name, *_measured(work, rounds)))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return "\n".join(lines)


def _measured(work: Callable[[], Any], rounds: int) -> tuple[float, float]:
    expected = work()  # not counted: executors and workers start
    calm: list[float] = []
    lost: list[float] = []
    while len(lost) < rounds:
        whole()
        seconds, answer = timed(work)
        calm.append(seconds)
        seconds, again = disturbed(work, LOST_AT * median(calm))
        if answer != expected or again != expected:
            raise ValueError(f"{answer!r} and {again!r} instead of {expected!r}")
        if seconds:
            lost.append(seconds)
    return median(calm), median(lost)


def _line(name: str, calm: float, lost: float) -> str:
    ratio = lost / calm
    said = "met" if ratio <= TARGET else f"**missed by {ratio / TARGET - 1:.0%}**"
    return f"| {name} | {calm:.1f} | {lost:.1f} | {ratio:.2f} | ≤ {TARGET}: {said} |"
