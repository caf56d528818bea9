"""The edge to subscribers that are not ours, and the sign by which ours are known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, final

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._errors import MissingBackpressureError, ProtocolViolationError, none_argument, none_produced
from rx_core.blocks._deferred import DeferredSubscription
from rx_core.blocks._nobody import CANCELLED_SUBSCRIPTION
from rx_core.blocks._requested import RequestInbox, request_error
from rx_core.blocks._serialized import SerializedSubscriber

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription

T = TypeVar("T")


class RelaxedSubscriber:
    """Base that marks a subscriber as ours: :func:`strict` leaves it as it is.

    Such a subscriber promises to bear what the specs' FlowableSubscriber bears: that ``on_next`` comes while its
    ``on_subscribe`` is still running after it has requested (RS 1.3); that ``request`` and ``cancel`` called from its
    ``on_complete`` or ``on_error`` do nothing (RS 2.3); and it never requests less than one (RS 3.9), never raises (RS 2.13),
    and never passes None on. A class of another library can set ``_rx_relaxed = True`` itself.
    """

    __slots__ = ()

    _rx_relaxed: ClassVar[bool] = True


def strict(subscriber: Subscriber[T], /) -> Subscriber[T]:
    """``subscriber`` itself if it is ours, else one that keeps both sides to the rules."""
    if getattr(type(subscriber), "_rx_relaxed", False):
        return subscriber
    return StrictSubscriber(subscriber)


class StrictSubscriber(SerializedSubscriber[T]):
    """Stands between a publisher and a subscriber neither of which has to be trusted. What it enforces:

    =====  =====================================================================================================
    1.1    an item more than requested ends the stream with a MissingBackpressureError
    1.3    signals are serial, also those that come while on_subscribe runs; requests wait until it has returned
    1.7    nothing after the terminal signal; an error that comes later goes to the error hook
    1.9    a signal before on_subscribe: the subscriber gets an on_subscribe first, then a ProtocolViolationError
    2.5    a second Subscription is cancelled, and reported (2.12)
    2.7    upstream is asked by one thread at a time; recursion through request is bounded (3.3)
    2.13   None raises TypeError at who signals it, and ends the stream with it; a subscriber that raises is cancelled
    3.6    nothing is requested after a cancel (or the end), and upstream is cancelled once (3.7)
    3.9    request(0) cancels upstream and ends the stream with the error of that rule
    3.13   the subscriber is forgotten after the end or a cancel
    3.15   request and cancel return normally: what upstream raises ends the stream, or is reported (3.16)
    =====  =====================================================================================================

    Thread: any, for every method. Memory: what is signalled while another signal is delivered, at most what was requested.
    Cost: a serialized hand-over, and a comparison per item.
    """

    __slots__ = ("_inbox", "_link", "_raised", "_unstarted")

    def __init__(self, down: Subscriber[T], /) -> None:
        super().__init__(down)
        self._handle = self._deliver
        self._link = DeferredSubscription()
        self._inbox = RequestInbox()
        self._unstarted = {0: True}
        self._raised: BaseException | None = None

    # -- the publisher's side ----------------------------------------------------------------------------------------

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if subscription is None:
            raise none_argument("on_subscribe(subscription)", "subscription")
        guarded = _Guarded(subscription, self)
        if self._unstarted.pop(0, None) is None:
            guarded.cancel()  # RS 2.5
            _hooks.dropped(ProtocolViolationError("RS 2.12: on_subscribe was called a second time for one subscriber"), self)
            return
        self._subscribed(guarded)
        if not self._closed:
            self._link.set_once(guarded)  # only now: nothing is requested, so nothing comes, while on_subscribe runs (RS 1.3)

    def on_next(self, item: T, /) -> None:
        if item is None:
            error = none_produced("a source")
            self._raised = error  # a publisher that signals what on_next raised says nothing new
            self._break_off(error)
            raise error
        if self._unstarted:
            self._premature("on_next")
        else:
            self.offer(item)

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            missing = none_argument("on_error(error)", "error")  # type: ignore[unreachable]  # foreign callers are not checked
            self._raised = missing
            self._break_off(missing)
            raise missing
        if self._unstarted and self._introduce():
            error.add_note("RS 1.9: the source signalled this before on_subscribe")
        if error is not self._raised:
            super().on_error(error)

    def on_complete(self) -> None:
        if self._unstarted:
            self._premature("on_complete")
        else:
            super().on_complete()

    def _premature(self, signal: str) -> None:
        if self._introduce():
            self._break_off(ProtocolViolationError(f"RS 1.9: {signal} before on_subscribe"))

    def _introduce(self) -> bool:
        """Give the subscriber its on_subscribe although there is no Subscription. True for the caller who did."""
        if self._unstarted.pop(0, None) is None:
            return False
        self._subscribed(CANCELLED_SUBSCRIPTION)
        return True

    # -- downstream's side -------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        if self._closed or self.is_ending:
            return  # RS 3.6
        error = request_error(n)
        if error is not None:
            self._break_off(error)
            return
        if self._inbox.demand != UNBOUNDED:
            self._inbox.add(n)  # before asking for it, so that who delivers finds it
        self._link.request(n)

    # -- between them ------------------------------------------------------------------------------------------------

    def _deliver(self, item: T) -> None:
        """What the drain calls in the place of the subscriber's on_next."""
        inbox = self._inbox
        if inbox.pending:
            inbox.collect()
        demand = inbox.demand
        if not demand:
            self._break_off(MissingBackpressureError("RS 1.1: a source sent more items than were requested"))
            return
        if demand is not UNBOUNDED:
            inbox.demand = demand - 1
        self._down.on_next(item)

    def _break_off(self, error: Exception) -> None:
        """Cancel upstream and end with ``error``, unless an end is on its way already."""
        self._unstarted.pop(0, None)
        self._stop()
        self._link.cancel()
        self.end(partial(self._down.on_error, error), ahead=True)

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        self._raised = error
        return super().look_failed(error)

    def _forget(self) -> None:
        super()._forget()
        upstream = self._upstream.get(0)
        if isinstance(upstream, _Guarded):
            upstream.forget()


@final
class _Guarded:
    """A Subscription that is not trusted: cancelled once, and what it raises is dealt with."""

    __slots__ = ("_cell", "_owner")

    def __init__(self, subscription: Subscription, owner: StrictSubscriber[Any]) -> None:
        self._cell = {0: subscription}
        self._owner = owner

    def request(self, n: int, /) -> None:
        subscription = self._cell.get(0)
        if subscription is None:
            return
        try:
            subscription.request(n)
        except Exception as error:
            if error is self._owner._raised:
                raise  # the subscriber's own, on its way through a publisher that answers inside request
            violation = ProtocolViolationError(f"RS 3.16: request({n}) raised {error!r}")
            violation.__cause__ = error
            if self._owner.is_ending:
                _hooks.dropped(violation, self._owner)
            else:
                self._owner._break_off(violation)

    def cancel(self) -> None:
        subscription = self._cell.pop(0, None)
        if subscription is not None:
            try:
                subscription.cancel()
            except Exception as error:
                _hooks.dropped(error, self._owner)

    def forget(self) -> None:
        """The stream has ended by itself."""
        self._cell.clear()
