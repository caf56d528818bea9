"""Items that come too fast: debounce, sample, throttle."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import DISPOSED, UNBOUNDED, worker_of
from rx_core.streams import ROUNDING, Input
from rx_fusion import op
from rx_ops.operators._clock import Periodic, scheduled
from rx_ops.operators._lossy import Arrivals, Drop, Held, Lossy
from rx_ops.operators._selecting import Indicator, Refused, Selector, selected

if TYPE_CHECKING:
    from rx_core import Disposable, Publisher, Scheduler, Subscriber, Subscription, Worker

T = TypeVar("T")


# -- debounce --------------------------------------------------------------------------------------------------------------------


@op("debounce")
class Debounce(Lossy[T]):
    """Each item has an alarm. The next item stops it, or it rings and the item is due."""

    __slots__ = ("alarm", "seconds", "worker")

    name: ClassVar[str] = "debounce"
    alarm: Disposable
    worker: Worker

    def __init__(self, down: Subscriber[T], source: Publisher[T], seconds: float, scheduler: Scheduler, on_drop: Drop[T]) -> None:
        super().__init__(down, source, on_drop, gives_last=True)
        self.seconds = seconds
        self.alarm = DISPOSED
        self.worker = worker_of(scheduler)

    def arrived(self, item: T) -> None:
        self.alarm.dispose()
        held = self.put(item)
        self.alarm = scheduled(self, self.worker, partial(self.ring, held), self.seconds)

    def ring(self, held: Held[T]) -> None:
        self.mark(held)
        self.drain_on_worker()

    def close(self) -> None:
        super().close()
        self.worker.dispose()


@op("debounce")
class DebounceBy(Lossy[T]):
    """The same with a source for each item: its first signal says that the item is due."""

    __slots__ = ("failures", "indicator", "selector")

    opens_sources: ClassVar[bool] = True

    name: ClassVar[str] = "debounce"
    selector: Selector
    #: The source selected for the newest item. Only the thread of the items replaces it.
    indicator: Indicator | None
    #: What indicators failed with while their items were the newest.
    failures: deque[Exception]

    def __init__(self, down: Subscriber[T], source: Publisher[T], selector: Selector, on_drop: Drop[T]) -> None:
        super().__init__(down, source, on_drop, gives_last=True)
        self.selector = selector
        self.indicator = None
        self.failures = deque()

    def arrived(self, item: T) -> None:
        before = self.indicator
        if before is not None:
            before.close()
        held = self.put(item)
        made = selected(self.main, "debounce", self.selector, item)
        if isinstance(made, Refused):
            self.main.fail(made.error)
            return
        self.indicator = indicator = Indicator(self, held)
        indicator.open(made)
        if self.stopped:  # published first, looked at afterwards: close() finds the indicator, or this finds that it ran
            indicator.close()

    def indicated(self, indicator: Indicator) -> None:
        if indicator.error is None:
            self.mark(indicator.subject)
        else:
            self.failures.append(indicator.error)
        self.drain()

    @property
    def failure(self) -> Exception | None:
        return self.failures[0] if self.failures else self.main.error

    def close(self) -> None:
        super().close()
        indicator = self.indicator
        if indicator is not None:
            indicator.close()
            self.indicator = None  # it knows the item


# -- sample ----------------------------------------------------------------------------------------------------------------------


class _Sampled(Lossy[T]):
    """What is newest at each beat is due."""

    __slots__ = ()

    name: ClassVar[str] = "sample"

    def arrived(self, item: T) -> None:
        self.put(item)

    def beat(self) -> bool:
        """On one thread: whether there is something new."""
        held = self.held
        if held is None or held.due:
            return False
        self.mark(held)
        return True


@op("sample")
class Sample(_Sampled[T]):
    """A sample every ``seconds``."""

    __slots__ = ("seconds", "worker")

    worker: Worker

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        seconds: float,
        scheduler: Scheduler,
        emit_last: bool,
        on_drop: Drop[T],
    ) -> None:
        super().__init__(down, source, on_drop, emit_last)
        self.seconds = seconds
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        Periodic(self, self.worker, self.seconds, self.seconds, self.ring)
        super().open()

    def ring(self) -> None:
        if self.beat():
            self.drain_on_worker()

    def close(self) -> None:
        super().close()
        self.worker.dispose()


@op("sample")
class SampleBy(_Sampled[T]):
    """A sample at each item of ``sampler``. Its end is the end."""

    __slots__ = ("beats", "sampler")

    sampler: Publisher[Any]

    def __init__(
        self, down: Subscriber[T], source: Publisher[T], sampler: Publisher[Any], emit_last: bool, on_drop: Drop[T]
    ) -> None:
        super().__init__(down, source, on_drop, emit_last)
        self.main = _BetweenBeats(self)
        self.sampler = sampler
        self.beats = _Beats(self)

    @property
    def ended(self) -> bool:
        return self.main.done or self.beats.done

    @property
    def failure(self) -> Exception | None:
        error = self.main.error
        return self.beats.error if error is None else error

    def close(self) -> None:
        super().close()
        self.beats.close()


class _BetweenBeats(Arrivals[T]):
    """The source of :class:`SampleBy`. When it is there the sampler is subscribed, and then it is asked, as in RxJava."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        op = self.op
        op.beats.open(op.sampler)
        if not op.stopped:
            up.request(UNBOUNDED)


class _Beats(Input[Any]):
    """The sampler of :class:`SampleBy`."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, _item: object, /) -> None:
        op = self.op
        if not op.stopped and op.beat():
            op.drain()


# -- throttle --------------------------------------------------------------------------------------------------------------------


@op("throttle_first")
class ThrottleFirst(Lossy[T]):
    """Whether an item passes is decided where it arrives, by the clock alone: nothing has to ring."""

    __slots__ = ("opens", "seconds", "worker")

    name: ClassVar[str] = "throttle_first"
    worker: Worker
    #: When the next item may pass. Only the source's thread looks at it.
    opens: float

    def __init__(self, down: Subscriber[T], source: Publisher[T], seconds: float, scheduler: Scheduler, on_drop: Drop[T]) -> None:
        super().__init__(down, source, on_drop, gives_last=False)
        self.seconds = seconds
        self.opens = float("-inf")
        self.worker = worker_of(scheduler)

    def arrived(self, item: T) -> None:
        instant = self.worker.now()
        if instant + ROUNDING < self.opens:
            self.drop(item)
            return
        self.opens = instant + self.seconds
        self.mark(Held(item))
        self.drain()

    def close(self) -> None:
        super().close()
        self.worker.dispose()


@op("throttle_latest")
class ThrottleLatest(Lossy[T]):
    """While no period runs, an item passes and begins one; the newest of those that come meanwhile passes at its end."""

    __slots__ = ("over", "running", "seconds", "worker")

    name: ClassVar[str] = "throttle_latest"
    worker: Worker
    #: A period runs; only the holder of the token looks at it.
    running: bool
    #: Its time is over. The worker sets it, the holder of the token takes it back before the next period begins.
    over: bool

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        seconds: float,
        scheduler: Scheduler,
        emit_last: bool,
        on_drop: Drop[T],
    ) -> None:
        super().__init__(down, source, on_drop, emit_last)
        self.seconds = seconds
        self.running = False
        self.over = False
        self.worker = worker_of(scheduler)

    def arrived(self, item: T) -> None:
        self.put(item)
        self.drain()

    def ring(self) -> None:
        self.over = True
        self.drain_on_worker()

    def step(self, demand: int) -> int:
        if self.main.done:
            return super().step(demand)
        if self.over:
            self.over = self.running = False
        if self.running or self.held is None:
            return demand
        item = self.held.take()
        if item is None:
            return demand
        demand = self.give_item(item, demand)
        if self.stopped:
            return 0
        self.running = True
        scheduled(self, self.worker, self.ring, self.seconds)
        return demand

    def close(self) -> None:
        super().close()
        self.worker.dispose()
