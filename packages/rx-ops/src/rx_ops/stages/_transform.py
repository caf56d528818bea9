"""Stages that change items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, TypeVarTuple

from rx_core import none_produced
from rx_fusion import stage
from rx_fusion._stages import close_left, closes_inner

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


@stage(later=True, keeps=())
def flat_map_iterable(source: Iterable[T], mapper: Callable[[T], Iterable[R]]) -> Iterator[R]:
    for item in source:
        for inner in mapper(item):
            if inner is None:
                raise none_produced("flat_map_iterable", mapper)
            yield inner


def _flat_map_closing(source: Iterable[T], mapper: Callable[[T], Iterable[R]]) -> Iterator[R]:
    made: Iterable[R] | None = None
    try:
        for item in source:
            made = mapper(item)
            for inner in made:
                if inner is None:
                    raise none_produced("flat_map_iterable", mapper)
                yield inner
            made = None
    finally:
        close_left(made)


closes_inner(flat_map_iterable, _flat_map_closing)


@stage(later=True, keeps=())
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


@stage(later=True, name="scan", keeps=())
def scan_seed(source: Iterable[T], accumulator: Callable[[R, T], R], seed: R) -> Iterator[R]:
    total = seed
    yield total
    for item in source:
        total = accumulator(total, item)
        if total is None:
            raise none_produced("scan", accumulator)
        yield total


@stage(later=True, keeps=())
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
