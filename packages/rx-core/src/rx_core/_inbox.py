"""The inbox: where the signals of a publisher wait until the run that subscribed to it polls them.

It is the one queue between "somebody pushes" and "a generator pulls", and bounded wherever the source can be asked: by its window
(requested up front and replenished when 75 % was taken) or by demand (asks only for what downstream still wants). A source that
cannot be asked is bounded by an overflow policy, or, as an Observable, not at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar, final

from rx_core import _hooks
from rx_core._demand import UNBOUNDED, Growing
from rx_core._errors import MissingBackpressureError, none_argument, none_produced
from rx_core._observers import stop
from rx_core._user_code import OPERATOR_CODES, traced_as_before

if TYPE_CHECKING:
    from rx_core._drain import Drain
    from rx_core._protocols import Disposable, Publisher, Subscription
    from rx_core._run import Run, Through

T = TypeVar("T")

#: Called with every inbox that is given up; see :class:`BufferWatch`. None: nobody counts.
_watch: Callable[[Inbox[Any]], object] | None = None

#: Window value: request what downstream wants, no more (the specs' "arbiter").
DEMAND: Final = 0

#: How many items wait at a boundary when nobody says otherwise.
DEFAULT_PREFETCH: Final = 128

#: How far a :class:`Growing` window goes.
LARGEST_PREFETCH: Final = 1024

#: What ``prefetch`` is at a boundary between threads when nobody says otherwise.
GROWING_PREFETCH: Final = Growing(DEFAULT_PREFETCH)

#: A mark that is always reached.
_ALWAYS: Final = -1

_TAKE: Final = deque.popleft

#: A window that is as good as none.
_MANY: Final = 1 << 29


@final
class _PutOff:
    """Subscribing or requesting, when the run is not busy."""

    __slots__ = ("_action", "_inbox")

    def __init__(self, inbox: Inbox[Any], action: Callable[[], object]) -> None:
        self._inbox = inbox
        self._action = action

    def __call__(self) -> None:
        self._action()

    @property
    def lets_others_in(self) -> bool:
        """Whether others need not wait until it returns: it has sent something and goes on. One that has ended or was cancelled
        returns in a moment, and what comes next begins after that."""
        inbox = self._inbox
        return bool(inbox.peak or inbox._spoke) and not (inbox._done or inbox._cancelled)


class Inbox(Generic[T]):
    """Subscriber (or observer) that queues for one run.

    Pushing side: any thread, serially (RS 1.3). Polling side: the run's owner. A None raises TypeError at who signals it, and is
    the error of the stream as well, because no more is to be expected of such a source (RS 2.13).
    """

    __slots__ = (
        "_asks_later",
        "_batch",
        "_cancelled",
        "_done",
        "_eager_error",
        "_error",
        "_feeder",
        "_gate",
        "_keep_promise",
        "_keeps",
        "_limit",
        "_mark",
        "_most",
        "_opening",
        "_outside",
        "_outstanding",
        "_push",
        "_queue",
        "_run",
        "_spoke",
        "_straight",
        "_upstream",
        "_window",
        "asker",
        "failed",
        "heeded",
        "peak",
    )

    #: Whether the source is the queue, and this only polls it (see _polled.py).
    polls: ClassVar[bool] = False
    #: Whether it asks when it is subscribed, even if its run has a thread of its own: who wants everything asks for it once.
    _at_once: ClassVar[bool] = False
    #: Whether what waits may be taken away again by who sends it: then items are taken one at a time.
    _takes_back: ClassVar[bool] = False

    def __init__(self, run: Run, window: int, *, eager_error: bool = False) -> None:
        self._run = run
        #: What the window may grow to.
        self._most = 0
        if type(window) is Growing:
            window, self._most = int(window), LARGEST_PREFETCH
        self._window = window
        #: The thread that sent when most items waited.
        self._feeder = 0
        #: 75 % of the window: late enough to ask in batches, early enough not to run dry.
        self._limit = window - (window >> 2)
        self._queue: deque[T] = deque()
        self._upstream: Subscription | Disposable | None = None
        self._outstanding = 0
        self._opening = 0
        #: Whether this is to be asked for more when the run is not busy: its source may answer for long, on the run's own thread,
        #: and what it sends meanwhile is to go on.
        self._outside = False
        self._asks_later = False
        #: Whether it was polled and gave something; what is pushed shows in ``peak``.
        self._spoke = False
        self._keep_promise: Callable[[], object] | None = None
        self._done = False
        self._cancelled = False
        self._error: Exception | None = None
        self._eager_error = eager_error
        #: The drain that its operator runs under and gives items on to; see DirectInbox.
        self._gate: Drain[Any] | None = None
        #: After how many items that go past the operator more is to be asked for. 0: none may, the stream does not wait.
        self._straight = 0
        #: Whether items want to know that they wait here (see _rx_keep); the first one tells.
        self._keeps: bool | None = None
        #: Whether an error is to be told of although items wait before it, and the thread that asks for items just now, if it is
        #: to hear of it in their order: a synchronous source sends all that was asked for before it returns.
        self.heeded = False
        self.asker = 0
        #: Such an error came.
        self.failed = False
        #: The most items that ever waited here.
        self.peak = 0
        #: From this many waiting items on there is more to do for the next one than to append it: a new peak, and at the latest
        #: there a window that is full; for each item when it is not wanted any more, or wants to know that it waits.
        self._mark = 0
        #: The turns to take an item in :meth:`stream`. Who clears it stops that.
        self._batch: list[deque[T]] = []

    def shorten(self, gate: Drain[Any], through: Through | None = None) -> None:
        """What comes may go past the operator, which gives it on unchanged, ``through`` the stages before it."""
        from rx_core._direct import become_direct  # here, because it needs what is made here

        if self._window:  # without one each item counts in what is asked for
            self._limit = min(self._limit, _MANY)  # counted down for each item, which is slow for the very large
            become_direct(self, gate, through)

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
        self._run.later(_PutOff(self, partial(self._subscribe, source, None if hold is None else hold())))

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

    # -- pushing side ------------------------------------------------------------------------------------------------

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

    @property
    def _rx_dropped(self) -> Callable[[], object] | None:
        """What a stage before this calls that drops an item: else a run with a time limit would not see the time."""
        return self._run.root.dropped_one

    def _promise(self, subscription: Subscription | Disposable) -> None:
        """Tell a source of ours what it will be asked for: one that sends by itself would find that nobody wants it."""
        promise: Callable[[int], Callable[[], object] | None] | None = getattr(subscription, "_rx_promise", None)
        amount = self._window or self._run.outstanding
        if promise is not None and amount:
            self._keep_promise = promise(amount)
            if self._keep_promise is not None:
                self._outstanding = amount

    def _negotiate(self, queue: Any) -> None:
        from rx_core._polled import negotiate  # here, because most sources are no queues

        negotiate(self, queue, self._run)

    def on_next(self, item: T, /) -> None:
        queue = self._queue
        if (len(queue) >= self._mark or item is None) and not self._admits(item):
            return
        queue.append(item)
        run = self._run
        if not run.woken:
            run.wake()

    def _rx_feed(self, items: Iterator[T]) -> None:
        """``on_next`` for each of ``items``, none of them None, while they are wanted: for one of ours that iterates anyway."""
        queue, run = self._queue, self._run
        append = queue.append
        for item in items:
            if len(queue) >= self._mark and not self._admits(item):
                return
            append(item)
            if not run.woken:
                run.wake()

    def _admits(self, item: T) -> bool:
        """Whether ``item`` may wait: the rare part of :meth:`on_next`."""
        if item is None:
            raise self._refused(none_produced(f"a source ({type(self._upstream).__module__})"))
        if self._done or self._cancelled:
            return False
        waiting = len(self._queue)
        if self._window and waiting >= self._window:
            self._refuse(
                MissingBackpressureError(f"RS 1.1: a source sent more than the {self._window} elements it was asked for")
            )
            return False
        if self._keeps is not False:
            self._keep(item)
        if waiting >= self.peak:
            self.peak = waiting + 1
            if self._most:
                self._feeder = get_ident()
            if not self._keeps:
                self._mark = self.peak
                if self.is_disposed:  # meanwhile, by who polls
                    self._mark = _ALWAYS
        return True

    def _keep(self, item: Any) -> None:
        """Tell an item that it waits (``_rx_keep``), and later that it was taken (``_rx_taken``).

        A group of group_by is abandoned when its consumer came back without subscribing to it; a queue is not that consumer.
        """
        if self._keeps is None:
            self._keeps = hasattr(type(item), "_rx_keep")
        if self._keeps:
            item._rx_keep()

    def on_error(self, error: Exception, /) -> None:
        if error is None:
            raise self._refused(none_argument("on_error(None)", "error"))
        if self._done or self._cancelled:
            if error is not self._error:  # a source that signals what it was refused with says nothing new
                _hooks.dropped(error, self._run.origin)
            return
        self._error = error
        self._done = True  # published last: who sees it finds the error and every item
        self._mark = _ALWAYS
        if self._eager_error:
            self._batch.clear()
        if self.heeded and self.asker != get_ident():
            self.failed = True
            self._run.poke()
        elif self._eager_error or not self._queue:
            self._run.poke()
        # With items before it the end is found when the last of them is polled; see stream().

    def on_complete(self) -> None:
        if self._done:
            return
        self._done = True
        self._mark = _ALWAYS
        if not self._queue:
            self._run.poke()

    def on_success(self, item: T, /) -> None:
        """Single and Maybe deliver here: the only item and the end at once."""
        if item is None:
            raise self._refused(none_produced("a Single or Maybe"))
        if not self._done and not self._cancelled:
            self._queue.append(item)
            self._done = True
            self._mark = _ALWAYS
            self._run.wake()

    def _refuse(self, error: Exception) -> None:
        self._cancel_upstream()
        self.on_error(error)

    def _refused(self, error: TypeError) -> TypeError:
        """For a None: ``error`` ends the stream, unless it is over, and is what the source gets to see."""
        if not self._done and not self._cancelled:
            self._refuse(error)
        return error

    # -- polling side ------------------------------------------------------------------------------------------------

    def stream(self) -> Iterator[T | None]:
        """Items in order, None while there is nothing; raises the error, ends at completion. Closing it cancels upstream."""
        run, queue, window, limit = self._run, self._queue, self._window, self._limit
        popleft = queue.popleft
        taken = 0
        filled = False
        try:
            while True:
                if self._eager_error and self._error is not None:
                    break
                while queue:
                    # All but those that are followed by something to do: the last one, and the one after which more is asked for.
                    many = len(queue) - 1
                    if window and many >= limit - taken:
                        many = limit - taken - 1
                    if many > 1 and not (self._keeps or self._takes_back):
                        self._batch = [queue] * many
                        if self._eager_error and self._error is not None:
                            break  # signalled before it could stop this batch
                        yield from map(_TAKE, self._batch)
                        if window:
                            taken += many
                        elif self._outstanding < UNBOUNDED:
                            self._outstanding -= many
                        continue
                    try:
                        item = popleft()
                    except IndexError:  # taken back at this moment
                        break
                    if window:
                        taken += 1
                        if taken == limit:
                            taken = 0
                            if self._outside:
                                run.later(_PutOff(self, partial(self._request_later, limit)))
                            else:
                                self._request(limit)
                    elif self._outstanding < UNBOUNDED:
                        self._outstanding -= 1
                    if self._done and not queue:
                        run.poke()  # the end is known: it needs no further demand
                    yield item
                    if self._keeps:
                        item._rx_taken()  # type: ignore[attr-defined]  # it has it when it has _rx_keep
                    if self._eager_error and self._error is not None:
                        break
                if self.polls and self._upstream is not None:  # granted by an on_subscribe that came late
                    yield from self.stream()
                    return
                if self._done:
                    if queue and not (self._eager_error and self._error is not None):
                        continue
                    break
                if (self._outstanding < UNBOUNDED or self._keep_promise is not None) and self._upstream is not None:
                    if self._outside if window else run.outstanding > DEFAULT_PREFETCH:
                        # Only when there is something to ask for: what is put off makes the run look again.
                        more = not self._outstanding if window else run.outstanding > self._outstanding
                        if not self._asks_later and (self._keep_promise is not None or more):
                            self._asks_later = True  # a synchronous source answers with all of it: as in subscribe_later
                            run.later(_PutOff(self, self._ask_later))
                    else:
                        self._ask()
                    if queue or self._done:
                        continue  # a synchronous source answered at once
                if self._gate is None or self._keeps is not False:
                    yield None
                else:
                    self._straight = limit - taken
                    yield None
                    taken = limit - self._straight
                    self._straight = 0
                if 0 < self._window < self._most and len(queue) >= window - taken and self._feeder != get_ident():
                    if filled:  # the first time says only that it is fast, not that it waits for this
                        window, limit = self._grown(window)
                    filled = True
            if self._error is not None:
                run.after(traced_as_before(self._error))
                raise self._error
        finally:
            self._straight = 0
            self.dispose()
            run.disown(self)

    def hurry(self) -> None:
        """An error that has come, or comes, is not to wait for the items before it; for the run's owner."""
        self._eager_error = True
        self._batch.clear()

    def _grown(self, window: int) -> tuple[int, int]:
        """Ask for twice as much: a hand-over between two threads takes as long as some hundred items, and the more of them come
        at a time the less it is for each.
        """
        self._window = larger = min(2 * window, self._most)
        self._limit = larger - (larger >> 2)
        self._request(larger - window)
        return larger, self._limit

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

    def _request(self, n: int) -> None:
        upstream = self._upstream
        request: Callable[[int], object] | None = getattr(upstream, "request", None)  # an Observable's has none
        if request is not None:
            try:
                request(n)
            except TypeError as error:
                if error is not self._error:  # see subscribe_to
                    raise

    # -- the run gives it back ---------------------------------------------------------------------------------------

    def dispose(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            self._mark = _ALWAYS
            self._batch.clear()
            if not self._done:
                self._cancel_upstream()
            if not self.polls:
                self._upstream = None  # it refers to this: of many rounds none is to wait for the garbage collector
            if self._keeps:
                for item in self._queue:
                    item._rx_taken()  # type: ignore[attr-defined]  # it has it when it has _rx_keep
            self._queue.clear()
            if _watch is not None:
                _watch(self)

    def _cancel_upstream(self) -> None:
        if self._upstream is not None:
            stop(self._upstream)

    @property
    def is_disposed(self) -> bool:
        return self._cancelled


class BufferWatch:
    """How many items ever waited in one buffer, over all runs that ended inside a ``with`` block, in any thread of the process.

    Costs nothing per item: an inbox counts its own peak anyway and reports it when it is given up.
    """

    __slots__ = ("_before", "peaks")

    def __init__(self) -> None:
        #: The peak of each buffer that was used, in the order they were given up.
        self.peaks: list[int] = []
        self._before: Callable[[Inbox[Any]], object] | None = None

    @property
    def peak(self) -> int:
        """The most items that waited in one buffer; 0 when no buffer was needed."""
        return max(self.peaks, default=0)

    def _report(self, inbox: Inbox[Any]) -> None:
        self.peaks.append(inbox.peak)
        if self._before is not None:
            self._before(inbox)

    def __enter__(self) -> BufferWatch:
        global _watch
        self._before, _watch = _watch, self._report
        return self

    def __exit__(self, *_: object) -> None:
        global _watch
        _watch = self._before


OPERATOR_CODES.add(Inbox.stream.__code__)  # it raises what was signalled, a StopIteration included


class WalledInbox(Inbox[T]):
    """An inbox that never polls its source instead."""

    __slots__ = ()

    def _negotiate(self, queue: Any) -> None:
        pass
