"""The sources of a plan as DataFrames: a row for each task, which says what it reads, or the rows of the user's own DataFrame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rx_core._errors import none_produced
from rx_spark._columns._frames import Asked, Files, FrameSource
from rx_spark._jobs._file_checks import check_files
from rx_spark._jobs._job_errors import read_error
from rx_spark._jobs._text_input import text_frame, text_reader
from rx_spark._plans._plan import FeedSource, IterableSource, RangeSource, Source, TextSource
from rx_spark._transport._feed import FeedReader
from rx_spark._transport._rounds import Remaining, all_blocks
from rx_spark._transport._wire import CHUNK, SinkAddress
from rx_spark._workers._blocks import (
    BLOCKS_PER_PARTITION,
    GREAT_RANGE_BLOCK,
    RANGE_BLOCK,
    BatchReader,
    CellReader,
    RangeReader,
    Reader,
    RowReader,
    block_size,
    range_reader,
)
from rx_spark._workers._lines import Decoder, LineReader, TextReader
from rx_spark._workers._portable import dump_items

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rx_spark._session._session import Engine

#: What the driver reads of an iterable; above this it has no end, or belongs into files.
MOST_BYTES: Final = 1 << 30
#: What one task reads where tasks are cut finer than there are cores, and the most tasks for each of these.
TASK_NUMBERS: Final = 4 << 20
TASK_BYTES: Final = 32 << 20
TASKS_PER_CORE: Final = 32

#: The same blocks as a source has, less those that are finished, for so many tasks.
Again: TypeAlias = "Callable[[Remaining, int], Input]"


@dataclass(frozen=True)
class Input:
    """``total`` is the number of blocks where they have an order, and then ``again`` reads those that are left."""

    frame: DataFrame
    reader: Reader
    total: int | None
    again: Again | None = None


def read(
    source: Source,
    engine: Engine,
    stopped: Callable[[], bool],
    address: SinkAddress | None,
    asked: Asked,
    decoder: Decoder | None,
    *,
    at_once: bool,
    stable: bool,
    to_one: bool = False,
    computed: DataFrame | None = None,
) -> Input:
    """The rows of a source. Runs on the driver, when a job begins.

    ``at_once``: all is read before anything comes back, so that no task waits for demand. On a cluster there are then more tasks
    than cores: cores that are added are used, and one that is lost takes little work along.
    ``stable``: the rows of a task come in the same order when it runs again, because some of what it gave may have been used.
    ``to_one``: a block becomes one value.
    ``computed``: the rows that an earlier part of the pipeline makes.
    """
    match source:
        case FrameSource():
            frame = opened(source, engine, asked, computed, stable=stable)
            names = tuple(frame.columns)
            rows = BatchReader(source.batches, names) if source.batches else RowReader(source.row)
            if any("." in name or "`" in name for name in names):  # mapInArrow would take them for parts of columns
                frame = frame.toDF(*map(str, range(len(names))))
            return Input(frame, rows, None)
        case FeedSource():
            assert address is not None
            return Input(one_row(engine), FeedReader(address), None)
        case IterableSource():
            blocks = _pickled(source, engine, stopped)
            tasks = _tasks(engine, sum(map(len, blocks)), TASK_BYTES) if at_once else engine.parallelism
            return _cells(blocks, engine, all_blocks(len(blocks)), tasks)
        case RangeSource():
            count = len(range(source.start, source.stop, source.step))
            tasks = _tasks(engine, count, TASK_NUMBERS) if at_once else engine.parallelism
            return _numbered(range_reader(source, tasks, GREAT_RANGE_BLOCK if to_one else RANGE_BLOCK), engine)
        case TextSource(by_spark=True):
            assert decoder is not None
            return Input(text_frame(source, engine), LineReader(decoder), None)
        case TextSource():
            reader = text_reader(source, engine.parallelism, decoder)
            size = sum(end - start for _, start, end in reader.parts) if at_once else 0
            made = _numbered(replace(reader, partitions=_tasks(engine, size, TASK_BYTES)), engine)
            # What a task tells of lines that it left out counts when it has ended well: for its blocks, all or none.
            return made if reader.decoder.tally is None else replace(made, again=None)


def opened(
    source: FrameSource, engine: Engine, asked: Asked, computed: DataFrame | None = None, *, stable: bool = False
) -> DataFrame:
    try:
        frame = source.open(engine, stable=stable, asked=asked, computed=computed)
    except Exception as error:  # what was there when the source was made may be gone
        raise read_error(error, source.origin.shown) from error
    if isinstance(source.origin, Files) and source.origin.paths and computed is None:
        check_files(source.origin, frame, engine.application)  # and there may be others
    return frame


def one_row(engine: Engine) -> DataFrame:
    """For a task that reads nothing of Spark's. Spark counts the rows of a range as rows that were read, and this one not."""
    return engine.session.sql("SELECT 0 AS id")


def _tasks(engine: Engine, size: int, of_one: int) -> int:
    """How many tasks read ``size``, when one should read about ``of_one``. An embedded Spark has no cores that come and go."""
    if not engine.loses:
        return engine.parallelism
    return min(max(engine.parallelism, -(-size // of_one)), TASKS_PER_CORE * engine.parallelism)


def _numbered(reader: RangeReader | TextReader, engine: Engine) -> Input:
    def again(left: Remaining, tasks: int) -> Input:
        return _numbered(replace(reader, partitions=tasks, left=left), engine)

    return Input(engine.session.range(0, reader.partitions, 1, reader.partitions), reader, reader.total, again)


def _pickled(source: IterableSource, engine: Engine, stopped: Callable[[], bool]) -> list[bytes]:
    """The blocks of an iterable, pickled."""
    partitions = engine.parallelism
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
    if blocks:
        engine.ship(blocks[0])  # items are of few classes: those of the first block stand for the others
    return blocks


def _cells(blocks: list[bytes], engine: Engine, left: Remaining, tasks: int) -> Input:
    """One row per task, with the numbers of its blocks and the pickled blocks."""
    import pyarrow as pa

    # Spark puts several rows of such a DataFrame into one task where there are more of them than this.
    tasks = min(tasks, engine.session.sparkContext.defaultParallelism)
    numbers = [list(left.of_task(task, tasks)) for task in range(tasks)]
    rows = [
        pa.table(
            {
                "blocks": pa.array([those], pa.list_(pa.int64())),
                "cells": pa.array([[blocks[block] for block in those]], pa.list_(pa.binary())),
            }
        )
        for those in numbers
    ]

    def again(left: Remaining, tasks: int) -> Input:
        return _cells(blocks, engine, left, tasks)

    return Input(engine.session.createDataFrame(pa.concat_tables(rows)), CellReader(), len(blocks), again)


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
