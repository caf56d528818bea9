"""How much memory a stream from Spark takes while its consumer is slow, or stops: program, JVM, Python's workers, the file.

Each case is a process of its own, in which the same items were read once before: a JVM keeps the heap that its first job has
taken. The memory of a process is what it has for itself (its private pages): shared libraries and what was forked are not counted
twice. A JVM takes more of the heap it may have when it likes; what of that is in use is asked in a pause, behind a collection.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from bench._report import heading

if TYPE_CHECKING:
    from rx_ops import Flowable

ROWS: Final = 10_000_000
EVERY: Final = 0.1  # seconds between two looks
_TASKS: Final = 8


@dataclass(slots=True)
class Memory:
    """Megabytes that are used, by what uses them."""

    program: float = 0.0
    jvm: float = 0.0
    workers: float = 0.0
    file: float = 0.0

    def highest(self, other: Memory) -> None:
        for name, value in asdict(other).items():
            setattr(self, name, max(getattr(self, name), value))


def look() -> Memory:
    found = Memory(program=private(os.getpid()), file=spooled())
    for pid, name in descendants(os.getpid()):
        if name == "java":
            found.jvm += private(pid)
        else:
            found.workers += private(pid)
    return found


def private(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0  # it has ended meanwhile
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")) / 1024


def spooled() -> float:
    """The file for what came too early has no name; the program has it open."""
    size = 0
    for each in Path("/proc/self/fd").iterdir():
        try:
            if "rx-spark-" in os.readlink(each):
                size += each.stat().st_size
        except OSError:
            continue
    return size / (1 << 20)


def descendants(root: int) -> Iterator[tuple[int, str]]:
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            before, _, after = (entry / "stat").read_text().rpartition(")")
        except OSError:
            continue
        parents[int(entry.name)] = (int(after.split()[1]), before.partition("(")[2])
    for pid, (parent, name) in parents.items():
        while parent > 1 and parent != root:
            parent = parents.get(parent, (0, ""))[0]
        if parent == root:
            yield pid, name


# --- the cases --------------------------------------------------------------------------------------------------------


Pause = Callable[[float], None]
"""Waits for a part of the pause."""


def loop(flow: Flowable[Any], rows: int, pause: Pause) -> None:
    for _ in flow:
        pass
    pause(0.0)


def slow(flow: Flowable[Any], rows: int, pause: Pause) -> None:
    """A pause after each hundredth."""
    iterator = iter(flow)
    for _ in range(100):
        assert sum(1 for _ in islice(iterator, rows // 100)) == rows // 100
        pause(0.01)
    assert next(iterator, None) is None


def stops(flow: Flowable[Any], rows: int, pause: Pause) -> None:
    """A long pause after a tenth."""
    iterator = iter(flow)
    assert sum(1 for _ in islice(iterator, rows // 10)) == rows // 10
    pause(1.0)
    assert sum(1 for _ in iterator) == rows - rows // 10


def without_demand(flow: Flowable[Any], rows: int, pause: Pause) -> None:
    """The same with everything requested at once."""
    stops(flow.on_backpressure_buffer(), rows, pause)


@dataclass(frozen=True, slots=True)
class Case:
    consume: Callable[[Flowable[Any], int, Pause], None]
    source: str = "rows"
    slots: str = "local[2]"


CASES: Final = {
    "rows, a loop over all": Case(loop),
    "rows, a slow loop": Case(slow),
    "rows, a loop that stops": Case(stops),
    "rows, a loop that stops, everything requested": Case(without_demand),
    "numbers in order, a loop over all": Case(loop, "range"),
    "numbers in order, eight tasks and one slot": Case(loop, "range", "local[1]"),
    "numbers in order, eight tasks and one slot, a loop that stops": Case(stops, "range", "local[1]"),
}


def measure_here(name: str, rows: int, seconds: float, folder: str) -> dict[str, Any]:
    """One case, in this process."""
    from pyspark.sql import SparkSession

    import rx_spark
    from rx_ops import sym

    case = CASES[name]
    if case.slots == "local[1]":  # a session of the application has no more slots than it says
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        config = rx_spark.SparkConfig(parallelism=_TASKS)
    else:
        config = rx_spark.SparkConfig(case.slots)
    stats = rx_spark.JobStats()

    def flow(count: int) -> Flowable[Any]:
        if case.source == "range":
            return rx_spark.range(count, config=config, stats=stats).map(lambda number: number + 1)
        source = rx_spark.parquet(folder, config=config, stats=stats)
        return source.filter(sym(lambda row: row.id < count)).map(lambda row: (row.id, row.text))

    loop(flow(rows), rows, lambda part: None)
    before, peak, over = look(), Memory(), threading.Event()
    heap_before, heaps = heap_in_use(), list[float]()

    def pause(part: float) -> None:
        threading.Event().wait(seconds * part)
        if part != 0.01 or not heaps:
            heaps.append(heap_in_use())

    def sample() -> None:
        while not over.wait(EVERY):
            peak.highest(look())

    watching = threading.Thread(target=sample)
    watching.start()
    began = perf_counter()
    try:
        case.consume(flow(rows), rows, pause)
    finally:
        took = perf_counter() - began
        over.set()
        watching.join()
    grown = {key: value - asdict(before)[key] for key, value in asdict(peak).items()}
    heap = max(heaps) - heap_before
    return {"seconds": took, "jvm_before": before.jvm, "heap": heap, "buffered": stats.max_buffered, **grown}


def heap_in_use() -> float:
    """Megabytes of the JVM's heap that are not garbage."""
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return float(runtime.totalMemory() - runtime.freeMemory()) / (1 << 20)


def run_spark_memory(rows: int, seconds: float, wanted: Callable[[str], bool], *, names_only: bool = False) -> str:
    """The table, or the names of its rows."""
    names = [name for name in CASES if wanted(name)]
    if names_only:
        return "\n".join(names)
    lines = [heading(), "", f"{rows:,} items, pauses of {seconds:.0f} s. Megabytes more than before, at the peak.", ""]
    lines.append("| case | program | JVM | (it began with) | its heap in use | Python's workers | file | items here | s |")
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="rx-bench-spark-") as folder:
        make_rows(Path(folder), rows)
        for name in names:
            command = [sys.executable, "-m", "bench._spark_memory", name, str(rows), str(seconds), folder]
            environment = {"PYSPARK_PYTHON": sys.executable, **os.environ}  # also for a session that the application makes
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
            found = json.loads(done.stdout.splitlines()[-1])
            sizes = " | ".join(f"{found[each]:.0f}" for each in ("program", "jvm", "jvm_before", "heap", "workers", "file"))
            lines.append(f"| {name} | {sizes} | {found['buffered']:,} | {found['seconds']:.0f} |")
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return "\n".join(lines)


def make_rows(folder: Path, rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for at in range(0, rows, 500_000):
        ids = range(at, min(at + 500_000, rows))
        table = pa.table({"id": pa.array(ids, pa.int64()), "text": pa.array([f"the text of row {n}" for n in ids])})
        pq.write_table(table, folder / f"part-{at:012}.parquet")


if __name__ == "__main__":
    print(json.dumps(measure_here(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])))
