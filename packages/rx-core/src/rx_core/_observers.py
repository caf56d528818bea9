"""Callbacks as a subscriber: what ``subscribe(on_next, on_error=..., on_complete=...)`` builds."""

from __future__ import annotations

from collections.abc import Callable
from threading import TIMEOUT_MAX, Event
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import _forgotten, _hooks
from rx_core._blocking import waiting_refused
from rx_core._demand import UNBOUNDED, SettlesDemand
from rx_core._disposables import Handle
from rx_core._errors import EXHAUSTION, composite, none_argument, not_an_error

if TYPE_CHECKING:
    from rx_core._protocols import Disposable, Subscription

T = TypeVar("T")

#: Entries of an observer's cell.
_UPSTREAM: Final = 0
_WAITED_FOR: Final = 1
_SUBSCRIBED_AT: Final = 2
_BEFORE: Final = 3


class LeadsToCallbacks:
    """A subscriber of this library whose items may be callbacks' as they are. See :func:`callbacks_behind`."""

    __slots__ = ()

    def callbacks(self) -> CallbackObserver[Any] | None:
        """The callbacks that get each of its items. Only of one that cancels its source at once when they are disposed: no worker
        does it, and no function of a user runs before."""
        raise NotImplementedError


def callbacks_behind(down: object) -> CallbackObserver[Any] | None:
    """The callbacks for which ``down`` takes items, if there are any. Who sends them to ``down`` may give them to the function
    itself, as long as its own subscription is not cancelled, and what that raises to :meth:`CallbackObserver.callback_failed`."""
    return down.callbacks() if isinstance(down, LeadsToCallbacks) else None


class CallbackObserver(Handle, LeadsToCallbacks, Generic[T]):
    """Subscriber and observer of all five types at once, unbounded; disposing it cancels.

    A callback that raises cancels the stream and its error goes to ``on_error`` (from ``on_next``) or to the error hook (from the
    others). Without ``on_error`` an error reaches the hook, never silence.
    A None raises TypeError in the publisher that signals it, and ends the stream with it (RS 2.13).
    Once the source has ended, its subscription is released before a callback runs: disposing the observer inside the callback or
    later reaches no source (RS 2.3, 2.4).
    """

    __slots__ = ("__weakref__", "_cell", "_done", "_on_complete", "_on_error", "_on_next", "_origin", "_over")

    #: The source's subscription until its end, and what :meth:`wait` waits for. Any: they are of several types.
    _cell: dict[int, Any]
    #: Nothing is signalled any more.
    _done: bool
    #: The same, and the callback of the end has returned.
    _over: bool

    def __init__(
        self,
        origin: object,
        on_next: Callable[[T], object] | None,
        on_error: Callable[[Exception], object] | None,
        on_complete: Callable[[], object] | None,
    ) -> None:
        self._origin = origin
        self._on_next = on_next
        self._on_error = on_error
        self._on_complete = on_complete
        self._cell = {}
        self._done = self._over = False

    def on_subscribe(self, subscription: Subscription | Disposable, /) -> None:
        if subscription is None:
            raise self._refused(none_argument("on_subscribe(None)", "subscription"))
        if _UPSTREAM in self._cell:
            stop(subscription)  # RS 2.5
            return
        self._cell[_UPSTREAM] = subscription
        if self._done:
            self.dispose()
            return
        if isinstance(subscription, SettlesDemand):
            subscription.request_all()
        elif hasattr(subscription, "request"):
            subscription.request(UNBOUNDED)

    def source_changes(self) -> None:
        """What it is subscribed to goes on as another source, whose on_subscribe comes next. A cancel reaches both."""
        before = self._cell.pop(_UPSTREAM, None)
        if before is not None:
            self._cell[_BEFORE] = before

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self._refused(none_argument("on_next(None)", "item"))
        function = self._on_next
        if self._done or function is None:
            return
        try:
            function(item)
        except BaseException as error:
            self.callback_failed(error)

    def callbacks(self) -> CallbackObserver[Any] | None:
        return self if type(self) is CallbackObserver and self._on_next is not None else None

    @property
    def up(self) -> Subscription | Disposable | None:
        """The source's subscription, until its end."""
        found: Subscription | Disposable | None = self._cell.get(_UPSTREAM)
        return found

    @property
    def origin(self) -> object:
        """What it is subscribed to, for messages."""
        return self._origin

    @property
    def function(self) -> Callable[[T], object] | None:
        """The callback that takes the items. A source may call it itself; :meth:`callback_failed` is for what it raises."""
        return self._on_next

    def callback_failed(self, error: BaseException) -> None:
        """The callback raised ``error`` for an item: cancel, and tell ``on_error``. What is no Exception is raised again."""
        try:
            self._cancel()  # RS 2.13: failing means cancelling
        except EXHAUSTION:
            self._done = False  # to be told further down the stack: see subscribing_failed()
            raise
        if not isinstance(error, Exception):
            self._is_over()
            raise error
        self._fail(error)

    def on_success(self, item: T, /) -> None:
        self._cell.pop(_UPSTREAM, None)  # RS 2.4, before on_next: this item is the source's end
        self.on_next(item)
        self.on_complete()

    def on_error(self, error: Exception, /) -> None:
        self._cell.pop(_UPSTREAM, None)  # RS 2.4
        if not isinstance(error, Exception):
            raise self._refused(not_an_error(error))
        if self._done:
            _hooks.dropped_late(error, self._origin)
            return
        self._done = True
        self._fail(error)

    def _refused(self, error: TypeError) -> TypeError:
        if not self._done:
            self._cancel()
            self._fail(error)
        return error

    def _fail(self, error: Exception) -> None:
        try:
            if self._on_error is None:
                _hooks.dropped(error, self._origin)
            else:
                self._on_error(error)
        except EXHAUSTION as second:
            trace = second.__traceback__
            if trace is None or trace.tb_next is None:  # it was not even called: see subscribing_failed()
                self._done = False
                raise
            self._failed_twice(error, second)
        except Exception as second:
            self._failed_twice(error, second)
        except BaseException:
            self._is_over()
            raise
        else:
            self._is_over()

    def _failed_twice(self, error: Exception, second: Exception) -> None:
        try:
            _hooks.dropped(composite([error, second]), self._origin)
        finally:
            self._is_over()

    def subscribing_failed(self, error: Exception) -> None:
        """There was no stack or no memory left somewhere inside of ``subscribe``, which has returned from there by now.

        The operators have told each other where they could; told at a depth where this could not be called, ``on_error`` hears
        of it now.
        """
        if not self._over:
            self._done = False
            self.on_error(error)

    def on_complete(self) -> None:
        cell = self._cell
        if cell:
            cell.pop(_UPSTREAM, None)  # RS 2.4
        if self._done:
            return
        self._done = True
        over = True
        try:
            if self._on_complete is not None:
                self._on_complete()
        except EXHAUSTION as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is None:  # it was not even called: see subscribing_failed()
                self._done = over = False
                raise
            _hooks.dropped(error, self._origin)
        except Exception as error:
            _hooks.dropped(error, self._origin)
        finally:
            self._over = over  # as _is_over has it, and mostly without the call
            if cell and over:
                self._is_over()

    def dispose(self) -> None:
        try:
            self._cancel()
        finally:
            self._is_over()

    def _cancel(self) -> None:
        self._done = True
        for entry in (_BEFORE, _UPSTREAM):
            subscription = self._cell.pop(entry, None)
            if subscription is not None:
                stop(subscription)

    def _is_over(self) -> None:
        self._over = True  # first, then the look: wait() does it the other way round
        self._cell.pop(_BEFORE, None)
        waited_for = self._cell.get(_WAITED_FOR)
        if waited_for is not None:
            waited_for.set()

    def wait(self, timeout: float | None = None) -> bool:
        if self._over:
            return True
        refused = waiting_refused(self._origin) if timeout is None or timeout > 0 else None
        if refused is not None:
            raise refused
        over: Event = self._cell.setdefault(_WAITED_FOR, Event())
        if timeout is not None:
            timeout = min(timeout, TIMEOUT_MAX)  # some centuries, as infinite as a lock can wait
        return self._over or over.wait(timeout)  # type: ignore[redundant-expr]  # set meanwhile

    def subscribed_at(self, place: tuple[str, int] | None) -> tuple[str, int] | None:
        """Keep the file and the line, and return what was kept. Only in development mode, see rx_core._forgotten."""
        kept: tuple[str, int] | None = self._cell.pop(_SUBSCRIBED_AT, None)
        if place is not None:
            self._cell[_SUBSCRIBED_AT] = place
        return kept

    if _forgotten.WATCHING:

        def __del__(self) -> None:
            _forgotten.collected(self)

    def __repr__(self) -> str:
        return f"<subscription to {self._origin!r}: {'over' if self._done else 'running'}>"

    @property
    def is_disposed(self) -> bool:
        """Nothing is signalled any more: it was disposed, or has ended."""
        return self._done


def stop(subscription: Subscription | Disposable) -> None:
    """Cancel or dispose, whichever it has: for receiving ends that serve publishers and observables alike."""
    cancel: Callable[[], object] | None = getattr(subscription, "cancel", None) or getattr(subscription, "dispose", None)
    if cancel is not None:
        cancel()
