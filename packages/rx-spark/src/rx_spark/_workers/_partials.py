"""What the tasks of a reduction to one value have: their results, which the driver passes to the task that merges.

What a task gives to a shuffle stays with its executor, and has to be computed again when that is lost. Its result is on the
driver when the task has ended, and Spark takes one for each partition, however often it was tried. The driver opens none of
it, as the user's functions run on executors only. But where the reduction is one of ours and the results are plain values, it
merges them itself, which saves a stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rx_spark._plans._plan import PLAIN
from rx_spark._transport._wire import dumps, loads
from rx_spark._workers._shuffle import Blocks, Merger, Row, Writer

#: What all tasks together may send to the driver; more goes through a shuffle. Spark's own limit is a gigabyte by default.
MOST_BYTES: Final = 64 << 20
#: About what a partial result takes beside its own bytes.
OVERHEAD: Final = 16
#: Instead of a block's number: the task has more than it may send.
TOO_MUCH: Final = -1


@dataclass(frozen=True)
class PartialsWriter:
    """One row for a task, with the partial results of its blocks; above ``most`` bytes one that says so, and the task ends."""

    inner: Writer
    most: int
    #: Whether the reduction calls no function of the user's: the row says then whether all it has are plain values.
    ours: bool = False

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        partials: list[tuple[int, bytes]] = []
        size, plain = 0, self.ours
        for _, _, block, _, cell in self.inner.rows(blocks):
            size += len(cell) + OVERHEAD
            if size > self.most:
                yield 0, 0, TOO_MUCH, 0, b""
                return
            plain = plain and all(type(value) in PLAIN for value in loads(cell))
            partials.append((block, bytes(cell)))
        if partials:
            yield 0, 0, partials[0][0], int(plain), dumps(partials)


@dataclass(frozen=True)
class PartialsReader:
    """What the driver has of all tasks, merged in the order of the blocks. There is one task."""

    packed: tuple[bytes, ...]
    merger: Merger

    def blocks(self, batches: Iterable[Any], partition: int) -> Blocks:
        for _ in batches:
            pass
        yield partition, self.merged()

    def merged(self) -> Iterable[Any]:
        partials = [each for task in self.packed for each in loads(task)]
        partials.sort(key=_block_of)
        return self.merger.merge(loads(cell) for _, cell in partials)


def _block_of(partial: tuple[int, bytes]) -> int:
    return partial[0]


@dataclass(frozen=True)
class Packed:
    """What the tasks sent, and whether all of it is plain values that a reduction of ours has made."""

    tasks: tuple[bytes, ...]
    plain: bool


def packed_of(rows: Iterable[Any]) -> Packed | None:
    """None when a task had too much."""
    packed: list[bytes] = []
    plain = True
    for row in rows:
        if row.block == TOO_MUCH:
            return None
        packed.append(bytes(row.cell))
        plain = plain and bool(row.seq)
    return Packed(tuple(packed), plain)
