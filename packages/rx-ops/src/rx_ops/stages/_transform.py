"""Stages that change items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, TypeVarTuple

from rx_core import none_produced
from rx_fusion import stage

T = TypeVar("T")
R = TypeVar("R")
Ts = TypeVarTuple("Ts")


@stage(later=True)
def map_(source: Iterable[T], mapper: Callable[[T], R]) -> Iterator[R]:
    for item in source:
        value = mapper(item)
        if value is None:
            raise none_produced("map", mapper)
        yield value


@stage(later=True)
def starmap(source: Iterable[tuple[*Ts]], mapper: Callable[[*Ts], R]) -> Iterator[R]:
    for item in source:
        value = mapper(*item)
        if value is None:
            raise none_produced("starmap", mapper)
        yield value


@stage(later=True)
def flat_map_iterable(source: Iterable[T], mapper: Callable[[T], Iterable[R]]) -> Iterator[R]:
    for item in source:
        for inner in mapper(item):
            if inner is None:
                raise none_produced("flat_map_iterable", mapper)
            yield inner


@stage(later=True)
def scan(source: Iterable[T], accumulator: Callable[[T, T], T]) -> Iterator[T]:
    empty = True
    total: Any = None
    for item in source:
        if empty:
            empty = False
            total = item
        else:
            total = accumulator(total, item)
            if total is None:
                raise none_produced("scan", accumulator)
        yield total


@stage(later=True, name="scan")
def scan_seed(source: Iterable[T], accumulator: Callable[[R, T], R], seed: R) -> Iterator[R]:
    total = seed
    yield total
    for item in source:
        total = accumulator(total, item)
        if total is None:
            raise none_produced("scan", accumulator)
        yield total


@stage(later=True)
def scan_with(source: Iterable[T], supplier: Callable[[], R], accumulator: Callable[[R, T], R]) -> Iterator[R]:
    total = supplier()
    if total is None:
        raise none_produced("scan_with", supplier)
    yield total
    for item in source:
        total = accumulator(total, item)
        if total is None:
            raise none_produced("scan_with", accumulator)
        yield total


def _whole(count: int) -> Callable[[int], int]:
    return lambda n: n * count


@stage(later=True, request=_whole)
def buffer(source: Iterable[T], count: int) -> Iterator[list[T]]:
    batch: list[T] = []
    for item in source:
        batch.append(item)
        if len(batch) == count:
            full = batch
            batch = []
            yield full
    if batch:
        yield batch


def _skipping(count: int, skip: int) -> Callable[[int], int]:
    """The first list needs ``count`` elements, each later one the gap or the overlap as well."""
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
    """skip > count: ``skip - count`` elements between two lists are dropped."""
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
    """skip < count: each element is in several lists; at most ``count / skip`` lists are open."""
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


@stage(later=True)
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
        yield batch


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
def do_on_next(source: Iterable[T], action: Callable[[T], object]) -> Iterator[T]:
    for item in source:
        action(item)
        yield item


@stage(later=True)
def do_on_complete(source: Iterable[T], action: Callable[[], object]) -> Iterator[T]:
    for item in source:
        yield item
    action()


@stage(later=True)
def cast(source: Iterable[object], kind: type[T]) -> Iterator[T]:
    for item in source:
        if not isinstance(item, kind):
            raise TypeError(f"cast({kind.__name__}): {item!r} is a {type(item).__name__}")
        yield item


@stage(later=True, guard=True)
def not_none(source: Iterable[T | None], operator: str) -> Iterator[T]:
    """Stands after a stage that is not ours: a None that goes on would be taken for "nothing now"."""
    for item in source:
        if item is None:
            raise none_produced(operator)
        yield item
