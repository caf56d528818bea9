"""Streams with the protocol of a publisher that send what they have, whether it was requested or not.

What a request means then is said here, for all of them: it changes nothing, a wrong one ends the stream (RS 3.9).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import invalid_request

if TYPE_CHECKING:
    from rx_core import Disposable, ObservableSource, Publisher, Subscriber, Subscription

T = TypeVar("T")


class Unasked(Generic[T]):
    """An observable with the protocol of a publisher."""

    __slots__ = ("_source",)

    def __init__(self, source: ObservableSource[T] | Publisher[T]) -> None:
        self._source: Any = source

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        self._source.subscribe(UnaskedSubscription(subscriber))

    def __repr__(self) -> str:
        return repr(self._source)


class UnaskedSubscription(Generic[T]):
    """The Subscription that such a stream does not have, and its observer. Signals go straight through.

    A source that has a ``request`` all the same is told what was requested; it need not do anything about it.
    """

    __slots__ = ("_down", "_up", "on_complete", "on_error", "on_next")

    def __init__(self, down: Subscriber[T]) -> None:
        self._down = down
        self._up: Any = None
        self.on_next = down.on_next
        self.on_error = down.on_error
        self.on_complete = down.on_complete

    def on_subscribe(self, up: Disposable | Subscription, /) -> None:
        if self._up is not None:
            _stop(up)  # RS 2.5
            return
        self._up = up
        self._down.on_subscribe(self)

    def request(self, n: int, /) -> None:
        up = self._up
        if type(n) is int and n > 0:
            request: Callable[[int], object] | None = getattr(up, "request", None)
            if request is not None:
                request(n)
        elif not getattr(up, "is_disposed", False):  # over, as far as the source knows
            _stop(up)
            self._down.on_error(invalid_request(n))

    def cancel(self) -> None:
        _stop(self._up)


def _stop(up: Any) -> None:
    stop: Callable[[], object] | None = getattr(up, "cancel", None) or getattr(up, "dispose", None)
    if stop is not None:
        stop()
