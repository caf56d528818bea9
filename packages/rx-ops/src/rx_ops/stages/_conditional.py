"""Stages that answer a question about the whole stream: with the item that decides, or at the end.

They ask for everything, as a fold does, and end the stream when the answer is known: the source is cancelled then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_fusion import everything, stage

T = TypeVar("T")


@stage(later=True, name="any", request=everything)
def any_(source: Iterable[object]) -> Iterator[bool]:
    for item in source:
        if item:
            yield True
            return
    yield False


@stage(later=True, name="any", request=everything)
def any_by(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[bool]:
    for item in source:
        if predicate(item):
            yield True
            return
    yield False


@stage(later=True, name="all", request=everything)
def all_(source: Iterable[object]) -> Iterator[bool]:
    for item in source:
        if not item:
            yield False
            return
    yield True


@stage(later=True, name="all", request=everything)
def all_by(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[bool]:
    for item in source:
        if not predicate(item):
            yield False
            return
    yield True


@stage(later=True, request=everything)
def contains(source: Iterable[T], value: T) -> Iterator[bool]:
    for item in source:
        if item == value:
            yield True
            return
    yield False


@stage(later=True, name="contains", request=everything)
def contains_by(source: Iterable[T], value: T, comparer: Callable[[T, T], object]) -> Iterator[bool]:
    for item in source:
        if comparer(item, value):
            yield True
            return
    yield False


@stage(later=True, request=everything)
def is_empty(source: Iterable[object]) -> Iterator[bool]:
    for _item in source:
        yield False
        return
    yield True


@stage(later=True, request=everything)
def find_index(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[int]:
    at = 0
    for item in source:
        if predicate(item):
            yield at
            return
        at += 1
    yield -1
