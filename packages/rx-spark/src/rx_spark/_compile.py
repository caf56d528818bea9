"""From a plan to a DataFrame. Runs on the job's thread, each time a plan is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rx_core._errors import none_produced
from rx_spark._blocks import BLOCKS_PER_PARTITION, CellReader, Reader, block_size, range_reader, text_reader
from rx_spark._passes import Program, Work
from rx_spark._plan import (
    Count,
    Distinct,
    GroupReduce,
    IterableSource,
    Max,
    Min,
    Pass,
    Plan,
    RangeSource,
    Reduce,
    Runner,
    Source,
    Step,
    Sum,
    Take,
)
from rx_spark._portable import dump_items, dump_plan_part
from rx_spark._runner import NotedMerger, NotedWriter
from rx_spark._shuffle import (
    SCHEMA,
    Best,
    Counting,
    DistinctMerger,
    DistinctWriter,
    Folding,
    GroupMerger,
    GroupWriter,
    Merger,
    ReduceMerger,
    Reducer,
    ReduceWriter,
    Summing,
    TakeMerger,
    TakeWriter,
    Writer,
)
from rx_spark._wire import CHUNK, SinkAddress

#: What the driver reads of an iterable; above this it has no end, or belongs into files.
MOST_BYTES = 1 << 30

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from rx_spark._session import Engine


@dataclass(frozen=True)
class Compiled:
    """``frame`` does the work when it is collected; its own rows are none. ``total`` is the number of blocks that
    arrive in order, None when order is free."""

    frame: DataFrame
    partitions: int
    total: int | None


@dataclass(frozen=True)
class _Input:
    frame: DataFrame
    reader: Reader
    total: int


def split_limit(plan: Plan) -> tuple[tuple[Step, ...], int | None]:
    """The steps without takes at their end, and the smallest of those takes."""
    steps, limit = list(plan.steps), None
    while steps and isinstance(last := steps[-1], Take):
        limit = last.n if limit is None else min(limit, last.n)
        steps.pop()
    return tuple(steps), limit


def compile_plan(plan: Plan, engine: Engine, address: SinkAddress, stopped: Callable[[], bool] = lambda: False) -> Compiled:
    """``stopped`` is asked while an iterable is being read: what is left of it is not wanted.

    Errors: what the source raises on the driver (a missing file, the user's iterable), NotPortableError."""
    steps, limit = split_limit(plan)
    partitions, path = engine.parallelism, engine.path
    source = _input(plan.source, engine.session, partitions, stopped)
    frame, total = source.frame, source.total
    reader: Reader | None = source.reader
    merger: Merger | None = None
    runners: list[Runner] = []
    ordered = True

    def stage(writer: Writer | None, schema: str) -> DataFrame:
        work = Work(reader, merger, tuple(runners), writer, None if writer else limit)
        # pyspark's stubs want a plain function; a callable object does, and pickles small
        return frame.mapInArrow(Program(dump_plan_part(work), path, address), schema)

    for step in steps:
        if isinstance(step, Pass):
            runners.append(step.to_runner())
            continue
        buckets, writer, next_merger = _shuffle(step, engine.parallelism)
        if step.note:
            writer, next_merger = NotedWriter(writer, step.note), NotedMerger(next_merger, step.note)
        frame = _exchange(stage(writer, SCHEMA), buckets)
        reader, merger, runners = None, next_merger, []
        partitions, ordered, total = buckets, buckets == 1, 1
    return Compiled(stage(None, "nothing binary"), partitions, total if ordered else None)


def _exchange(frame: DataFrame, buckets: int) -> DataFrame:
    if hasattr(frame, "repartitionById"):  # since pyspark 4.1
        moved = frame.repartitionById(buckets, "bucket")
    else:
        moved = frame.repartition(buckets, "bucket")
    return moved.sortWithinPartitions("block", "seq")


def _shuffle(step: Step, partitions: int) -> tuple[int, Writer, Merger]:
    match step:
        case Distinct():
            return partitions, DistinctWriter(partitions), DistinctMerger()
        case GroupReduce(key, value, reducer):
            return partitions, GroupWriter(partitions, key, value, reducer), GroupMerger(reducer)
        case Take(n):
            return 1, TakeWriter(n), TakeMerger(n)
        case _:
            combine = _reducer(step)
            return 1, ReduceWriter(combine), ReduceMerger(combine)


def _reducer(step: Step) -> Reducer:
    match step:
        case Reduce(reducer):
            return Folding(reducer)
        case Count():
            return Counting()
        case Sum(start):
            return Summing(start)
        case Min(key):
            return Best(min, key)
        case Max(key):
            return Best(max, key)
        case _:
            raise TypeError(f"{step!r} is not a step of a plan")


def _input(source: Source, session: SparkSession, partitions: int, stopped: Callable[[], bool]) -> _Input:
    match source:
        case RangeSource():
            numbers = range_reader(source, partitions)
            return _Input(session.range(0, partitions, 1, partitions), numbers, numbers.total)
        case IterableSource():
            return _cells(source, session, partitions, stopped)
        case _:
            text = text_reader(source, partitions)
            return _Input(session.range(0, partitions, 1, partitions), text, len(text.parts))


def _cells(source: IterableSource, session: SparkSession, partitions: int, stopped: Callable[[], bool]) -> _Input:
    """One row per task, with the numbers of its blocks and the pickled blocks."""
    import pyarrow as pa

    blocks: list[bytes] = []
    pending: list[Any] = []
    for item in source.items:
        if stopped():
            break
        if item is None:
            raise none_produced("from_iterable")
        pending.append(item)
        # Short sources are cut finely below; as soon as a source is long enough, whole chunks are pickled as they come.
        if len(pending) == CHUNK * partitions * BLOCKS_PER_PARTITION:
            blocks += [dump_items(pending[at : at + CHUNK]) for at in range(0, len(pending), CHUNK)]
            pending.clear()
            _check_size(blocks)
    size = block_size(len(pending), partitions, CHUNK)
    blocks += [dump_items(pending[at : at + size]) for at in range(0, len(pending), size)]
    _check_size(blocks)
    rows = [
        pa.table(
            {
                "blocks": pa.array([list(range(partition, len(blocks), partitions))], pa.list_(pa.int64())),
                "cells": pa.array([blocks[partition::partitions]], pa.list_(pa.binary())),
            }
        )
        for partition in range(partitions)
    ]
    return _Input(session.createDataFrame(pa.concat_tables(rows)), CellReader(), len(blocks))


def _check_size(blocks: list[bytes]) -> None:
    size = sum(map(len, blocks))
    if size > MOST_BYTES:
        raise ValueError(
            f"from_iterable() has read {size:,} bytes of pickled items, and there are more; Spark gets all of them before "
            f"it starts, so at most {MOST_BYTES:,} are read.\n"
            f"  For lines of files:         rx_spark.text(paths)\n"
            f"  For data that comes along:  send names or numbers, and open what they stand for in a mapper\n"
            f"  Without Spark:              Flowable.from_iterable(items)"
        )
