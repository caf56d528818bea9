"""From a plan to a DataFrame. Runs on the job's thread, each time a plan is run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rx_core._errors import none_produced
from rx_spark._columns._frames import FrameSource
from rx_spark._jobs._account import account_of
from rx_spark._jobs._job_errors import read_error
from rx_spark._jobs._text_input import decoder_of, text_frame, text_reader
from rx_spark._plans._plan import (
    Aggregates,
    Count,
    Distinct,
    FeedSource,
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
    TextSource,
)
from rx_spark._plans._targets import Action, Effects, Lazy, Target, written
from rx_spark._transport._feed import FeedReader
from rx_spark._transport._wire import CHUNK, SinkAddress
from rx_spark._workers._blocks import (
    BLOCKS_PER_PARTITION,
    BatchReader,
    CellReader,
    Reader,
    RowReader,
    block_size,
    range_reader,
)
from rx_spark._workers._groups import AggregateMerger, AggregateWriter, DistinctMerger, DistinctWriter, GroupMerger, GroupWriter
from rx_spark._workers._lines import Decoder, LineReader
from rx_spark._workers._passes import EffectWriter, Program, RowWriter, Work
from rx_spark._workers._portable import dump_items, dump_plan_part
from rx_spark._workers._runner import NotedMerger, NotedWriter
from rx_spark._workers._shuffle import (
    SCHEMA,
    Best,
    Counting,
    Folding,
    Merger,
    ReduceMerger,
    Reducer,
    ReduceWriter,
    Summing,
    TakeMerger,
    TakeWriter,
    Writer,
)

#: What the driver reads of an iterable; above this it has no end, or belongs into files.
MOST_BYTES = 1 << 30

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, Observation

    from rx_spark._columns._screen import Watch
    from rx_spark._session._session import Engine


@dataclass(frozen=True)
class Compiled:
    """``frame`` does the work when it is collected; its own rows are none, unless ``action`` makes the items of the stream of it.

    ``partitions`` is None where adaptive execution decides it. ``total`` is the number of blocks that arrive in order, None when
    order is free. ``empty`` is what the stream is when no task had anything to do.
    """

    frame: DataFrame
    partitions: int | None
    total: int | None
    action: Action | None = None
    empty: tuple[Any, ...] = ()
    #: Called when the job was successful, before its stream completes: tells what was left out.
    settle: Callable[[], None] | None = None


@dataclass(frozen=True)
class _Input:
    frame: DataFrame
    reader: Reader
    total: int | None


def split_limit(plan: Plan) -> tuple[tuple[Step, ...], int | None]:
    """The steps without takes at their end, and the smallest of those takes: of what comes back no more is read."""
    steps, limit = list(plan.steps), None
    if plan.target is not None:
        return plan.steps, None  # one task writes what is left
    while steps and isinstance(last := steps[-1], Take):
        limit = last.n if limit is None else min(limit, last.n)
        steps.pop()
    return tuple(steps), limit


def compile_plan(
    plan: Plan, engine: Engine, address: SinkAddress | None, stopped: Callable[[], bool] = lambda: False
) -> Compiled:
    """``stopped`` is asked while an iterable is being read: what is left of it is not wanted. Without an ``address`` no task
    connects to the driver, and the plan has a target.

    Errors: what the source raises on the driver (a missing file, the user's iterable), NotPortableError."""
    source = plan.source
    policy = source.screen.on_bad if isinstance(source, FrameSource) and source.screen else getattr(source, "on_bad", "fail")
    if policy != "fail" and isinstance(plan.target, Lazy):
        raise TypeError(
            f"to_dataframe(): Spark runs it, and nothing here hears how many records on_bad={policy!r} leaves out.\n"
            f"  Right:  on_bad='fail', or write the rows and read what was written"
        )
    if isinstance(source, TextSource):
        decoder, settle = decoder_of(source, engine)
        return replace(_compile(plan, engine, address, stopped, decoder=decoder), settle=settle)
    if not isinstance(source, FrameSource) or policy == "fail":
        return _compile(plan, engine, address, stopped)
    watched: list[Observation] = []
    made = _compile(plan, engine, address, stopped, watched.append)
    return replace(made, settle=account_of(source, watched[0]))


def _compile(
    plan: Plan,
    engine: Engine,
    address: SinkAddress | None,
    stopped: Callable[[], bool],
    watch: Watch | None = None,
    decoder: Decoder | None = None,
) -> Compiled:
    steps, limit = split_limit(plan)
    if isinstance(plan.source, FrameSource):
        if plan.source.one and not plan.target:
            return Compiled(_opened(plan.source, engine, watch), None, None, partial(_only, plan.source.start))
        if plan.target is not None and plan.output is not None and not steps:
            return Compiled(_opened(plan.source, engine, watch), None, None, partial(_written, plan.target))
    partitions: int | None = engine.parallelism
    path = engine.path
    source = _input(plan.source, engine, engine.parallelism, stopped, address, watch, decoder)
    frame, total = source.frame, source.total
    if total is None:
        partitions = None
    reader: Reader | None = source.reader
    merger: Merger | None = None
    runners: list[Runner] = []
    ordered = True

    def stage(writer: Writer | RowWriter | EffectWriter | None, schema: str) -> DataFrame:
        work = Work(reader, merger, tuple(runners), writer, None if writer else limit)
        payload = dump_plan_part(work)
        engine.ship(payload)
        # pyspark's stubs want a plain function; a callable object does, and pickles small
        # Where a function is called for its effects, the task ends quietly: Spark would run it again at once.
        writes = plan.target is not None and not isinstance(writer, EffectWriter)
        return frame.mapInArrow(Program(payload, path, address, writes), schema)

    for step in steps:
        if isinstance(step, Pass):
            runners.append(step.to_runner())
            continue
        buckets, writer, next_merger = _shuffle(step, engine.parallelism)
        if step.note:
            writer, next_merger = NotedWriter(writer, step.note), NotedMerger(next_merger, step.note)
        frame = _exchange(stage(writer, SCHEMA), buckets)
        reader, merger, runners = None, next_merger, []
        if partitions is not None:
            partitions, ordered, total = buckets, buckets == 1, 1
    if plan.target is not None and plan.output is not None:
        made = stage(RowWriter(plan.output), plan.output.ddl)
        return Compiled(made, None, None, partial(_written, plan.target))
    if isinstance(plan.target, Effects):
        made = stage(EffectWriter(plan.target.function), "nothing binary")
        return Compiled(made, None, None, partial(_ran, plan.target))
    empty = tuple(merger.merge(iter(()))) if partitions is None and merger is not None and not runners else ()
    return Compiled(stage(None, "nothing binary"), partitions, total if ordered else None, empty=empty)


def _opened(source: FrameSource, engine: Engine, watch: Watch | None, *, stable: bool = False) -> DataFrame:
    try:
        return source.open(engine, stable=stable, watch=watch)
    except Exception as error:  # what was there when the source was made may be gone
        raise read_error(error, source.origin.shown) from error


def _written(target: Target, frame: DataFrame, tag: str) -> list[Any]:
    return [written(target, frame, tag)]


def _ran(target: Target, frame: DataFrame, tag: str) -> list[Any]:
    target.write(frame, tag)
    return []


def _only(start: Any, frame: DataFrame, _tag: str) -> list[Any]:
    """The single value of a job of columns: none where there were no rows; with a ``start``, that plus what they come to."""
    value = frame.collect()[0][0]
    if start is None:
        return [] if value is None else [value]
    return [start if value is None else start + value]


def _exchange(frame: DataFrame, buckets: int) -> DataFrame:
    if hasattr(frame, "repartitionById"):  # since pyspark 4.1
        moved = frame.repartitionById(buckets, "bucket")
    else:
        moved = frame.repartition(buckets, "bucket")
    return moved.sortWithinPartitions("part", "block", "seq")


def _shuffle(step: Step, partitions: int) -> tuple[int, Writer, Merger]:
    match step:
        case Distinct():
            return partitions, DistinctWriter(partitions), DistinctMerger()
        case GroupReduce(key, value, reducer):
            return partitions, GroupWriter(partitions, key, value, reducer), GroupMerger(reducer)
        case Aggregates(key, spec):
            return partitions, AggregateWriter(partitions, key, spec), AggregateMerger(spec)
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


def _input(
    source: Source,
    engine: Engine,
    partitions: int,
    stopped: Callable[[], bool],
    address: SinkAddress | None,
    watch: Watch | None,
    decoder: Decoder | None,
) -> _Input:
    session = engine.session
    match source:
        case FrameSource():
            return _Input(
                _opened(source, engine, watch, stable=True),
                BatchReader(source.batches) if source.batches else RowReader(source.row),
                None,
            )
        case RangeSource():
            numbers = range_reader(source, partitions)
            return _Input(session.range(0, partitions, 1, partitions), numbers, numbers.total)
        case FeedSource():
            assert address is not None
            return _Input(session.range(0, 1, 1, 1), FeedReader(address), None)
        case IterableSource():
            return _cells(source, engine, partitions, stopped)
        case TextSource(by_spark=True):
            assert decoder is not None
            return _Input(text_frame(source, engine), LineReader(decoder), None)
        case _:
            text = text_reader(source, partitions, decoder)
            return _Input(session.range(0, partitions, 1, partitions), text, len(text.parts))


def _cells(source: IterableSource, engine: Engine, partitions: int, stopped: Callable[[], bool]) -> _Input:
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
    if blocks:
        engine.ship(blocks[0])  # items are of few classes: those of the first block stand for the others
    return _Input(engine.session.createDataFrame(pa.concat_tables(rows)), CellReader(), len(blocks))


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
