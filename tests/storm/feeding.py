"""Sources that are fed by a thread of their own, and write down what is asked of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from rx_core import UNBOUNDED, add_cap

if TYPE_CHECKING:
    from rx_core import Subscriber

#: How many items a source has.
EACH: Final = 12
#: How long a thread waits for an event before the test fails.
PATIENCE: Final = 20.0

#: The number of the source, and the place of the item among its items.
Item = tuple[int, int]


class Again(Exception):
    """What a source fails with that goes on when it is subscribed again."""


class Feeder:
    """A publisher of others: items are sent by the thread that calls :meth:`feed`, as many as were requested.

    Each subscription goes on where the one before ended, so that nothing is lost or doubled by subscribing again. The source ends
    as many times as it has ``pieces``: with :class:`Again`, or completed when ``failing`` is False; the last time completed.
    Without a ``count`` it sends what :meth:`grant` allows, and has no end before :meth:`end`. Two subscriptions at a time are a
    violation when it is ``alone``; else the latest one is fed.
    """

    def __init__(
        self,
        number: int,
        *,
        count: int | None = EACH,
        pieces: int = 1,
        failing: bool = True,
        alone: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self.number = number
        #: The most that one subscription had requested and not got.
        self.ahead = 0
        #: How many items were sent when it ended last.
        self.sent = 0
        #: The place of the first item of each subscription that was fed.
        self.starts: list[int] = []
        #: Called before an item is sent, with its place.
        self.on_send: Callable[[int], object] | None = None
        #: What should not have happened.
        self.violations: list[str] = []
        self._cuts = [sys.maxsize] if count is None else [count * piece // pieces for piece in range(1, pieces + 1)]
        self._granted = sys.maxsize if count is not None else 0
        self._failing = failing
        self._alone = alone
        self._patience = patience
        self._changed = threading.Condition()
        self._live: list[Subscription] = []
        self._stopped = False
        self._ending = False

    def __repr__(self) -> str:
        return f"source {self.number}"

    def subscribe(self, subscriber: Subscriber[Item], /) -> None:
        handle = Subscription(self, subscriber)
        subscriber.on_subscribe(handle)
        with self._changed:  # from here on the thread that feeds may signal (RS 1.3)
            if not handle.cancelled:
                if self._live and self._alone:
                    self.violations.append(f"{self} was subscribed while another subscription was alive")
                self._live.append(handle)
            self._changed.notify_all()

    def feed(self) -> None:
        """Send everything; returns when the last end is sent, or when the storm is over."""
        at = 0
        for cut in self._cuts:
            while True:  # a subscription that is cancelled may be followed by another one
                handle = self._subscribed()
                if handle is None:
                    return
                self.starts.append(at)
                while at < cut and self._wanted(handle, at):
                    if self.on_send is not None:
                        self.on_send(at)
                    handle.subscriber.on_next((self.number, at))
                    at += 1
                if (at == cut or self._ending) and self._finish(handle):
                    break
            self.sent = at
            if self._failing and cut != self._cuts[-1]:
                handle.subscriber.on_error(Again(f"{self} after {at} items"))
            else:
                handle.subscriber.on_complete()

    def grant(self, n: int) -> None:
        """Let a source without a count send so many more."""
        with self._changed:
            self._granted += n
            self._changed.notify_all()

    def end(self) -> None:
        """Let a source without a count complete after the item that it sends now."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Let the thread that feeds return, wherever it waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def await_left(self, seconds: float) -> None:
        """Wait until no subscription is alive any more."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._live, seconds), f"{self} is neither cancelled nor at its end"

    # the thread that feeds ------------------------------------------------------------------------

    def _wait(self, reached: Callable[[], bool], what: str) -> bool:
        """Whether it came before the storm was over. The lock is held."""
        if not self._changed.wait_for(lambda: self._stopped or reached(), self._patience):
            raise AssertionError(f"{self}: {what} within {self._patience} seconds")
        return not self._stopped

    def _subscribed(self) -> Subscription | None:
        with self._changed:
            return self._live[-1] if self._wait(lambda: bool(self._live), "no subscriber came") else None

    def _wanted(self, handle: Subscription, at: int) -> bool:
        """Wait for demand, and take one of it; False when the subscription is over instead."""

        def reached() -> bool:
            return self._left(handle) or (handle.wanted > 0 and at < self._granted)

        with self._changed:
            if not self._wait(reached, f"item {at} was not requested"):
                return False
            if self._left(handle):
                return False
            if handle.wanted != UNBOUNDED:
                handle.wanted -= 1
            return True

    def _left(self, handle: Subscription) -> bool:
        return handle.cancelled or self._ending or self._live[-1] is not handle

    def _finish(self, handle: Subscription) -> bool:
        """The source's own end of a subscription; False when it was cancelled, or stopped, before."""
        with self._changed:
            if self._stopped or handle.cancelled:
                return False
            self._live.remove(handle)
            self._changed.notify_all()
            return True

    # the subscriber's side ------------------------------------------------------------------------

    def requested(self, handle: Subscription, n: int) -> None:
        with self._changed:
            if n <= 0:
                self.violations.append(f"§3.9: request({n}) of {self}")
                return
            handle.wanted = add_cap(handle.wanted, n)
            self.ahead = max(self.ahead, handle.wanted)
            self._changed.notify_all()

    def cancelled(self, handle: Subscription) -> None:
        with self._changed:
            handle.cancelled = True
            if handle in self._live:
                self._live.remove(handle)
            self._changed.notify_all()


class Subscription:
    """One subscriber of a :class:`Feeder`. The fields belong to the feeder's lock."""

    def __init__(self, feeder: Feeder, subscriber: Subscriber[Item]) -> None:
        self.subscriber = subscriber
        self.wanted = 0
        self.cancelled = False
        self._feeder = feeder

    def request(self, n: int, /) -> None:
        self._feeder.requested(self, n)

    def cancel(self) -> None:
        self._feeder.cancelled(self)


def stop_all(feeders: Sequence[Feeder]) -> None:
    for feeder in feeders:
        feeder.stop()
