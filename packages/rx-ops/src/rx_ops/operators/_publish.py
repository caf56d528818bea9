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
    __slots__ = ("_asked", "_hurries", "_prefetch")

    def __init__(self, source: Any, prefetch: int, text: str, *, hurries: bool = False) -> None:
        super().__init__(source, text)
        self._prefetch = prefetch
        self._asked = takes_requests(source)
        self._hurries = hurries

    def _make(self) -> Connection[T]:
        return _Published(self, Broadcast(self._prefetch, not self._asked, self, self._hurries))


class _Published(Connection[T]):
    __slots__ = ("_broadcast",)

    def __init__(self, owner: Publish[T], broadcast: Broadcast[T]) -> None:
        super().__init__(owner)
        self._broadcast = broadcast

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
    """``publish(selector)``. As in RxJava an error of the source overtakes items that wait, other than with ``publish()``."""

    __slots__ = ()


def published(prefetch: int, text: str) -> Callable[[Any], Connectable[Any]]:
    return lambda source: Publish(source, prefetch, text, hurries=True)
