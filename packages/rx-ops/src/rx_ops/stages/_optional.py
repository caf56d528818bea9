"""Stages whose function says for each item whether there is one to give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from rx_core import none_argument
from rx_fusion import stage

T = TypeVar("T")
R = TypeVar("R")


@stage(later=True)
def map_optional(source: Iterable[T], mapper: Callable[[T], R | None]) -> Iterator[R]:
    for item in source:
        value = mapper(item)
        if value is not None:
            yield value


class HandleEmitter(Generic[T]):
    """What the function of ``handle`` says about an item: at most one item instead of it, and whether the stream ends."""

    __slots__ = ("done", "error", "item")

    def __init__(self) -> None:
        self.item: Any = None
        self.done = False
        self.error: Exception | None = None

    def on_next(self, item: T, /) -> None:
        """The item to give; once per call of the function."""
        if item is None:
            raise none_argument("emitter.on_next(None)", "item")
        if self.item is not None:
            raise RuntimeError("handle(): two items for one.\n  Right:  call emitter.on_next once, or .flat_map_iterable(...)")
        self.item = item

    def on_complete(self) -> None:
        """The stream ends here, behind the item if there is one; the source is cancelled."""
        self.done = True

    def on_error(self, error: Exception, /) -> None:
        """The stream ends with ``error``, behind the item if there is one; the source is cancelled."""
        self.error = error


@stage(later=True)
def handle(source: Iterable[T], handler: Callable[[T, HandleEmitter[R]], object]) -> Iterator[R]:
    emitter: HandleEmitter[R] = HandleEmitter()
    for item in source:
        emitter.item = None
        handler(item, emitter)
        value = emitter.item
        error = emitter.error
        done = emitter.done and error is None
        if value is not None:
            yield value
            if done:
                return
        if error is not None:
            raise error
        if done:
            return
