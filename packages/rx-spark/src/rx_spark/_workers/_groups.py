"""Shuffles by key: equal items, groups that are reduced, groups that are folded. Both sides of each; both run on executors.

The map side holds as many keys as it has room for: what it has combined so far goes on then, and it starts again. So a key with
most of the items costs as much as any other. The other side holds the keys of one part of its bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from rx_core._errors import none_produced
from rx_spark._transport._wire import refuse_none
from rx_spark._workers._hints import explain_key
from rx_spark._workers._room import Room
from rx_spark._workers._shuffle import Blocks, Row, keyed_rows, lists_of, read_chunks

if TYPE_CHECKING:
    from rx_ops.stages import GroupAggregate


# --- distinct ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctWriter:
    """Memory: the items that a Room takes; then a task forgets them, and the merge removes the rest."""

    buckets: int

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        seen: dict[Any, None] = {}
        room = Room()
        block, seq = 0, count()
        for block, items in blocks:
            for chunk in read_chunks(items):
                room.watch(len(chunk), seen)
                try:
                    seen.update(dict.fromkeys(chunk))
                except TypeError as error:
                    explain_key(error, *chunk)
                    raise
                if room.is_full(seen):
                    yield from keyed_rows(seen, seen, self.buckets, block, seq)
                    seen.clear()
        yield from keyed_rows(seen, seen, self.buckets, block, seq)


@dataclass(frozen=True)
class DistinctMerger:
    """Memory: the distinct items of a part."""

    def merge(self, chunks: Iterator[list[Any]]) -> Iterator[Any]:
        seen: set[Any] = set()
        for chunk in chunks:
            for item in chunk:
                if item not in seen:
                    seen.add(item)
                    yield item


# --- group and reduce -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupWriter:
    """Reduces on the map side. Memory: the keys that a Room takes, with one value each."""

    buckets: int
    key: Callable[[Any], Any]
    value: Callable[[Any], Any]
    reducer: Callable[[Any, Any], Any]

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        groups: dict[Any, Any] = {}
        room = Room()
        block, seq = 0, count()
        for block, items in blocks:
            self._combine(groups, room.watching(items, groups))
            if room.is_full(groups):
                yield from keyed_rows(groups.items(), groups, self.buckets, block, seq)
                groups.clear()
        yield from keyed_rows(groups.items(), groups, self.buckets, block, seq)

    def _combine(self, groups: dict[Any, Any], items: Iterable[Any]) -> None:
        key_of, value_of, reducer, reduced = self.key, self.value, self.reducer, groups.get
        key: Any = None
        try:
            for item in items:
                if item is None:
                    raise none_produced("the Spark part of the pipeline")
                key, value = key_of(item), value_of(item)
                if value is None:
                    raise none_produced("group_by", value_of)
                before = reduced(key)  # None for a new key: no value is None
                if before is not None:
                    value = reducer(before, value)
                    if value is None:
                        raise none_produced("reduce", reducer)
                groups[key] = value
        except TypeError as error:
            explain_key(error, key)
            raise


@dataclass(frozen=True)
class GroupMerger:
    """Memory: the keys of a part with one value each."""

    reducer: Callable[[Any, Any], Any]

    def merge(self, chunks: Iterator[list[Any]]) -> Iterable[Any]:
        groups: dict[Any, Any] = {}
        reducer, reduced = self.reducer, groups.get
        for chunk in chunks:
            for key, value in chunk:
                before = reduced(key)
                if before is not None:
                    value = reducer(before, value)
                    if value is None:
                        raise none_produced("reduce", reducer)
                groups[key] = value
        yield from groups.items()


# --- group and count --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountWriter:
    """:class:`GroupWriter` where each value is 1 and the reduction adds: nothing but the key is called. Memory: as there."""

    buckets: int
    #: None where the items are the keys.
    key: Callable[[Any], Any] | None

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        counts: Counter[Any] = Counter()
        room = Room()
        block, seq = 0, count()
        for block, items in blocks:
            for chunk in (items,) if type(items) is list else lists_of(items):
                keys = chunk if self.key is None else self._keys(chunk)
                room.watch(len(keys), counts)
                try:
                    counts.update(keys)
                except TypeError as error:
                    explain_key(error, *keys)
                    raise
            if self.key is None and None in counts:
                refuse_none([None])
            if room.is_full(counts):
                yield from keyed_rows(counts.items(), counts, self.buckets, block, seq)
                counts.clear()
        yield from keyed_rows(counts.items(), counts, self.buckets, block, seq)

    def _keys(self, items: list[Any]) -> list[Any]:
        assert self.key is not None
        refuse_none(items)
        return list(map(self.key, items))


@dataclass(frozen=True)
class CountMerger:
    """Memory: the keys of a part with a number each."""

    #: What the rows are, where they are not the pairs.
    spec: GroupAggregate | None = None

    def merge(self, chunks: Iterator[list[Any]]) -> Iterable[Any]:
        counts: dict[Any, int] = {}
        before = counts.get
        for chunk in chunks:
            for key, number in chunk:
                counts[key] = before(key, 0) + number
        spec = self.spec
        if spec is None:
            yield from counts.items()
        elif spec.several:
            yield from map(spec.row_maker(), ((*key, number) for key, number in counts.items()))
        else:
            yield from map(spec.row_maker(), counts.items())


# --- group and aggregate ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AggregateWriter:
    """Folds on the map side. Memory: the keys that a Room takes, with a partial result each."""

    buckets: int
    key: Callable[[Any], Any]
    spec: GroupAggregate

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        groups: dict[Any, list[Any]] = {}
        first, step, _, _ = self.spec.fold()
        key_of = self.key
        room = Room()
        block, seq = 0, count()
        key: Any = None
        for block, items in blocks:
            try:
                for item in room.watching(items, groups):
                    if item is None:
                        raise none_produced("the Spark part of the pipeline")
                    key = key_of(item)
                    if key in groups:
                        step(groups[key], item)
                    else:
                        groups[key] = first(item)
            except TypeError as error:
                explain_key(error, key)
                raise
            if room.is_full(groups):
                yield from keyed_rows(groups.items(), groups, self.buckets, block, seq)
                groups.clear()
        yield from keyed_rows(groups.items(), groups, self.buckets, block, seq)


@dataclass(frozen=True)
class AggregateMerger:
    """Memory: the keys of a part with a partial result each."""

    spec: GroupAggregate

    def merge(self, chunks: Iterator[list[Any]]) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = {}
        _, _, merge, result = self.spec.fold()
        for chunk in chunks:
            for key, partial in chunk:
                groups[key] = merge(groups[key], partial) if key in groups else partial
        make, several = self.spec.row_maker(), self.spec.several
        for key, partial in groups.items():
            yield make((*key, *result(partial)) if several else (key, *result(partial)))
