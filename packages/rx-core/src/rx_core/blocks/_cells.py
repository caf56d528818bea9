"""Deferred cancellation: cancelling what may not be there yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from rx_core import _hooks
from rx_core._errors import ProtocolViolationError, none_argument
from rx_core.blocks._atomic import AtomicReference
from rx_core.blocks._nobody import CANCELLED_SUBSCRIPTION

if TYPE_CHECKING:
    from rx_core._protocols import Subscription


@final
class SubscriptionCell:
    """Holds the Subscription of a stream, and cancels the one that comes after ``cancel``.

    It is a Disposable too, so that a :class:`~rx_core.CompositeDisposable` can hold it. For Disposables themselves there is
    :class:`~rx_core.SerialDisposable`.

    Thread: any. No user code runs in the middle of a change. Memory: one Subscription, none after ``cancel``.
    Rule: RS 2.5, 2.12, 3.5, 3.7, 3.13; the specs' section "Deferred cancellation".
    """

    __slots__ = ("_current",)

    def __init__(self) -> None:
        self._current: AtomicReference[Subscription | None] = AtomicReference(None)

    def set(self, subscription: Subscription, /) -> bool:
        """Put ``subscription`` in place and cancel the one before. False, and it is cancelled, when the cell was."""
        return self._exchange(subscription, cancel_old=True)

    def replace(self, subscription: Subscription, /) -> bool:
        """The same, but the one before is left alone: it has ended already."""
        return self._exchange(subscription, cancel_old=False)

    def set_once(self, subscription: Subscription, /) -> bool:
        """Put the only Subscription in place. False, and it is cancelled, when the cell was or when there is one.

        A second one is a fault of the publisher or of who subscribed twice, and reported as such (RS 2.5, 2.12).
        None raises TypeError (RS 2.13).
        """
        if subscription is None:
            raise none_argument("on_subscribe(subscription)", "subscription")
        if self._current.compare_and_set(None, subscription):
            return True
        subscription.cancel()
        if self._current.get() is not CANCELLED_SUBSCRIPTION:
            _hooks.dropped(ProtocolViolationError("RS 2.12: on_subscribe was called a second time for one subscriber"), self)
        return False

    def _exchange(self, subscription: Subscription, cancel_old: bool) -> bool:
        current = self._current
        while True:
            old = current.get()
            if old is CANCELLED_SUBSCRIPTION:
                subscription.cancel()
                return False
            if current.compare_and_set(old, subscription):
                if cancel_old and old is not None and old is not subscription:
                    old.cancel()
                return True

    def cancel(self) -> bool:
        """Cancel what is there and what will come. True for the caller who did, False for all later ones."""
        old = self._current.get_and_set(CANCELLED_SUBSCRIPTION)
        if old is CANCELLED_SUBSCRIPTION:
            return False
        if old is not None:
            old.cancel()
        return True

    def dispose(self) -> None:
        """The same as :meth:`cancel`."""
        self.cancel()

    def get(self) -> Subscription | None:
        """What is there; ``CANCELLED_SUBSCRIPTION`` after ``cancel``, which may be called like any other."""
        return self._current.get()

    @property
    def is_disposed(self) -> bool:
        return self._current.get() is CANCELLED_SUBSCRIPTION

    def __repr__(self) -> str:
        return f"<SubscriptionCell {self._current.get()!r}>"
