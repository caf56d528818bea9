"""A queue with two ends: one feeds, one takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from rx_core import check_callable, dropped
from rx_core.blocks import NOBODY
from rx_core.queue_fusion import ASYNC, NONE, fusion_enabled
from rx_ops.coordination._history import Cursor, Hub, Log, Node, refuse
from rx_ops.coordination._outlet import End, Ticket
from rx_ops.processors._multicast import FlowableProcessor, Subject

T = TypeVar("T")


class UnicastCursor(Cursor[T]):
    """The one cursor of a queue. Its Subscription is that queue, for who would rather poll it."""

    __slots__ = ()

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self._down

    def request_fusion(self, mode: int, /) -> int:
        # Polling runs nobody's functions, so it may happen on any thread. Not after on_subscribe: then things flow already.
        if not mode & ASYNC or self.token or not fusion_enabled():
            return NONE
        self.__class__ = PolledCursor
        return ASYNC


class PolledCursor(UnicastCursor[T]):
    """Signals that there is something and that the end has come; the subscriber takes the items out of the log itself."""

    __slots__ = ()

    def request_fusion(self, mode: int, /) -> int:
        return NONE

    def poll(self) -> T | None:
        node = self._at
        after = None if node is None else node.next
        if node is None or after is None or type(node.value) is End:
            return None
        item: T = node.value
        self._at = None if self.cancelled else after
        return item

    def poll_many(self, n: int, /) -> list[T]:
        batch: list[T] = []
        while len(batch) < n and (item := self.poll()) is not None:
            batch.append(item)
        return batch

    def is_empty(self) -> bool:
        node = self._at
        return node is None or node.next is None or type(node.value) is End

    def clear(self) -> None:
        self._at = None

    def give(self, node: Node, item: T) -> None:
        self.drain()

    def _move(self) -> None:
        """Holds the token: signals are serial, polls are the subscriber's own."""
        inbox, down = self.inbox, self._down
        if self.cancelled:
            self._over()
            return
        inbox.collect()
        if inbox.error is not None:
            self._fail(inbox.error)
            return
        end = self._outlet.end
        if end is None:
            down.on_next(None)  # type: ignore[arg-type]  # what this mode says: look
        elif down is not NOBODY:
            self._down = NOBODY  # told; what waits may still be polled
            self._outlet.leave(self)
            end.tell(down)


class UnicastHub(Hub[T]):
    """Keeps everything for the one subscriber it ever has, and nothing once that one has come."""

    __slots__ = ("_free", "_left", "_on_terminate")
    _rx_trusted: ClassVar[bool] = False  # what is behind it may rather poll

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
        cursor = UnicastCursor(self, down, self.log.start(), self._initial)
        self.tickets[cursor] = None
        self.log.forget()  # what has been read is free from here on
        cursor.open()

    def leave(self, ticket: Ticket[T]) -> None:
        self._left = True
        super().leave(ticket)
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
