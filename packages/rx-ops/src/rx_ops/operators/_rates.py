"""Items that come too fast: debounce, sample, throttle.

These operators ask their source for everything and drop what does not count. The source's thread puts an item into a cell when it
comes, the clock's thread marks the cell as due, and the holder of the token gives what is due. The thread that takes an item out
of its cell decides what becomes of it: so each is either given or dropped, on whatever threads source and clock run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core import DISPOSED, UNBOUNDED, MissingBackpressureError, dropped, user_call
from rx_core.streams import Input, Op
from rx_fusion import op
from rx_ops.operators._clock import ROUNDING, Periodic
from rx_ops.operators._mapping import as_error
from rx_ops.operators._selecting import Indicator, Refused, Selector, selected

if TYPE_CHECKING:
    from rx_core import Disposable, Publisher, Scheduler, Subscriber, Subscription, Worker

T = TypeVar("T")
Drop = Callable[[T], object] | None


class Held(Generic[T]):
    """An item that is either given or dropped: the thread that takes it out decides, and another one finds nothing."""

    __slots__ = ("cell", "due")

    cell: Any
    #: Its time has come. Set by the clock, or by the source that stands in for one.
    due: bool

    def __init__(self, item: T) -> None:
        self.cell = [item]
        self.due = False

    def take(self) -> T | None:
        try:
            return self.cell.pop()  # type: ignore[no-any-return]  # what was put in
        except IndexError:
            return None


class Arrivals(Input[T]):
    """A source that is asked for everything; ``op.arrived(item)`` decides about an item on the thread that sends it."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: T, /) -> None:
        op = self.op
        if not op.stopped:
            op.arrived(item)

    def fail(self, error: Exception) -> None:
        """A user's function raised ``error`` for an item: it ends the operator, and this listens no more."""
        op = self.op
        if op.stopped:
            dropped(error, op.origin)
            return
        self.stop()
        self.error = error
        self.done = True
        op.drain()


class Lossy(Op[T]):
    """Keeps the newest item until it is due, and gives what is due; that is an error where nothing is wanted."""

    __slots__ = ("due", "gives_last", "held", "main", "on_drop", "source")

    #: What users call it.
    name: ClassVar[str]
    source: Publisher[T]
    main: Arrivals[T]
    on_drop: Drop[T]
    #: The newest item. Only the source's thread replaces it.
    held: Held[T] | None
    #: Those that are due, in order. An item that was dropped meanwhile leaves its cell empty.
    due: deque[Held[T]]
    #: Whether the newest item is given at completion.
    gives_last: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], on_drop: Drop[T], gives_last: bool) -> None:
        super().__init__(down)
        self.source = source
        self.main = Arrivals(self)
        self.on_drop = on_drop
        self.held = None
        self.due = deque()
        self.gives_last = gives_last

    def open(self) -> None:
        self.main.open(self.source)

    # -- the source's thread ----------------------------------------

    def arrived(self, item: T) -> None:
        raise NotImplementedError

    def put(self, item: T) -> Held[T]:
        """``item`` is the newest; the one that it replaces is dropped, unless it is due."""
        before, held = self.held, Held(item)
        self.held = held
        if before is not None and not before.due:
            replaced = before.take()
            if replaced is not None:
                self.drop(replaced)
        return held

    def drop(self, item: T) -> None:
        if self.on_drop is not None:
            try:
                user_call(self.name, self.on_drop, item)
            except Exception as error:
                self.main.fail(as_error(error))

    # -- the clock's thread ----------------------------------------

    def mark(self, held: Held[T]) -> None:
        """The time of ``held`` has come."""
        self.due.append(held)  # first: a cell that is marked is never dropped
        held.due = True

    # -- the holder of the token ----------------------------------------

    @property
    def ended(self) -> bool:
        """A source whose end is the end is complete, or has failed."""
        return self.main.done

    @property
    def failure(self) -> Exception | None:
        return self.main.error

    def step(self, demand: int) -> int:
        ended = self.ended  # both before looking: what was due before the end is there
        failure = self.failure
        due = self.due
        while due:
            item = due.popleft().take()
            if item is not None:
                demand = self.give_item(item, demand)
                if self.stopped:
                    return 0
        if failure is not None:
            return self.finish(failure)
        if not ended:
            return demand
        if self.gives_last and self.held is not None:
            item = self.held.take()
            if item is not None:
                self.give_item(item, demand)
        return self.finish()

    def give_item(self, item: T, demand: int) -> int:
        if not demand:
            return self.finish(MissingBackpressureError(f"{self.name}() had an item to give that was not requested"))
        self.emit(item)
        return demand if demand == UNBOUNDED else demand - 1

    def close(self) -> None:
        self.main.close()
        self.due.clear()
        self.held = None


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
        self.worker = scheduler.create_worker()

    def arrived(self, item: T) -> None:
        self.alarm.dispose()
        held = self.put(item)
        self.alarm = self.worker.schedule(partial(self.ring, held), self.seconds)

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
        self.worker = scheduler.create_worker()

    def open(self) -> None:
        Periodic(self.worker, self.seconds, self.seconds, self.ring)
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
        self.sampler = sampler
        self.beats = _Beats(self)

    def open(self) -> None:
        self.beats.open(self.sampler)  # first: what the source sends while it is subscribed may be sampled
        if not self.stopped:
            super().open()

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
        self.worker = scheduler.create_worker()

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
        self.worker = scheduler.create_worker()

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
        self.worker.schedule(self.ring, self.seconds)
        return demand

    def close(self) -> None:
        super().close()
        self.worker.dispose()
