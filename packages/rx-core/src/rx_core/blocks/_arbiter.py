"""Subscription arbitration: one Subscription for downstream over several upstreams, one after the other."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rx_core._demand import UNBOUNDED, add_cap
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._requested import report_more_produced, request_error
from rx_core.gate import Gate

if TYPE_CHECKING:
    from rx_core._protocols import Subscription


class SubscriptionArbiter(Gate):
    """Asks each new upstream for exactly what the ones before it left undelivered.

    Give it to downstream in on_subscribe. Then, for each source: ``set_subscription`` in its on_subscribe, count what it
    delivers, and when it has ended call ``produced(count)`` *before* subscribing to the next. Meant for switching when the
    current source has ended; to switch in the middle give ``cancel_on_replace=True``, and stop relaying the old source's
    items yourself.

    Everything is queued and done by one thread at a time, in order of arrival. An upstream is asked from that loop, so a source
    that emits and completes inside ``request`` returns to it before the next one is asked: a chain of any length does not
    deepen the stack.

    Thread: any. Memory: what waits to be done; one Subscription; none after ``cancel``.
    Rule: RS 2.7, 3.3, 3.8; the specs' section "Deferred requesting", second form.
    """

    __slots__ = ("_cancel_on_replace", "_cell", "_demand", "_events", "_wrong")

    def __init__(self, *, cancel_on_replace: bool = False) -> None:
        super().__init__()
        self._cancel_on_replace = cancel_on_replace
        self._cell = SubscriptionCell()
        #: Positive: requested; negative: produced; otherwise the next Subscription.
        self._events: deque[Subscription | int | _Wrong] = deque()
        self._demand = 0
        self._wrong: int | None = None

    def set_subscription(self, subscription: Subscription, /) -> None:
        """The next upstream. It is cancelled at once when downstream has cancelled."""
        self._events.append(subscription)
        self.drain()

    def request(self, n: int, /) -> None:
        """Downstream's. A wrong ``n`` is passed on to the current upstream, or to the next: it answers it (RS 3.9)."""
        self._events.append(n if request_error(n) is None else _Wrong(n))
        self.drain()

    def produced(self, n: int = 1, /) -> None:
        """``n`` items of the current upstream were delivered since the last call."""
        if n:
            self._events.append(-n)
            self.drain()

    def cancel(self) -> None:
        """Downstream's: cancel the current upstream and those that come."""
        self._cell.cancel()
        self.drain()

    @property
    def is_cancelled(self) -> bool:
        return self._cell.is_disposed

    @property
    def is_unbounded(self) -> bool:
        """Whether everything is wanted, so that there is no need to count any more."""
        return self._demand == UNBOUNDED

    def look(self, held: int, /) -> int:
        events, cell = self._events, self._cell
        ask = 0
        while True:
            if not events:
                if not ask:
                    return held
                upstream, amount, ask = cell.get(), ask, 0
                if upstream is not None:
                    upstream.request(amount)  # may answer at once: then there are new events
                continue
            event = events.popleft()  # only the holder of the token takes out
            if type(event) is int:
                before = self._demand
                if before == UNBOUNDED:
                    continue
                if event > 0:
                    self._demand = add_cap(before, event)
                    if cell.get() is not None:
                        ask = add_cap(ask, event)
                else:
                    self._demand = max(before + event, 0)
                    if -event > before:
                        report_more_produced(-event, before, self)
            elif isinstance(event, _Wrong):
                self._pass_on_wrong(event.n)
            elif self._put(event):  # type: ignore[arg-type]  # type() above has sorted the ints out
                ask = self._demand
                if self._wrong is not None:
                    n, self._wrong = self._wrong, None
                    self._pass_on_wrong(n)

    def _put(self, subscription: Subscription) -> bool:
        if self._cancel_on_replace:
            return self._cell.set(subscription)
        return self._cell.replace(subscription)

    def _pass_on_wrong(self, n: int) -> None:
        upstream = self._cell.get()
        if upstream is None:
            self._wrong = n
        else:
            upstream.request(n)


class _Wrong:
    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n
