"""The source of an inbox: subscribing to it, now or later, and asking it for more.

All requests come from one place, the owner of the run, and are never made twice (RS 2.7). Where the source may answer for long,
on the thread of the run, it is subscribed and asked when that thread has left the run (see _later.py).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core._demand import DEMAND, UNBOUNDED
from rx_core._errors import none_argument
from rx_core._later import PutOff
from rx_core._observers import stop

if TYPE_CHECKING:
    from rx_core._protocols import Disposable, Publisher, Subscription
    from rx_core._run import Run

T = TypeVar("T")


class Upstream(Generic[T]):
    """An inbox, as far as its source is concerned. :class:`~rx_core._inbox.Inbox` sets the attributes."""

    __slots__ = (
        "_asks_later",
        "_cancelled",
        "_done",
        "_error",
        "_keep_promise",
        "_opening",
        "_outside",
        "_outstanding",
        "_run",
        "_spoke",
        "_upstream",
        "_window",
        "peak",
    )

    #: Whether the source is the queue, and this only polls it (see _polled.py).
    polls: ClassVar[bool] = False
    #: Whether it asks when it is subscribed, even if its run has a thread of its own: who wants everything asks for it once.
    _at_once: ClassVar[bool] = False

    _run: Run
    #: How many items may wait. DEMAND: as many as are requested.
    _window: int
    _upstream: Subscription | Disposable | None
    #: What was asked for: the window, or what is wanted and has not come.
    _outstanding: int
    #: The thread that subscribes just now.
    _opening: int
    #: Whether this is to be asked for more when the run is not busy: its source may answer for long, on the run's own thread,
    #: and what it sends meanwhile is to go on.
    _outside: bool
    _asks_later: bool
    #: Requests what the source was told that it will be asked for.
    _keep_promise: Callable[[], object] | None
    #: Whether it was polled and gave something; what is pushed shows in ``peak``.
    _spoke: bool
    #: The most items that ever waited here.
    peak: int
    #: The source has signalled its end, and the error if that is one.
    _done: bool
    _error: Exception | None
    #: Nobody polls this any more.
    _cancelled: bool

    @abstractmethod
    def on_next(self, item: T, /) -> None: ...

    @abstractmethod
    def on_error(self, error: Exception, /) -> None: ...

    @abstractmethod
    def on_complete(self) -> None: ...

    @abstractmethod
    def _negotiate(self, queue: Any) -> None:
        """The source says that it is a queue itself: poll that, if it grants it."""

    def subscribe_to(self, source: Publisher[T]) -> None:
        """Subscribe, called by the run's owner while it holds the run."""
        self._outside = self._run.threaded and not getattr(source, "_rx_iterates", False)
        self._opening = get_ident()
        try:
            source.subscribe(self)
        except TypeError as error:
            if error is not self._error:  # else it is ours, on its way through a source that signalled None: the stream has it
                raise
        finally:
            self._opening = 0

    def subscribe_later(self, source: Publisher[T]) -> None:
        """Subscribe as soon as the run is not busy: what ``source`` sends meanwhile goes on at once, and who has
        enough can stop it. What goes wrong is an error of the stream.
        """
        hold = getattr(source, "_rx_hold", None)
        self._run.later(PutOff(self, partial(self._subscribe, source, None if hold is None else hold())))

    def _subscribe(self, source: Publisher[T], let_go: Callable[[], object] | None) -> None:
        try:
            if not self._cancelled:
                self.subscribe_to(source)
                if self.polls:
                    self._run.wake()  # it may have items now, and does not say so
        except Exception as error:
            self.on_error(error)
        finally:
            if let_go is not None:
                let_go()

    def on_subscribe(self, subscription: Subscription | Disposable, /) -> None:
        if subscription is None:
            raise self._refused(none_argument("on_subscribe(None)", "subscription"))
        if self._upstream is not None or self._done:
            stop(subscription)  # RS 2.5
            return
        if not hasattr(subscription, "request"):
            self._window = DEMAND  # an Observable cannot be asked, so what it sends waits, however much it is
        lender = getattr(subscription, "_rx_lender", None)
        if lender is not None and self._opening == get_ident():
            self._run.follow(lender)
        if hasattr(subscription, "request_fusion"):
            try:
                self._negotiate(subscription)
            except Exception as error:  # the source's: it ends the stream, and who calls on_subscribe is told nothing (RS 2.13)
                self._upstream = subscription
                self._refuse(error)
                return
        asks = self._opening == get_ident() and (self._at_once or not self._run.threaded)
        if not asks and not self._at_once:
            self._promise(subscription)
        self._upstream = subscription  # last: who polls this on another thread finds all that was agreed
        if self._cancelled:
            stop(subscription)
        elif asks:
            self._ask()
        else:
            # A late on_subscribe, or a run with a thread of its own: let the owner ask, so that all requests come from one place
            # and are never made twice (RS 2.7).
            self._run.poke()

    def _promise(self, subscription: Subscription | Disposable) -> None:
        """Tell a source of ours what it will be asked for: one that sends by itself would find that nobody wants it."""
        promise: Callable[[int], Callable[[], object] | None] | None = getattr(subscription, "_rx_promise", None)
        amount = self._window or self._run.outstanding
        if promise is not None and amount:
            self._keep_promise = promise(amount)
            if self._keep_promise is not None:
                self._outstanding = amount

    # -- asking --------------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Ask for the whole window once, or for what is wanted and not yet asked for."""
        keep, self._keep_promise = self._keep_promise, None
        if keep is not None:
            keep()
        window, outstanding = self._window, self._outstanding
        if window:
            if not outstanding:
                self._outstanding = window
                self._request(window)
            return
        # With what was requested and not looked at yet: a source that sends while it is being subscribed has to know.
        demand = self._run.outstanding
        if demand > outstanding:
            self._outstanding = demand
            self._request(demand if demand == UNBOUNDED else demand - outstanding)

    def _ask_later(self) -> None:
        self._asks_later = False
        if not self._cancelled:
            peak = self.peak
            self._ask()
            if self.peak == peak:
                self._outside = False  # it answers on a thread of its own, and may be told while this one is busy

    def _request_later(self, n: int) -> None:
        if not self._cancelled:
            try:
                self._request(n)
            except Exception as error:
                self._refuse(error)

    def _request(self, n: int) -> None:
        upstream = self._upstream
        request: Callable[[int], object] | None = getattr(upstream, "request", None)  # an Observable's has none
        if request is not None and not self._done:  # RS 2.4
            try:
                request(n)
            except TypeError as error:
                if error is not self._error:  # see subscribe_to
                    raise

    # -- giving it up --------------------------------------------------------------------------------------------------

    def _refuse(self, error: Exception) -> None:
        self._cancel_upstream()
        self.on_error(error)

    def _refused(self, error: TypeError) -> TypeError:
        """For a None: ``error`` ends the stream, unless it is over, and is what the source gets to see."""
        if not self._done and not self._cancelled:
            self._refuse(error)
        return error

    def _cancel_upstream(self) -> None:
        if self._upstream is not None:
            stop(self._upstream)
