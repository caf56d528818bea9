"""Work on Spark: what this library makes of a pipeline against what one would write in PySpark.

The data is Parquet, made once for a run. The ways of a piece of work take turns in one session, and all have to give the same
answer. Shown are the medians on the clock as ratios to the first way, and beside them processor time of the whole tree of
processes: JVM and Python workers are most of it.
"""

from __future__ import annotations

import operator
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from bench._report import heading
from rx_ops import Flowable, it, sym

#: Rows of a file of the input; Spark reads files, and parts of files, side by side.
ROWS_PER_FILE: Final = 250_000
KEYS: Final = (1_000, 1_000_000)
#: toLocalIterator keeps whole partitions in the driver's heap, and fails with less.
MEMORY: Final = "4g"
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work in several ways; each gives the answer. ``target``: the ratio of ``way`` to the first that is wanted."""

    name: str
    ways: dict[str, Callable[[], Any]]
    way: str = "rx"
    target: float | None = None


@dataclass(frozen=True, slots=True)
class Took:
    seconds: float
    processor: float


def works(folder: Path, rows: int, session: Any) -> Iterator[Work]:
    """The pieces of work over ``rows`` rows of (id, key, value)."""
    import pyarrow as pa
    from pyarrow import compute
    from pyspark.sql import functions

    import rx_spark

    column = functions.col
    source = str(folder / "rows")
    frame = session.read.parquet(source)
    flow = rx_spark.parquet(source)
    numbers = rx_spark.range(rows)

    yield Work(
        "filter, project, sum of it",
        {
            "DataFrame": lambda: frame.where(column("id") % 3 == 1).agg(functions.sum(column("id") * 2)).collect()[0][0],
            "rx": lambda: flow.filter(it.id % 3 == 1).map(it.id * 2).sum().blocking_get(),
        },
        target=1.1,
    )

    def summed(batches: Iterator[Any]) -> Iterator[Any]:
        total = 0
        for batch in batches:
            values = [n + 1 for n in batch.column(0).to_pylist()]
            total += sum(n * 2 for n in values if n % 3 == 1)
        yield pa.RecordBatch.from_pydict({"total": [total]})

    yield Work(
        "map, filter, map, sum of lambdas",
        {
            "mapInArrow": lambda: sum(row.total for row in frame.select("id").mapInArrow(summed, "total long").collect()),
            "rx": lambda: lambdas(flow.map(it.id)),
            "rx, range": lambda: lambdas(numbers),
        },
        target=1.1,
    )

    def added(batches: Iterator[Any]) -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"total": [sum(compute.sum(batch.column(0)).as_py() for batch in batches)]})

    whole = rx_spark.batches(frame.select("id"), as_="arrow")
    yield Work(
        "Arrow batches as items, a sum of each",
        {
            "mapInArrow": lambda: sum(row.total for row in frame.select("id").mapInArrow(added, "total long").collect()),
            "rx": lambda: whole.map(lambda batch: compute.sum(batch.column(0)).as_py()).sum().blocking_get(),
        },
        target=1.05,
    )
    yield _words(folder, rows, session)
    yield _words_of_rows(folder, rows, session)
    for keys in KEYS:
        yield _counting(f"group and count, {keys:,} keys", flow.map(it.id % keys), frame.select((column("id") % keys).alias("k")))
    yield _counting("group and count, one key has nine of ten items", flow.map(it.hot), frame.select(column("hot").alias("k")))

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            made = [(row["id"] * 2, row["part"]) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pydict({"twice": [one for one, _ in made], "part": [part for _, part in made]})

    def plain() -> int:
        target = str(folder / "plain")
        made = frame.select("id", "part").mapInArrow(mapped, "twice long, part long")
        made.write.mode("overwrite").partitionBy("part").parquet(target)
        return count_of(target)

    def ours() -> int:
        target = str(folder / "ours")
        made = rx_spark.parquet(source, schema=Once).map(lambda row: Twice(row.id * 2, row.part))
        rx_spark.write_parquet(made, target, schema=Twice, partition_by="part", mode="overwrite").blocking_get()
        return count_of(target)

    def count_of(target: str) -> int:
        return int(session.read.parquet(target).count())

    yield Work("Parquet, a lambda, partitioned Parquet", {"mapInArrow, write": plain, "rx": ours}, target=1.1)

    few = min(rows, 5_000_000)

    def iterated() -> int:
        return sum(row.id for row in frame.where(column("id") < few).select("id", "key").toLocalIterator(prefetchPartitions=True))

    def streamed() -> int:
        pairs = flow.filter(it.id < few).map(sym(lambda row: (row.id, row.key)))
        return sum(pair[0] for pair in pairs)

    yield Work(f"{few:,} rows to the driver", {"toLocalIterator": iterated, "rx": streamed}, target=0.125)


def lambdas(flow: Flowable[int]) -> int:
    """A chain of functions that Spark cannot look into."""
    return flow.map(lambda n: n + 1).filter(lambda n: n % 3 == 1).map(lambda n: n * 2).sum().blocking_get()


@dataclass(slots=True)
class Keyed:
    key: int


@dataclass(slots=True)
class Once:
    id: int
    part: int


@dataclass(slots=True)
class Twice:
    twice: int
    part: int


def _words(folder: Path, rows: int, session: Any) -> Work:
    """Counting words of a text: a function makes several items of a line."""
    import pyarrow as pa
    from pyspark.sql import functions

    import rx_spark

    file = folder / "words.txt"
    file.write_text("".join(f"{_line(n)}\n" for n in range(rows // 4)), encoding="utf-8")
    lines = session.read.text(str(file))

    def combined(batches: Iterator[Any]) -> Iterator[Any]:
        counts: dict[str, int] = {}
        for batch in batches:
            for line in batch.column(0).to_pylist():
                for word in line.split():
                    counts[word] = counts.get(word, 0) + 1
        yield pa.RecordBatch.from_pydict({"k": list(counts), "n": list(counts.values())})

    def plain() -> int:
        grouped = lines.mapInArrow(combined, "k string, n long").groupBy("k").agg(functions.sum("n").alias("n"))
        return int(grouped.agg(functions.max("n")).collect()[0][0])

    def rdd() -> int:
        text = session.sparkContext.textFile(str(file))
        return int(text.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(operator.add).values().max())

    def counted() -> int:
        words = rx_spark.text(file).flat_map_iterable(str.split)
        return (
            words.group_reduce(lambda word: word, lambda _word: 1, operator.add).map(lambda pair: pair[1]).max().blocking_get()
            or 0
        )

    ways = {"mapInArrow, groupBy": plain, "DataFrame, explode": lambda: _exploded(lines, "value"), "RDD": rdd, "rx": counted}
    return Work("word count, five words a line", ways, target=1.1)


def _line(n: int) -> str:
    return f"word{n % 997} and word{n % 31} and word{n}"


def _exploded(lines: Any, column: str) -> int:
    from pyspark.sql import functions

    words = lines.select(functions.explode(functions.split(column, " ")).alias("k"))
    return int(words.groupBy("k").count().agg(functions.max("count")).collect()[0][0])


def _words_of_rows(folder: Path, rows: int, session: Any) -> Work:
    """The same over a column of Parquet, where Spark can split what an expression says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import rx_spark

    made = folder / "lines"
    made.mkdir()
    lines = rows // 4
    for at in range(0, lines, ROWS_PER_FILE):
        numbers = range(at, min(at + ROWS_PER_FILE, lines))
        pq.write_table(pa.table({"line": list(map(_line, numbers))}), made / f"part-{at:012}.parquet")
    frame = session.read.parquet(str(made))
    words = rx_spark.parquet(str(made)).flat_map_iterable(it.line.split(" "))

    ways = {
        "DataFrame, explode": lambda: _exploded(frame, "line"),
        "rx, it": lambda: words.group_aggregate(it, n=it.count()).map(it.n).max().blocking_get(),
    }
    return Work("word count of a column", ways, "rx, it", 1.2)


def _counting(name: str, flow: Flowable[int], frame: Any) -> Work:
    import pyarrow as pa
    from pyspark.sql import functions

    import rx_spark

    def combined(batches: Iterator[Any]) -> Iterator[Any]:
        counts: dict[int, int] = {}
        for batch in batches:
            for key in batch.column(0).to_pylist():
                counts[key] = counts.get(key, 0) + 1
        yield pa.RecordBatch.from_pydict({"k": list(counts), "n": list(counts.values())})

    def plain() -> int:
        grouped = frame.mapInArrow(combined, "k long, n long").groupBy("k").agg(functions.sum("n").alias("n"))
        return int(grouped.agg(functions.count("*")).collect()[0][0])

    def by_lambda() -> int:
        return flow.group_reduce(lambda key: key, lambda _key: 1, operator.add).count().blocking_get()

    def computed() -> int:
        return flow.group_reduce(lambda key: key ^ 1, lambda _key: 1, operator.add).count().blocking_get()

    def by_columns() -> int:
        return flow.group_aggregate(it, n=it.count()).count().blocking_get()

    def group_by() -> int:
        groups = flow.group_by(lambda key: key).flat_map(lambda group: group.count())
        return groups.count().blocking_get()

    def again() -> int:
        rows = rx_spark.as_rows(flow.map(lambda key: Keyed(key)), Keyed)
        return rows.group_aggregate(it.key, n=it.count()).count().blocking_get()

    ways = {"mapInArrow, groupBy": plain, "rx, group_reduce": by_lambda, "rx, a key that is computed": computed}
    ways |= {"rx, it": by_columns, "rx, a lambda, as_rows": again}
    if "1,000 " in name:
        ways["rx, group_by"] = group_by
    return Work(name, ways, "rx, group_reduce", 0.8)


# --- running ----------------------------------------------------------------------------------------------------------


def run_spark(rows: int, rounds: int, wanted: Callable[[str], bool], *, names_only: bool = False) -> str:
    """The table, or the names of its rows."""
    from rx_spark import SparkConfig
    from rx_spark._session._session import engine

    folder = Path(tempfile.mkdtemp(prefix="rx-bench-spark-"))
    try:
        here = engine(SparkConfig("local[2]", settings=(("spark.driver.memory", MEMORY),)))
        make_rows(folder / "rows", 10 if names_only else rows)
        chosen = [work for work in works(folder, rows, here.frames) if wanted(work.name)]
        if names_only:
            return "\n".join(work.name for work in chosen)
        lines = [heading(), "", f"{rows:,} rows, {rounds} rounds.", "", "| work | way | time | ± | s | processor s | target |"]
        lines.append("| --- | --- | --- | --- | --- | --- | --- |")
        for work in chosen:
            lines += _lines(work, measured(work, rounds))
            print(".", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return "\n".join(lines)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_rows(folder: Path, rows: int) -> None:
    """Parquet files with numbers: in their order, some keys, one of them hot."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for at in range(0, rows, ROWS_PER_FILE):
        ids = range(at, min(at + ROWS_PER_FILE, rows))
        columns = {
            "id": pa.array(ids, pa.int64()),
            "key": pa.array([f"key {n % 1000}" for n in ids]),
            "part": pa.array([n % 8 for n in ids], pa.int64()),
            "hot": pa.array([n % 5000 if n % 10 == 0 else 7 for n in ids], pa.int64()),
        }
        pq.write_table(pa.table(columns), folder / f"part-{at:012}.parquet")


def measured(work: Work, rounds: int) -> dict[str, list[Took]]:
    """Each way ``rounds`` times, in turns, after one run that is not counted. ValueError where the answers differ."""
    answers = {name: way() for name, way in work.ways.items()}
    if len(set(map(repr, answers.values()))) != 1:
        raise ValueError(f"{work.name}: the ways do not agree: {answers}")
    took: dict[str, list[Took]] = {name: [] for name in work.ways}
    for turn in range(rounds):
        names = list(work.ways)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            before, begun = tree_seconds(), perf_counter()
            work.ways[name]()
            took[name].append(Took(perf_counter() - begun, tree_seconds() - before))
    return took


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


def _lines(work: Work, took: dict[str, list[Took]]) -> Iterator[str]:
    middle = {name: median(each.seconds for each in several) for name, several in took.items()}
    base = next(iter(middle.values()))
    for name, several in took.items():
        seconds = sorted(each.seconds for each in several)
        spread = (seconds[-1 - len(seconds) // 4] - seconds[len(seconds) // 4]) / 2 / middle[name]
        processor = median(each.processor for each in several)
        ratio = middle[name] / base
        said = ""
        if work.target is not None and name == work.way:
            said = f"≤ {work.target}: " + ("met" if ratio <= work.target else f"**missed by {ratio / work.target - 1:.0%}**")
        first = work.name if name == next(iter(took)) else ""
        yield f"| {first} | {name} | {ratio:.2f} | {spread:.0%} | {middle[name]:.2f} | {processor:.2f} | {said} |"
