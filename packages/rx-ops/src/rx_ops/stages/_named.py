"""A stage that is there for its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage

T = TypeVar("T")


@stage(later=True)
def named(source: Iterable[T], name: str) -> Iterator[T]:  # who looks at the pipeline reads it
    for item in source:
        yield item
