"""Stages that go on after an error of the stages in front of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage

T = TypeVar("T")
R = TypeVar("R")


@stage(later=True)
def on_error_continue(source: Iterable[T], continued: Callable[[T], R | None], handler: object) -> Iterator[R]:
    for item in source:
        value = continued(item)
        if value is not None:
            yield value
