"""Past the generator: the short way of an item that an operator gives on as it came.

merge, flat_map and their like do nothing to an item. One that comes by itself while the operator waits for its sources, and the
subscriber for an item, need not be queued, wake the run, resume the generator and be polled: who pushes it takes the run's token
and hands it over. Everything else goes the long way, and so does every item for which something is to be done first: others
wait, more is to be asked for, somebody has cancelled, requested or signalled an end.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core._demand import UNBOUNDED
from rx_core._inbox import _ALWAYS, Inbox

if TYPE_CHECKING:
    from rx_core._drain import Drain
    from rx_core._run import Through

T = TypeVar("T")


class DirectInbox(Inbox[T]):
    """An inbox with a window whose items go on unchanged. ``_gate`` is the drain that its operator runs under."""

    __slots__ = ()

    _gate: Drain[Any]

    def on_next(self, item: T, /) -> None:
        gate = self._gate
        token = gate._token
        try:
            demand = token.pop()
        except IndexError:  # another thread is at it, or this item is sent from inside an on_next
            super().on_next(item)
            return
        straight = self._straight
        # "is" is faster than ==; an equal one is counted down. The queue is looked at although the drain is told of what waits in
        # it: who tells it may be another thread that has not come to it yet.
        if demand is not UNBOUNDED or straight < 2 or gate._dirty or self._queue or item is None:
            self._carefully(item, demand, straight)
            return
        self._straight = straight - 1
        push = self._push
        try:
            push(item)
        except BaseException:
            try:
                gate.broken()
            finally:
                token.append(0)
            raise
        token.append(demand)
        if gate._dirty:
            gate.wake()  # type: ignore[unreachable]  # raised meanwhile

    def _carefully(self, item: T, demand: int, straight: int) -> None:
        """The same for who wants a certain number, and where something else is to be done. Holds the token."""
        gate = self._gate
        token = gate._token
        if not (straight and demand) or gate._dirty or self._queue or item is None:
            token.append(demand)
            if gate._dirty:
                gate.wake()
            super().on_next(item)
            return
        push = self._push
        try:
            if straight > 1:
                self._straight = straight - 1
            elif not self._asks_for_more():
                push = partial(_drop, gate)
            if demand is UNBOUNDED:
                push(item)
            else:
                gate._demand = demand - 1
                push(item)
                demand = gate._demand  # one that a stage drops is still wanted
        except BaseException:
            demand = 0
            gate.broken()
            raise
        finally:
            token.append(demand)
        if gate._dirty:
            gate.wake()  # type: ignore[unreachable]  # raised meanwhile

    def _asks_for_more(self) -> bool:
        """Replenish the window, as the stream does. A source that raises then has failed."""
        self._straight = self._limit
        try:
            self._request(self._limit)
        except Exception as error:
            self._refuse(error)
            return False
        return True

    def fail(self, error: Exception) -> None:
        """A stage before the operator has failed: that comes before whatever its source has signalled meanwhile. Called while an
        item is on the short way."""
        self._queue.clear()
        if not self._done:
            self._cancel_upstream()
        self._error = error
        self._done = True
        self._mark = _ALWAYS
        self._run.poke()

    def dispose(self) -> None:
        super().dispose()
        self._push = _nobody  # a stage's failure refers to this


def become_direct(inbox: Inbox[Any], gate: Drain[Any], through: Through | None) -> None:
    """Let the items of ``inbox`` go straight to the subscriber of ``gate``, ``through`` stages if there are any."""
    inbox.__class__ = DirectInbox
    assert isinstance(inbox, DirectInbox)
    inbox._gate = gate
    # There while the generator waits, and that is when it is called.
    inbox._push = gate.direct if through is None else through(inbox.fail, gate)  # type: ignore[assignment]


def _drop(gate: Drain[Any], _item: object) -> None:
    """Its source has failed before it went out."""
    gate.dropped()


def _nobody(_item: object) -> None:
    """The stream is over."""
