"""Stages that call a function on the side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage

T = TypeVar("T")


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
def do_on_empty(source: Iterable[T], action: Callable[[], object]) -> Iterator[T]:
    empty = True
    for item in source:
        empty = False
        yield item
    if empty:
        action()
