"""Pump: a passive source under demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core._user_code import as_signal
from rx_core.queue_fusion import ANY, BOUNDARY, NONE, SYNC
from rx_core.streams.contracts import close
from rx_core.streams.op import Op

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")

_END: Final[Any] = object()
_NOTHING: Final[Iterator[Any]] = iter(())


class Pump(Op[T]):
    """Emits what an iterator gives, as it is requested, on the thread that requests.

    Completes with the last item where the end is known: the iterator is a built-in one, ``hint`` says how many items are left, or
    a stage has set ``last``. A consumer that polls may be granted the iterator itself (micro-fusion, SYNC).
    """

    __slots__ = ("hint", "items", "last", "offer", "polled")

    items: Iterator[Any]
    #: How many items the source under ``items`` has left, where no stage can give one after the source's last.
    hint: Callable[[], int] | None
    #: Set by a compiled stage before it yields the item that is its last.
    last: bool
    #: The fusion modes that may be granted.
    offer: int
    #: SYNC was granted: items are polled, and nothing is emitted.
    polled: bool

    def __init__(self, down: Subscriber[T], origin: object = None) -> None:
        super().__init__(down, origin)
        self.items = _NOTHING
        self.hint = None
        self.last = False
        self.offer = NONE
        self.polled = False

    def step(self, demand: int) -> int:
        if self.polled:
            return demand
        items = self.items
        demand, outcome = self.give(items, demand)
        if outcome is False:
            if self.stopped or not (self.last or (self.hint is not None and not self.hint())):
                return demand
            try:
                item = next(items, _END)  # no item comes any more, but stages may have something to do at their end
            except (Exception, GeneratorExit) as error:
                return self.finish(as_signal(error))
            if item is not _END:  # pragma: no cover  # a stage that marks its last item gives no more
                raise AssertionError(f"an item after the last one: {item!r}")
        elif isinstance(outcome, Exception):
            return self.finish(outcome)
        return 0 if self.stopped else self.finish()

    def close(self) -> None:
        items, self.items = self.items, _NOTHING
        self.hint = None
        close(items)

    # -- as a queue (micro-fusion) ----------------------------------------

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self.down

    def request_fusion(self, mode: int, /) -> int:
        """Before on_subscribe has returned only: later things flow."""
        if self.token or self.polled or (mode & BOUNDARY and not self.offer & BOUNDARY):
            return NONE
        granted = mode & self.offer & ANY
        if granted == SYNC:
            self.polled = True
            return SYNC
        return NONE

    def poll(self) -> T | None:
        items = self.items
        if self.stopped:
            return None
        try:
            item = next(items, _END)
        except (Exception, GeneratorExit) as error:
            failure = as_signal(error)
        else:
            if item is not _END:
                return item  # type: ignore[no-any-return]  # what the source gives
            self.stopped = True
            self.close()
            return None
        self.stopped = True
        self.close()
        raise failure

    def poll_many(self, n: int, /) -> list[T]:
        batch: list[T] = []
        while len(batch) < n and (item := self.poll()) is not None:
            batch.append(item)
        return batch

    def is_empty(self) -> bool:
        return self.stopped or self.last or (self.hint is not None and not self.hint())

    def clear(self) -> None:
        """Nothing waits here; cancelling closes the source."""


class Failing(Op[Any]):
    """Nothing but an error, which needs no demand (RS 1.9)."""

    __slots__ = ("error",)

    error: Exception

    def __init__(self, down: Subscriber[Any], error: Exception, origin: object = None) -> None:
        super().__init__(down, origin)
        self.error = error

    def step(self, demand: int) -> int:
        return self.finish(self.error)
