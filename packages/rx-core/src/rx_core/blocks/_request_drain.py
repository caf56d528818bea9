"""Drains with a queue between upstream's demand and downstream's: what observe_on and rebatch_requests are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, check_prefetch
from rx_core._errors import MissingBackpressureError, none_argument, none_produced
from rx_core.blocks._cells import SubscriptionCell
from rx_core.blocks._nobody import NOBODY
from rx_core.blocks._queues import SpscArrayQueue, SpscLinkedQueue
from rx_core.blocks._requested import RequestInbox
from rx_core.gate import Gate

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription
    from rx_core.blocks._queues import ItemQueue

T = TypeVar("T")
R = TypeVar("R")

#: When upstream's error is signalled: ``eager`` at once, waiting items are dropped; ``boundary`` as soon as the batch (or
#: whatever ``at_boundary`` says) in progress is complete, the rest is dropped; ``delayed`` after all items.
ErrorMode = Literal["eager", "boundary", "delayed"]

_MODES: Final = ("eager", "boundary", "delayed")


class RequestDrain(Gate, Generic[T, R]):
    """Base of the two drains below: subscriber of upstream, Subscription of ``down``, a queue of ``prefetch`` items between.

    A subclass may override :meth:`deliver`, to do something else with an item than passing it on, and :meth:`at_boundary`.

    Thread: upstream's signals serial, on any thread; ``request``, ``cancel`` and ``drain`` any. Items are delivered on the
    thread that signals or requests, whichever finds the drain free, one at a time.
    Memory: at most ``prefetch`` items; none after the end or a cancel, and ``down`` is forgotten then.
    Rule: RS 1.1, 1.3, 1.7, 2.5, 2.13, 3.3, 3.5, 3.9, 3.13; the specs' section "Stable prefetching".
    """

    __slots__ = (
        "_done",
        "_error",
        "_errors",
        "_queue",
        "_refused",
        "batch",
        "cancelled",
        "down",
        "prefetch",
        "requests",
        "upstream",
    )

    def __init__(
        self,
        down: Subscriber[R],
        prefetch: int,
        /,
        *,
        errors: ErrorMode = "eager",
        queue: ItemQueue[T] | None = None,
    ) -> None:
        check_prefetch(type(self).__name__, prefetch)
        if errors not in _MODES:
            raise ValueError(f"{type(self).__name__}(errors={errors!r}): one of {', '.join(map(repr, _MODES))} is needed")
        super().__init__()
        self.token.pop()  # taken until on_subscribe has returned
        #: The subscriber; only for the holder of the token, that is inside ``deliver``.
        self.down: Subscriber[R] = down
        self.prefetch = prefetch
        self.upstream = SubscriptionCell()
        self.requests = RequestInbox()
        #: Items taken out of the queue since upstream was last asked for more.
        self.batch = 0
        #: Downstream has cancelled, or the stream is over.
        self.cancelled = False
        self._errors = errors
        self._queue: ItemQueue[T] = queue if queue is not None else _queue_for(prefetch)
        self._done = False
        self._error: Exception | None = None
        #: What a source was told that signalled None. It may come back as its on_error, and is no news then.
        self._refused: TypeError | None = None

    # -- what subclasses write ---------------------------------------------------------------------------------------

    def deliver(self, item: T, /) -> bool:
        """Do with ``item`` what the operator does. True if that was one item for downstream, False if it was none.

        It has the drain to itself. User functions called here are its own to guard: ``self.fail(error)`` ends the stream.
        """
        self.down.on_next(item)  # type: ignore[arg-type]  # R is T where this is not overridden
        return True

    def at_boundary(self) -> bool:
        """Whether an error may be signalled now in ``boundary`` mode: by default, when the batch in progress is complete."""
        return not self.batch

    def taken(self) -> None:
        """An item left the queue."""

    def paused(self) -> None:
        """Nothing more can be delivered now."""

    # -- upstream's side ---------------------------------------------------------------------------------------------

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if not self.upstream.set_once(subscription):
            return  # RS 2.5
        try:
            self.down.on_subscribe(self)
            if not self.cancelled:
                subscription.request(self.prefetch)
        except BaseException:
            self._abandon()
            raise
        finally:
            self.token.append(0)
            self.drain()

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self._refuse_none(none_produced("a source"))
        if self._done or self.cancelled:
            return
        if self._queue.offer(item):
            self.drain()
        else:
            self._refuse(MissingBackpressureError(f"RS 1.1: a source sent more than the {self.prefetch} items it was asked for"))

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self._refuse_none(none_argument("on_error(error)", "error"))
        if self._done or self.cancelled:
            if error is not self._refused:
                _hooks.dropped_late(error, self)
            return
        self._error = error
        self._done = True  # after the error and all items, so that the thread that sees it finds them
        self.drain()

    def on_complete(self) -> None:
        self._done = True
        self.drain()

    def _refuse_none(self, error: TypeError) -> TypeError:
        """``error`` ends the stream, unless it is over, and is what the source gets to see (RS 2.13)."""
        if not (self._done or self.cancelled):
            self._refused = error
            self._refuse(error)
        return error

    def _refuse(self, error: Exception) -> None:
        self.upstream.cancel()
        self.on_error(error)

    # -- downstream's side -------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        if not self.cancelled:
            self.requests.add(n)  # the holder of the token answers a wrong n: the error is a signal and has to be serial (RS 3.9)
            self.drain()

    def cancel(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            self._stop_upstream()
            self.drain()  # the holder of the token clears the queue

    # -- the holder of the token --------------------------------------------------------------------------------------------

    def look(self, held: int, /) -> int:
        queue, requests = self._queue, self.requests
        while True:
            if self.cancelled:
                self._abandon()
                return held
            if requests.pending:
                requests.collect()
                if requests.error is not None:
                    self.fail(requests.error)
                    return held
            demand = requests.demand
            done = self._done  # before looking into the queue: items come before the end
            if done:
                if self._error is not None and self._overtakes():
                    self.fail(self._error)
                    return held
                if queue.is_empty():
                    self._finish(self._error)
                    return held
            if not demand or (item := queue.poll()) is None:
                self.paused()
                return held
            self.batch += 1
            if self.deliver(item) and demand != UNBOUNDED:
                requests.demand = demand - 1  # only the holder of the token collects
            self.taken()

    def look_failed(self, _error: BaseException, /) -> BaseException | None:
        self._abandon()  # RS 2.13: a subscriber that raised has cancelled
        return None

    def _overtakes(self) -> bool:
        return self._errors == "eager" or (self._errors == "boundary" and self.at_boundary())

    def fail(self, error: Exception, /) -> None:
        """End now with ``error``, whatever waits; for the holder of the token, so from ``deliver``."""
        if not self.cancelled:
            self._stop_upstream()
            self._queue.clear()
            self._finish(error)

    def _finish(self, error: Exception | None) -> None:
        down, self.down, self.cancelled = self.down, NOBODY, True
        self._error = None
        if error is None:
            down.on_complete()
        else:
            down.on_error(error)

    def _abandon(self) -> None:
        self.cancelled = True
        self._stop_upstream()
        self._queue.clear()
        self.down = NOBODY
        lost, self._error = self._error, None
        if lost is not None:
            _hooks.dropped_late(lost, self)

    def _stop_upstream(self) -> None:
        if not self._done:  # RS 2.4
            self.upstream.cancel()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} prefetch={self.prefetch} for {self.down!r}>"


class StableRequestDrain(RequestDrain[T, R]):
    """Asks upstream for ``prefetch``, then always for 75 % of it again when so many were taken, whatever downstream requests.

    ``StableRequestDrain(down, n)`` as it is is rebatch_requests(n). Thread, memory and rules: :class:`RequestDrain`.
    """

    __slots__ = ()

    def taken(self) -> None:
        if self.batch == self.prefetch - (self.prefetch >> 2) and self.prefetch != UNBOUNDED:
            self.batch = 0
            if not self._done:
                self.upstream_request(self.prefetch - (self.prefetch >> 2))

    def upstream_request(self, n: int) -> None:
        upstream = self.upstream.get()
        if upstream is not None:
            upstream.request(n)


class EmittedRequestDrain(RequestDrain[T, R]):
    """Asks upstream for ``prefetch``, then, each time it pauses, for as many as it took since.

    Upstream follows downstream's rhythm more closely, with more and smaller requests. Items that ``deliver`` dropped are asked
    for again too. Thread, memory and rules: :class:`RequestDrain`.
    """

    __slots__ = ()

    def paused(self) -> None:
        n, self.batch = self.batch, 0
        upstream = self.upstream.get()
        if n and upstream is not None and self.prefetch != UNBOUNDED and not self._done:
            upstream.request(n)


def _queue_for(prefetch: int) -> Any:
    return SpscLinkedQueue() if prefetch == UNBOUNDED else SpscArrayQueue(prefetch)
