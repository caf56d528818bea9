"""OneAtATime: operators that run one source after another (retry, repeat, fallbacks, concat of what pushes)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core._demand import UNBOUNDED
from rx_core.streams.contracts import Stream, close, is_exhausted, without_demand
from rx_core.streams.gated_inputs import GatedInput
from rx_core.streams.inputs import DirectInput, RelayedInput
from rx_core.streams.op import Failed, Op, Outcome, without_this_frame

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core.streams.contracts import Listening

T = TypeVar("T")


def end_of_one(items: Iterator[Any]) -> bool | Failed:
    """The outcome of a passive source that has given its only item: only its end can follow, which needs no demand."""
    try:
        next(items, None)
    except (Exception, GeneratorExit) as error:
        return Failed(without_this_frame(error))
    return True


def computed(items: Iterator[Any]) -> Iterator[Any] | Failed:
    """The items of a passive Single, Maybe or Completable, computed now: nothing is requested of these, so an item waits."""
    try:
        item = next(items, None)
    except (Exception, GeneratorExit) as error:
        return Failed(without_this_frame(error))
    if item is None:
        return iter(())
    end = end_of_one(items)
    return _failing_behind(item, end) if isinstance(end, Failed) else iter((item,))


def _failing_behind(item: Any, end: Failed) -> Iterator[Any]:
    yield item
    raise end.take()


class OneAtATime(Op[T]):
    """The current source is the sole signaller, so its items pass by the gate; what is left of the demand goes to the next one.

    A subclass subscribes to its first source with :meth:`switch_to` in ``open``, and writes :meth:`source_ended`. The next source
    is subscribed when ``subscribe`` of the one before has returned, so a million sources in a row need no stack (RS 3.3).

    Where another party may signal meanwhile (the outer source of concat_map, a handler's stream) the subclass sets ``gated``.
    """

    __slots__ = ("current", "hint", "items", "last", "refused", "unasked")

    #: Whether the current source's items pass through the gate.
    gated: ClassVar[bool] = False
    current: RelayedInput[T] | GatedInput[T] | None
    #: The items of the current source, where it is passive.
    items: Iterator[T] | None
    #: How many items that source has left, where this is known; and set by a compiled stage before it gives its last item.
    hint: Callable[[], int] | None
    last: bool
    #: A wrong request: it was handed to the source, which answers it serially with its other signals (RS 3.9).
    refused: Exception | None
    #: The passive source has no demand, and was not computed.
    unasked: bool

    def __init__(self, down: Subscriber[T]) -> None:
        super().__init__(down)
        self.unasked = False
        self.current = None
        self.items = None
        self.hint = None
        self.last = False
        self.refused = None

    def source_ended(self, error: Exception | None, demand: int) -> int:
        """The current source has ended, with ``error`` or complete. ``return self.switch_to(...)`` or ``self.finish(...)``."""
        raise NotImplementedError

    def switch_to(self, source: Any, demand: int) -> int:
        """Go on with ``source``; from ``open``, or with the token held."""
        self.hint = None
        self.last = False
        if not isinstance(source, Stream) or not source._passive_into(self):
            self.subscribe_current(source)
        else:
            self.unasked = without_demand(source)
        return demand

    def subscribe_current(self, source: Any) -> None:
        current: RelayedInput[T] | GatedInput[T]
        of_one = not self.settled and without_demand(source)
        if self.gated or of_one:
            current = GatedInput(self, of_one)
        else:
            current = DirectInput(self) if self.settled else RelayedInput(self)
        self.current = current
        self.subscribe_later(source, current)

    def open(self) -> None:
        raise NotImplementedError

    def step(self, demand: int) -> int:
        current = self.current
        if current is not None:
            done = current.done  # before taking: what came before the end is taken now
            demand = current.take(demand)
            if self.stopped:
                return 0
            if not done:
                current.ask(demand)
                return demand
            if self.refused is not None:
                return self.finish(self.refused)
            if current.waits:
                return demand
            demand = current.settle(demand)
            error = current.error
            self.current = None
            current.close()  # the source may be kept, and is to keep no subscriber of ours (RS 3.13)
            demand = self.source_ended(error, demand)
        while self.items is not None:
            if self.unasked and not demand:
                outcome = self.compute(self.items)
                if outcome is False:
                    return demand
            else:
                demand, outcome = self.give(self.items, demand)
            if outcome is False:
                if self.stopped or not (self.last or (self.hint is not None and not self.hint())):
                    return demand
                outcome = end_of_one(self.items)
            self.items = None
            if outcome is True:
                if self.stopped:
                    return 0
                demand = self.source_ended(None, demand)
            elif isinstance(outcome, Failed):
                demand = self.source_ended(outcome.take(), demand)
            else:
                self.subscribe_current(outcome)
            if self.dirty:
                break
        return demand

    def compute(self, items: Iterator[T]) -> Outcome:
        """A passive Single, Maybe or Completable, of which nothing is wanted yet."""
        self.unasked = False
        made = computed(items)
        if isinstance(made, Failed):
            return made
        self.items = made
        self.last = False
        self.hint = None
        return is_exhausted(made)

    def refuse_request(self, error: Exception) -> None:
        current = self.current
        if current is None or current.up is None or current.done:
            self.finish(error)
        else:
            self.refused = error
            self.later.append((current.up.request, 0))

    def open_demand(self) -> int | None:
        wanted = super().open_demand()
        current = self.current
        if wanted is None or wanted == UNBOUNDED or current is None:
            return wanted
        return max(0, current.settle(wanted))  # the account is settled when the source is over

    def listening(self) -> Iterable[Listening]:
        current = self.current
        return () if current is None else (current,)

    def close(self) -> None:
        current = self.current
        if current is not None:
            current.close()
        items = self.items
        if items is not None:
            self.items = None
            close(items)
