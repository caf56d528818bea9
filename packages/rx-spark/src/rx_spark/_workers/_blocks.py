"""Sources cut into blocks.

A block is a run of neighbouring items; blocks are numbered in the source's order. Task ``t`` of ``partitions`` tasks
works on the blocks ``t, t + partitions, t + 2 * partitions, ...``. All tasks are therefore busy near the same place of the
source, and the driver can put the results back in order holding only a few chunks per task. (Contiguous partitions
would force a choice between order, parallel work and bounded memory.)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Protocol

from rx_spark._columns._rows import RowType, read_rows
from rx_spark._plans._plan import RangeSource, TextSource
from rx_spark._transport._wire import CHUNK, loads

RANGE_BLOCK = 8 * CHUNK
TEXT_BLOCK = 1024 * 1024
SMALL_TEXT_BLOCK = 64 * 1024
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

    @property
    def total(self) -> int:
        return -(-len(self.numbers) // self.size)

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for partition in _partitions(batches):
            for block in range(partition, self.total, self.partitions):
                yield block, self.numbers[block * self.size : (block + 1) * self.size]


def range_reader(source: RangeSource, partitions: int) -> RangeReader:
    numbers = range(source.start, source.stop, source.step)
    # len() refuses what does not fit a C long; such a range cannot be walked to its end anyway.
    return RangeReader(numbers, block_size(len(numbers), partitions, RANGE_BLOCK), partitions)


@dataclass(frozen=True)
class TextReader:
    """``parts`` are (path, first byte, byte after the last); a line belongs to the part in which it starts."""

    parts: tuple[tuple[str, int, int], ...]
    encoding: str
    errors: str
    partitions: int

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for partition in _partitions(batches):
            for block in range(partition, len(self.parts), self.partitions):
                yield block, self._lines(*self.parts[block])

    def _lines(self, path: str, start: int, end: int) -> Iterator[str]:
        with open(path, "rb") as file:
            at = _first_line(file, start)
            while at < end and (raw := file.readline()):
                yield from self._decode(raw, path, at)
                at += len(raw)

    def _decode(self, raw: bytes, path: str, at: int) -> Iterable[str]:
        try:
            line = raw.decode(self.encoding, self.errors)
        except UnicodeDecodeError as error:
            named = UnicodeDecodeError(
                error.encoding, raw, error.start, error.end, f"{error.reason} (in {path}, byte {at + error.start})"
            )
            named.add_note(f"To go on with replacement characters:  text({path!r}, errors='replace')")
            raise named from None
        if "\r" in line:  # universal newlines, as open() has them: "\r\n" and a lone "\r" end a line too
            line = line.replace("\r\n", "\n").replace("\r", "\n")
            return line.removesuffix("\n").split("\n")
        return (line.removesuffix("\n"),)


def text_reader(source: TextSource, partitions: int) -> TextReader:
    """Cut the files into parts. Runs on the driver; a missing file is a FileNotFoundError that names it."""
    sizes = []
    for path in source.paths:
        path = os.path.abspath(path)
        with open(path, "rb"):  # missing, a folder, no permission: each says so here, with the name
            sizes.append((path, os.path.getsize(path)))
    total = sum(size for _, size in sizes)
    step = max(SMALL_TEXT_BLOCK, min(TEXT_BLOCK, -(-total // (partitions * BLOCKS_PER_PARTITION))))
    parts = [(path, at, min(at + step, size)) for path, size in sizes for at in range(0, size, step)]
    return TextReader(tuple(parts), source.encoding, source.errors, partitions)


def _first_line(file: IO[bytes], start: int) -> int:
    """Move to the first line that starts at or after ``start``."""
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())


@dataclass(frozen=True)
class CellReader:
    """Reads rows of (blocks, cells): the items of an iterable of the driver, pickled, one row per task."""

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for batch in batches:
            numbers, chunks = batch.column(0), batch.column(1)
            for row in range(batch.num_rows):
                for block, cell in zip(numbers[row].values, chunks[row].values, strict=True):
                    yield block.as_py(), loads(cell.as_buffer())


@dataclass(frozen=True)
class RowReader:
    """The rows of a DataFrame: each Arrow batch is a block. Their numbers tell tasks apart, and say nothing about order."""

    row: RowType

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for at, batch in enumerate(batches):
            yield (partition << BLOCKS_OF_TASK) + at, read_rows(batch, self.row)


@dataclass(frozen=True)
class BatchReader:
    """The Arrow batches of a DataFrame as items, as they are or as frames of pandas or polars. Each is a block."""

    kind: str

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for at, batch in enumerate(batches):
            yield (partition << BLOCKS_OF_TASK) + at, (self._made(batch),)

    def _made(self, batch: Any) -> Any:
        if self.kind == "pandas":
            return batch.to_pandas()
        if self.kind == "polars":
            import polars  # type: ignore[import-not-found, unused-ignore]  # where it is installed

            return polars.from_arrow(batch)
        return batch


def _partitions(batches: Iterable[Any]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()
