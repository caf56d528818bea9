"""Callbacks as a subscriber: what ``subscribe(on_next, on_error=..., on_complete=...)`` builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, SettlesDemand
from rx_core._disposables import BaseDisposable
from rx_core._errors import composite, none_argument

if TYPE_CHECKING:
    from rx_core._protocols import Disposable, Subscription

T = TypeVar("T")


class CallbackObserver(BaseDisposable, Generic[T]):
    """Subscriber and observer of all five types at once, unbounded; disposing it cancels.

    A callback that raises cancels the stream and its error goes to ``on_error`` (from ``on_next``) or to the error hook (from the
    others). Without ``on_error`` an error reaches the hook, never silence.
    A None raises TypeError in the publisher that signals it, and ends the stream with it (RS 2.13).
    Once the source has ended, its subscription is released before a callback runs: disposing the observer inside the callback or
    later reaches no source (RS 2.3, 2.4).
    """

    __slots__ = ("_cell", "_done", "_on_complete", "_on_error", "_on_next", "_origin")

    def __init__(
        self,
        origin: object,
        on_next: Callable[[T], object] | None,
        on_error: Callable[[Exception], object] | None,
        on_complete: Callable[[], object] | None,
    ) -> None:
        self._origin = origin
        self._on_next = on_next
        self._on_error = on_error
        self._on_complete = on_complete
        self._cell: dict[int, Subscription | Disposable] = {}
        self._done = False

    def on_subscribe(self, subscription: Subscription | Disposable, /) -> None:
        if subscription is None:
            raise self._refused(none_argument("on_subscribe(None)", "subscription"))
        if self._cell:
            stop(subscription)  # RS 2.5
            return
        self._cell[0] = subscription
        if self._done:
            self.dispose()
            return
        if isinstance(subscription, SettlesDemand):
            subscription.request_all()
        elif hasattr(subscription, "request"):
            subscription.request(UNBOUNDED)

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self._refused(none_argument("on_next(None)", "item"))
        if self._done or self._on_next is None:
            return
        try:
            self._on_next(item)
        except BaseException as error:
            self.callback_failed(error)

    @property
    def function(self) -> Callable[[T], object] | None:
        """The callback that takes the items. A source may call it itself; :meth:`callback_failed` is for what it raises."""
        return self._on_next

    def callback_failed(self, error: BaseException) -> None:
        """The callback raised ``error`` for an item: cancel, and tell ``on_error``. What is no Exception is raised again."""
        self.dispose()  # RS 2.13: failing means cancelling
        if not isinstance(error, Exception):
            raise error
        self._fail(error)

    def on_success(self, item: T, /) -> None:
        self._cell.clear()  # RS 2.4, before on_next: this item is the source's end
        self.on_next(item)
        self.on_complete()

    def on_error(self, error: Exception, /) -> None:
        self._cell.clear()  # RS 2.4
        if error is None:
            raise self._refused(none_argument("on_error(None)", "error"))
        if self._done:
            _hooks.dropped(error, self._origin)
            return
        self._done = True
        self._fail(error)

    def _refused(self, error: TypeError) -> TypeError:
        if not self._done:
            self.dispose()
            self._fail(error)
        return error

    def _fail(self, error: Exception) -> None:
        if self._on_error is None:
            _hooks.dropped(error, self._origin)
            return
        try:
            self._on_error(error)
        except Exception as second:
            _hooks.dropped(composite([error, second]), self._origin)

    def on_complete(self) -> None:
        self._cell.clear()  # RS 2.4
        if self._done:
            return
        self._done = True
        if self._on_complete is not None:
            try:
                self._on_complete()
            except Exception as error:
                _hooks.dropped(error, self._origin)

    def dispose(self) -> None:
        self._done = True
        subscription = self._cell.pop(0, None)
        if subscription is not None:
            stop(subscription)

    @property
    def is_disposed(self) -> bool:
        return self._done


def stop(subscription: Subscription | Disposable) -> None:
    """Cancel or dispose, whichever it has: for receiving ends that serve publishers and observables alike."""
    cancel: Callable[[], object] | None = getattr(subscription, "cancel", None) or getattr(subscription, "dispose", None)
    if cancel is not None:
        cancel()
