"""The inbox: where the signals of a publisher wait until the run that subscribed to it polls them.

It is the one queue between "somebody pushes" and "a generator pulls", and bounded wherever the source can be asked: by its window
(requested up front and replenished when 75 % was taken) or by demand (asks only for what downstream still wants). A source that
cannot be asked is bounded by an overflow policy, or, as an Observable, not at all.

Here is the queue, with who pushes and who polls; subscribing and requesting are in _upstream.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import _buffer_watch, _hooks
from rx_core._demand import DEFAULT_PREFETCH, LARGEST_PREFETCH, UNBOUNDED, Growing
from rx_core._errors import MissingBackpressureError, none_argument, none_produced
from rx_core._later import PutOff
from rx_core._upstream import Upstream
from rx_core._user_code import OPERATOR_CODES, traced_as_before

if TYPE_CHECKING:
    from rx_core._drain import Drain
    from rx_core._run import Run, Through

T = TypeVar("T")

#: A mark that is always reached.
_ALWAYS: Final = -1

_TAKE: Final = deque.popleft

#: A window that is as good as none.
_MANY: Final = 1 << 29


class Inbox(Upstream[T]):
    """Subscriber (or observer) that queues for one run.

    Pushing side: any thread, serially (RS 1.3). Polling side: the run's owner. A None raises TypeError at who signals it, and is
    the error of the stream as well, because no more is to be expected of such a source (RS 2.13).
    """

    __slots__ = (
        "_batch",
        "_eager_error",
        "_feeder",
        "_gate",
        "_keeps",
        "_limit",
        "_mark",
        "_most",
        "_push",
        "_queue",
        "_straight",
        "asker",
        "failed",
        "heeded",
    )

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
        self._upstream = None
        self._outstanding = 0
        self._opening = 0
        self._outside = False
        self._asks_later = False
        self._spoke = False
        self._keep_promise = None
        self._done = False
        self._cancelled = False
        self._error = None
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
        self.peak = 0
        #: From this many waiting items on there is more to do for the next one than to append it: a new peak, and at the latest
        #: there a window that is full; for each item when it is not wanted any more, or wants to know that it waits.
        self._mark = 0
        #: The turns to take an item in :meth:`stream`. Who clears it stops that.
        self._batch: list[deque[T]] = []

    def _negotiate(self, queue: Any) -> None:
        from rx_core._polled import negotiate  # here, because most sources are no queues

        negotiate(self, queue, self._run)

    def shorten(self, gate: Drain[Any], through: Through | None = None) -> None:
        """What comes may go past the operator, which gives it on unchanged, ``through`` the stages before it."""
        from rx_core._direct import become_direct  # here, because it needs what is made here

        if self._window:  # without one each item counts in what is asked for
            self._limit = min(self._limit, _MANY)  # counted down for each item, which is slow for the very large
            become_direct(self, gate, through)

    # -- pushing side --------------------------------------------------------------------------------------------------

    @property
    def _rx_dropped(self) -> Callable[[], object] | None:
        """What a stage before this calls that drops an item: else a run with a time limit would not see the time."""
        return self._run.root.dropped_one

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

    # -- polling side --------------------------------------------------------------------------------------------------

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
                                run.later(PutOff(self, partial(self._request_later, limit)))
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
                            run.later(PutOff(self, self._ask_later))
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

    # -- the run gives it back -----------------------------------------------------------------------------------------

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
            if _buffer_watch.watch is not None:
                _buffer_watch.watch(self.peak)

    @property
    def is_disposed(self) -> bool:
        return self._cancelled


OPERATOR_CODES.add(Inbox.stream.__code__)  # it raises what was signalled, a StopIteration included


class WalledInbox(Inbox[T]):
    """An inbox that never polls its source instead."""

    __slots__ = ()

    def _negotiate(self, queue: Any) -> None:
        pass
