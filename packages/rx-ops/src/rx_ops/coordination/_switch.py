"""Several sources of which one counts at a time: the newest, the first to speak, the one that is not empty."""

from __future__ import annotations

from typing import TypeVar

from rx_core import UNBOUNDED, Items, Publisher, Run, Side, Source
from rx_fusion import operator

T = TypeVar("T")


@operator(eager="none")
def switch_if_empty(run: Run, source: Source[T], other: Source[T]) -> Items[T]:
    """``other`` when the source completes without an item."""
    side: Side[T] = Side(run)
    side.start(source)
    return _or_else(side, other)


def _or_else(side: Side[T], other: Source[T]) -> Items[T]:
    try:
        for item in side.items:
            yield item
            if item is not None:
                yield from side.items
                return
        side.close()
        side.start(other)
        yield from side.items
    finally:
        side.dispose()


# -- until -------------------------------------------------------------------------------------------------------------------


class Trigger(Side[T]):
    """A source of which one signal is needed, whether or not items are wanted."""

    __slots__ = ()

    def __init__(self, run: Run, source: Source[T] | Publisher[T]) -> None:
        super().__init__(run, UNBOUNDED)
        self.start(source)
        self.poke()  # a synchronous one has its signal now

    def wake(self) -> None:
        self.poke()

    @property
    def fired(self) -> bool:
        """Whether an item or its completion came. Raises its error."""
        return self.stirred and self.poll() is not None
