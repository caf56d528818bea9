"""Pump: a passive source under demand.

Its items are an iterator, or a generator that *emits* them itself, which spares a switch between the two for each item: compiled
stages are written so. Such a generator calls ``pump.emit`` for ``pump.left`` items; then, or as soon as ``pump.dirty`` is raised,
it stores how many are left, yields once, and goes on for as many as ``left`` is then. What ``emit`` raises it gives to
``pump.emit_failed``. A ``left`` below nothing is never used up; where ``pump.wants_all`` a generator need not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core._demand import UNBOUNDED
from rx_core._errors import EXHAUSTION
from rx_core._user_code import as_signal
from rx_core.streams.contracts import Handover, close
from rx_core.streams.op import Failed, Op, without_this_frame

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core.streams.op import Outcome

T = TypeVar("T")

_END: Final[Any] = object()
_NOTHING: Final[Iterator[Any]] = iter(())


class Pump(Op[T]):
    """Emits what an iterator gives, as it is requested, on the thread that requests.

    Completes with the last item where the end is known: the iterator is a built-in one, ``hint`` says how many items are left, or
    a stage has set ``last``.
    """

    __slots__ = ("emits", "hint", "items", "last", "left")

    items: Iterator[Any]
    #: Whether ``items`` emits by itself, and how many more it may.
    emits: bool
    left: int
    #: How many items the source under ``items`` has left, where no stage can give one after the source's last.
    hint: Callable[[], int] | None
    #: Set by a compiled stage before it yields the item that is its last.
    last: bool

    def __init__(self, down: Subscriber[T], origin: object = None) -> None:
        super().__init__(down, origin)
        self.items = _NOTHING
        self.emits = False
        self.left = 0
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

    @property
    def wants_all(self) -> bool:
        """For :meth:`open`: everything was requested, as it is once for all."""
        for n in self.requests[:1]:
            return type(n) is int and n >= UNBOUNDED
        return False

    def give(self, items: Iterator[Any], demand: int) -> tuple[int, Outcome]:
        if not self.emits:
            return super().give(items, demand)
        if not demand:
            return 0, False
        if self.beneath and self.giving is None:
            return self.give_noted(items, demand)
        self.left = -1 if demand == UNBOUNDED else demand
        try:
            for _ in items:
                return demand if demand == UNBOUNDED else self.left, False
        except Handover as handover:
            return demand, handover.rest
        except (Exception, GeneratorExit) as error:
            if self.stopped and isinstance(error, EXHAUSTION):
                raise  # as in Op.give
            return demand, Failed(without_this_frame(error))
        return demand, True

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
        elif isinstance(outcome, Failed):
            return self.finish(outcome.take())
        elif outcome is not True:  # pragma: no cover  # what may hand over is no source of a pump
            raise AssertionError(f"{self.origin!r} has a source that has to be subscribed")
        return 0 if self.stopped else self.finish()

    def close(self) -> None:
        items, self.items = self.items, _NOTHING
        self.beneath = ()
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
