"""Receiving ends that may be signalled from several threads at once, and signal theirs one at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import _hooks
from rx_core._errors import none_argument
from rx_core._observers import stop
from rx_core.blocks._nobody import NOBODY
from rx_core.blocks._queue_drain import QueueDrain

if TYPE_CHECKING:
    from rx_core._protocols import Disposable, Observer, Subscriber, Subscription

T = TypeVar("T")


class _Serialized(QueueDrain[T]):
    """What subscribers and observers have in common."""

    __slots__ = ("_down", "_upstream")

    def __init__(self, down: Any, /) -> None:
        super().__init__(down.on_next)
        self._down = down
        self._upstream: dict[int, Any] = {}
        self.token.pop()  # taken until on_subscribe has returned: what comes before it waits (RS 1.3, 1.9)

    def _subscribed(self, upstream: Subscription | Disposable) -> None:
        if upstream is None:
            raise none_argument("on_subscribe(upstream)", "upstream")
        if self._upstream.setdefault(0, upstream) is not upstream:
            stop(upstream)  # RS 2.5
            return
        try:
            self._down.on_subscribe(self)
        except BaseException as error:
            self.look_failed(error)
            raise
        finally:
            self.token.append(0)
            self.drain()

    if TYPE_CHECKING:

        def on_next(self, item: T, /) -> None: ...

    else:
        on_next = QueueDrain.offer  # itself: one call less

    def on_error(self, error: Exception, /) -> None:
        """Signal ``error`` ahead of items that wait. A second one goes to the error hook."""
        if error is None:
            raise none_argument("on_error(error)", "error")
        if not self.end(partial(self._down.on_error, error), ahead=True):
            _hooks.dropped(error, self)

    def on_complete(self) -> None:
        """Complete after the items that wait."""
        self.end(self._down.on_complete)

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        self._closed = True
        self._stop()  # RS 2.13: a subscriber that raised has cancelled
        return super().look_failed(error)

    def _discard(self, last: Callable[[], object]) -> None:
        if isinstance(last, partial):
            _hooks.dropped_late(last.args[0], self)  # an error that was on its way when downstream cancelled

    def _give_up(self) -> None:
        """Downstream does not want any more."""
        self._closed = True
        self._stop()
        self.close()

    def _forget(self) -> None:
        super()._forget()
        self._down = NOBODY

    def _stop(self) -> None:
        upstream = self._upstream.get(0)
        if upstream is not None and not self.is_ending:  # RS 2.4
            stop(upstream)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self._down!r}>"


class SerializedSubscriber(_Serialized[T]):
    """A subscriber for any number of threads: what they signal reaches ``down`` one signal at a time.

    Items of one thread stay in order. An error overtakes items that wait, completion does not. Only the first terminal
    signal counts; an error that comes later goes to the error hook. It is downstream's Subscription itself.

    Thread: any. Memory: what is signalled while another signal is delivered; bounded by what was requested when the sources
    honour it.
    Cost: three quarters of a lock around ``on_next``, and no thread ever waits (``python -m bench --only serialized``).
    Rule: RS 1.3, 1.7, 2.5, 2.13; the specs' section "Serialization".
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self, down: Subscriber[T], /) -> None: ...

    def on_subscribe(self, subscription: Subscription, /) -> None:
        """Subscribe ``down``; a second Subscription is cancelled (RS 2.5)."""
        self._subscribed(subscription)

    def request(self, n: int, /) -> None:
        """Downstream's, passed on."""
        upstream = self._upstream.get(0)
        if upstream is not None and not (self._closed or self.is_ending):  # RS 2.3
            upstream.request(n)

    def cancel(self) -> None:
        """Downstream's: nothing more is signalled, and ``down`` is forgotten."""
        self._give_up()


class SerializedObserver(_Serialized[T]):
    """The same for an Observable's observer: there is no demand, so what waits is bounded by nothing but the sources.

    Thread: any. Memory: what is signalled while another signal is delivered.
    Rule: RS 1.3, 1.7 for observables; the specs' section "Serialization".
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self, down: Observer[T], /) -> None: ...

    def on_subscribe(self, disposable: Disposable, /) -> None:
        """Subscribe ``down``; a second Disposable is disposed."""
        self._subscribed(disposable)

    def dispose(self) -> None:
        """Downstream's: nothing more is signalled, and ``down`` is forgotten."""
        self._give_up()

    @property
    def is_disposed(self) -> bool:
        return self._closed
