"""The queue-drain: any thread brings work, one thread at a time does it, no thread waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from rx_core.gate import LOOK_FIRST, Gate

T = TypeVar("T")


class _Last:
    """The end of a queue: what to do once it is reached. Without an action: only stop."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], object] | None) -> None:
        self.action = action


_STOP: Final = _Last(None)


class QueueDrain(Gate, Generic[T]):
    """Hands items to ``handle``, one at a time, in the order they were offered, on whatever thread is there.

    :meth:`offer` calls ``handle`` directly when no other call is in it and nothing waits: the fast path, which touches no queue.
    Otherwise the item waits and the thread that is in ``handle`` takes it when it comes back; the offering thread returns at
    once. So ``handle`` never runs twice at the same time, never inside itself, and the stack does not grow when it offers.

    When ``handle`` raises, the drain is closed, what waits is dropped and the exception goes to the thread it was raised on.
    For a drain of tasks that must survive a failing one, catch in ``handle``.

    Thread: any. Memory: what was offered meanwhile, without a bound; sources that honour demand bound it by what was requested.
    Relies on: the gate (``rx_core.gate``), and ``deque.append``/``popleft`` being atomic.
    Rule: RS 1.3, 3.3; the specs' sections "Serialization" and "Fast-path queue-drain".
    """

    __slots__ = ("_closed", "_ending", "_handle", "_queue")

    def __init__(self, handle: Callable[[T], object], /) -> None:
        super().__init__()
        self._handle = handle
        self._queue: deque[Any] = deque()
        self._ending = {0: True}
        self._closed = False

    def offer(self, item: T, /) -> None:
        """Handle ``item`` now, or let the thread that is at it do so. After the end: drop it."""
        if item is None:
            raise TypeError(f"{type(self).__name__}: None is not an item (RS 2.13)")
        queue, token = self._queue, self.token
        if LOOK_FIRST and not token:
            queue.append(item)
            self.drain()
            return
        try:
            token.pop()
        except IndexError:
            queue.append(item)
            self.drain()
            return
        if queue or self._closed:
            queue.append(item)  # behind those that came before, this thread's own perhaps among them
            token.append(0)
            self.drain()
            return
        try:
            self._handle(item)
        except BaseException as error:
            try:
                self.look_failed(error)
            finally:
                token.append(0)
                self.drain()  # nothing but dropping is left to do
            raise
        token.append(0)
        if self.dirty:
            self.drain()

    def end(self, last: Callable[[], object], /, *, ahead: bool = False) -> bool:
        """Call ``last`` after all items offered so far, and nothing after it. False when an end was there before.

        With ``ahead`` it overtakes what waits, which is dropped.
        """
        if self._ending.pop(0, None) is None:
            return False
        if ahead:
            self._queue.appendleft(_Last(last))
        else:
            self._queue.append(_Last(last))
        self.drain()
        return True

    def close(self) -> None:
        """Take nothing more, drop what waits and forget ``handle``; a ``last`` that waits is dropped as well."""
        self._closed = True
        self._ending.pop(0, None)
        self._queue.appendleft(_STOP)
        self.drain()

    @property
    def is_closed(self) -> bool:
        """Whether items are not handled any more."""
        return self._closed

    @property
    def is_ending(self) -> bool:
        """Whether an end was announced."""
        return not self._ending

    def look(self, held: int, /) -> int:
        queue = self._queue
        while queue:
            item = queue.popleft()
            if type(item) is _Last:
                closed, self._closed = self._closed, True
                self._ending.pop(0, None)
                self._forget()
                if item.action is not None:
                    (self._discard if closed else _call)(item.action)
            elif not self._closed:
                self._handle(item)
        return held

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        """``handle`` raised ``error``: close, and drop what waits."""
        self._closed = True
        self._ending.pop(0, None)
        self._forget()
        self._queue.appendleft(_STOP)
        self.dirty = True
        return None

    def _discard(self, last: Callable[[], object]) -> None:
        """``last`` will not be called: the drain was closed before."""

    def _forget(self) -> None:
        """Over: let go of everything that belongs to others. Holds the token."""
        self._handle = _ignore


def _call(action: Callable[[], object]) -> None:
    action()


def _ignore(_item: object) -> None:
    pass
