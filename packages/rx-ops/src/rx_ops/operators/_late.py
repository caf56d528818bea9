"""Items at their time: timers and delays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import DISPOSED, UNBOUNDED, MissingBackpressureError, dropped, dropped_late, worker_of
from rx_core.streams import GatedInput, Input, Op, takes_requests, throw_away
from rx_fusion import op
from rx_ops.operators._clock import Periodic, scheduled
from rx_ops.operators._selecting import Indicator, Refused, Selector, selected

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Subscription, Worker
    from rx_core.streams import Listening

T = TypeVar("T")


# -- interval and timer ----------------------------------------------------------------------------------------------------------


@op("interval")
class Interval(Op[int]):
    """0, 1, 2, ... at a fixed rate. A tick that comes when nothing is wanted is an error."""

    __slots__ = ("initial", "numbers", "period", "ticks", "worker")
    waits_for = "the time of its next tick"

    worker: Worker
    #: Ticks that the holder of the token has not looked at.
    ticks: deque[int]

    def __init__(self, down: Subscriber[int], initial: float, period: float, scheduler: Scheduler) -> None:
        super().__init__(down)
        self.initial = initial
        self.period = period
        self.numbers = count()
        self.ticks = deque()
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        Periodic(self, self.worker, self.initial, self.period, self.tick)

    def tick(self) -> None:
        self.ticks.append(next(self.numbers))
        self.drain_on_worker()

    def step(self, demand: int) -> int:
        ticks = self.ticks
        while ticks:
            tick = ticks.popleft()
            if not demand:
                return self.finish(_unwanted(tick))
            self.emit(tick)
            if self.stopped:
                return 0
            if demand is not UNBOUNDED:
                demand -= 1
        return demand

    def close(self) -> None:
        self.worker.dispose()
        self.ticks.clear()


@op("timer")
class Timer(Op[int]):
    """0 after ``seconds``, and the end."""

    __slots__ = ("rung", "seconds", "worker")
    waits_for = "its time"

    worker: Worker
    #: The time has come.
    rung: bool

    def __init__(self, down: Subscriber[int], seconds: float, scheduler: Scheduler) -> None:
        super().__init__(down)
        self.seconds = seconds
        self.rung = False
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        scheduled(self, self.worker, self.ring, self.seconds)

    def ring(self) -> None:
        self.rung = True
        self.drain_on_worker()

    def step(self, demand: int) -> int:
        if not self.rung:
            return demand
        if not demand:
            return self.finish(_unwanted(0))
        self.emit(0)
        return 0 if self.stopped else self.finish()

    def close(self) -> None:
        self.worker.dispose()


def _unwanted(tick: int) -> MissingBackpressureError:
    return MissingBackpressureError(f"tick {tick} of a timer came and was not requested")


# -- delay -----------------------------------------------------------------------------------------------------------------------


@op("delay")
class Delay(Op[T]):
    """Every signal ``seconds`` later on a worker; an error at once, before the items that wait, unless ``delay_error``."""

    __slots__ = ("delay_error", "main", "over", "seconds", "source", "worker")

    discards: ClassVar[bool] = True
    waits_for = "the time of its items"

    source: Publisher[T]
    main: _Delayed[T]
    worker: Worker
    #: The time of the source's end has come.
    over: bool

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        seconds: float,
        delay_error: bool,
        scheduler: Scheduler,
        of_one: bool = False,
    ) -> None:
        super().__init__(down)
        self.source = source
        self.seconds = seconds
        self.delay_error = delay_error
        self.main = _Delayed(self, of_one)
        self.over = False
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        self.main.open(self.source)

    def end(self) -> None:
        """On the worker."""
        self.over = True
        self.drain_on_worker()

    def step(self, demand: int) -> int:
        over = self.over  # before taking: what was due before the end is taken now
        main = self.main
        demand = main.take(demand)
        if self.stopped:
            return 0
        if over and (main.error is not None or not main.queue):
            return self.finish(main.error)
        main.ask(demand)
        return demand

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()
        self.worker.dispose()


class _Delayed(GatedInput[T]):
    """The source of a :class:`Delay`, asked for what downstream wants. Its items go on from the worker, each by an action."""

    __slots__ = ("waiting",)

    #: Items whose time has not come.
    waiting: deque[T]

    def __init__(self, op: Delay[T], of_one: bool) -> None:
        super().__init__(op, of_one)
        self.waiting = deque()

    def on_next(self, item: T, /) -> None:
        op = self.op
        if op.stopped:
            op.discard(item)
            return
        self.waiting.append(item)
        scheduled(op, op.worker, self.release, op.seconds)
        if op.stopped:  # published first, looked at afterwards: close() finds the item, or this finds that it ran
            self.give_up()

    def on_error(self, error: Exception, /) -> None:
        op = self.op
        if op.stopped:
            dropped_late(error, op.origin)
            return
        self.error = error
        self.done = True
        self.end_after(op, op.seconds if op.delay_error else 0.0)

    def on_complete(self) -> None:
        op = self.op
        self.done = True
        if not op.stopped:
            self.end_after(op, op.seconds)

    def end_after(self, op: Delay[T], seconds: float) -> None:
        over = op.stopped
        if scheduled(op, op.worker, op.end, seconds) is DISPOSED and self.error is not None and not over:
            dropped(self.error, op.origin)  # that the worker takes nothing has ended the stream

    # -- on the worker ----------------------------------------

    def release(self) -> None:
        try:
            item = self.waiting.popleft()
        except IndexError:  # closed at this moment
            return
        try:
            super().on_next(item)
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.op.origin)

    def close(self) -> None:
        super().close()
        self.give_up()

    def give_up(self) -> None:
        throw_away(self.waiting, self.op.discard)


@op("delay")
class DelayBy(Op[T]):
    """Each item when the source that ``selector`` makes of it signals; one may overtake the other.

    As flat_map to one item: the source is asked for ``max_concurrency`` items, and for one more for each that was given.
    """

    __slots__ = ("failures", "main", "ready", "selector", "source", "waiting")

    discards: ClassVar[bool] = True
    opens_sources: ClassVar[bool] = True

    source: Publisher[T]
    main: _Selecting[T]
    selector: Selector
    #: The items that were not given. The source's thread adds them, the holder of the token takes them away.
    waiting: dict[Indicator, None]
    #: Those whose indicator has signalled, in that order.
    ready: deque[Indicator]
    failures: deque[Exception]

    def __init__(self, down: Subscriber[T], source: Publisher[T], selector: Selector, max_concurrency: int) -> None:
        super().__init__(down)
        self.source = source
        self.selector = selector
        self.main = _Selecting(self, max_concurrency)
        self.waiting = {}
        self.ready = deque()
        self.failures = deque()

    def open(self) -> None:
        self.main.open(self.source)

    def arrived(self, item: T) -> None:
        """On the source's thread."""
        made = selected(self.main, "delay", self.selector, item)
        if isinstance(made, Refused):
            self.discard(item)
            self.failures.append(made.error)
            self.main.stop()
            self.drain()
            return
        indicator = Indicator(self, item)
        self.waiting[indicator] = None
        indicator.open(made)
        if self.stopped:  # published first, looked at afterwards: close() finds the indicator, or this finds that it ran
            self.give_up(indicator)

    def give_up(self, indicator: Indicator) -> None:
        """Any thread: the one that takes it out throws its item away."""
        indicator.close()
        if self.waiting.pop(indicator, indicator) is None:
            self.discard(indicator.subject)

    def indicated(self, indicator: Indicator) -> None:
        if indicator.error is None:
            self.ready.append(indicator)
        else:
            self.failures.append(indicator.error)
        self.drain()

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before looking: what came before the end is there
        if self.failures:
            return self.finish(self.failures.popleft())
        if main.error is not None:
            return self.finish(main.error)
        ready = self.ready
        given = 0
        while demand and ready:
            indicator = ready.popleft()
            if self.waiting.pop(indicator, indicator) is not None:
                continue  # given up
            self.emit(indicator.subject)
            if self.stopped:
                return 0
            given += 1
            if demand is not UNBOUNDED:
                demand -= 1
        if done:
            return demand if self.waiting else self.finish()
        if given and main.ahead != UNBOUNDED:
            self.later.append((main.up.request, given))
        return demand

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()
        for indicator in list(self.waiting):
            self.give_up(indicator)
        self.ready.clear()


class _Selecting(Input[T]):
    """The source of a :class:`DelayBy`."""

    __slots__ = ("ahead",)

    #: How many items it is asked for ahead.
    ahead: int

    def __init__(self, op: DelayBy[T], ahead: int) -> None:
        super().__init__(op)
        self.ahead = ahead

    def open(self, source: Any) -> None:
        if not takes_requests(source):
            self.ahead = UNBOUNDED
        super().open(source)

    def subscribed(self, up: Subscription) -> None:
        up.request(self.ahead)

    def on_next(self, item: T, /) -> None:
        op = self.op
        if not op.stopped:
            op.arrived(item)
        else:
            op.discard(item)
