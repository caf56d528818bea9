"""Delivery: what is wanted, and the loops that take it out of the generator and hand it to the subscriber.

As fast as is requested and never faster. Whoever calls this holds the token of the run; see :mod:`rx_core._drain`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from operator import length_hint
from typing import TYPE_CHECKING, Any, TypeVar, final

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, add_cap, invalid_request
from rx_core._ends import EndingRun, has_ended
from rx_core._run import close

if TYPE_CHECKING:
    from rx_core._run import Items, Run

T = TypeVar("T")

_END: Any = object()


@final
class Promise:
    """What a boundary will request as soon as its worker gets to it.

    A clock or whoever else sends by itself need not wait for that, and must not be told that nobody wants its items.
    """

    __slots__ = ("_run", "amount", "is_kept", "is_open")

    def __init__(self, run: Run, amount: int) -> None:
        self._run = run
        self.amount = amount
        #: It was requested.
        self.is_kept = False
        #: The stream has started: who pokes it has something to deliver.
        self.is_open = False

    def keep(self) -> None:
        self.is_kept = True
        self._run.wake()


class DeliveringRun(EndingRun[T]):
    """A run that knows what is wanted of it, and delivers that."""

    __slots__ = ("_demand", "_dirty", "_idle", "_later", "_poked", "_promise", "_requests", "_suspended", "_synchronous")

    #: What is wanted: the requests that were looked at, less what went out.
    _demand: int
    #: What was requested, as it came, until the owner looks.
    _requests: deque[int]
    #: What will be requested in a moment.
    _promise: Promise | None
    #: Something was published that the owner has not looked at.
    _dirty: bool
    #: It is to be resumed although nothing may be wanted.
    _poked: bool
    #: A cooperative worker wants its turn, and there is more to deliver.
    _suspended: bool
    #: The generator waits for its sources, and nothing else is to be done before they have something.
    _idle: bool
    #: The generator gives no None.
    _synchronous: bool
    #: What was put off until nothing is being delivered; see _later.py.
    _later: deque[Callable[[], object]]

    @property
    def demand(self) -> int:
        return self._demand

    @property
    def outstanding(self) -> int:
        # What goes into the demand first: the owner adds before it takes out, so it is counted twice for a moment, never missed.
        promise = self._promise
        requests = self._requests.copy()
        demand = self._demand if promise is None else add_cap(self._demand, promise.amount)
        for n in requests:
            if type(n) is int and n > 0:
                demand = add_cap(demand, n)
        return demand

    def set_hint(self, hint: Callable[[], int], bare: Iterator[T] | None = None) -> None:
        """Say how to ask a built-in iterator for the number of items it has left.

        ``bare`` is that iterator, when the generator has nothing to do but to give its items, and it cannot fail.
        """
        self._hint = hint
        self._bare = bare

    # -- the loops -----------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        self._idle = False
        requests = self._requests
        while True:
            gen = self._gen
            if self.cancelled:
                self._close()
                return
            if gen is None:
                requests.clear()
                return
            if self._promise is not None:
                self._look_at_promise(self._promise)
            while requests:
                n = requests[0]
                if type(n) is not int or n < 1:
                    close(gen)
                    self._finish(invalid_request(n))
                    return
                self._demand = add_cap(self._demand, n)
                requests.popleft()
            try:
                if self._demand:
                    if self._stash is not None:
                        item, self._stash = self._stash, None
                        self._spend(1)
                        self._down.on_next(item)  # type: ignore[union-attr]  # there while there is a generator
                        continue
                    ended, idle = self._emit_all(gen) if self._synchronous else self._emit_some(gen)
                    if ended:
                        if not self.cancelled:
                            self._finish(None)
                        continue
                    if idle:
                        self._idle = self.direct is not None and not self._later and self._promise is None
                        return
                elif not self._settle(gen):
                    return
            except BaseException as error:
                self._failed(gen, error)

    def _look_at_promise(self, promise: Promise) -> None:
        if promise.is_kept or (promise.is_open and self._poked):
            self._demand = add_cap(self._demand, promise.amount)
            self._promise = None

    def _emit_all(self, gen: Items[T]) -> tuple[bool, bool]:
        """The synchronous loop: nothing but items comes, so the batch is counted by islice and not by us."""
        down: Any = self._down
        on_next: Callable[[Any], object] = down.on_next
        feed: Callable[[Iterator[Any]], object] | None = getattr(down, "_rx_feed", None)
        source: Iterator[Any] = gen if self._bare is None else self._bare
        demand = self._demand
        quantum = None if self._worker is None else self._worker.quantum
        demand_now = demand
        if quantum is not None and quantum < demand:
            self._dirty = self._suspended = True
            demand_now = quantum
        if demand_now < UNBOUNDED:
            source = islice(source, demand_now)
        if feed is not None:
            feed(source)
        elif self._bare is None:
            for item in source:
                on_next(item)
            # Who asks for as many again with the last of them gets the next ones here.
            requests = self._requests
            running: Any = gen
            while len(requests) == 1 and demand_now < UNBOUNDED and quantum is None and running.gi_frame is not None:
                n = requests[0]
                if type(n) is not int or not 0 < n < UNBOUNDED or self.cancelled or self._promise is not None:
                    break
                self._demand = demand_now = n  # what was wanted before has been delivered
                requests.popleft()
                for item in islice(gen, n):
                    on_next(item)
        else:
            for item in source:
                on_next(item)
                if self.cancelled:  # which a generator looks at itself
                    break
        if self.cancelled:
            self._suspended = False
            return False, False
        if demand_now == UNBOUNDED or has_ended(gen) or (self._bare is not None and not length_hint(self._bare)):
            self._suspended = False
            return True, False
        self._spend(demand_now)
        return False, self._suspended

    def _emit_some(self, gen: Items[T]) -> tuple[bool, bool]:
        """The careful loop: a None means nothing now, and each item is one less to want."""
        on_next: Callable[[T], object] = self._down.on_next  # type: ignore[union-attr]  # there while there is a generator
        # It is resumed, and looks. An operator that gives items before it has looked at all it was poked for pokes again before
        # it yields (delay, sample). To resume it once more in any case, when the demand is used up, would mostly have it compute
        # an item that nobody wants.
        self._poked = False
        quantum = None if self._worker is None else self._worker.quantum
        if self._demand == UNBOUNDED and quantum is None:
            for item in gen:
                if item is None:
                    return False, True
                on_next(item)
                if self.cancelled:
                    return False, False
            return True, False
        left = self._demand if quantum is None else min(self._demand, quantum)
        for item in gen:
            if item is None:
                return False, True
            self._spend(1)
            on_next(item)
            left -= 1
            if not left or self.cancelled:
                if self._demand and not self.cancelled:
                    self._dirty = self._suspended = True
                return False, self._suspended
        return True, False

    def _settle(self, gen: Items[T]) -> bool:
        """Nothing is wanted. Complete if the end is known without pulling an item; deal with a poke. True: look again."""
        if self._stash is not None:
            return False  # an item waits for demand: the end comes after it
        if self.last:
            # By the mark no item comes any more, but stages behind the one that stopped have an end of their own to see.
            if next(gen, _END) is not _END:
                close(gen)
            if not self.cancelled:
                self._finish(None)
            return True
        if not self._poked and (self._hint is None or self._hint() != 0):
            return False
        self._poked = False
        item = next(gen, _END)
        if item is _END:
            if not self.cancelled:
                self._finish(None)
            return True
        # One item at most, and only after a poke: it waits for the next request. An operator with several sources looks what it
        # was poked for before it goes on (interleave), so none is computed for that. A stage does not know of pokes: in the
        # middle of what it makes of one item (flat_map_iterable) it gives the next.
        self._stash = item
        return bool(self._requests) or (self._poked and item is None)

    def _spend(self, n: int) -> None:
        if self._demand < UNBOUNDED:
            self._demand -= n

    # -- past the generator --------------------------------------------------------------------------------------------

    def broken(self) -> None:
        """The subscriber has raised for an item that went past the generator: it is considered cancelled (RS 2.13)."""
        self._idle = False
        self.cancelled = True
        self._close()

    def fail(self, error: Exception) -> None:
        """A stage behind the generator has failed. Holds the token."""
        self._idle = False
        close(self._gen)
        if self.cancelled:
            self._close()
            _hooks.dropped(error, self.origin)
        else:
            self._finish(error)

    def dropped(self) -> None:
        """A stage behind the generator has dropped the item, which was not the one that is wanted. Holds the token."""
        if self._demand < UNBOUNDED:
            self._demand += 1
