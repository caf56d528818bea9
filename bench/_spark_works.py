"""The pieces of work on Spark: each in several ways, which give the same answer.

Inputs are made once for a run, those that its pieces of work need.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from rx_ops import Flowable, it, sym

#: Rows of a file of the input; Spark reads files, and parts of files, side by side.
ROWS_PER_FILE: Final = 250_000
KEYS: Final = (1_000, 5_000_000)
#: So many rows come to the driver, if there are as many.
FEW: Final = 5_000_000


class Target(NamedTuple):
    """``way`` is to take at most ``most`` times as long as ``than``."""

    way: str
    most: float
    than: str


@dataclass(frozen=True, slots=True)
class Work:
    """One piece of work in several ways; each gives the answer."""

    ways: dict[str, Callable[[], Any]]
    targets: tuple[Target, ...] = ()


class Inputs:
    """What the pieces of work read, below a folder: made when it is asked for."""

    def __init__(self, folder: Path, rows: int, session: Any) -> None:
        self.folder = folder
        self.count = rows
        self.session = session

    @cached_property
    def rows(self) -> str:
        """Parquet files with numbers: in their order, some keys, one of them hot."""
        return self._parquet("rows", self.count, _columns)

    @cached_property
    def words(self) -> str:
        """Lines of five words, for four rows one."""
        file = self.folder / "words.txt"
        with file.open("w", encoding="utf-8") as text:
            text.writelines(f"{_line(n)}\n" for n in range(self.count // 4))
        return str(file)

    @cached_property
    def lines(self) -> str:
        """The same as a column."""
        return self._parquet("lines", self.count // 4, lambda numbers: {"line": list(map(_line, numbers))})

    def _parquet(self, name: str, count: int, columns: Callable[[range], dict[str, Any]]) -> str:
        import pyarrow as pa
        import pyarrow.parquet as pq

        made = self.folder / name
        made.mkdir()
        for at in range(0, count, ROWS_PER_FILE):
            pq.write_table(pa.table(columns(range(at, min(at + ROWS_PER_FILE, count)))), made / f"part-{at:012}.parquet")
        return str(made)


def _columns(ids: range) -> dict[str, Any]:
    import pyarrow as pa

    return {
        "id": pa.array(ids, pa.int64()),
        "key": pa.array([f"key {n % 1000}" for n in ids]),
        "part": pa.array([n % 8 for n in ids], pa.int64()),
        "hot": pa.array([n % 5000 if n % 10 == 0 else 7 for n in ids], pa.int64()),
    }


def _line(n: int) -> str:
    return f"word{n % 997} and word{n % 31} and word{n}"


def works() -> dict[str, Callable[[Inputs], Work]]:
    """The pieces of work by their names."""
    counts = {f"group and count, {keys:,} keys": partial(_by_number, keys=keys) for keys in KEYS}
    return {
        "filter, project, sum of it": _columns_only,
        "map, filter, map, sum of lambdas": _lambdas,
        "Arrow batches as items, a sum of each": _batches,
        "word count, five words a line": _words,
        "word count of a column": _words_of_rows,
        **counts,
        "group and count, one key has nine of ten items": _by_hot_key,
        "Parquet, a lambda, partitioned Parquet": _to_parquet,
        f"rows to the driver, {FEW:,} at most": _to_driver,
    }


# --- items ------------------------------------------------------------------------------------------------------------


def _columns_only(made: Inputs) -> Work:
    from pyspark.sql import functions

    import rx_spark

    frame, flow, column = made.session.read.parquet(made.rows), rx_spark.parquet(made.rows), functions.col
    return Work(
        {
            "DataFrame": lambda: frame.where(column("id") % 3 == 1).agg(functions.sum(column("id") * 2)).collect()[0][0],
            "rx": lambda: flow.filter(it.id % 3 == 1).map(it.id * 2).sum().blocking_get(),
        },
        (Target("rx", 1.1, "DataFrame"),),
    )


def _lambdas(made: Inputs) -> Work:
    import pyarrow as pa

    import rx_spark

    session, count = made.session, made.count
    frame, flow, numbers = session.read.parquet(made.rows), rx_spark.parquet(made.rows), rx_spark.range(count)
    step = -(-count // PARTS)

    def summed(batches: Iterator[Any]) -> Iterator[Any]:
        total = 0
        for batch in batches:
            values = [n + 1 for n in batch.column(0).to_pylist()]
            total += sum(n * 2 for n in values if n % 3 == 1)
        yield pa.RecordBatch.from_pydict({"total": [total]})

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        """The numbers are made in Python, as ``rx_spark.range`` makes them."""
        total = 0
        for batch in batches:
            for part in batch.column(0).to_pylist():
                for n in range(part * step, min((part + 1) * step, count)):
                    more = n + 1
                    if more % 3 == 1:
                        total += more * 2
        yield pa.RecordBatch.from_pydict({"total": [total]})

    def by_range() -> int:
        parts = session.range(0, PARTS, 1, PARTS).mapInArrow(counted, "total long")
        return sum(row.total for row in parts.collect())

    return Work(
        {
            "mapInArrow": lambda: sum(row.total for row in frame.select("id").mapInArrow(summed, "total long").collect()),
            "rx": lambda: lambdas(flow.map(it.id)),
            "mapInArrow, range": by_range,
            "rx, range": lambda: lambdas(numbers),
        },
        (Target("rx", 1.1, "mapInArrow"), Target("rx, range", 1.1, "mapInArrow, range")),
    )


#: Into so many parts a range is cut by hand.
PARTS: Final = 8


def lambdas(flow: Flowable[int]) -> int:
    """A chain of functions that Spark cannot look into."""
    return flow.map(lambda n: n + 1).filter(lambda n: n % 3 == 1).map(lambda n: n * 2).sum().blocking_get()


def _batches(made: Inputs) -> Work:
    import pyarrow as pa
    from pyarrow import compute

    import rx_spark

    frame = made.session.read.parquet(made.rows).select("id")
    whole = rx_spark.batches(frame, as_="arrow")

    def added(batches: Iterator[Any]) -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"total": [sum(compute.sum(batch.column(0)).as_py() for batch in batches)]})

    return Work(
        {
            "mapInArrow": lambda: sum(row.total for row in frame.mapInArrow(added, "total long").collect()),
            "rx": lambda: whole.map(lambda batch: compute.sum(batch.column(0)).as_py()).sum().blocking_get(),
        },
        (Target("rx", 1.05, "mapInArrow"),),
    )


# --- words ------------------------------------------------------------------------------------------------------------


def _words(made: Inputs) -> Work:
    """Counting words of a text: a function makes several items of a line."""
    from pyspark.sql import functions

    import rx_spark

    file = made.words
    lines = made.session.read.text(file)

    def plain() -> int:
        grouped = lines.mapInArrow(_count_each(str.split), "k string, n long").groupBy("k").agg(functions.sum("n").alias("n"))
        return int(grouped.agg(functions.max("n")).collect()[0][0])

    def rdd() -> int:
        text = made.session.sparkContext.textFile(file)
        return int(text.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(operator.add).values().max())

    def counted() -> int:
        words = rx_spark.text(file).flat_map_iterable(str.split)
        reduced = words.group_reduce(lambda word: word, lambda _word: 1, operator.add)
        return reduced.map(lambda pair: pair[1]).max().blocking_get() or 0

    return Work(
        {
            "mapInArrow, groupBy": plain,
            "DataFrame, explode": lambda: _exploded(lines, "value"),
            "RDD": rdd,
            "rx": counted,
            "rx, it": lambda: _split_by_it(rx_spark.dataframe(lines).map(it.value)),
        },
        (
            Target("rx", 1.1, "mapInArrow, groupBy"),
            Target("rx", 0.3, "RDD"),
            Target("rx, it", 1.2, "DataFrame, explode"),
            Target("rx, it", 0.3, "RDD"),
        ),
    )


def _words_of_rows(made: Inputs) -> Work:
    """The same over a column of Parquet."""
    import rx_spark

    frame, lines = made.session.read.parquet(made.lines), rx_spark.parquet(made.lines).map(it.line)
    return Work(
        {"DataFrame, explode": lambda: _exploded(frame, "line"), "rx, it": lambda: _split_by_it(lines)},
        (Target("rx, it", 1.2, "DataFrame, explode"),),
    )


def _exploded(lines: Any, column: str) -> int:
    from pyspark.sql import functions

    words = lines.select(functions.explode(functions.split(column, " ")).alias("k"))
    return int(words.groupBy("k").count().agg(functions.max("count")).collect()[0][0])


def _split_by_it(lines: Flowable[Any]) -> int:
    words = lines.flat_map_iterable(it.split(" "))
    return words.group_aggregate(it, n=it.count()).map(it.n).max().blocking_get() or 0


def _count_each(keys: Callable[[Any], Iterable[Any]] | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """For mapInArrow: what one writes to add up what a task has before it is shuffled. A cell is a key, or is taken apart."""
    import pyarrow as pa

    def whole(batches: Iterator[Any]) -> Iterator[Any]:
        counts: dict[Any, int] = {}
        for batch in batches:
            for key in batch.column(0).to_pylist():
                counts[key] = counts.get(key, 0) + 1
        yield pa.RecordBatch.from_pydict({"k": list(counts), "n": list(counts.values())})

    def parts(batches: Iterator[Any]) -> Iterator[Any]:
        assert keys is not None
        counts: dict[Any, int] = {}
        for batch in batches:
            for cell in batch.column(0).to_pylist():
                for key in keys(cell):
                    counts[key] = counts.get(key, 0) + 1
        yield pa.RecordBatch.from_pydict({"k": list(counts), "n": list(counts.values())})

    return whole if keys is None else parts


# --- groups -----------------------------------------------------------------------------------------------------------


def _by_number(made: Inputs, keys: int) -> Work:
    from pyspark.sql import functions

    import rx_spark

    frame = made.session.read.parquet(made.rows).select((functions.col("id") % keys).alias("k"))
    return _counting(rx_spark.parquet(made.rows).map(it.id % keys), frame, few=keys <= 1_000)


def _by_hot_key(made: Inputs) -> Work:
    import rx_spark

    frame = made.session.read.parquet(made.rows).select("hot")
    return _counting(rx_spark.parquet(made.rows).map(it.hot), frame)


@dataclass(slots=True)
class Keyed:
    key: int


def _counting(flow: Flowable[int], frame: Any, *, few: bool = False) -> Work:
    from pyspark.sql import functions

    import rx_spark

    def plain() -> int:
        grouped = frame.mapInArrow(_count_each(None), "k long, n long").groupBy("k").agg(functions.sum("n").alias("n"))
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
    if few:
        ways["rx, group_by"] = group_by
    return Work(ways, (Target("rx, group_reduce", 0.8, "mapInArrow, groupBy"),))


# --- ends -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Once:
    id: int
    part: int


@dataclass(slots=True)
class Twice:
    twice: int
    part: int


def _to_parquet(made: Inputs) -> Work:
    import pyarrow as pa

    import rx_spark

    session = made.session
    frame = session.read.parquet(made.rows)

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            rows = [(row["id"] * 2, row["part"]) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pydict({"twice": [one for one, _ in rows], "part": [part for _, part in rows]})

    def plain() -> int:
        target = str(made.folder / "plain")
        rows = frame.select("id", "part").mapInArrow(mapped, "twice long, part long")
        rows.write.mode("overwrite").partitionBy("part").parquet(target)
        return count_of(target)

    def ours() -> int:
        target = str(made.folder / "ours")
        rows = rx_spark.parquet(made.rows, schema=Once).map(lambda row: Twice(row.id * 2, row.part))
        rx_spark.write_parquet(rows, target, schema=Twice, partition_by="part", mode="overwrite").blocking_get()
        return count_of(target)

    def count_of(target: str) -> int:
        return int(session.read.parquet(target).count())

    return Work({"mapInArrow, write": plain, "rx": ours}, (Target("rx", 1.1, "mapInArrow, write"),))


def _to_driver(made: Inputs) -> Work:
    import pyarrow as pa
    from pyspark.sql import functions

    import rx_spark

    frame, flow = made.session.read.parquet(made.rows), rx_spark.parquet(made.rows)
    few = min(made.count, FEW)

    rows = frame.where(functions.col("id") < few).select("id", "key")

    def iterated() -> int:
        return sum(row.id for row in rows.toLocalIterator(prefetchPartitions=True))

    def pickled(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            pairs = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
            chunks = [pickle.dumps(pairs[at : at + 1_000]) for at in range(0, len(pairs), 1_000)]
            yield pa.RecordBatch.from_pydict({"chunk": chunks})

    def in_chunks() -> int:
        """Pickled where they are, so that Spark has one row for a thousand to carry, and to convert."""
        chunks = rows.mapInArrow(pickled, "chunk binary").toLocalIterator(prefetchPartitions=True)
        return sum(pair[0] for row in chunks for pair in pickle.loads(row.chunk))

    def streamed() -> int:
        pairs = flow.filter(it.id < few).map(sym(lambda row: (row.id, row.key)))
        return sum(pair[0] for pair in pairs)

    return Work(
        {"toLocalIterator": iterated, "toLocalIterator, pickled chunks": in_chunks, "rx": streamed},
        (Target("rx", 0.125, "toLocalIterator"), Target("rx", 0.667, "toLocalIterator, pickled chunks")),
    )
