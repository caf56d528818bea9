"""What stands in for a subscriber or a Subscription that is gone, so that no check for None is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription


@final
class _Nobody:
    """A subscriber that hears nothing; drains put it in the place of theirs when the stream is over (RS 3.13)."""

    __slots__ = ()

    def on_subscribe(self, _subscription: Subscription, /) -> None:
        pass

    def on_next(self, _item: object, /) -> None:
        pass

    def on_error(self, _error: Exception, /) -> None:
        pass

    def on_complete(self) -> None:
        pass

    def __repr__(self) -> str:
        return "NOBODY"


@final
class _CancelledSubscription:
    """The Subscription of a stream that was cancelled: nothing has an effect (RS 3.6, 3.7)."""

    __slots__ = ()

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass

    def __repr__(self) -> str:
        return "CANCELLED_SUBSCRIPTION"


NOBODY: Final[Subscriber[Any]] = _Nobody()

#: Marks a cell as cancelled; also for sources that need some Subscription for a stream that ends at once.
CANCELLED_SUBSCRIPTION: Final[Subscription] = _CancelledSubscription()
