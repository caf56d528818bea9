"""What a late loss of an executor costs: work on a cluster of this machine, undisturbed and with one killed at 90 % of its time.

The cluster is Spark's own ``local-cluster``: two executors of one core, each a process, and Spark starts another for the one that
was killed. Both ways have to give the same answer, and a round in which no executor died does not count. A JVM and a Python that
start take seconds, however long the work is: the table tells them beside the ratio, and the work is long enough for the rest to
be seen. Before each round a short job warms what was started for the last one: else the undisturbed way would be slower.
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
ROWS: Final = 100_000_000
WRITTEN_PART: Final = 5  #: one row of so many is written, which takes as long as the other work with all
WARM_ROWS: Final = 1_000_000
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
    kept = rx_spark.range(rows // WRITTEN_PART, config=config)

    def written() -> int:
        target = str(folder / "written")
        made = rx_spark.write_parquet(kept.map(lambda n: Pair(n, n * 2)), target, schema=Pair, mode="overwrite")
        return made.blocking_get().rows

    return {
        "a pass of functions, a sum": lambda: (
            numbers.map(lambda n: n + 1).filter(lambda n: n % 3 == 1).map(lambda n: n * 2).sum().blocking_get()
        ),
        "groups through a shuffle": lambda: (
            numbers.group_reduce(lambda n: n % 1000, lambda n: n, operator.add).map(lambda pair: pair[1]).sum().blocking_get()
        ),
        "a function, a fifth of the items written as Parquet": written,
    }


def executors() -> list[int]:
    """The process ids of the executors' JVMs that are alive."""
    return [pid for pid, name in descendants(os.getpid()) if name == "java" and _runs_executor(pid)]


def _runs_executor(pid: int) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False  # it has ended meanwhile


def known() -> int:
    """How many executors Spark knows."""
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1  # the driver is one of them


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> float:
    """Wait for a condition. How long that took."""
    begun = monotonic()
    while not condition():
        if monotonic() > begun + seconds:
            raise TimeoutError(f"{known()} of {EXECUTORS} executors after {seconds:.0f} s")
        threading.Event().wait(0.05)
    return monotonic() - begun


def whole() -> None:
    """Wait until all executors are there."""
    until(lambda: len(executors()) == known() == EXECUTORS)


def warm(config: SparkConfig) -> None:
    """Have every executor start its Python."""
    import rx_spark

    for _ in range(2):
        rx_spark.range(WARM_ROWS, config=config).map(lambda n: n + 1).sum().blocking_get()


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = perf_counter()
    answer = work()
    return perf_counter() - begun, answer


class Lost(NamedTuple):
    seconds: float  #: 0: the work was over before an executor was killed
    answer: Any
    noticed: float  #: seconds until Spark knew
    replaced: float  #: seconds until it had another one


def disturbed(work: Callable[[], Any], seconds: float) -> Lost:
    """The same with an executor killed after so many seconds."""
    since: list[float] = []
    failures: list[TimeoutError] = []
    over = threading.Event()

    def kill() -> None:
        victim = executors()[0]
        if over.is_set():
            return
        os.kill(victim, signal.SIGKILL)
        try:
            noticed = until(lambda: known() < EXECUTORS)
            since.extend((noticed, noticed + until(lambda: known() == EXECUTORS)))
        except TimeoutError as error:
            failures.append(error)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        took, answer = timed(work)
    finally:
        over.set()
        timer.cancel()
        timer.join()
    if failures:
        raise failures[0]
    return Lost(took, answer, *since) if since else Lost(0.0, answer, 0.0, 0.0)


def run_spark_loss(rows: int, rounds: int, wanted: Callable[[str], bool], *, names_only: bool = False) -> str:
    """The table, or the names of its rows."""
    from rx_spark import SparkConfig

    config = SparkConfig(MASTER, parallelism=16)
    with tempfile.TemporaryDirectory(prefix="rx-bench-spark-") as folder:
        chosen = {name: work for name, work in works(rows, Path(folder), config).items() if wanted(name)}
        if names_only:
            return "\n".join(chosen)
        lines = [heading(), "", f"{rows:,} items, {rounds} rounds on {MASTER}.", ""]
        lines += ["| work | undisturbed, s | an executor lost at 90 %, s | more, s | noticed, s | replaced, s | ratio | target |"]
        lines += ["| --- " * 8 + "|"]
        for name, work in chosen.items():
            lines.append(_line(name, *_measured(work, rounds, config)))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return "\n".join(lines)


def _measured(work: Callable[[], Any], rounds: int, config: SparkConfig) -> tuple[float, list[Lost]]:
    expected = work()  # not counted: executors and workers start
    calm: list[float] = []
    lost: list[Lost] = []
    while len(lost) < rounds:
        whole()
        warm(config)
        seconds, answer = timed(work)
        calm.append(seconds)
        found = disturbed(work, LOST_AT * median(calm))
        if answer != expected or found.answer != expected:
            raise ValueError(f"{answer!r} and {found.answer!r} instead of {expected!r}")
        if found.seconds:
            lost.append(found)
    return median(calm), lost


def _line(name: str, calm: float, losses: list[Lost]) -> str:
    lost = median(each.seconds for each in losses)
    noticed, replaced = median(each.noticed for each in losses), median(each.replaced for each in losses)
    ratio = lost / calm
    said = "met" if ratio <= TARGET else f"**missed by {ratio / TARGET - 1:.0%}**"
    seconds = " | ".join(f"{each:.1f}" for each in (calm, lost, lost - calm, noticed, replaced))
    return f"| {name} | {seconds} | {ratio:.2f} | ≤ {TARGET}: {said} |"
