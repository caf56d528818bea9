"""Signals: a small hot source inside an operator, for what the operator tells a stream that its user made.

``repeat_when`` hands its user a stream of completions, ``retry_when`` one of errors. Such a stream has one subscriber and a
queue, and it is sent to from the run of the operator while its subscriber may run anywhere.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Generic, TypeVar

from rx_core import OPERATOR_CODES, Items, Run
from rx_fusion import Head

T = TypeVar("T")


class Signals(Head, Generic[T]):
    """The head of a stream that gives what is sent to it. One subscriber; what is sent before it comes waits for it.

    ``send`` and ``end`` belong to the operator that made it, and are called from one thread at a time.
    """

    __slots__ = ("_ended", "_queue", "_run", "_taken", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._queue: deque[T] = deque()
        self._taken: dict[int, bool] = {0: False}  # emptied by the first subscriber, in one atomic step
        self._run: Run | None = None
        self._ended = False

    def send(self, item: T) -> None:
        """Give ``item`` to the subscriber as soon as it wants one."""
        self._queue.append(item)  # publish first ...
        run = self._run
        if run is not None:
            run.wake()  # ... then wake

    def end(self) -> None:
        """Complete, behind what was sent; nothing may be sent afterwards."""
        self._ended = True
        run = self._run
        if run is not None:
            run.poke()

    @property
    def waiting(self) -> int:
        """How many items were sent and not taken."""
        return len(self._queue)

    def open(self, run: Run, _window: int, /) -> Items[T]:
        if self._taken.pop(0, None) is None:
            return run.failing(RuntimeError(f"{self!r} allows one subscriber; share its items if more need them"))
        self._run = run
        return self._stream()

    def _stream(self) -> Items[T]:
        queue = self._queue
        try:
            while True:
                while queue:
                    yield queue.popleft()
                if self._ended and not queue:
                    return
                yield None
        finally:
            self._run = None
            queue.clear()

    def __repr__(self) -> str:
        return f"{self.name}()"


OPERATOR_CODES.add(Signals._stream.__code__)


def signals(name: str, face: Any) -> tuple[Signals[Any], Any]:
    """A new source of signals, and the stream of them to hand out; ``face`` makes a stream of a head."""
    head: Signals[Any] = Signals(name)
    return head, face(head)
