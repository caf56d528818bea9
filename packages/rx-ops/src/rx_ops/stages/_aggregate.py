"""Stages that give one item at the end (or a few): the source is read to its end whatever is requested."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

from rx_core import EmptyStreamError, none_produced
from rx_fusion import stage
from rx_ops._group_aggregate import GroupAggregate
from rx_ops._row import Row

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@stage(later=True)
def reduce(source: Iterable[T], reducer: Callable[[T, T], T]) -> Iterator[T]:
    empty = True
    total: Any = None
    for item in source:
        if empty:
            empty = False
            total = item
        else:
            total = reducer(total, item)
            if total is None:
                raise none_produced("reduce", reducer)
    if not empty:
        yield total


@stage(later=True, name="reduce")
def reduce_seed(source: Iterable[T], reducer: Callable[[R, T], R], seed: R) -> Iterator[R]:
    total = seed
    for item in source:
        total = reducer(total, item)
        if total is None:
            raise none_produced("reduce", reducer)
    yield total


@stage(later=True)
def reduce_with(source: Iterable[T], supplier: Callable[[], R], reducer: Callable[[R, T], R]) -> Iterator[R]:
    total = supplier()
    if total is None:
        raise none_produced("reduce_with", supplier)
    for item in source:
        total = reducer(total, item)
        if total is None:
            raise none_produced("reduce_with", reducer)
    yield total


@stage(later=True)
def collect(source: Iterable[T], supplier: Callable[[], R], collector: Callable[[R, T], object]) -> Iterator[R]:
    container = supplier()
    if container is None:
        raise none_produced("collect", supplier)
    for item in source:
        collector(container, item)
    yield container


@stage(later=True, name="collect")
def collect_into(source: Iterable[T], collector: Callable[[Iterable[T]], R]) -> Iterator[R]:
    items: list[T] = []
    for item in source:
        items.append(item)
    result = collector(items)
    if result is None:
        raise none_produced("collect", collector)
    yield result


@stage(later=True)
def to_list(source: Iterable[T]) -> Iterator[list[T]]:
    items: list[T] = []
    for item in source:
        items.append(item)
    yield items


@stage(later=True)
def to_dict(source: Iterable[T], key: Callable[[T], K], value: Callable[[T], V]) -> Iterator[dict[K, V]]:
    made: dict[K, V] = {}
    for item in source:
        found = key(item)  # first: an assignment to made[key(item)] would call the other one before
        made[found] = value(item)
    yield made


@stage(later=True)
def to_multimap(source: Iterable[T], key: Callable[[T], K], value: Callable[[T], V]) -> Iterator[dict[K, list[V]]]:
    made: dict[K, list[V]] = {}
    for item in source:
        found = key(item)
        mapped = value(item)
        if found in made:
            made[found].append(mapped)
        else:
            made[found] = [mapped]
    yield made


@stage(later=True)
def count(source: Iterable[object]) -> Iterator[int]:
    total = 0
    for _item in source:
        total += 1
    yield total


@stage(later=True)
def sum_(source: Iterable[T], start: T) -> Iterator[T]:
    total: Any = start
    for item in source:
        total += item
    yield total


@stage(later=True)
def average(source: Iterable[T]) -> Iterator[T]:
    total: Any = None
    count = 0
    for item in source:
        total = total + item if count else item
        count += 1
    if not count:
        raise EmptyStreamError("average()")
    yield total / count
    return


@stage(later=True, name="average")
def average_by(source: Iterable[T], key: Callable[[T], V]) -> Iterator[V]:
    total: Any = None
    count = 0
    for item in source:
        found: Any = key(item)
        total = total + found if count else found
        count += 1
    if not count:
        raise EmptyStreamError("average()")
    yield total / count
    return


@stage(later=True)
def min_(source: Iterable[T]) -> Iterator[T]:
    empty = True
    best: Any = None
    for item in source:
        if empty or item < best:
            empty = False
            best = item
    if not empty:
        yield best


@stage(later=True)
def max_(source: Iterable[T]) -> Iterator[T]:
    empty = True
    best: Any = None
    for item in source:
        if empty or item > best:
            empty = False
            best = item
    if not empty:
        yield best


@stage(later=True, name="min")
def min_by(source: Iterable[T], key: Callable[[T], Any]) -> Iterator[T]:
    empty = True
    best: Any = None
    best_key: Any = None
    for item in source:
        found = key(item)
        if empty or found < best_key:
            empty = False
            best = item
            best_key = found
    if not empty:
        yield best


@stage(later=True, name="max")
def max_by(source: Iterable[T], key: Callable[[T], Any]) -> Iterator[T]:
    empty = True
    best: Any = None
    best_key: Any = None
    for item in source:
        found = key(item)
        if empty or found > best_key:
            empty = False
            best = item
            best_key = found
    if not empty:
        yield best


@stage(later=True, name="min_by")
def minima(source: Iterable[T], key: Callable[[T], Any]) -> Iterator[list[T]]:
    """All items that share the smallest key."""
    best: list[T] = []
    best_key: Any = None
    for item in source:
        found = key(item)
        if not best or found < best_key:
            best = [item]
            best_key = found
        elif found == best_key:
            best.append(item)
    yield best


@stage(later=True, name="max_by")
def maxima(source: Iterable[T], key: Callable[[T], Any]) -> Iterator[list[T]]:
    """All items that share the largest key."""
    best: list[T] = []
    best_key: Any = None
    for item in source:
        found = key(item)
        if not best or found > best_key:
            best = [item]
            best_key = found
        elif found == best_key:
            best.append(item)
    yield best


@stage(later=True, keeps=())
def group_reduce(
    source: Iterable[T], key: Callable[[T], K], value: Callable[[T], V], reducer: Callable[[V, V], V]
) -> Iterator[tuple[K, V]]:
    groups: dict[K, V] = {}
    for item in source:
        found = key(item)
        if found in groups:
            groups[found] = reducer(groups[found], value(item))
        else:
            groups[found] = value(item)
    left = len(groups)
    for group in groups.items():
        left -= 1
        yield group
        if not left:
            return


@stage(later=True, keeps=())
def group_aggregate(source: Iterable[T], key: Callable[[T], Any], spec: GroupAggregate) -> Iterator[Row]:
    """The key is an argument of its own, so that an expression is written into the loop."""
    groups: dict[Any, list[Any]] = {}
    fold = spec.fold()
    first = fold.first
    step = fold.step
    for item in source:
        found = key(item)
        if found in groups:
            step(groups[found], item)
        else:
            groups[found] = first(item)
    result = fold.result
    make = spec.row_maker()
    left = len(groups)
    for key_value, partial in groups.items():
        values = result(partial)
        left -= 1
        yield make((*key_value, *values)) if spec.several else make((key_value, *values))
        if not left:
            return


def _chooser(seed: int | None) -> Callable[[int], int]:
    from random import Random  # the import takes a while, and few need it

    return Random(seed).randrange


@stage(later=True)
def sample_reservoir(source: Iterable[T], count: int, seed: int | None) -> Iterator[list[T]]:
    choose = _chooser(seed)
    kept: list[T] = []
    seen = 0
    for item in source:
        seen += 1
        if seen <= count:
            kept.append(item)
        else:
            place = choose(seen)
            if place < count:
                kept[place] = item
    yield kept
