"""From a plan to a DataFrame. Runs on the job's thread, each time a plan is run."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from rx_spark._columns._frames import Asked, Files, FrameSource, Observe
from rx_spark._jobs._account import account_of
from rx_spark._jobs._inputs import TASKS_PER_CORE, Again, Input, one_row, opened, read
from rx_spark._jobs._observations import tell_asked
from rx_spark._jobs._text_input import decoder_of
from rx_spark._plans._plan import (
    TO_ONE,
    Aggregates,
    Count,
    Distinct,
    GroupReduce,
    Max,
    Min,
    Pass,
    Plan,
    Reduce,
    Rows,
    Runner,
    Source,
    Step,
    Sum,
    Take,
    TextSource,
    is_ours,
)
from rx_spark._plans._targets import Action, Effects, Lazy, Target, written
from rx_spark._workers._blocks import RowReader
from rx_spark._workers._groups import (
    AggregateMerger,
    AggregateWriter,
    CountMerger,
    CountWriter,
    DistinctMerger,
    DistinctWriter,
    GroupMerger,
    GroupWriter,
)
from rx_spark._workers._partials import MOST_BYTES, OVERHEAD, PartialsReader, PartialsWriter
from rx_spark._workers._passes import EffectWriter, Program, RowWriter, Work
from rx_spark._workers._plain_functions import adds, gives_its_argument, gives_one, only_counts
from rx_spark._workers._portable import dump_plan_part
from rx_spark._workers._runner import NotedMerger, NotedWriter
from rx_spark._workers._shuffle import SCHEMA, Merger, TakeMerger, TakeWriter, Writer
from rx_spark._workers._to_one import Best, Counting, Folding, ReduceMerger, Reducer, ReduceWriter, Summing, reducing
from rx_spark._workers._versions import versions_here

_NOTHING: Final = "nothing binary"  #: columns of tasks that send what they have to the driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

    from rx_spark._columns._rows import RowType
    from rx_spark._session._session import Engine
    from rx_spark._transport._rounds import Remaining
    from rx_spark._transport._wire import SinkAddress
    from rx_spark._workers._blocks import Reader
    from rx_spark._workers._lines import Decoder
    from rx_spark._workers._partials import Packed


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
    #: Called when the job was successful, before its stream completes: they tell what was left out, and what passed.
    settle: tuple[Callable[[], None], ...] = ()
    #: Whether the tasks' items come task by task.
    in_turn: bool = False
    #: What the driver makes of the batches of rows that come back; None where tasks send items.
    row: RowType | None = None
    #: Where ``frame`` gives the partial results of a reduction to the driver: what is left to do with them. That is a job, or
    #: nothing but to tell the items, where no code of the user's is needed. With None, as they are too large, a job does it all.
    merged: Callable[[Packed | None], Compiled | list[Any]] | None = None
    #: The same for what is left of the blocks, cut for so many tasks that connect there; None: it has to be done in one go.
    again: Callable[[Remaining, int, SinkAddress], Compiled] | None = None


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
    source = plan.first
    policy = source.screen.on_bad if isinstance(source, FrameSource) and source.screen else getattr(source, "on_bad", "fail")
    if policy != "fail" and isinstance(plan.target, Lazy):
        raise TypeError(
            f"to_dataframe(): Spark runs it, and nothing here hears how many records on_bad={policy!r} leaves out.\n"
            f"  Right:  on_bad='fail', or write the rows and read what was written"
        )
    asked: Asked = []
    decoder: Decoder | None = None
    settling: list[Callable[[], None]] = []
    if isinstance(source, TextSource):
        decoder, settle = decoder_of(source, engine)
        settling += () if settle is None else (settle,)
    made = _compile(plan, engine, address, stopped, asked, decoder, _Numbers())
    for step, observation in asked:
        if isinstance(step, Observe):
            settling.append(partial(tell_asked, step, observation))
        elif isinstance(source, FrameSource):
            settling.append(account_of(source, observation))
    return replace(made, settle=tuple(settling))


@dataclass(frozen=True)
class _Numbers:
    """Numbers of the stages of a job: of those that tell what passes, and of those whose results are copied."""

    observed: Iterator[int] = field(default_factory=itertools.count)
    copied: Iterator[int] = field(default_factory=itertools.count)


def _compile(
    plan: Plan,
    engine: Engine,
    address: SinkAddress | None,
    stopped: Callable[[], bool],
    asked: Asked,
    decoder: Decoder | None,
    numbers: _Numbers,
) -> Compiled:
    steps, limit = split_limit(plan)
    computed: DataFrame | None = None
    if plan.earlier is not None:
        computed = _compile(plan.earlier, engine, address, stopped, asked, decoder, numbers).frame
    if isinstance(plan.source, FrameSource):
        if plan.source.one and not plan.target:
            return Compiled(opened(plan.source, engine, asked, computed), None, None, partial(_only, plan.source.start))
        if plan.target is not None and plan.output is not None and not steps and not isinstance(plan.target, Rows):
            return Compiled(opened(plan.source, engine, asked, computed), None, None, partial(_written, plan.target))
    partitions: int | None = engine.parallelism
    streams = plan.target is None and _only_passes(steps)
    # Of a task that runs again nothing has been used where one value comes of all of it.
    stable = plan.target is not None or not steps or not isinstance(steps[-1], TO_ONE) or not _only_passes(steps[:-1])
    to_one = isinstance(next((step for step in steps if not isinstance(step, Pass)), None), TO_ONE)
    source = read(
        plan.source,
        engine,
        stopped,
        address,
        asked,
        decoder,
        at_once=not streams,
        stable=stable,
        to_one=to_one,
        computed=computed,
    )
    total = source.total
    frame: Callable[[], DataFrame] = partial(_known, source.frame)
    if total is None:
        partitions = None
    reader: Reader | None = source.reader
    merger: Merger | None = None
    passes: list[Pass] = []
    ordered = True
    # A first run may be given up, and what was counted there would be counted again.
    most = 0 if plan.counting or plan.target is not None else _bytes_of_task(engine, source.total)
    # A task that gives its copy has read nothing, and has nothing to tell of that.
    copies = engine.loses and not plan.counting and _has_fixed_tasks(plan.source)
    gathered: Callable[[], DataFrame] | None = None
    ours = False  # whether the last reduction calls no function of the user's

    def stage(
        writer: Writer | RowWriter | EffectWriter | None, schema: str, *, shuffled: bool = False
    ) -> Callable[[], DataFrame]:
        """Spark is told when it is called: some milliseconds, which a way that is not gone should not take."""
        number = next(numbers.observed) if any(each.observing for each in passes) else None
        # What is told when the task has ended is of all of its blocks, or of none.
        resumes = number is None and (decoder is None or decoder.tally is None)
        copied = next(numbers.copied) if copies and shuffled else None
        work = Work(reader, merger, _runners(passes), writer, None if writer else limit, resumes, number, copied=copied)
        # Where a function is called for its effects, the task ends quietly: Spark would run it again at once.
        writes = plan.target is not None and not isinstance(writer, EffectWriter)
        before = frame
        return cache(lambda: _mapped(before(), work, engine, address, schema, writes=writes))

    for step in steps:
        if isinstance(step, Pass):
            passes.append(step)
            continue
        if isinstance(step, TO_ONE):
            passes = reducing(passes, _reducer(step), step.before)
        in_one = isinstance(plan.source, FrameSource) and merger is None
        buckets, writer, next_merger = _shuffle(step, engine.parallelism, in_one=in_one)
        if step.note:
            writer, next_merger = NotedWriter(writer, step.note), NotedMerger(next_merger, step.note)
        ours = is_ours(step)
        by_driver = most and isinstance(step, TO_ONE) and (ours or engine.loses)
        gathered = stage(PartialsWriter(writer, most, ours), SCHEMA) if by_driver else None
        frame = cache(partial(_exchange, stage(writer, SCHEMA, shuffled=True), buckets))
        reader, merger, passes = None, next_merger, []
        if partitions is not None:
            partitions, ordered, total = buckets, buckets == 1, 1
    if plan.target is not None and plan.output is not None:
        fit = plan.target.fit if isinstance(plan.target, Rows) else None
        made = stage(RowWriter(plan.output, fit), plan.output.ddl)()
        return Compiled(made, None, None, partial(_written, plan.target))
    if isinstance(plan.target, Effects):
        made = stage(EffectWriter(plan.target.function), _NOTHING)()
        return Compiled(made, None, None, partial(_ran, plan.target))
    empty = tuple(merger.merge(iter(()))) if partitions is None and merger is not None and not passes else ()
    if streams and source.again is not None:
        number = 0 if plan.observing else None
        work = Work(reader, None, _runners(passes), None, limit, observed=number, by_block=True)
        return _round(source, source.again, work, engine, engine.parallelism, address)
    in_turn = streams and isinstance(plan.source, FrameSource) and plan.source.ordered
    row: RowType | None = None
    if isinstance(reader, RowReader) and not passes and reader.row.made_anywhere:
        reader, row = replace(reader, unread=True), reader.row
    last = stage(None, _NOTHING)

    def whole() -> Compiled:
        return Compiled(last(), partitions, total if ordered else None, empty=empty, in_turn=in_turn, row=row)

    if gathered is None or merger is None:
        return whole()

    def merged(packed: Packed | None) -> Compiled | list[Any]:
        if packed is None:
            return whole()
        reader = PartialsReader(packed.tasks, merger)
        if packed.plain and ours and not passes:
            return list(reader.merged())
        work = Work(reader, None, _runners(passes), None, limit)
        return Compiled(_mapped(one_row(engine), work, engine, address, _NOTHING), 1, 1)

    return Compiled(gathered(), None, None, merged=merged)


def _has_fixed_tasks(source: Source) -> bool:
    """Whether a task of a source has the same items whenever it runs. What Spark shuffles before it may come to other tasks."""
    return not isinstance(source, FrameSource) or (isinstance(source.origin, Files) and not source.shuffled)


def _only_passes(steps: tuple[Step, ...]) -> bool:
    return all(isinstance(step, Pass) for step in steps)


def _bytes_of_task(engine: Engine, blocks: int | None) -> int:
    """What a task may send to the driver as its partial results; 0: they are too many."""
    if (blocks or 0) * 2 * OVERHEAD > MOST_BYTES:
        return 0
    return MOST_BYTES // (TASKS_PER_CORE * engine.parallelism)


def _runners(passes: list[Pass]) -> tuple[Runner, ...]:
    return tuple(each.to_runner() for each in passes)


def _round(source: Input, again: Again, work: Work, engine: Engine, tasks: int, address: SinkAddress | None) -> Compiled:
    """One of the Spark jobs of an ordered stream; it and the ones behind it differ in the blocks they read."""

    def further(left: Remaining, tasks: int, address: SinkAddress) -> Compiled:
        return _round(again(left, tasks), again, work, engine, tasks, address)

    frame = _mapped(source.frame, replace(work, reader=source.reader), engine, address, _NOTHING)
    return Compiled(frame, tasks, source.total, again=further)


def _mapped(
    frame: DataFrame, work: Work, engine: Engine, address: SinkAddress | None, schema: str, *, writes: bool = False
) -> DataFrame:
    payload = dump_plan_part(work)
    engine.ship(payload)
    # pyspark's stubs want a plain function; a callable object does, and pickles small
    versions = versions_here() if engine.shipment is not None else ()
    return frame.mapInArrow(Program(payload, engine.path, address, writes, versions), schema)


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


def _known(frame: DataFrame) -> DataFrame:
    return frame


def _exchange(rows: Callable[[], DataFrame], buckets: int) -> DataFrame:
    frame = rows()
    if hasattr(frame, "repartitionById"):  # since pyspark 4.1
        moved = frame.repartitionById(buckets, "bucket")
    else:
        moved = frame.repartition(buckets, "bucket")
    return moved.sortWithinPartitions("part", "block", "seq")


def _shuffle(step: Step, partitions: int, *, in_one: bool = False) -> tuple[int, Writer, Merger]:
    """``in_one``: a task's blocks are neighbours, so that it has one partial result of all."""
    match step:
        case Distinct():
            return partitions, DistinctWriter(partitions), DistinctMerger()
        case GroupReduce(key, value, reducer) if gives_one(value) and adds(reducer):
            return partitions, _counting(partitions, key), CountMerger()
        case GroupReduce(key, value, reducer):
            return partitions, GroupWriter(partitions, key, value, reducer), GroupMerger(reducer)
        case Aggregates(key, spec) if only_counts(spec):
            return partitions, _counting(partitions, key), CountMerger(spec)
        case Aggregates(key, spec):
            return partitions, AggregateWriter(partitions, key, spec), AggregateMerger(spec)
        case Take(n):
            return 1, TakeWriter(n), TakeMerger(n)
        case _:
            reduction = _reducer(step)
            return 1, ReduceWriter(reduction, in_one), ReduceMerger(reduction)


def _counting(partitions: int, key: Callable[[Any], Any]) -> CountWriter:
    return CountWriter(partitions, None if gives_its_argument(key) else key)


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
