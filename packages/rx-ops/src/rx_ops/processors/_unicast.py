"""A queue with two ends: one feeds, one takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import check_callable, dropped
from rx_ops.coordination._history import Cursor, End, Hub, Log, refuse
from rx_ops.processors._multicast import FlowableProcessor, Subject

T = TypeVar("T")


class UnicastHub(Hub[T]):
    """Keeps everything for the one subscriber it ever has, and nothing once that one has come."""

    __slots__ = ("_free", "_left", "_on_terminate")

    def __init__(self, name: str, on_terminate: Callable[[], object] | None, *, asked: bool) -> None:
        if on_terminate is not None:
            check_callable(name, "on_terminate", on_terminate)
        super().__init__(name, Log(), patient=True, asked=asked)
        self._free = {0: True}
        self._left = False
        self._on_terminate = {} if on_terminate is None else {0: on_terminate}

    def subscribe(self, down: Any, /) -> None:
        if self._free.pop(0, None) is None:
            refuse(down, RuntimeError(f"{self!r} allows one subscriber; for more use a ReplayProcessor, or .publish()"))
            return
        cursor = Cursor(self, down, self.log.start(), self._initial)
        self.cursors[cursor] = None
        self.log.forget()  # what has been read is free from here on
        cursor.open()

    def leave(self, cursor: Cursor[T]) -> None:
        self._left = True
        super().leave(cursor)
        self._terminated()

    def on_error(self, error: Exception) -> None:
        if self._left:
            dropped(error, self)
        else:
            super().on_error(error)

    @property
    def is_over(self) -> bool:
        return self._left or super().is_over

    def finish(self, end: End) -> None:
        self._terminated()
        super().finish(end)

    def _terminated(self) -> None:
        action = self._on_terminate.pop(0, None)  # atomic: called once
        if action is not None:
            try:
                action()
            except Exception as error:
                dropped(error, self)


class UnicastProcessor(FlowableProcessor[T]):
    """A queue: what it is fed waits for its only subscriber, and then for its requests. A second subscriber gets RuntimeError.

    Demand:  items wait.
    Errors:  go to the subscriber behind the items; after the end, or when it has cancelled, to the error hook.
    Memory:  what was fed and not taken, without a bound; none after a cancel.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`), or the one that requests.
    Fusion:  hot source, stages are pushed through without a queue.
    Source:  RxJava ``UnicastProcessor``. ``on_terminate`` is called once, at the end or when the subscriber cancels.
    """

    __slots__ = ()

    def __init__(self, *, on_terminate: Callable[[], object] | None = None) -> None:
        super().__init__(UnicastHub("UnicastProcessor", on_terminate, asked=True))


class UnicastSubject(Subject[T]):
    """A queue: what it is fed waits for its only observer. A second observer gets RuntimeError.

    Demand:  none.   Errors: go to the observer behind the items; after the end, or when it has left, to the error hook.
    Memory:  what was fed before the observer came, without a bound.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`); what waits comes on the one that
             subscribes.   Fusion: hot source, stages are pushed through without a queue.
    Source:  RxJava ``UnicastSubject``. ``on_terminate`` is called once, at the end or when the observer leaves.
    """

    __slots__ = ()

    def __init__(self, *, on_terminate: Callable[[], object] | None = None) -> None:
        super().__init__(UnicastHub("UnicastSubject", on_terminate, asked=False))
