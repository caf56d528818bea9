"""Lists that end where the items say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage

T = TypeVar("T")


@stage(later=True, keeps=("batch",))
def buffer_until(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[list[T]]:
    """An item for which ``predicate`` is true is the last of its list."""
    batch: list[T] = []
    for item in source:
        batch.append(item)
        if predicate(item):
            full = batch
            batch = []
            yield full
    if batch:
        full = batch
        batch = []
        yield full


@stage(later=True, name="buffer_until")
def buffer_before(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[list[T]]:
    """An item for which ``predicate`` is true is the first of its list."""
    batch: list[T] = []
    for item in source:
        full = batch
        if predicate(item):
            batch = []
        batch.append(item)
        if full and full is not batch:
            yield full
    if batch:
        yield batch


@stage(later=True)
def buffer_while(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[list[T]]:
    """An item for which ``predicate`` is false ends a list and is in none."""
    batch: list[T] = []
    for item in source:
        full = batch
        if predicate(item):
            batch.append(item)
        else:
            batch = []
        if full and full is not batch:
            yield full
    if batch:
        yield batch


@stage(later=True)
def buffer_until_changed(source: Iterable[T], key: Callable[[T], object]) -> Iterator[list[T]]:
    """Neighbours with the same key are in one list."""
    batch: list[T] = []
    previous: object = None
    for item in source:
        found = key(item)
        full = batch
        if batch and found != previous:
            batch = []
        previous = found
        batch.append(item)
        if full and full is not batch:
            yield full
    if batch:
        yield batch


@stage(later=True)
def chunk_by_weight(source: Iterable[T], limit: float, weight: Callable[[T], float]) -> Iterator[list[T]]:
    """An item that is heavy by itself may end two lists."""
    chunk: list[T] = []
    total = 0.0
    for item in source:
        found = weight(item)
        full: list[list[T]] = []
        if chunk and total + found > limit:
            full.append(chunk)
            chunk = []
            total = 0.0
        chunk.append(item)
        total += found
        if total >= limit:
            full.append(chunk)
            chunk = []
            total = 0.0
        for each in full:
            yield each
    if chunk:
        yield chunk
