"""Arrivals: a source that pushes, iterated by a task that parks. What a waiting thread is in rx_core, a parked task is here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import repeat
from operator import length_hint
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

from rx_core import _buffer_watch
from rx_core._demand import Growth
from rx_core._hooks import dropped_late
from rx_core.streams import ignore, subscribe, throw_away

if TYPE_CHECKING:
    from rx_core._protocols import Subscription
    from rx_core.tasks._loop import Wakeup

T = TypeVar("T")

_TAKE: Final[Callable[[Any], Any]] = deque.popleft
_NONE_LEFT: Final[repeat[Any]] = repeat(None, 0)


@final
class Arrivals(Generic[T]):
    """Subscriber whose items a task takes from a queue, and the wake-up of that task. Signals come from any thread, serially.

    The source is asked for ``window`` items and replenished when 75 % of them were taken. A :class:`Growing` window doubles when
    another thread fills it faster than the task looks. ``exact`` is a window of one item, asked for when it is wanted.
    """

    __slots__ = (
        "_closed",
        "_done",
        "_error",
        "_exact",
        "_growth",
        "_left",
        "_limit",
        "_origin",
        "_owes",
        "_parked",
        "_peak",
        "_queue",
        "_taking",
        "_up",
        "_window",
        "over",
        "taken",
        "wakeup",
    )

    def __init__(self, window: int, origin: object, wakeup: Wakeup, *, exact: bool = False) -> None:
        self.wakeup = wakeup
        self._origin = origin
        self._window = int(window)
        #: After so many items more is asked for, and how many of them are still to be taken.
        self._limit = self._left = self._window - (self._window >> 2)
        self._growth = Growth.of(window)
        self._exact = exact
        #: The item that is not asked for yet is wanted now.
        self._owes = False
        self._queue: deque[T] = deque()
        self._up: Subscription | None = None
        self._error: Exception | None = None
        self._done = False
        self._closed = False
        #: The most items that were seen to wait.
        self._peak = 0
        #: There was nothing to take.
        self._parked = False
        #: Counts what of the last :meth:`take` was not iterated.
        self._taking: repeat[Any] = _NONE_LEFT
        #: How many items the last :meth:`take` gave at most.
        self.taken = 0
        #: The end was reached, and its error raised.
        self.over = False

    # -- signals: any thread -----------------------------------------------------------------------------------------

    def on_subscribe(self, up: Subscription, /) -> None:
        if self._closed or self._up is not None:
            up.cancel()  # RS 2.5
            return
        self._up = up
        up.request(self._window)

    def on_next(self, item: T, /) -> None:
        self._queue.append(item)
        wakeup = self.wakeup
        if not wakeup.woken:
            if self._growth is not None:
                self._growth.feeder = get_ident()
            wakeup.wake()

    def on_error(self, error: Exception, /) -> None:
        if self._closed:
            dropped_late(error, self._origin)
            return
        self._error = error
        self.on_complete()

    def on_complete(self) -> None:
        self._done = True  # published last: the task that sees it finds the error and every item
        wakeup = self.wakeup
        if not wakeup.woken:
            wakeup.wake()

    # -- the task that iterates --------------------------------------------------------------------------------------

    def open(self, source: Any) -> None:
        subscribe(source, self)

    def take(self, most: int) -> Iterator[T] | None:
        """Up to ``most`` of the items that wait, to be iterated before the next call; None where there is none yet.

        At the end it raises the error, or is empty, and ``over`` is set. What of the last items was not iterated comes first.
        """
        self.taken = length_hint(self._taking)
        if self.taken:
            return map(_TAKE, self._taking)
        if self._owes:
            self._owes = False
            self._request(1)
        if self._parked:
            self._parked = False
            if self._growth is not None:
                self._consider_growth(self._growth)
        queue = self._queue
        waiting = len(queue)
        if not waiting:
            if not self._done:
                self._parked = True
                return None
            waiting = len(queue)  # what came before the end is there
            if not waiting:
                return self._ended()
        if waiting > self._peak:
            self._peak = waiting
        many = min(waiting, self._left - 1, most)
        if many:
            self._left -= many
            self.taken = many
            self._taking = repeat(queue, many)
            return map(_TAKE, self._taking)
        item = queue.popleft()  # first, so that no more wait than may
        self._left = self._limit
        if self._exact:
            self._owes = True
        else:
            self._request(self._limit)
        self.taken = 1
        return iter((item,))

    def _consider_growth(self, growth: Growth) -> None:
        window = self._window
        more = growth.more(window, len(self._queue) >= window - (self._limit - self._left))
        if more:
            self._window = window = window + more
            limit = window - (window >> 2)
            self._left += limit - self._limit
            self._limit = limit
            self._request(more)

    def _ended(self) -> Iterator[T]:
        self.over = True
        error, self._error = self._error, None
        if isinstance(error, StopIteration):  # one cannot leave a generator (PEP 479)
            raise RuntimeError("a function in the pipeline raised StopIteration") from error
        if error is not None:
            raise error
        return iter(())

    def _request(self, n: int) -> None:
        if not self._done and self._up is not None:
            self._up.request(n)

    def close(self) -> None:
        """Cancel the source, unless it is over, and forget what waits. Idempotent."""
        if self._closed:
            return
        self._closed = True
        up, self._up = self._up, None  # they refer to each other: no stream is to wait for the garbage collector
        self._taking = _NONE_LEFT
        try:
            if up is not None and not self._done:
                up.cancel()
        finally:
            peak = max(self._peak, len(self._queue))
            if peak and _buffer_watch.watch is not None:
                _buffer_watch.watch(peak)
            self._peak = 0
            discard = getattr(up, "discard", ignore)
            # Publish first, look afterwards: an item that comes now finds this, or is found.
            self.wakeup = _Left(self._queue, discard)
            throw_away(self._queue, discard)


@final
class _Left:
    """In the place of the wake-up of a task that has left: what comes is thrown away. It does not refer to the arrivals, which
    would wait for the garbage collector then."""

    __slots__ = ("_discard", "_queue", "woken")

    def __init__(self, queue: deque[Any], discard: Callable[[Any], object]) -> None:
        self._queue = queue
        self._discard = discard
        self.woken = False

    def wake(self) -> None:
        throw_away(self._queue, self._discard)

    async def wait(self) -> None:
        raise AssertionError("the task has left")

    pause = wait
