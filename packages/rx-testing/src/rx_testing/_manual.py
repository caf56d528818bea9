"""A publisher that does what the test tells it, and is a subclass of none of ours."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar, final

from rx_core import UNBOUNDED
from rx_testing._leaks import opened

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


@final
class ManualSubscription(Generic[T]):
    """One subscriber of a :class:`ManualPublisher`: what it asked for, and the signals for it alone."""

    def __init__(self, publisher: ManualPublisher[T], subscriber: Subscriber[T]) -> None:
        self._publisher = publisher
        self._lock = threading.RLock()
        self._ended = False
        self.subscriber = subscriber
        #: Each request as it came, wrong ones too.
        self.requests: list[int] = []
        #: The sum of all valid requests, capped at UNBOUNDED.
        self.requested = 0
        #: How many items were sent.
        self.sent = 0
        #: How often cancel() was called; RS 3.7 makes more than once harmless.
        self.cancellations = 0

    @property
    def cancelled(self) -> bool:
        """Whether the subscriber cancelled."""
        return self.cancellations > 0

    @property
    def is_over(self) -> bool:
        """Whether the subscriber cancelled or the stream has ended."""
        return self._ended or self.cancelled

    @property
    def outstanding(self) -> int:
        """Items asked for and not sent."""
        return self.requested - self.sent

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled else "ended" if self._ended else "neither cancelled nor ended"
        return f"a subscription of a ManualPublisher: requested {self.requested}, sent {self.sent}, {state}"

    # the subscriber's side ------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        with self._lock:
            self.requests.append(n)
            if type(n) is int and n > 0:
                self.requested = min(self.requested + n, UNBOUNDED)  # nothing of the library runs while this is half done
        on_request = self._publisher.on_request
        if on_request is not None and not self.cancelled:
            on_request(self, n)

    def cancel(self) -> None:
        with self._lock:
            self.cancellations += 1
            first = self.cancellations == 1
        on_cancel = self._publisher.on_cancel
        if first and on_cancel is not None:
            on_cancel(self)

    # the test's side ------------------------------------------------------------------------------

    def next(self, *items: T) -> None:
        """Send ``items``. AssertionError when one was not requested or the stream has ended, unless ``unchecked``."""
        for item in items:
            if not self._publisher.unchecked:
                if self._ended:
                    raise AssertionError(f"next({item!r}) after the end; for a faulty source: ManualPublisher(unchecked=True)")
                if self.cancelled:
                    return
                if not self.outstanding:
                    raise AssertionError(
                        f"next({item!r}): {self.requested} items were requested and all of them were sent.\n"
                        f"  To break RS 1.1 on purpose:  ManualPublisher(unchecked=True)"
                    )
            self.sent += 1
            self.subscriber.on_next(item)

    def error(self, error: Exception) -> None:
        """End with ``error``."""
        if self._end("error"):
            self.subscriber.on_error(error)

    def complete(self) -> None:
        """End."""
        if self._end("complete"):
            self.subscriber.on_complete()

    def _end(self, what: str) -> bool:
        if self._publisher.unchecked:
            self._ended = True
            return True
        if self._ended:
            raise AssertionError(f"{what}() after the end; for a faulty source: ManualPublisher(unchecked=True)")
        self._ended = True
        return not self.cancelled


@final
class ManualPublisher(Generic[T]):
    """A foreign publisher under the control of a test: it has ``subscribe`` and nothing else from this library.

    ::

        source = ManualPublisher[int]()
        Flowable.wrap(source).map(str).subscribe(subscriber)
        assert source.requested == 128
        source.next(1, 2)
        source.complete()

    ``next``, ``error`` and ``complete`` signal every subscriber on the calling thread; ``subscriptions`` has them one
    by one, in order of arrival and also after they have ended. It refuses (AssertionError) to break the protocol by
    accident; ``unchecked=True`` lets it, to play a faulty source. ``on_request(subscription, n)`` is called in each
    request, to answer demand from inside it; ``on_cancel(subscription)`` at the first cancel of each.
    """

    def __init__(
        self,
        *,
        unchecked: bool = False,
        on_request: Callable[[ManualSubscription[T], int], object] | None = None,
        on_cancel: Callable[[ManualSubscription[T]], object] | None = None,
    ) -> None:
        self.unchecked = unchecked
        self.on_request = on_request
        self.on_cancel = on_cancel
        self.subscriptions: list[ManualSubscription[T]] = []

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        subscription = ManualSubscription(self, subscriber)
        self.subscriptions.append(subscription)
        opened(subscription)
        subscriber.on_subscribe(subscription)

    def next(self, *items: T) -> None:
        """Send ``items`` to all subscribers, item by item."""
        for item in items:
            for subscription in self._active():
                subscription.next(item)

    def error(self, error: Exception) -> None:
        """End all subscribers' streams with ``error``."""
        for subscription in self._active():
            subscription.error(error)

    def complete(self) -> None:
        """End all subscribers' streams."""
        for subscription in self._active():
            subscription.complete()

    def _active(self) -> list[ManualSubscription[T]]:
        if not self.subscriptions:
            raise AssertionError("this ManualPublisher has no subscriber yet")
        if self.unchecked:
            return list(self.subscriptions)
        active = [each for each in self.subscriptions if not each._ended]
        if not active:
            raise AssertionError("this stream has ended; for a faulty source: ManualPublisher(unchecked=True)")
        return active

    @property
    def subscribers(self) -> int:
        """How many subscribers have neither cancelled nor got a terminal signal."""
        return sum(1 for each in self.subscriptions if not each.is_over)

    @property
    def requested(self) -> int:
        """What the latest subscriber has asked for in total."""
        return self._latest().requested

    @property
    def cancelled(self) -> bool:
        """Whether the latest subscriber has cancelled."""
        return self._latest().cancelled

    def _latest(self) -> ManualSubscription[T]:
        if not self.subscriptions:
            raise AssertionError("this ManualPublisher has no subscriber yet")
        return self.subscriptions[-1]
