"""One value that comes some time, for a subscriber that asks some time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._errors import none_argument, none_produced
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._nobody import NOBODY
from rx_core.blocks._requested import request_error

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription

T = TypeVar("T")
R = TypeVar("R")

# Keys of the state. The first two are there as long as what they stand for has not happened.
_START: Final = 0
_REQUEST: Final = 1
_OUTCOME: Final = 2
_TURN: Final = 3


class DeferredScalar(Generic[R]):
    """The Subscription of a stream of at most one value: signals it as soon as it is both there and requested, and completes.

    Create it, :meth:`start` it, and later :meth:`complete` it with the value, or without one, or :meth:`fail` it. That the
    value may come first and the request later is what makes it *post-complete*.

    Thread: any, for every method. Memory: the value; nothing after the end or a cancel, and ``down`` is forgotten then.
    Relies on: ``dict.pop`` and ``dict.setdefault`` being atomic.
    Rule: RS 1.1, 1.3, 1.7, 3.9; the specs' section "Single valued results".
    """

    # Whatever happens (on_subscribe returned, somebody requested, the value came) is noted by an operation on one dict, so
    # there is an order, and whoever notes the last of them sees the others. Several may see that; the turn to signal is taken
    # by one.

    __slots__ = ("_down", "_state", "cancelled")

    def __init__(self, down: Subscriber[R], /) -> None:
        self._down: Subscriber[R] = down
        self._state: dict[int, Any] = {_START: True, _REQUEST: True, _TURN: True}
        #: Downstream has cancelled, or the stream is over.
        self.cancelled = False

    def start(self) -> None:
        """Subscribe ``down``. What is requested or decided meanwhile waits until on_subscribe has returned (RS 1.3)."""
        try:
            self._down.on_subscribe(self)
        except BaseException:
            self.cancel()  # RS 2.13
            raise
        self._state.pop(_START, None)
        self._signal()

    # -- the operator's side -----------------------------------------------------------------------------------------

    def complete(self, value: R | None = None, /) -> bool:
        """Decide for ``value``, or for completing without one. False when the stream was decided or cancelled before."""
        return self._decide((value, None))

    def fail(self, error: Exception, /) -> bool:
        """Decide for ``error``. False, and it goes to the error hook, when the stream was decided or cancelled before."""
        if self._decide((None, error)):
            return True
        _hooks.dropped(error, self)
        return False

    def _decide(self, outcome: tuple[R | None, Exception | None]) -> bool:
        if self.cancelled or self._state.setdefault(_OUTCOME, outcome) is not outcome:
            return False
        self._signal()
        return True

    # -- downstream's side -------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        """However many: there is one value at most."""
        if self.cancelled:
            return
        error = request_error(n)
        if error is not None:
            self._state[_OUTCOME] = (None, error)  # RS 3.9: instead of what may be waiting there
        else:
            self._state.pop(_REQUEST, None)
        self._signal()

    def cancel(self) -> None:
        """Signal nothing any more, forget the value and ``down``."""
        self.cancelled = True
        if self._state.pop(_TURN, None) is not None:
            self._state[_OUTCOME] = (None, None)
            self._down = NOBODY

    # -- whoever comes last ------------------------------------------------------------------------------------------

    def _signal(self) -> None:
        state = self._state
        outcome = state.get(_OUTCOME)
        if outcome is None or _START in state:
            return
        if outcome[0] is not None and _REQUEST in state:
            return
        if state.pop(_TURN, None) is None:
            return
        (value, error), down = state[_OUTCOME], self._down
        try:
            if value is not None and not self.cancelled:
                down.on_next(value)
            if not self.cancelled:
                self.cancelled = True
                if error is None:
                    down.on_complete()
                else:
                    down.on_error(error)
            elif error is not None:
                _hooks.dropped(error, self)
        finally:
            self.cancelled = True
            state[_OUTCOME] = (None, None)  # decided for ever, and nothing is held
            self._down = NOBODY

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self._down!r}>"


class DeferredScalarSubscriber(DeferredScalar[R], Generic[T, R]):
    """Base of operators that reduce a stream to one value: subclasses write :meth:`on_next` and keep the result in ``value``.

    It requests everything, and completes downstream with ``value`` (None: without one) when upstream does. A user function that
    fails is answered by ``self.reject(error)``.

    Thread: upstream's signals serial, on any thread. Memory: ``value``. Rules: those of :class:`DeferredScalar`, and RS 2.5,
    2.13.
    """

    __slots__ = ("_refused", "_upstream", "value")

    def __init__(self, down: Subscriber[R], value: R | None = None, /) -> None:
        super().__init__(down)
        self._upstream = SubscriptionCell()
        self._refused: TypeError | None = None
        #: The result so far; written by upstream's signals only.
        self.value = value

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self._upstream.set_once(subscription):
            self.start()
            if not self.cancelled:
                subscription.request(UNBOUNDED)

    def on_next(self, item: T, /) -> None:
        """Make ``value`` out of it and ``item``."""
        if item is None:
            raise self._refuse_none(none_produced("a source"))

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self._refuse_none(none_argument("on_error(error)", "error"))
        if error is not self._refused:
            self.value = None
            self.fail(error)

    def _refuse_none(self, error: TypeError) -> TypeError:
        """``error`` ends the stream, unless it is over, and is what the source gets to see (RS 2.13)."""
        if not self.cancelled and _OUTCOME not in self._state:
            self.reject(error)
            self._refused = error  # what comes back as on_error is no news
        return error

    def on_complete(self) -> None:
        value, self.value = self.value, None
        self.complete(value)

    def reject(self, error: Exception, /) -> None:
        """End with ``error`` and cancel upstream."""
        self._upstream.cancel()
        self.on_error(error)

    def cancel(self) -> None:
        super().cancel()
        self._upstream.cancel()
        self.value = None
