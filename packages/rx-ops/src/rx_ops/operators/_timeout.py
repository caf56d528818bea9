"""The end of a stream, or another one in its place, when an item does not come in time."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import DISPOSED, dropped_late, worker_of
from rx_core.streams import ROUNDING, GatedInput, OneAtATime, RelayedInput
from rx_fusion import op
from rx_ops.operators._clock import scheduled
from rx_ops.operators._selecting import Indicator, Refused, Selector, selected

if TYPE_CHECKING:
    from rx_core import Disposable, Publisher, Scheduler, Subscriber, Worker

T = TypeVar("T")


class _Limited(OneAtATime[T]):
    """Each item has a limit of time, which begins when the one before has been given. After that ``fallback`` takes over.

    An item and its limit compete for the entry of one list: so of the two exactly one happens.
    """

    __slots__ = ("failure", "fallback", "late", "main", "source")

    discards: ClassVar[bool] = True
    source: Publisher[T]
    fallback: Publisher[T] | None
    main: _InTime[T]
    #: The limit was the first.
    late: bool
    #: What the party that decides about the limit failed with.
    failure: Exception | None

    def __init__(self, down: Subscriber[T], source: Publisher[T], fallback: Publisher[T] | None, of_one: bool) -> None:
        super().__init__(down)
        self.source = source
        self.fallback = fallback
        self.main = _InTime(self, of_one)
        self.late = False
        self.failure = None

    def open(self) -> None:
        self.current = self.main
        self.arm_first()
        if not self.main.closed:  # else the limit has come at once
            self.subscribe_later(self.source, self.main)

    def arm_first(self) -> None:
        raise NotImplementedError

    def arm(self, item: T) -> None:
        """``item`` was given: set the limit for the next one. On the source's thread."""
        raise NotImplementedError

    def disarm(self) -> None:
        """An item has come in time."""
        raise NotImplementedError

    def too_late(self) -> TimeoutError:
        raise NotImplementedError

    def claim(self, contested: Any, failure: Exception | None = None) -> bool:
        """The time is up, or nothing can say when it is. False: an item was earlier."""
        try:
            contested.pop()
        except IndexError:
            return False
        self.failure = failure
        self.late = True
        return True

    def step(self, demand: int) -> int:
        if not self.late:
            if not demand and self.main.queue:
                return 0  # the only item is there, and is not wanted yet
            return super().step(demand)
        demand = self.main.take(demand)  # items that have come in time, and found the gate taken
        if self.stopped:
            return 0
        if self.failure is not None:
            return self.finish(self.failure)
        if self.fallback is None:
            return self.finish(self.too_late())
        self.late = False
        self.close()
        # The source may still be busy in its subscribe(): the fallback does not wait for that.
        current: RelayedInput[T] = RelayedInput(self)
        self.current = current
        self.later.append((current.open, self.fallback))
        return demand

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)


class _InTime(GatedInput[T]):
    """The source of a timeout."""

    __slots__ = ("contested",)

    op: _Limited[T]
    #: Holds one entry, until an item, the end, or the limit takes it out.
    contested: Any

    def __init__(self, op: _Limited[T], of_one: bool) -> None:
        super().__init__(op, of_one)
        self.contested = [True]

    def on_next(self, item: T, /) -> None:
        op = self.op
        if op.stopped:
            op.discard(item)
            return
        try:
            self.contested.pop()
        except IndexError:
            op.discard(item)
            return
        op.disarm()
        super().on_next(item)
        if self.closed or op.stopped:
            return
        if self.of_one:
            self.contested = [True]  # only its end can follow
        else:
            op.arm(item)

    def on_error(self, error: Exception, /) -> None:
        try:
            self.contested.pop()
        except IndexError:
            self.done = True
            dropped_late(error, self.op.origin)
            return
        super().on_error(error)

    def on_complete(self) -> None:
        try:
            self.contested.pop()
        except IndexError:
            self.done = True
            return
        super().on_complete()


@op("timeout")
class Timeout(_Limited[T]):
    """The limit is ``seconds``, on a worker. The first one begins with the subscription, whatever is requested.

    One alarm is set at a time, and not one for each item: it goes off at the limit of an item that has long been followed by
    others, and is set for the time that is left then.
    """

    __slots__ = ("alarm", "deadline", "seconds", "worker")

    alarm: Disposable
    #: When the limit is over, by the worker's clock. Written by the source's thread, before the entry that it is for.
    deadline: float
    worker: Worker

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        seconds: float,
        scheduler: Scheduler,
        fallback: Publisher[T] | None,
        of_one: bool = False,
    ) -> None:
        super().__init__(down, source, fallback, of_one)
        self.seconds = seconds
        self.alarm = DISPOSED
        self.worker = worker_of(scheduler)
        self.deadline = 0.0

    def arm_first(self) -> None:
        self.deadline = self.worker.now() + self.seconds
        self.alarm = scheduled(self, self.worker, self.ring, self.seconds)

    def arm(self, item: T) -> None:
        self.deadline = self.worker.now() + self.seconds
        self.main.contested = [True]

    def disarm(self) -> None:
        if self.main.of_one:  # there is no limit for its end, also where the alarm is just going off
            self.deadline = inf
            self.alarm.dispose()

    def ring(self) -> None:
        contested = self.main.contested  # before the deadline: see there
        left = self.deadline - self.worker.now()
        if left == inf:
            return
        if left > ROUNDING:
            self.alarm = scheduled(self, self.worker, self.ring, left)
        elif self.claim(contested):
            self.drain_on_worker()
        else:
            # An item is just being given, and has its limit then.
            self.alarm = scheduled(self, self.worker, self.ring, self.seconds)

    def too_late(self) -> TimeoutError:
        return TimeoutError(f"timeout({self.seconds}): no item came within {self.seconds} seconds")

    def close(self) -> None:
        super().close()
        self.worker.dispose()


@op("timeout")
class TimeoutBy(_Limited[T]):
    """Another source says when it has been too long: ``first`` for the first item, then the one selected for the last item."""

    __slots__ = ("first", "indicator", "selector")

    opens_sources: ClassVar[bool] = True

    first: Publisher[Any] | None
    selector: Selector | None
    #: The source that decides now. Only the thread of the items replaces it.
    indicator: Indicator | None

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        first: Publisher[Any] | None,
        selector: Selector | None,
        fallback: Publisher[T] | None,
        of_one: bool = False,
    ) -> None:
        super().__init__(down, source, fallback, of_one)
        self.first = first
        self.selector = selector
        self.indicator = None

    def arm_first(self) -> None:
        if self.first is not None:
            self.listen(self.first, self.main.contested)

    def arm(self, item: T) -> None:
        self.main.contested = contested = [True]
        if self.selector is None:
            return
        made = selected(self.main, "timeout", self.selector, item)
        if not isinstance(made, Refused):
            self.listen(made, contested)
        elif self.claim(contested, made.error):
            self.drain()

    def listen(self, source: Any, contested: Any) -> None:
        self.indicator = indicator = Indicator(self, contested)
        indicator.open(source)
        if self.main.closed:  # published first, looked at afterwards: close() finds the indicator, or this finds that it ran
            indicator.close()

    def indicated(self, indicator: Indicator) -> None:
        if self.claim(indicator.subject, indicator.error):
            self.drain()
        elif indicator.error is not None:
            dropped_late(indicator.error, self.origin)

    def disarm(self) -> None:
        if self.indicator is not None:
            self.indicator.close()

    def too_late(self) -> TimeoutError:
        return TimeoutError("timeout(): another source signalled before there was an item")

    def close(self) -> None:
        super().close()
        if self.indicator is not None:
            self.indicator.close()
