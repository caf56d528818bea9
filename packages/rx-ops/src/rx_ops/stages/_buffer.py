"""Lists of so many items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage

T = TypeVar("T")


def _whole(count: int) -> Callable[[int], int]:
    return lambda n: n * count


@stage(later=True, request=_whole, keeps=("batch",))
def buffer(source: Iterable[T], count: int) -> Iterator[list[T]]:
    batch: list[T] = []
    for item in source:
        batch.append(item)
        if len(batch) == count:
            full = batch
            batch = []
            yield full
    if batch:
        full = batch
        batch = []
        yield full


def _skipping(count: int, skip: int) -> Callable[[int], int]:
    """The first list needs ``count`` items, each later one the gap or the overlap as well."""
    asked = False

    def upstream(n: int) -> int:
        nonlocal asked
        if asked:
            return n * skip
        asked = True
        return count + (n - 1) * skip

    return upstream


@stage(later=True, name="buffer", request=_skipping)
def buffer_gaps(source: Iterable[T], count: int, skip: int) -> Iterator[list[T]]:
    """skip > count: ``skip - count`` items between two lists are dropped."""
    batch: list[T] = []
    at = 0
    for item in source:
        if at < count:
            batch.append(item)
        at += 1
        if at == skip:
            at = 0
        if len(batch) == count:
            full = batch
            batch = []
            yield full
    if batch:
        yield batch


@stage(later=True, name="buffer", request=_skipping)
def buffer_overlap(source: Iterable[T], count: int, skip: int) -> Iterator[list[T]]:
    """skip < count: each item is in several lists; at most ``count / skip`` lists are open."""
    batches: list[list[T]] = []
    at = 0
    for item in source:
        if at == 0:
            batches.append([])
        at += 1
        if at == skip:
            at = 0
        for batch in batches:
            batch.append(item)
        if len(batches[0]) == count:
            full = batches[0]
            batches = batches[1:]
            yield full
    left = len(batches)
    for batch in batches:
        left -= 1
        yield batch
        if not left:
            return
