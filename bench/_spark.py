"""Work on Spark: what this library makes of a pipeline against what one would write in PySpark.

The data is Parquet, made once for a run. The ways of a piece of work take turns in one session, and all have to give the same
answer. Shown are the medians on the clock as ratios to the first way, and beside them processor time of the whole tree of
processes: JVM and Python workers are most of it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from bench._report import heading
from bench._spark_works import Inputs, Target, Work, works

#: toLocalIterator keeps whole partitions in the driver's heap, and fails with less.
MEMORY: Final = "4g"
#: A way that is quick runs often before it is timed, and a piece of work is timed for so long: the JVM compiles what it runs
#: often, and a job of half a second moves by a fifth from one time to the next.
WARM_UP: Final = 4.0
TIMED: Final = 40.0
#: But no more than so many rounds.
ROUNDS: Final = 15
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Took:
    seconds: float
    processor: float


def run_spark(rows: int, rounds: int, wanted: Callable[[str], bool], *, names_only: bool = False) -> str:
    """The table, or the names of its rows."""
    chosen = {name: make for name, make in works().items() if wanted(name)}
    if names_only:
        return "\n".join(chosen)

    from rx_spark import SparkConfig
    from rx_spark._session._session import engine

    folder = Path(tempfile.mkdtemp(prefix="rx-bench-spark-"))
    try:
        here = engine(SparkConfig("local[2]", settings=(("spark.driver.memory", MEMORY),)))
        made = Inputs(folder, rows, here.frames)
        lines = [heading(), "", f"{rows:,} rows, at least {rounds} rounds.", ""]
        lines += ["| work | way | time | ± | s | processor s | target |", "| --- | --- | --- | --- | --- | --- | --- |"]
        for name, make in chosen.items():
            work = make(made)
            lines += _lines(name, work, measured(name, work, rounds))
            print(".", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return "\n".join(lines)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measured(name: str, work: Work, rounds: int) -> dict[str, list[Took]]:
    """Each way ``rounds`` times, or more often where it is quick, in turns, after runs that are not counted. ValueError where the
    answers differ."""
    answers = {way: _warmed_up(run) for way, run in work.ways.items()}
    if len(set(map(repr, answers.values()))) != 1:
        raise ValueError(f"{name}: the ways do not agree: {answers}")
    took: dict[str, list[Took]] = {way: [] for way in work.ways}
    ways = list(work.ways)
    since, turn = perf_counter(), 0
    while turn < rounds or (turn < ROUNDS and perf_counter() - since < TIMED):
        for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
            before, begun = tree_seconds(), perf_counter()
            work.ways[way]()
            took[way].append(Took(perf_counter() - begun, tree_seconds() - before))
        turn += 1
    return took


def _warmed_up(run: Callable[[], object]) -> object:
    since = perf_counter()
    answer = run()
    while perf_counter() - since < WARM_UP:
        run()
    return answer


def tree_seconds() -> float:
    """Processor time of this process and of all that descend from it, those that are over included."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    return sum(ticks[process] for process in parents if _descends(process, parents)) / _TICKS


def _descends(process: int, parents: dict[int, int]) -> bool:
    while process > 1:
        if process == os.getpid():
            return True
        process = parents.get(process, 0)
    return False


def _lines(name: str, work: Work, took: dict[str, list[Took]]) -> Iterator[str]:
    middle = {way: median(each.seconds for each in several) for way, several in took.items()}
    base = next(iter(middle))
    for way, several in took.items():
        seconds = sorted(each.seconds for each in several)
        spread = (seconds[-1 - len(seconds) // 4] - seconds[len(seconds) // 4]) / 2 / middle[way]
        processor = median(each.processor for each in several)
        said = "; ".join(_judged(target, middle, base) for target in work.targets if target.way == way)
        first = name if way == base else ""
        ratio = middle[way] / middle[base]
        yield f"| {first} | {way} | {ratio:.2f} | {spread:.0%} | {middle[way]:.2f} | {processor:.2f} | {said} |"


def _judged(target: Target, middle: dict[str, float], base: str) -> str:
    """A ratio is shown where it is not the one of the table, which is to the first way."""
    ratio = middle[target.way] / middle[target.than]
    of = "" if target.than == base else f" of {target.than} ({ratio:.2f})"
    verdict = "met" if ratio <= target.most else f"**missed by {ratio / target.most - 1:.0%}**"
    return f"≤ {target.most}{of}: {verdict}"
