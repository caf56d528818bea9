"""Streams of a Unicast: what an operator hands to its user's functions, and gives as groups and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core.streams import Unicast
from rx_fusion import PushHead

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


class UnicastHead(PushHead):
    """The head of a stream over one Unicast. It is not picklable and allows one subscriber: it belongs to one run."""

    __slots__ = ("name", "queue")

    def __init__(self, name: str, queue: Unicast[Any]) -> None:
        self.name = name
        self.queue = queue

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.queue.attach(subscriber)

    def __repr__(self) -> str:
        return f"{self.name}()"


def unicast_stream(name: str, face: Callable[[Any], Any]) -> tuple[Unicast[Any], Any]:
    """A new queue, and the stream of what is pushed into it; ``face`` makes a stream of a head."""
    queue: Unicast[Any] = Unicast(f"{name}()")
    stream = face(UnicastHead(name, queue))
    queue.origin = stream
    return queue, stream
