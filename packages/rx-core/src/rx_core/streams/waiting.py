"""Waiting: a source that pushes, iterated by a thread that waits."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import _hooks
from rx_core._blocking import waiting_refused
from rx_core._demand import UNBOUNDED, Growth
from rx_core.streams.contracts import ignore, left_behind, throw_away
from rx_core.streams.entry import subscribe

if TYPE_CHECKING:
    from rx_core._protocols import Subscription

T = TypeVar("T")

_TAKE: Final[Callable[[Any], Any]] = deque.popleft


class Waiting(Generic[T]):
    """Subscriber whose items a thread takes from a queue, sleeping on a lock while there is none.

    The source is asked for ``window`` items and replenished at 75 %; UNBOUNDED asks for everything. A window that the user did
    not give doubles when another thread fills it faster than this one looks. ``enough`` items are all that is wanted: then the
    source is cancelled. With ``seconds`` the whole iteration has to be over in time: TimeoutError. With ``latest`` an item that
    comes takes the place of one that waits; the window is UNBOUNDED then.
    """

    __slots__ = (
        "asleep",
        "closed",
        "deadline",
        "done",
        "ended_by",
        "enough",
        "error",
        "growth",
        "left",
        "may_wait",
        "origin",
        "queue",
        "seconds",
        "signal",
        "up",
        "window",
    )

    def __init__(
        self, window: int, origin: object, *, seconds: float | None = None, enough: int = UNBOUNDED, latest: bool = False
    ) -> None:
        self.growth = Growth.of(window)
        self.window = int(window)
        self.origin = origin
        self.enough = enough
        if seconds is not None and seconds > threading.TIMEOUT_MAX:
            seconds = None  # it cannot be waited so long, and infinite is a number as well
        self.seconds = seconds
        self.deadline = None if seconds is None else monotonic() + seconds
        self.queue: deque[T] = deque(maxlen=1 if latest else None)  # to replace is one atomic step
        self.up: Subscription | None = None
        self.error: Exception | None = None
        self.done = False
        self.closed = False
        #: The thread that waits has gone.
        self.left = False
        #: The waiting thread sleeps, or is about to: a thread that publishes wakes it.
        self.asleep = False
        #: Whether this thread was found to be one that may wait (see rx_core._blocking), and which one has signalled the end.
        self.may_wait = False
        self.ended_by = 0
        self.signal = threading.Lock()
        self.signal.acquire()

    # -- signals ----------------------------------------

    def on_subscribe(self, up: Subscription, /) -> None:
        if self.up is not None:
            up.cancel()  # RS 2.5
            return
        self.up = up  # publish first, look afterwards: expire() does the same
        if self.closed:
            up.cancel()
        else:
            up.request(self.window)

    def on_next(self, item: T, /) -> None:
        if self.closed:
            left_behind(self.up, item)
            return
        self.queue.append(item)
        if self.enough != UNBOUNDED:
            self.enough -= 1
            if not self.enough:
                self.close()
                self.ended_by = get_ident()
                self.done = True
        if self.asleep:
            self.wake()

    @property
    def takes_many(self) -> bool:
        """Whether :meth:`on_next_of_many` may be called: all that comes is wanted."""
        return self.enough == UNBOUNDED

    def on_next_of_many(self, items: Iterable[T]) -> None:
        """:meth:`on_next` with each of ``items``, none of which is None, and no more than were requested."""
        if self.closed:
            for item in items:
                left_behind(self.up, item)
        else:
            self.queue.extend(items)
            self.wake()

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            _hooks.dropped_late(error, self.origin)
            return
        self.error = error
        self.ended_by = get_ident()
        self.done = True
        self.wake()

    def on_complete(self) -> None:
        self.ended_by = get_ident()
        self.done = True
        self.wake()

    def wake(self) -> None:
        if self.asleep:
            if self.left:
                self.forget()
                return
            if self.growth is not None:
                self.growth.feeder = get_ident()
            self.asleep = False
            try:
                self.signal.release()
            except RuntimeError:
                pass  # released already by another signal, and not yet taken

    # -- the thread that waits ----------------------------------------

    def items(self, source: Any) -> Iterator[T]:
        """Subscribe to ``source`` and give its items. Leaving the loop cancels."""
        window = self.window
        queue = self.queue
        # With ``latest`` one: while an item takes the place of another one, len() is two for a moment without the GIL.
        limit = left = queue.maxlen or window - (window >> 2)
        growth = self.growth
        timer: threading.Timer | None = None
        try:
            if self.seconds is not None:  # a source may be busy on this very thread: only another one can stop it
                timer = threading.Timer(self.seconds, self.expire)
                timer.daemon = True
                timer.start()
            subscribe(source, self)
            while True:
                if self.done and self.ended_by != get_ident():
                    self.check_may_wait()  # whether it had to was chance
                while queue:
                    many = min(len(queue), left)
                    yield from map(_TAKE, repeat(queue, many))
                    if window != UNBOUNDED:
                        left -= many
                        if not left:
                            left = limit
                            self.request(limit)
                if self.done:
                    if queue:
                        continue
                    break
                self.sleep()
                if growth is not None:
                    more = growth.more(window, len(queue) >= window - (limit - left))
                    if more:
                        window += more
                        left += window - (window >> 2) - limit
                        limit = window - (window >> 2)
                        self.request(more)
        finally:
            if timer is not None:
                timer.cancel()
            self.close()
            self.left = True
            self.asleep = True  # publish first, look afterwards: an item that comes now finds this, or is found
            self.forget()
        error = self.error
        if error is not None:
            self.error = None
            if isinstance(error, StopIteration):  # one cannot leave a generator (PEP 479)
                raise RuntimeError("a function in the pipeline raised StopIteration") from error
            raise error

    def request(self, n: int) -> None:
        if not self.done and self.up is not None:
            self.up.request(n)

    def forget(self) -> None:
        """What waits is not taken any more. Any thread. See ``Op.discard``."""
        throw_away(self.queue, getattr(self.up, "discard", ignore))

    def expire(self) -> None:
        """The time is over: stop the source. The thread that waits sees why."""
        self.close()
        self.wake()

    def sleep(self) -> None:
        """Until something was published. TimeoutError when the time is over."""
        if self.deadline is not None and monotonic() > self.deadline:
            raise self.too_late()
        self.asleep = True  # publish first, look afterwards: who signals does the same
        if self.queue or self.done:
            self.asleep = False  # a signal given meanwhile ends the next sleep early, and that looks again
            return
        self.check_may_wait()
        if self.deadline is None:
            self.signal.acquire()
        elif not self.signal.acquire(timeout=max(0.0, self.deadline - monotonic())):
            raise self.too_late()

    def check_may_wait(self) -> None:
        """RuntimeError where this thread must not wait. What is computed without waiting never asks."""
        if not self.may_wait:
            refused = waiting_refused(self.origin)
            if refused is not None:
                raise refused
            self.may_wait = True

    def too_late(self) -> TimeoutError:
        return TimeoutError(f"no end after {self.seconds} seconds: {self.origin!r}")

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            if self.up is not None and not self.done:
                self.up.cancel()
