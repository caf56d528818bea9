"""To other reactive types: only the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import UNBOUNDED
from rx_core.streams import PassThrough
from rx_fusion import op

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription

T = TypeVar("T")


@op("ignore_elements")
class IgnoreElements(PassThrough[T]):
    """Only the end of its source, which needs no demand: everything is asked for at once."""

    __slots__ = ()

    def __init__(self, down: Subscriber[T], source: Publisher[T]) -> None:
        super().__init__(down, source)

    def on_subscribe(self, up: Subscription, /) -> None:
        first = self.up is None
        super().on_subscribe(up)
        if first:
            super().request(UNBOUNDED)

    def on_next(self, item: T, /) -> None:
        pass

    def request(self, n: int, /) -> None:
        if type(n) is not int or n < 1:
            super().request(n)  # the source answers it (RS 3.9)


@op("hide")
class Hide(PassThrough[T]):
    """A wall: nothing but what the protocol says gets through."""

    __slots__ = ()
