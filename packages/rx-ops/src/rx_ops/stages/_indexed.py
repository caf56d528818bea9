"""Stages that know where an item stands: its index, and its neighbour."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rx_core import UNBOUNDED, none_produced
from rx_fusion import stage

T = TypeVar("T")
R = TypeVar("R")

_NOTHING: Any = object()


@stage(later=True, keeps=())
def enumerate_(source: Iterable[T], start: int) -> Iterator[tuple[int, T]]:
    index = start - 1
    for item in source:
        index += 1
        yield index, item


@stage(later=True, keeps=())
def map_indexed(source: Iterable[T], mapper: Callable[[T, int], R]) -> Iterator[R]:
    index = -1
    for item in source:
        index += 1
        value = mapper(item, index)
        if value is None:
            raise none_produced("map_indexed", mapper)
        yield value


@stage(later=True)
def filter_indexed(source: Iterable[T], predicate: Callable[[T, int], object]) -> Iterator[T]:
    index = -1
    for item in source:
        index += 1
        if predicate(item, index):
            yield item


@stage(later=True)
def pairwise(source: Iterable[T]) -> Iterator[tuple[T, T]]:
    previous = _NOTHING
    for item in source:
        if previous is _NOTHING:
            previous = item
        else:
            pair = (previous, item)
            previous = item
            yield pair


def _how_many(start: int, stop: int | None, step: int) -> int:
    """The length of the slice of something long enough; -1 where there is no end."""
    return -1 if stop is None else len(range(start, stop, step))


def _slicing(start: int, stop: int | None, step: int) -> Callable[[int], int]:
    """The first item needs those before it as well, each later one a step; nothing behind the last is asked for."""
    items = _how_many(start, stop, step)
    left = UNBOUNDED if items < 0 else start + (items - 1) * step + 1 if items else 0
    before = start + 1 - step

    def upstream(n: int) -> int:
        nonlocal left, before
        asked = min(n * step + before, left)
        before = 0
        if left < UNBOUNDED:
            left -= asked
        return asked

    return upstream


@stage(later=True, name="slice", request=_slicing)
def slice_(source: Iterable[T], start: int, stop: int | None, step: int) -> Iterator[T]:
    """Nothing is counted from the end."""
    dropped = start
    left = _how_many(start, stop, step)
    if left == 0:
        return
    for item in source:
        if dropped > 0:
            dropped -= 1
        else:
            dropped = step - 1
            left -= 1
            yield item
            if left == 0:
                return


@stage(later=True, name="slice")
def slice_but_last(source: Iterable[T], start: int, stop: int, step: int) -> Iterator[T]:
    """Only ``stop`` is counted from the end: an item is given when as many have come behind it."""
    dropped = start
    held: deque[T] = deque()
    for item in source:
        held.append(item)
        if len(held) > -stop:
            each = held.popleft()
            if dropped > 0:
                dropped -= 1
            else:
                dropped = step - 1
                yield each


@stage(later=True, name="slice")
def slice_last(source: Iterable[T], start: int, stop: int | None, step: int) -> Iterator[T]:
    """``start`` is counted from the end. A ``stop`` that is not is reached when the items held are all behind it."""
    held: deque[T] = deque(maxlen=-start)
    gone = 0
    for item in source:
        if len(held) == -start:
            gone += 1
        held.append(item)
        if stop is not None and 0 <= stop <= gone:
            return
    part = _part(held, gone, stop, step)
    left = len(part)
    for each in part:
        left -= 1
        yield each
        if not left:
            return


def _part(held: Iterable[T], gone: int, stop: int | None, step: int) -> list[T]:
    return list(held)[: stop if stop is None or stop < 0 else stop - gone : step]
