"""The two sides of a shuffle, both on executors: what a task writes for others, and how the rows are merged again.

Rows are (bucket, part, block, seq, cell); Spark moves each to the task of its bucket and sorts there by part, block and
seq. Merging in that order makes a task that Spark runs twice give the same items in the same order, which the credit
sink counts on. Keys of different parts never meet, so a task that merges by key holds one part at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, groupby, islice
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, Protocol, TypeAlias

from rx_spark._transport._wire import CHUNK, cells, loads, refuse_none

Blocks: TypeAlias = Iterator[tuple[int, Iterable[Any]]]
Row: TypeAlias = tuple[int, int, int, int, bytes]

COLUMNS = ("bucket", "part", "block", "seq", "cell")
SCHEMA = "bucket int, part int, block long, seq long, cell binary"
MAP_SIDE_KEYS = 65536  #: keys a task holds in any case before it sends its partial results on and starts again
#: Types whose values have one hash in all executors, see bucket_of.
_HASHED_ALIKE: Final[frozenset[type]] = frozenset((str, int))
PARTS = 256  #: of a bucket: with a thousand million keys on ten tasks a part has 400,000


class Writer(Protocol):
    """Turns a task's blocks into rows for others."""

    def rows(self, blocks: Blocks) -> Iterator[Row]: ...


class Merger(Protocol):
    """Turns a task's sorted cells into items; cells are read one at a time."""

    def merge(self, chunks: Iterator[list[Any]]) -> Iterable[Any]: ...


def bucket_of(key: Hashable, buckets: int) -> int:
    """The task that a key belongs to; the same in every executor.

    Spark starts workers with one fixed PYTHONHASHSEED, so ``hash`` of text and numbers agrees between them.
    ``hash(None)`` is an address before Python 3.12 and classes and functions hash by address, so these are replaced;
    objects that only have the identity hash are refused: two copies of one object would never meet.
    """
    return _stable(key) % buckets


def _buckets_of(keys: Iterable[Hashable], buckets: int) -> Iterable[int]:
    """:func:`bucket_of` each key; ``keys`` are iterated twice."""
    if _HASHED_ALIKE.issuperset(map(type, keys)):  # mostly: a third of the price
        return [number % buckets for number in map(hash, keys)]
    return [bucket_of(key, buckets) for key in keys]


def _stable(key: Hashable) -> int:
    kind = type(key)
    if kind in _HASHED_ALIKE:
        return hash(key)
    if key is None:
        return 0x5EED
    if isinstance(key, tuple):
        return hash(tuple(map(_stable, key)))
    if isinstance(key, frozenset):
        return hash(frozenset(map(_stable, key)))
    if isinstance(key, type | FunctionType | BuiltinFunctionType):
        return hash((key.__module__, key.__qualname__))
    if kind.__hash__ is object.__hash__:
        raise TypeError(
            f"{kind.__qualname__} objects are equal only to themselves, so copies of one object in several Spark tasks "
            f"never meet: distinct and group_by cannot use them as keys.\n"
            f"  Give the class __eq__ and __hash__:  @dataclass(frozen=True)\n"
            f"  Or use a plain key:                  .group_by(lambda item: item.name)"
        )
    return hash(key)


def merged_blocks(batches: Iterable[Any], merger: Merger, partition: int) -> Blocks:
    """One block: what the merger makes of all rows of this task, part after part."""
    yield partition, _merged(batches, merger)


def _merged(batches: Iterable[Any], merger: Merger) -> Iterator[Any]:
    empty = True
    for _, rows in groupby(_cells(batches), itemgetter(0)):
        empty = False
        yield from merger.merge(loads(cell) for _, cell in rows)
    if empty:
        yield from merger.merge(iter(()))


def _cells(batches: Iterable[Any]) -> Iterator[tuple[int, memoryview]]:
    for batch in batches:
        for part, cell in zip(batch.column(1).to_pylist(), batch.column(4), strict=True):
            yield part, cell.as_buffer()


def keyed_rows(items: Iterable[Any], keys: Iterable[Any], buckets: int, block: int, seq: count[int]) -> Iterator[Row]:
    """Items for the tasks and parts of their keys, which are iterated twice."""
    split: defaultdict[int, list[Any]] = defaultdict(list)
    for place, item in zip(_buckets_of(keys, buckets * PARTS), items, strict=True):
        split[place].append(item)
    for place, several in split.items():
        for cell in cells(several):
            yield place % buckets, place // buckets, block, next(seq), cell


def read_chunks(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Chunks of a block, None refused."""
    for chunk in lists_of(items):
        refuse_none(chunk)
        yield chunk


def lists_of(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Chunks of a block."""
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


# --- the first n, all in one task -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TakeWriter:
    """Sends at most ``n`` items of its blocks to the task that puts them in order."""

    n: int

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        left = self.n
        if not left:
            return
        for block, items in blocks:
            seq = 0
            for chunk in read_chunks(islice(items, left)):
                left -= len(chunk)
                for cell in cells(chunk):
                    yield 0, 0, block, seq, cell
                    seq += 1
            if not left:
                return


@dataclass(frozen=True)
class TakeMerger:
    n: int

    def merge(self, chunks: Iterator[list[Any]]) -> Iterator[Any]:
        return islice((item for chunk in chunks for item in chunk), self.n)
