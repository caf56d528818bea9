"""Deferred requesting: a Subscription that can be given away before there is one."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rx_core._demand import add_cap
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._nobody import CANCELLED_SUBSCRIPTION
from rx_core.blocks._requested import request_error
from rx_core.gate import Gate

if TYPE_CHECKING:
    from rx_core._protocols import Subscription


class DeferredSubscription(Gate):
    """Give it to the subscriber now and :meth:`set_once` the upstream's Subscription when it comes.

    Requests made before are added up and asked for at once. Those made later are passed on one after the other, from whatever
    thread they come, and a request made from inside ``on_next`` waits until the one that caused it has returned. So it also
    serves where the upstream is there from the start and cannot be trusted with several threads, or recurses.

    Thread: any. Memory: the requests that wait, as ints; nothing after ``cancel``.
    Relies on: the gate (``rx_core.gate``), and ``deque.append`` and ``popleft`` being atomic.
    Rule: RS 2.7, 3.3, 3.8, 3.17; the specs' section "Deferred requesting".
    """

    __slots__ = ("_cell", "_requests")

    def __init__(self) -> None:
        super().__init__()
        self._cell = SubscriptionCell()
        self._requests: deque[int] = deque()

    def set_once(self, upstream: Subscription, /) -> bool:
        """The real one. False, and it is cancelled, when this was cancelled or has one (which is reported, RS 2.12)."""
        if not self._cell.set_once(upstream):
            return False
        self.drain()
        return True

    def request(self, n: int, /) -> None:
        """Pass ``n`` on, or keep it. A wrong ``n`` is passed on as it is: answering it is the publisher's part (RS 3.9)."""
        self._requests.append(n)
        self.drain()

    def cancel(self) -> None:
        """Cancel upstream, or what comes as such later."""
        self._cell.cancel()
        self._requests.clear()

    @property
    def is_cancelled(self) -> bool:
        return self._cell.is_disposed

    def look(self, held: int, /) -> int:
        requests, cell = self._requests, self._cell
        while requests and (upstream := cell.get()) is not None:
            if upstream is CANCELLED_SUBSCRIPTION:
                requests.clear()
            else:
                self._pass_on(upstream)
        return held

    def _pass_on(self, upstream: Subscription) -> None:
        total = 0
        wrong: int | None = None
        requests = self._requests
        while requests and wrong is None:
            try:
                n = requests.popleft()
            except IndexError:  # cancelled meanwhile
                break
            if request_error(n) is None:
                total = add_cap(total, n)
            else:
                wrong = n
        if total:
            upstream.request(total)
        if wrong is not None:
            upstream.request(wrong)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._cell.get()!r}>"
