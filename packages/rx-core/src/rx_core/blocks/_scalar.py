"""One value that comes some time, for a subscriber that asks some time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._errors import none_argument, none_produced
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._nobody import CANCELLED_SUBSCRIPTION, NOBODY
from rx_core.blocks._requested import request_error
from rx_core.gate import Gate

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription

T = TypeVar("T")
R = TypeVar("R")


class DeferredScalar(Gate, Generic[R]):
    """The Subscription of a stream of at most one value: signals it as soon as it is both there and requested, and completes.

    Create it, :meth:`start` it, and later :meth:`complete` it with the value, or without one, or :meth:`fail` it. That the
    value may come first and the request later is what makes it *post-complete*.

    Thread: any, for every method. Memory: the value; nothing after the end or a cancel, and ``down`` is forgotten then.
    Relies on: the gate (``rx_core.gate``), and ``dict.pop`` being atomic.
    Rule: RS 1.1, 1.3, 1.7, 3.9; the specs' section "Single valued results".
    """

    __slots__ = ("_down", "_outcome", "_requested", "_undecided", "_wrong", "cancelled")

    def __init__(self, down: Subscriber[R], /) -> None:
        super().__init__()
        self.token.pop()  # taken until on_subscribe has returned
        self._down: Subscriber[R] = down
        #: Holds one entry until a caller takes it out and decides.
        self._undecided = {0: True}
        #: The value and the error; at most one of them is there.
        self._outcome: tuple[R | None, Exception | None] | None = None
        self._requested = False
        self._wrong: Exception | None = None
        #: Downstream has cancelled, or the stream is over.
        self.cancelled = False

    def start(self) -> None:
        """Subscribe ``down``. What is requested or decided meanwhile waits until on_subscribe has returned (RS 1.3)."""
        try:
            self._down.on_subscribe(self)
        except BaseException:
            self.cancel()  # RS 2.13
            raise
        finally:
            self.token.append(0)
            self.drain()

    # -- the operator's side -----------------------------------------------------------------------------------------

    def complete(self, value: R | None = None, /) -> bool:
        """Decide for ``value``, or for completing without one. False when the stream was decided or cancelled before."""
        return self._decide((value, None))

    def fail(self, error: Exception, /) -> bool:
        """Decide for ``error``. False, and it goes to the error hook, when the stream was decided or cancelled before."""
        if self._decide((None, error)):
            return True
        (_hooks.dropped_late if self._undecided else _hooks.dropped)(error, self)
        return False

    def _decide(self, outcome: tuple[R | None, Exception | None]) -> bool:
        if self.cancelled or self._undecided.pop(0, None) is None:
            return False
        self._outcome = outcome
        self.drain()
        return True

    # -- downstream's side -------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        """However many: there is one value at most."""
        if self.cancelled:
            return
        error = request_error(n)
        if error is not None:
            self._undecided.clear()
            self._wrong = error  # RS 3.9: signalled in the place of what may be waiting
        else:
            self._requested = True
        self.drain()

    def cancel(self) -> None:
        """Signal nothing any more, forget the value and ``down``."""
        self.cancelled = True
        self.drain()

    # -- the holder of the token -------------------------------------------------------------------------------------

    def look(self, held: int, /) -> int:
        outcome = self._outcome
        if self.cancelled:
            self._let_go()
        elif self._wrong is not None:
            self._end(self._wrong)
        elif outcome is not None:
            value, error = outcome
            if value is None:
                self._outcome = None
                self._end(error)
            elif self._requested:
                self._down.on_next(value)
                self._end(None)
        return held

    def look_failed(self, _error: BaseException, /) -> BaseException | None:
        """RS 2.13: a subscriber that raised has cancelled."""
        self.cancelled = True
        self._let_go()
        return None

    def _end(self, error: Exception | None) -> None:
        if self.cancelled:  # inside on_next
            self._let_go()
            return
        self.cancelled = True
        down = self._down
        self._let_go()
        if error is None:
            down.on_complete()
        else:
            down.on_error(error)

    def _let_go(self) -> None:
        outcome, self._outcome = self._outcome, None
        self._down = NOBODY
        if outcome is not None and outcome[1] is not None:
            _hooks.dropped_late(outcome[1], self)  # it was on its way when downstream cancelled

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
        self.value: R | None = value

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
            self._upstream.replace(CANCELLED_SUBSCRIPTION)  # RS 2.4: it has ended, and is not cancelled any more
            self.fail(error)

    def _refuse_none(self, error: TypeError) -> TypeError:
        """``error`` ends the stream, unless it is over, and is what the source gets to see (RS 2.13)."""
        if not self.cancelled and self._undecided:
            self.reject(error)
            self._refused = error  # what comes back as on_error is no news
        return error

    def on_complete(self) -> None:
        value, self.value = self.value, None
        self._upstream.replace(CANCELLED_SUBSCRIPTION)  # RS 2.4
        self.complete(value)

    def reject(self, error: Exception, /) -> None:
        """End with ``error`` and cancel upstream."""
        self._upstream.cancel()
        self.on_error(error)

    def cancel(self) -> None:
        super().cancel()
        self._upstream.cancel()
        self.value = None
