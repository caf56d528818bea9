"""Streams that end without an item: what comes in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage

T = TypeVar("T")


@stage(later=True)
def default_if_empty(source: Iterable[T], item: T) -> Iterator[T]:
    empty = True
    for each in source:
        empty = False
        yield each
    if empty:
        yield item
        return  # a yield in front of a return says that its item is the last
