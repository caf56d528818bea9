"""Sources cut into blocks.

A block is a run of neighbouring items; blocks are numbered in the source's order. Task ``t`` of ``partitions`` tasks works on the
blocks ``t, t + partitions, t + 2 * partitions, ...``, in a further round on such of those that are left. All tasks are therefore
busy near the same place of the source, and the driver can put the results back in order holding only a few chunks per task.
(Contiguous partitions would force a choice between order, parallel work and bounded memory.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from rx_spark._columns._arrow import read_rows, refuse_nulls
from rx_spark._columns._rows import RowType
from rx_spark._plans._plan import RangeSource
from rx_spark._transport._rounds import Remaining, all_blocks
from rx_spark._transport._wire import CHUNK, loads

RANGE_BLOCK = 8 * CHUNK
GREAT_RANGE_BLOCK = 8 * RANGE_BLOCK  # where one value is kept of a block: what keeps keys looks at its memory between blocks
BLOCKS_OF_TASK = 32  # bits: how many batches a task may read
BLOCKS_PER_PARTITION = 8  # short sources: at least this many blocks for every task, so that uneven work evens out


class Reader(Protocol):
    """Runs on an executor: reads the task's Arrow batches and gives its blocks, in rising order."""

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]: ...


def block_size(count: int, partitions: int, largest: int) -> int:
    """Items per block: few enough that every task gets several blocks, never more than ``largest``."""
    return max(1, min(largest, -(-count // (partitions * BLOCKS_PER_PARTITION))))


@dataclass(frozen=True)
class RangeReader:
    numbers: range
    size: int
    partitions: int
    #: What earlier rounds have left; None: everything.
    left: Remaining | None = None

    @property
    def total(self) -> int:
        return -(-len(self.numbers) // self.size)

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        left = self.left or all_blocks(self.total)
        for partition in partitions_of(batches):
            for block in left.of_task(partition, self.partitions):
                yield block, self.numbers[block * self.size : (block + 1) * self.size]


def range_reader(source: RangeSource, partitions: int, largest: int = RANGE_BLOCK) -> RangeReader:
    numbers = range(source.start, source.stop, source.step)
    # len() refuses what does not fit a C long; such a range cannot be walked to its end anyway.
    return RangeReader(numbers, block_size(len(numbers), partitions, largest), partitions)


@dataclass(frozen=True)
class CellReader:
    """Reads rows of (blocks, cells): the items of an iterable of the driver, pickled, one row per task."""

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for batch in batches:
            numbers, chunks = batch.column(0), batch.column(1)
            for row in range(batch.num_rows):
                for block, cell in zip(numbers[row].values, chunks[row].values, strict=True):
                    yield block.as_py(), loads(cell.as_buffer())


class UnreadRows:
    """The rows of a batch that go to the driver as they are, part by part: there is no function that wants items of them."""

    __slots__ = ("_at", "_batch")

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self._at = 0

    def take(self, count: int) -> Any:
        """The next ``count`` rows, as a batch. Copies nothing."""
        part = self._batch.slice(self._at, count)
        self._at += part.num_rows
        return part

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("these rows are no items yet")


@dataclass(frozen=True)
class RowReader:
    """The rows of a DataFrame: each Arrow batch is a block. Their numbers tell tasks apart, and say nothing about order."""

    row: RowType
    #: Items are made of them by the driver.
    unread: bool = False

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for at, batch in enumerate(batches):
            if self.unread:
                refuse_nulls(batch, self.row)
            items = UnreadRows(batch) if self.unread else read_rows(batch, self.row)
            yield (partition << BLOCKS_OF_TASK) + at, items


@dataclass(frozen=True)
class BatchReader:
    """The Arrow batches of a DataFrame as items, as they are or as frames of pandas or polars. Each is a block."""

    kind: str
    #: How the columns are called, whatever Spark needed to call them.
    names: tuple[str, ...]

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        names = list(self.names)
        for at, batch in enumerate(batches):
            named = batch if batch.schema.names == names else batch.rename_columns(names)
            yield (partition << BLOCKS_OF_TASK) + at, (self._made(named),)

    def _made(self, batch: Any) -> Any:
        if self.kind == "pandas":
            return batch.to_pandas()
        if self.kind == "polars":
            import polars  # type: ignore[import-not-found, unused-ignore]  # where it is installed

            return polars.from_arrow(batch)
        return batch


def partitions_of(batches: Iterable[Any]) -> Iterator[int]:
    """The numbers of the task's partitions, one row each."""
    for batch in batches:
        yield from batch.column(0).to_pylist()
