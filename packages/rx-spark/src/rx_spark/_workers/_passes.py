"""What a Python worker of Spark runs: read blocks, run the fused pass over them, write to a shuffle or to the driver.

Imported on executors for every job, therefore light at import; pyarrow and pyspark are there already when a task runs.

Errors: whatever user code raises is reported to the driver in band, as the object it is, and the task then ends
quietly: Spark would retry it for nothing and turn it into text. Where the job writes, the task fails, so that Spark
commits nothing. Failures of Spark's own streams pass through to Spark.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from socket import gethostname
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rx_core import none_produced
from rx_spark._columns._arrow import arrow_schema, pack_rows, write_batch, write_fitting
from rx_spark._columns._observed import GATHERED
from rx_spark._columns._rows import RowType
from rx_spark._columns._whole import is_batch, whole_batches
from rx_spark._errors import VersionsError
from rx_spark._plans._plan import BlockRunner
from rx_spark._transport._kept import copied
from rx_spark._transport._wire import (
    CHUNK,
    DATA,
    DONE,
    END,
    ERROR,
    LEFT,
    REPORT,
    ROWS,
    SEEN,
    WITNESS,
    FeedClosed,
    Link,
    SinkAddress,
    dump_items,
    dumps,
    extend_path,
    loads,
    next_size,
    pack_error,
    refuse_none,
)
from rx_spark._workers._blocks import UnreadRows
from rx_spark._workers._hints import explain_field
from rx_spark._workers._shuffle import COLUMNS, Blocks, Merger, Row, Writer, merged_blocks
from rx_spark._workers._versions import Versions, check_versions

if TYPE_CHECKING:
    from rx_spark._columns._fitting import Fit
    from rx_spark._plans._plan import Runner
    from rx_spark._workers._blocks import Reader

ROWS_PER_BATCH = 32
ROWS_WRITTEN = 8192
COLLECTED_AFTER = 20_000  # objects: an Arrow batch has half as many rows


@dataclass(frozen=True)
class Work:
    """One stage between shuffles: blocks from ``reader`` (or merged rows), ``runners`` over each, the result to
    ``writer`` (or to the driver, at most ``limit`` items per task)."""

    reader: Reader | None
    merger: Merger | None
    runners: tuple[Runner, ...]
    writer: Writer | RowWriter | EffectWriter | None
    limit: int | None = None
    #: Whether a task that runs again may begin behind the blocks that the driver has.
    resumes: bool = True
    #: The number of the stage in the plan where the driver is told what passes.
    observed: int | None = None
    #: It is told of each block, because another task may have the others; else of all of the task.
    by_block: bool = False
    #: The number of the stage in the job, where the driver keeps copies of what its tasks give to a shuffle.
    copied: int | None = None

    def blocks(self, batches: Iterable[Any], partition: int, after: int = -1) -> Blocks:
        """The blocks of a task. Of those up to ``after`` nothing is computed, also by runners that look ahead."""
        if self.merger is not None:
            source = merged_blocks(batches, self.merger, partition)
        elif self.reader is not None:
            source = self.reader.blocks(batches, partition)
        else:
            raise AssertionError("a stage reads blocks or rows")
        source = (found for found in source if found[0] > after)
        # what is told of each block has to be gathered block by block
        ahead = self.observed is None or not self.by_block
        for runner in self.runners:
            source = runner.over_blocks(source) if ahead and isinstance(runner, BlockRunner) else _each(runner, source)
        yield from source
        GATHERED.exhausted = True


def _each(runner: Runner, blocks: Blocks) -> Blocks:
    for block, items in blocks:
        yield block, runner(items)


@dataclass(frozen=True)
class RowWriter:
    """The last stage of a job that writes: items as the columns of ``row``, or batches that have these. Memory: ROWS_WRITTEN
    items, or a batch."""

    row: RowType
    #: What each item has to be, where it comes back out of the columns.
    fit: Fit | None = None

    def batches(self, blocks: Blocks) -> Iterator[Any]:
        schema, fit = arrow_schema(self.row), self.fit
        for _, items in blocks:
            iterator = iter(items)
            for first in iterator:
                if fit is None and is_batch(first):
                    yield from whole_batches(first, self.row, schema)
                else:
                    iterator = chain((first,), iterator)
                    break
            while some := list(islice(iterator, ROWS_WRITTEN)):
                refuse_none(some)
                yield write_batch(some, self.row, schema) if fit is None else write_fitting(some, self.row, schema, fit)


@dataclass(frozen=True)
class EffectWriter:
    """The last stage of ``foreach_partition``: ``function`` gets all items of the task, and nothing is left of them."""

    function: Callable[[Iterator[Any]], object]

    def batches(self, blocks: Blocks) -> Iterator[Any]:
        self.function(_items(blocks))
        yield from ()


def _items(blocks: Blocks) -> Iterator[Any]:
    for _, items in blocks:
        for item in items:
            if item is None:
                raise none_produced("the Spark part of the pipeline")
            yield item


@dataclass(frozen=True)
class Program:
    """The function given to mapInArrow. ``payload`` is the pickled Work, opened once ``path`` is importable.

    ``writes``: the job commits something, so a task with an error must not end as if there was none. Without an ``address`` no
    driver listens to errors, and Spark tells them.
    """

    payload: bytes
    path: tuple[str, ...]
    address: SinkAddress | None
    writes: bool = False
    #: Those of the driver, for a cluster, whose executors may have others.
    versions: Versions = ()

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition, attempt = (context.partitionId(), context.taskAttemptId()) if context is not None else (0, 0)
        extend_path(self.path)
        collect_less_often()
        source = _Input(batches)
        GATHERED.clear()
        try:
            check_versions(self.versions, gethostname())
            work: Work = loads(self.payload)
        except Exception as error:
            if not isinstance(error, VersionsError):
                error.add_note("The pipeline's functions could not be loaded on an executor: is their module installed there?")
            _report(self.address, REPORT, attempt, error)
            if self.writes:
                raise
            source.drain()
            return
        if work.writer is None:
            assert self.address is not None
            witness = None if work.observed is None else Witness(work.observed, None if work.by_block else partition)
            link = Link(self.address, partition, attempt, resumes=work.resumes)
            _deliver(work.blocks(source, partition, link.block), work.limit, link, source, witness)
            source.drain()
            return
        blocks = work.blocks(source, partition)
        writer = work.writer
        if isinstance(writer, RowWriter | EffectWriter):
            produced = writer.batches(blocks)
        elif work.copied is None or self.address is None:
            produced = _batches(writer.rows(blocks))
        else:
            produced = _batches(copied(writer.rows(blocks), self.address, work.copied, partition))
        while True:  # user code runs in next() only, so a GeneratorExit from there is the user's, one from yield is Spark's
            try:
                batch = next(produced)
            except StopIteration:
                source.drain()
                if work.observed is not None and self.address is not None:
                    link = Link(self.address, WITNESS, attempt)
                    Witness(work.observed, partition).of_task(link)
                    link.send(END, 0, 0)
                    link.finish()
                return
            except BaseException as error:
                if source.failed or isinstance(error, FeedClosed):  # the driver has closed the feed, and knows why
                    raise
                _report(self.address, REPORT, attempt, error)
                if self.writes:
                    raise
                source.drain()
                return
            yield batch


def collect_less_often() -> None:
    """Let the cyclic collector leave alone what was imported, and look at items after more of them than its default of 700.

    A task makes an object for each row: looking through all modules again and again took three quarters of the time.
    """
    if gc.get_threshold()[0] < COLLECTED_AFTER:
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER, 10, 10)


class _Input:
    """Spark's batches, remembering whether Spark's own stream failed: that is not the user's error."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches
        self.failed = False

    def drain(self) -> None:
        """Read what is left: a Python worker whose input was not read to its end is not used again."""
        for _ in self._batches:
            pass

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._batches)
        except StopIteration:
            raise
        except BaseException:
            self.failed = True
            raise


def _report(address: SinkAddress | None, partition: int, attempt: int, error: BaseException) -> None:
    if address is None:
        return
    explain_field(error)
    link = Link(address, partition, attempt)
    link.send(ERROR, 0, 0, payload=pack_error(error))
    link.finish()


@dataclass(frozen=True)
class Witness:
    """Tells the driver what passed, of the task ``partition`` or, where that is None, of each block."""

    stage: int
    partition: int | None

    def of_task(self, link: Link) -> None:
        if self.partition is not None:
            link.send(SEEN, self.partition, self.stage, payload=dumps(GATHERED.whole()))

    def of_block(self, link: Link, block: int) -> None:
        if self.partition is None:
            link.send(SEEN, block, self.stage, payload=dumps(GATHERED.taken()))


def _batches(rows: Iterator[Row]) -> Iterator[Any]:
    import pyarrow as pa

    types = (pa.int32(), pa.int32(), pa.int64(), pa.int64(), pa.binary())
    while some := list(islice(rows, ROWS_PER_BATCH)):
        columns = [pa.array(column, kind) for column, kind in zip(zip(*some, strict=True), types, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, list(COLUMNS))


def _deliver(blocks: Blocks, limit: int | None, link: Link, source: _Input, witness: Witness | None = None) -> None:
    """Send the blocks to the driver, one chunk per credit.

    A credit is acquired before the chunk is computed: nothing runs that was not asked for. Chunks start with one
    item and grow while they are quick, so that the first item is there at once and slow functions are not run far
    ahead. Nothing is computed of blocks that an earlier attempt has sent whole.
    """
    sender = _Sender(link, limit, witness)
    try:
        while True:
            if link.leave:
                link.send(LEFT, 0, sender.index)
                break
            try:
                found = next(blocks, None)
            except BaseException as error:
                sender.fail(error, source.failed)
                break
            if found is None:
                if witness is not None:
                    witness.of_task(link)
                link.send(END, 0, sender.index)
                break
            if found[0] > link.block and not sender.block(*found, source):
                break
    finally:
        link.finish()


class _Sender:
    def __init__(self, link: Link, limit: int | None, witness: Witness | None) -> None:
        self.index = link.index  # items sent so far, by earlier attempts too
        self._link = link
        self._witness = witness
        self._left = None if limit is None else max(0, limit - link.index)
        self._size = 1
        self._block = -1

    def block(self, block: int, items: Iterable[Any], source: _Input) -> bool:
        """Send one block; False when the task is over."""
        self._block = block
        link = self._link
        unread = items if isinstance(items, UnreadRows) else None
        iterator = iter(items) if unread is None else iter(())
        while self._left != 0:
            if not link.acquire():
                if link.leave:
                    link.send(LEFT, block, self.index)
                return False
            size = self._size if self._left is None else min(self._size, self._left)
            started = perf_counter()
            chunk = self._computed(iterator, size, source) if unread is None else unread.take(size)
            if chunk is None:
                return False
            if not len(chunk):
                if self._witness is not None:
                    self._witness.of_block(link, block)
                return link.send(DONE, block, self.index)
            if not self._send(chunk, perf_counter() - started):
                return False
        if self._witness is not None:
            self._witness.of_block(link, block)
        link.send(DONE, block, self.index)
        if self._witness is not None:
            self._witness.of_task(link)
        link.send(END, 0, self.index)
        return False

    def _computed(self, items: Iterator[Any], size: int, source: _Input) -> list[Any] | None:
        """The next items; None when there was an error, which is told behind those that came before it."""
        chunk: list[Any] = []
        try:
            chunk.extend(islice(items, size))  # keeps what came before an error
            refuse_none(chunk)
        except BaseException as error:
            whole = chunk[: _index_of_none(chunk)]
            if not whole or self._send(whole, 0.0):
                self.fail(error, source.failed)
            return None
        return chunk

    def _send(self, chunk: Any, seconds: float) -> bool:
        """Send items, or a batch of rows."""
        try:
            items = isinstance(chunk, list)
            payload = dump_items(chunk) if items else pack_rows(chunk)
        except Exception as error:
            self.fail(error, False)
            return False
        if not self._link.send(DATA, self._block, self.index, len(chunk), payload):
            return False
        self.index += len(chunk)
        if self._left is not None:
            self._left -= len(chunk)
        self._size = next_size(len(chunk), self._size, len(payload), seconds, CHUNK if items else ROWS)
        return True

    def fail(self, error: BaseException, spark_failed: bool) -> None:
        if spark_failed:
            raise error
        explain_field(error)
        self._link.send(ERROR, self._block, self.index, payload=pack_error(error))


def _index_of_none(chunk: list[Any]) -> int:
    return next((i for i, item in enumerate(chunk) if item is None), len(chunk))


#: For type checkers: what mapInArrow takes.
ArrowFunction = Callable[[Iterator[Any]], Iterator[Any]]
