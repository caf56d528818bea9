"""What the tasks of a reduction to one value have: their results, which the driver passes to the task that merges.

What a task gives to a shuffle stays with its executor, and has to be computed again when that is lost. Its result is on the
driver when the task has ended, and Spark takes one for each partition, however often it was tried. The driver opens none of
it: the user's functions run on executors only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

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

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        partials: list[tuple[int, bytes]] = []
        size = 0
        for _, _, block, _, cell in self.inner.rows(blocks):
            size += len(cell) + OVERHEAD
            if size > self.most:
                yield 0, 0, TOO_MUCH, 0, b""
                return
            partials.append((block, bytes(cell)))
        if partials:
            yield 0, 0, partials[0][0], 0, dumps(partials)


@dataclass(frozen=True)
class PartialsReader:
    """What the driver has of all tasks, merged in the order of the blocks. There is one task."""

    packed: tuple[bytes, ...]
    merger: Merger

    def blocks(self, batches: Iterable[Any], partition: int) -> Blocks:
        for _ in batches:
            pass
        partials = [each for task in self.packed for each in loads(task)]
        partials.sort(key=_block_of)
        yield partition, self.merger.merge(loads(cell) for _, cell in partials)


def _block_of(partial: tuple[int, bytes]) -> int:
    return partial[0]


def packed_of(rows: Iterable[Any]) -> tuple[bytes, ...] | None:
    """What the tasks sent; None when one of them had too much."""
    packed: list[bytes] = []
    for row in rows:
        if row.block == TOO_MUCH:
            return None
        packed.append(bytes(row.cell))
    return tuple(packed)
