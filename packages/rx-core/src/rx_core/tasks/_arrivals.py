"""Arrivals: a source that pushes, iterated by a task that parks. What a waiting thread is in rx_core, a parked task is here."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

from rx_core import _buffer_watch
from rx_core._demand import LARGEST_PREFETCH, Growing
from rx_core._hooks import dropped_late
from rx_core._user_code import OPERATOR_CODES
from rx_core.streams import subscribe

if TYPE_CHECKING:
    from rx_core._protocols import Subscription
    from rx_core.tasks._loop import Wakeup

T = TypeVar("T")

_TAKE: Final = deque.popleft


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
        "_feeder",
        "_most",
        "_origin",
        "_peak",
        "_queue",
        "_up",
        "_window",
        "wakeup",
    )

    def __init__(self, window: int, origin: object, wakeup: Wakeup, *, exact: bool = False) -> None:
        self.wakeup = wakeup
        self._origin = origin
        self._window = int(window)
        #: What the window may grow to.
        self._most = LARGEST_PREFETCH if type(window) is Growing else 0
        self._exact = exact
        self._queue: deque[T] = deque()
        self._up: Subscription | None = None
        self._error: Exception | None = None
        self._done = False
        self._closed = False
        #: The most items that waited at a time. With so many of them the next one has more to do than to wait.
        self._peak = 0
        #: The thread that sent when most items waited.
        self._feeder = 0

    # -- signals: any thread -----------------------------------------------------------------------------------------

    def on_subscribe(self, up: Subscription, /) -> None:
        if self._closed or self._up is not None:
            up.cancel()  # RS 2.5
            return
        self._up = up
        up.request(self._window)

    def on_next(self, item: T, /) -> None:
        queue = self._queue
        if len(queue) >= self._peak:
            if self._closed:
                return
            self._peak = len(queue) + 1
            self._feeder = get_ident()
        queue.append(item)
        wakeup = self.wakeup
        if not wakeup.woken:
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

    def open(self, source: Any) -> Iterator[T | None]:
        """Subscribe to ``source``. Its items, and None while there is none; the error it ends with is raised."""
        items = self._items()
        subscribe(source, self)
        return items

    def _items(self) -> Iterator[T | None]:
        queue, window, exact = self._queue, self._window, self._exact
        limit = left = window - (window >> 2)  # how many are still to be taken before more is asked for
        filled = False
        while True:
            while queue:
                many = min(len(queue), left - 1)
                if many > 1:
                    left -= many
                    yield from map(_TAKE, repeat(queue, many))
                    continue
                item = queue.popleft()
                left -= 1
                if not left:
                    left = limit
                    if exact:
                        yield item
                        self._request(limit)
                        continue
                    self._request(limit)
                yield item
            if self._done:
                if queue:
                    continue
                break
            yield None
            # A hand-over between two threads takes as long as some hundred items, so the more of them come at a time the better.
            if window < self._most and len(queue) >= window - (limit - left) and self._feeder != get_ident():
                if filled:  # the first time says only that it is fast, not that it waits for this
                    more = min(window, self._most - window)
                    window += more
                    left += window - (window >> 2) - limit
                    limit = window - (window >> 2)
                    self._request(more)
                filled = True
        error, self._error = self._error, None
        if error is not None:
            if isinstance(error, StopIteration):  # one cannot leave a generator (PEP 479)
                raise RuntimeError("a function in the pipeline raised StopIteration") from error
            raise error

    def _request(self, n: int) -> None:
        if not self._done and self._up is not None:
            self._up.request(n)

    def close(self) -> None:
        """Cancel the source, unless it is over, and forget what waits. Idempotent."""
        if self._closed:
            return
        self._closed = True
        up, self._up = self._up, None  # they refer to each other: no stream is to wait for the garbage collector
        try:
            if up is not None and not self._done:
                up.cancel()
        finally:
            if self._peak and _buffer_watch.watch is not None:
                _buffer_watch.watch(self._peak)
            self._peak = 0
            self._queue.clear()


OPERATOR_CODES.add(Arrivals._items.__code__)  # it raises what was signalled
