"""Pump: a passive source under demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core._user_code import as_signal
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
    a stage has set ``last``.
    """

    __slots__ = ("hint", "items", "last")

    items: Iterator[Any]
    #: How many items the source under ``items`` has left, where no stage can give one after the source's last.
    hint: Callable[[], int] | None
    #: Set by a compiled stage before it yields the item that is its last.
    last: bool

    def __init__(self, down: Subscriber[T], origin: object = None) -> None:
        super().__init__(down, origin)
        self.items = _NOTHING
        self.hint = None
        self.last = False

    def start(self) -> bool:
        """The iterator is made once the subscriber has its Subscription, unless it cancelled at once, and before it is asked."""
        try:
            self.down.on_subscribe(self)
        except BaseException:
            self.abandon()  # RS 2.13
            raise
        opened = not self.stopped
        if opened:
            self.open()
        self.token.append(0)
        self.drain()
        return opened

    def after_answer(self, then: Callable[[], object], /) -> None:
        self.put_off(then)

    def step(self, demand: int) -> int:
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


class Failing(Op[Any]):
    """Nothing but an error, which needs no demand (RS 1.9)."""

    __slots__ = ("error",)

    error: Exception

    def __init__(self, down: Subscriber[Any], error: Exception, origin: object = None) -> None:
        super().__init__(down, origin)
        self.error = error

    def step(self, demand: int) -> int:
        return self.finish(self.error)
