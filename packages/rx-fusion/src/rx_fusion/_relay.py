"""Between a publisher that pushes and a subscriber, without stages: signals passed on, and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import UNBOUNDED, SettlesDemand, dropped, none_argument, none_produced

if TYPE_CHECKING:
    from rx_core import Subscriber, Subscription

T = TypeVar("T")


class _Nobody:
    """Stands for a subscriber that is gone; in its place an item that is just arriving finds somebody (RS 2.8)."""

    __slots__ = ()

    def on_subscribe(self, subscription: Subscription, /) -> None:
        pass

    def on_next(self, item: Any, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        dropped(error)

    def on_complete(self) -> None:
        pass


NOBODY: Subscriber[Any] = _Nobody()


class _Nothing:
    """The Subscription of who was given None for one."""

    __slots__ = ()

    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


_NOTHING: Subscription = _Nothing()


class Relay(SettlesDemand, Generic[T]):
    """No stages: passes signals on, and is the wall that ``hide()`` puts up.

    A None raises TypeError at who signals it, and is the error of the stream as well (RS 2.13).
    """

    __slots__ = ("_done", "_down", "_refused", "_up", "origin")

    def __init__(self, down: Subscriber[T], origin: object) -> None:
        self._down: Subscriber[T] = down
        self._up: Subscription | None = None
        self._done = False
        #: What a source was told that signalled None. It may come back, raised or as its on_error, and is no news then.
        self._refused: TypeError | None = None
        self.origin = origin

    @property
    def _rx_dropped(self) -> Callable[[], object] | None:
        return getattr(self._down, "_rx_dropped", None)

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if subscription is None:
            raise self.refuse(none_argument("on_subscribe(None)", "subscription"))
        if self._up is not None:
            subscription.cancel()  # RS 2.5
            return
        self._up = subscription
        self._down.on_subscribe(self)

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self.refuse(none_produced(repr(self.origin)))
        if self._done:
            return
        try:
            self._down.on_next(item)
        except BaseException:
            self.cancel()  # RS 2.13: who raises is gone, also for a publisher that goes on
            raise

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self.refuse(none_argument("on_error(None)", "error"))
        if self._done:
            if error is not self._refused:
                dropped(error, self.origin)
            return
        self._done = True
        self._down.on_error(error)

    def on_complete(self) -> None:
        if not self._done:
            self._done = True
            self._down.on_complete()

    def fail(self, error: Exception) -> None:
        self._done = True
        if self._up is not None:
            self._up.cancel()
        self._down.on_error(error)

    def refuse(self, error: TypeError) -> TypeError:
        """For a None: ``error`` ends the stream, unless it is over, and is what the source gets to see."""
        if not self._done:
            self._refused = error
            if self._up is None:
                self._up = _NOTHING
                self._down.on_subscribe(self)  # RS 1.9
            if not self._done:
                self.fail(error)
        return error

    def request(self, n: int, /) -> None:
        up = self._up
        if up is not None and not self._done:
            try:
                up.request(n)  # a bad n is answered by the publisher (RS 3.9), serially with its other signals
            except TypeError as error:
                if error is not self._refused:  # else it is ours, on its way through a source that signalled None (RS 3.16)
                    raise

    def request_all(self) -> None:
        self.request(UNBOUNDED)

    def _rx_promise(self, n: int, /) -> Callable[[], object] | None:
        """See Drain: what will be requested in a moment. None: the source cannot be told."""
        promise: Callable[[int], Callable[[], object] | None] | None = getattr(self._up, "_rx_promise", None)
        return None if promise is None else promise(n)

    @property
    def _rx_lender(self) -> object:
        """Items pass on the thread on which they come: who sends on a worker may lend it past this."""
        return getattr(self._up, "_rx_lender", None)

    def cancel(self) -> None:
        self._done = True
        self._down = NOBODY  # RS 3.13
        if self._up is not None:
            self._up.cancel()


class Link(Relay[T]):
    """The same without the wall: who can be polled can be polled through it."""

    __slots__ = ()

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self._down

    def request_fusion(self, mode: int, /) -> int:
        from rx_fusion._transit import link  # here, because few sources are queues

        return link(self, self._up, mode)
