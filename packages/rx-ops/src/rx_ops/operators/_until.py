"""Streams that another one ends, starts or follows, or that end by themselves: take_until, skip_until, switch_if_empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core.streams import GatedInput, OneAtATime, Op, RelayedInput, Trigger
from rx_fusion import op
from rx_ops.operators._mapping import mapper_failure

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber
    from rx_core.streams import Listening

T = TypeVar("T")


@op("take_until")
class TakeUntil(Op[T]):
    """Until ``other`` signals an item or completes; ``lost`` makes the error of a stream that has to have an item."""

    __slots__ = ("lost", "main", "other", "source", "trigger")

    discards: ClassVar[bool] = True
    gives_of: ClassVar[int] = 1

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        other: Publisher[Any],
        lost: Callable[[], Exception] | None,
        of_one: bool = False,
    ) -> None:
        super().__init__(down)
        self.source = source
        self.other = other
        self.lost = lost
        self.main: GatedInput[T] = GatedInput(self, of_one)
        self.trigger = Trigger(self)

    def open(self) -> None:
        self.trigger.open(self.other)
        if not self.stopped and not self.trigger.done:
            self.main.open(self.source)

    def step(self, demand: int) -> int:
        main, trigger = self.main, self.trigger
        if trigger.done:
            return self.finish(trigger.error if trigger.error is not None or self.lost is None else self.lost())
        if main.of_one and main.queue and not demand:
            trigger.close()  # the item came first, and waits until it is wanted
            return 0
        done = main.done  # before taking: what came before the end is taken now
        demand = main.take(demand)
        if self.stopped:
            return 0
        if done:
            return self.finish(main.error)
        main.ask(demand)
        return demand

    def refuse_request(self, error: Exception) -> None:
        self.finish(error)

    def listening(self) -> Iterable[Listening]:
        return (self.main, self.trigger)

    def close(self) -> None:
        self.main.close()
        self.trigger.close()


class _Checked(RelayedInput[T]):
    """Ends with the first item for which ``predicate`` is true, which has gone on by then."""

    __slots__ = ("predicate",)

    def __init__(self, op: Op[Any], predicate: Callable[[T], object]) -> None:
        super().__init__(op)
        self.predicate = predicate

    def on_next(self, item: T, /) -> None:
        if self.closed:
            self.op.discard(item)
            return
        super().on_next(item)
        if self.closed:
            return  # type: ignore[unreachable]  # set meanwhile: cancelled from inside on_next
        try:
            over = bool(self.predicate(item))
        except (Exception, GeneratorExit) as error:
            self.fail(mapper_failure("take_until", self.predicate, error))
            return
        except BaseException as error:
            self.interrupted(error)
            raise
        if over:
            self.stop()
            self.done = True
            self.op.drain()


@op("take_until")
class TakeUntilTrue(OneAtATime[T]):
    """Up to the first item for which ``predicate`` is true. The end needs no demand."""

    __slots__ = ("predicate", "source")

    discards: ClassVar[bool] = True
    relays: ClassVar[bool] = True

    def __init__(self, down: Subscriber[T], source: Publisher[T], predicate: Callable[[T], object]) -> None:
        super().__init__(down)
        self.source = source
        self.predicate = predicate

    def open(self) -> None:
        self.current = checked = _Checked(self, self.predicate)
        checked.open(self.source)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)


class _Skipped(GatedInput[T]):
    """Items before the signal of ``trigger`` are dropped and asked for again."""

    __slots__ = ("trigger",)

    def __init__(self, op: Op[Any], trigger: Trigger) -> None:
        super().__init__(op)
        self.trigger = trigger

    def on_next(self, item: T, /) -> None:
        if self.trigger.done:
            super().on_next(item)
        else:
            self.op.discard(item)
            self.ask_again()


@op("skip_until")
class SkipUntil(Op[T]):
    """Nothing until ``other`` signals an item or completes. Its error before that ends the stream at once."""

    __slots__ = ("main", "other", "source", "trigger")

    discards: ClassVar[bool] = True
    gives_of: ClassVar[int] = 1

    def __init__(self, down: Subscriber[T], source: Publisher[T], other: Publisher[Any]) -> None:
        super().__init__(down)
        self.source = source
        self.other = other
        self.trigger = Trigger(self)
        self.main: _Skipped[T] = _Skipped(self, self.trigger)

    def open(self) -> None:
        self.trigger.open(self.other)
        if not self.stopped:
            self.main.open(self.source)

    def step(self, demand: int) -> int:
        main, trigger = self.main, self.trigger
        if trigger.error is not None:
            return self.finish(trigger.error)
        done = main.done  # before taking: what came before the end is taken now
        demand = main.take(demand)
        if self.stopped:
            return 0
        if done:
            return self.finish(main.error)
        main.ask(demand)
        return demand

    def listening(self) -> Iterable[Listening]:
        return (self.main, self.trigger)

    def close(self) -> None:
        self.main.close()
        self.trigger.close()


@op("switch_if_empty")
class SwitchIfEmpty(OneAtATime[T]):
    """``other`` when the source completes without an item."""

    __slots__ = ("first", "other", "source")

    discards: ClassVar[bool] = True

    #: What listens to the source; None once that is over.
    first: RelayedInput[T] | None

    def __init__(self, down: Subscriber[T], source: Publisher[T], other: Publisher[T]) -> None:
        super().__init__(down)
        self.source = source
        self.other = other
        self.first = None

    def open(self) -> None:
        self.first = self.current = RelayedInput(self)  # which counts the items
        self.subscribe_later(self.source, self.first)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        first, self.first = self.first, None
        if error is not None or first is None or first.count:
            return self.finish(error)
        return self.switch_to(self.other, demand)
