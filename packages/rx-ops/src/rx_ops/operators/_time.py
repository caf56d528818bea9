"""When items came, and when to subscribe: timestamp, time_interval, delay_subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from rx_core import dropped, worker_of
from rx_core.streams import OneAtATime, RelayedInput, without_this_frame
from rx_fusion import op
from rx_ops.operators._clock import scheduled
from rx_ops.operators._selecting import Indicator

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Worker

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Timed(NamedTuple, Generic[T_co]):
    """An item with a time: when it came (``timestamp``), or how long after the one before (``time_interval``)."""

    value: T_co
    seconds: float


# -- timestamp and time_interval -------------------------------------------------------------------------------------------------


class _Stamping(OneAtATime[Any]):
    """Looks at the clock for each item when it comes. The clock itself is looked up once per run."""

    __slots__ = ("source", "worker")

    discards: ClassVar[bool] = True
    relays: ClassVar[bool] = True
    source: Publisher[Any]
    worker: Worker

    def __init__(self, down: Subscriber[Any], source: Publisher[Any], scheduler: Scheduler) -> None:
        super().__init__(down)
        self.source = source
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        self.subscribe_current(self.source)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)

    def close(self) -> None:
        super().close()
        self.worker.dispose()


@op("timestamp")
class Timestamp(_Stamping):
    """``Timed(item, now)``."""

    __slots__ = ()

    def __init__(self, down: Subscriber[Timed[T]], source: Publisher[T], scheduler: Scheduler) -> None:
        super().__init__(down, source, scheduler)
        emit, now = self.emit, self.worker.now

        def stamped(item: T) -> None:
            emit(Timed(item, now()))

        self.emit = stamped


@op("time_interval")
class TimeInterval(_Stamping):
    """``Timed(item, seconds since the one before)``; the first interval begins with the subscription."""

    __slots__ = ()

    def __init__(self, down: Subscriber[Timed[T]], source: Publisher[T], scheduler: Scheduler) -> None:
        super().__init__(down, source, scheduler)
        emit, now = self.emit, self.worker.now
        last = now()

        def measured(item: T) -> None:
            nonlocal last
            before, last = last, now()
            emit(Timed(item, last - before))

        self.emit = measured


# -- delay_subscription ----------------------------------------------------------------------------------------------------------


class _Postponed(OneAtATime[T]):
    """Subscribes to the source when another party says so, on the thread of that party."""

    __slots__ = ("source",)

    discards: ClassVar[bool] = True
    source: Publisher[T]

    def __init__(self, down: Subscriber[T], source: Publisher[T]) -> None:
        super().__init__(down)
        self.source = source

    def subscribe_source(self) -> None:
        """Once. Not by way of the gate: another thread may hold the token, and would be the one that subscribes."""
        if not self.stopped:
            current: RelayedInput[T] = RelayedInput(self)
            self.current = current
            try:
                current.open(self.source)
            except (Exception, GeneratorExit) as error:
                if self.stopped:
                    raise  # the subscriber's, for an item that came meanwhile (RS 2.13)
                self.end_with(without_this_frame(error))
            self.drain()  # a cancel that did not find ``current`` finds it now

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)


@op("delay_subscription")
class DelaySubscription(_Postponed[T]):
    """``seconds`` later, on a worker."""

    __slots__ = ("seconds", "worker")

    worker: Worker

    def __init__(self, down: Subscriber[T], source: Publisher[T], seconds: float, scheduler: Scheduler) -> None:
        super().__init__(down, source)
        self.seconds = seconds
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        scheduled(self, self.worker, self.ring, self.seconds)

    def ring(self) -> None:
        self.worker.dispose()  # it is not needed any more; the source may go on for long
        try:
            self.subscribe_source()
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.origin)

    def close(self) -> None:
        super().close()
        self.worker.dispose()


@op("delay_subscription")
class DelaySubscriptionUntil(_Postponed[T]):
    """When ``other`` signals an item or completes. Its error is the end."""

    __slots__ = ("other", "trigger")

    other: Publisher[Any]

    def __init__(self, down: Subscriber[T], source: Publisher[T], other: Publisher[Any]) -> None:
        super().__init__(down, source)
        self.other = other
        self.trigger = Indicator(self)

    def open(self) -> None:
        self.trigger.open(self.other)

    def indicated(self, trigger: Indicator) -> None:
        if trigger.error is None:
            self.subscribe_source()
        else:
            self.drain()

    def step(self, demand: int) -> int:
        error = self.trigger.error
        return super().step(demand) if error is None else self.finish(error)

    def close(self) -> None:
        super().close()
        self.trigger.close()
