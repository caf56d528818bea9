"""``publish``: items as they come, to the subscribers that are there; the slowest of them dictates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core.streams import Broadcast, takes_requests
from rx_fusion import op
from rx_ops.operators._connect import Connectable, Connection, Within

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


class Publish(Connectable[T]):
    __slots__ = ("_asked", "_prefetch")

    def __init__(self, source: Any, prefetch: int, text: str) -> None:
        super().__init__(source, text)
        self._prefetch = prefetch
        self._asked = takes_requests(source)

    def _make(self) -> Connection[T]:
        return _Published(self, self._prefetch, self._asked)


class _Published(Connection[T]):
    __slots__ = ("_broadcast",)

    def __init__(self, owner: Publish[T], prefetch: int, asked: bool) -> None:
        super().__init__(owner)
        self._broadcast: Broadcast[T] = Broadcast(prefetch, not asked, owner)

    def subscribe(self, down: Subscriber[T], /) -> None:
        self._broadcast.subscribe(down)

    def _start(self) -> None:
        self._broadcast.connect(self.owner.source)

    def _stop(self) -> None:
        self._broadcast.cancel()

    @property
    def is_disposed(self) -> bool:
        return self._broadcast.stopped

    @property
    def is_useless(self) -> bool:
        return self._broadcast.stopped


@op("publish")
class PublishWithin(Within):
    """``publish(selector)``."""

    __slots__ = ()


def published(prefetch: int, text: str) -> Callable[[Any], Connectable[Any]]:
    return lambda source: Publish(source, prefetch, text)
