"""Counting what was requested and not yet delivered, in two forms.

:class:`Requested` may be asked and changed by any thread at any time. :class:`RequestInbox` is for drains, where one thread at a
time does the counting and the others only add: it costs a third.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, final

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, add_cap, invalid_request
from rx_core._errors import ProtocolViolationError
from rx_core.blocks._atomic import AtomicReference, Link, advance, last_link

#: What a :class:`Requested` holds once its stream was cancelled.
CANCELLED: Final = -1


def request_error(n: object, /) -> Exception | None:
    """What to signal when a subscriber calls ``request(n)``: None if ``n`` is allowed, else the error of RS 3.9."""
    if type(n) is int and n > 0:
        return None
    return invalid_request(n)


class Requested(AtomicReference[int]):
    """Demand: what was added minus what was produced, between 0 and UNBOUNDED, or CANCELLED for ever.

    UNBOUNDED stays as well: from then on nothing is counted (RS 3.17).

    Thread: any, for every method. Memory: one int.
    Rule: RS 1.1, 3.8, 3.17; the specs' section "Request accounting".
    """

    __slots__ = ()

    def __init__(self, initial: int = 0, /) -> None:
        super().__init__(initial)

    def add(self, n: int, /) -> int:
        """Add ``n``, which :func:`request_error` found right, and return what there was before."""
        while True:
            link = last_link(self._link)
            old: int = link[0]
            if old in (UNBOUNDED, CANCELLED):
                return old
            total = old + n
            mine: Link = {0: total if total < UNBOUNDED else UNBOUNDED}
            if link.setdefault(1, mine) is mine:
                advance(self, mine)
                return old

    def produced(self, n: int, /) -> int:
        """Subtract ``n`` delivered items and return what is left; UNBOUNDED and CANCELLED stay what they are.

        More than was wanted is a bug of the operator (RS 1.1): it is reported, and nothing is wanted then.
        """
        while True:
            link = last_link(self._link)
            old: int = link[0]
            if old in (UNBOUNDED, CANCELLED):
                return old
            mine: Link = {0: old - n if old > n else 0}
            if link.setdefault(1, mine) is mine:
                advance(self, mine)
                if n > old:
                    report_more_produced(n, old, self)
                return mine[0]  # type: ignore[no-any-return]  # a link holds anything

    def cancel(self) -> bool:
        """Mark it as cancelled; True for the caller who did."""
        return self.get_and_set(CANCELLED) != CANCELLED

    @property
    def is_cancelled(self) -> bool:
        return self.get() == CANCELLED


@final
class RequestInbox:
    """Demand for drains: any thread adds, only the holder of the token collects and spends.

    A request is one append to a deque, and needs no answer; the thread that drains adds up what came. ``request`` of a drain is
    then ``inbox.add(n)`` followed by ``drain()``.

    Thread: ``add`` and ``outstanding`` any; everything else the owner's.
    Memory: the requests since the last collect.
    Relies on: ``deque.append`` and ``deque.popleft`` being atomic.
    Rule: RS 2.7, 3.8, 3.9, 3.17.
    """

    __slots__ = ("add", "demand", "error", "pending")

    def __init__(self) -> None:
        #: What was requested and not collected yet. Its owner asks whether it is empty, nothing else.
        self.pending: deque[int] = deque()
        #: Add ``n``, right or wrong; thread-safe.
        self.add: Callable[[int], None] = self.pending.append
        #: What the owner knows to be wanted.
        self.demand = 0
        #: What to signal because something impossible was requested (RS 3.9).
        self.error: Exception | None = None

    def collect(self) -> int:
        """Add up what was requested and return the demand. Look at ``error`` afterwards."""
        pending = self.pending
        while pending:
            n = pending[0]
            if type(n) is int and n > 0:
                self.demand = add_cap(self.demand, n)
            elif self.error is None:
                self.error = invalid_request(n)
            pending.popleft()  # after adding, so that outstanding is never less than the truth
        return self.demand

    def spend(self, n: int = 1, /) -> None:
        """``n`` items were delivered."""
        if self.demand < UNBOUNDED:
            if n > self.demand:
                report_more_produced(n, self.demand, self)
                n = self.demand
            self.demand -= n  # only the holder of the token writes it

    @property
    def outstanding(self) -> int:
        """What is wanted, requests not yet collected included; never less than the truth."""
        pending = self._uncollected()
        demand = self.demand  # afterwards: a request that was collected meanwhile counts twice, not never
        for n in pending:
            if type(n) is int and n > 0:
                demand = add_cap(demand, n)
        return demand

    def _uncollected(self) -> list[int]:
        while True:
            try:
                return list(self.pending)
            except RuntimeError:  # without the GIL: a request came in, or was collected, while this was reading
                pass


def report_more_produced(n: int, wanted: int, origin: object) -> None:
    """Tell the error hook that an operator delivered more than was requested."""
    _hooks.dropped(ProtocolViolationError(f"RS 1.1: {n} items were produced, {wanted} were requested"), origin)
