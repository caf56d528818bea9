"""Between a source that cannot be asked, or is asked for everything, and a consumer that is slower.

What an item means that comes while nothing is wanted is a *policy*. What is wanted is what the operator's own consumer has
requested of it, never what the end of the stream has: before ``flat_map`` that is its window, so beyond it items are dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, MissingBackpressureError, none_produced, request_all, user_call, worker_of
from rx_core.streams import LOOK_FIRST, ROUNDING, GatedInput, Op
from rx_fusion import op
from rx_ops.operators._clock import scheduled
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Subscription, Worker
    from rx_core.streams import Listening

T = TypeVar("T")


class BackpressureStrategy(Enum):
    """What ``create`` does with an item that was not requested."""

    #: Let it wait; without a capacity the buffer grows with the difference in speed.
    BUFFER = "buffer"
    #: End the stream with MissingBackpressureError.
    ERROR = "error"
    #: Drop it.
    DROP = "drop"
    #: Keep only the newest.
    LATEST = "latest"
    #: Send it on although it was not requested: the subscriber has to cope. For a following on_backpressure_* operator.
    MISSING = "missing"

    def bound(self, capacity: int | None) -> str:
        """What may wait, in words for a plan."""
        if self is BackpressureStrategy.BUFFER:
            return "without bound" if capacity is None else f"{capacity} items"
        if self is BackpressureStrategy.LATEST:
            return "one item"
        return "none"


class OverflowStrategy(Enum):
    """What ``on_backpressure_buffer`` does with an item that comes when its buffer is full."""

    #: End the stream with MissingBackpressureError.
    ERROR = "error"
    #: Drop the item that waits longest: what is given is the newest.
    DROP_OLDEST = "drop_oldest"
    #: Drop the item that waited last, and let the new one wait in its place. RxJava's ``DROP_LATEST``.
    DROP_LATEST = "drop_latest"
    #: Drop the item that came: what waits is given as it came, without a gap. Reactor's ``DROP_LATEST``.
    DROP_INCOMING = "drop_incoming"


class Overflow(Op[T]):
    """Items go on as they come while they are wanted. What comes otherwise waits, as far as ``policy`` allows."""

    __slots__ = ("capacity", "delay_error", "failure", "main", "on_drop", "policy")

    #: The operator, for notes.
    name: ClassVar[str]
    #: What listens to the source. Its queue is what waits.
    main: GatedInput[T]
    #: Gives up what may not wait; may raise, and what it raises ends the stream. None: everything may wait.
    policy: Policy | None
    capacity: int
    #: Called with each item given up.
    on_drop: Callable[[T], object] | None
    #: Whether an error lets the items before it go out first.
    delay_error: bool
    #: What the policy raised; only the holder of the token writes it.
    failure: Exception | None

    def __init__(
        self,
        down: Subscriber[T],
        policy: Policy | None,
        capacity: int,
        on_drop: Callable[[T], object] | None,
        delay_error: bool,
    ) -> None:
        super().__init__(down)
        self.policy = policy
        self.capacity = capacity
        self.on_drop = on_drop
        self.delay_error = delay_error
        self.failure = None

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before taking: what came before the end is in the queue
        queue = main.queue
        if done and main.error is not None and not self.delay_error:
            return self.finish(main.error)
        while queue and demand:
            self.emit(queue.popleft())
            if demand is not UNBOUNDED:
                demand -= 1
            if self.dirty:
                return demand
        if self.stopped:
            return 0
        if queue and self.policy is not None and self.failure is None:
            if self.requests:
                return demand  # they are looked at before anything is given up
            try:
                self.policy(self, queue)
            except Exception as error:
                self.fail(as_error(error))
        if self.failure is not None and (not queue or not self.delay_error):
            return self.finish(self.failure)
        return self.finish(main.error) if done and not queue else demand

    def fail(self, error: Exception) -> None:
        """The source is not listened to any more. What waits may still go out before the error."""
        self.failure = error
        main = self.main
        main.closed = True
        if main.up is not None and not main.done:
            main.up.cancel()

    def give_up(self, item: T) -> None:
        if self.on_drop is not None:
            user_call(self.name, self.on_drop, item)
        else:
            self.discard(item)

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()


# -- policies: what may wait of a queue while nothing is wanted ---------------------------------------------------------------

Policy = Callable[[Overflow[Any], "deque[Any]"], None]


def _drop(overflow: Overflow[Any], queue: deque[Any]) -> None:
    while queue:
        overflow.give_up(queue.popleft())


def _latest(overflow: Overflow[Any], queue: deque[Any]) -> None:
    while len(queue) > 1:
        overflow.give_up(queue.popleft())


def _error(overflow: Overflow[Any], queue: deque[Any]) -> None:
    _drop(overflow, queue)
    raise MissingBackpressureError("a source sent an item that was not requested")


def _full(overflow: Overflow[Any], queue: deque[Any]) -> None:
    if len(queue) > overflow.capacity:
        _give_up_from(overflow, queue, overflow.capacity)
        raise MissingBackpressureError(f"the buffer is full: {overflow.capacity} items wait and none is requested")


def _drop_oldest(overflow: Overflow[Any], queue: deque[Any]) -> None:
    while len(queue) > overflow.capacity:
        overflow.give_up(queue.popleft())


def _drop_latest(overflow: Overflow[Any], queue: deque[Any]) -> None:
    """The item that came takes the place of the last one that waits, as in RxJava."""
    _give_up_from(overflow, queue, overflow.capacity - 1)


def _drop_incoming(overflow: Overflow[Any], queue: deque[Any]) -> None:
    _give_up_from(overflow, queue, overflow.capacity)


def _reducing(reducer: Callable[[Any, Any], Any]) -> Policy:
    def policy(_overflow: Overflow[Any], queue: deque[Any]) -> None:
        while len(queue) > 1:  # only the holder of the token takes out, and appending does not move what is before
            queue[0] = _reduced(reducer, queue[0], queue[1])
            del queue[1]

    return policy


def _reduced(reducer: Callable[[Any, Any], Any], total: Any, item: Any) -> Any:
    value = user_call("on_backpressure_reduce", reducer, total, item)
    if value is None:
        raise none_produced("on_backpressure_reduce", reducer)
    return value


def _give_up_from(overflow: Overflow[Any], queue: deque[Any], at: int) -> None:
    capacity = overflow.capacity
    while len(queue) > capacity:  # only the holder of the token takes out, and appending does not move what is before
        item = queue[at]
        del queue[at]
        overflow.give_up(item)


_STRATEGIES: Final[dict[BackpressureStrategy, Policy]] = {
    BackpressureStrategy.BUFFER: _full,
    BackpressureStrategy.ERROR: _error,
    BackpressureStrategy.DROP: _drop,
    BackpressureStrategy.LATEST: _latest,
}
_OVERFLOWS: Final[dict[OverflowStrategy, Policy]] = {
    OverflowStrategy.ERROR: _full,
    OverflowStrategy.DROP_OLDEST: _drop_oldest,
    OverflowStrategy.DROP_LATEST: _drop_latest,
    OverflowStrategy.DROP_INCOMING: _drop_incoming,
}


def policy_of(strategy: BackpressureStrategy, capacity: int) -> Policy | None:
    if strategy is BackpressureStrategy.BUFFER and capacity == UNBOUNDED:
        return None
    return _STRATEGIES[strategy]


# -- behind a source -----------------------------------------------------------------------------------------------------------


class _Everything(GatedInput[T]):
    """Its source is asked for everything, whatever is wanted."""

    __slots__ = ()

    def wait(self, item: T) -> None:
        op = self.op
        token = op.token
        if op.policy is None and (token or not LOOK_FIRST):
            # Nothing is wanted, most likely: it waits for a request, and there is nothing else to look at.
            try:
                demand = token.pop()
            except IndexError:
                pass
            else:
                if not self.closed:
                    self.put(item)
                else:
                    op.discard(item)
                token.append(demand)
                if demand or op.dirty:
                    op.drain()
                return
        super().wait(item)

    def subscribed(self, up: Subscription) -> None:
        request_all(up)


class _Straight(_Everything[T]):
    """The same where everything is wanted for good: no item waits."""

    __slots__ = ("on_next",)

    on_next: Callable[[T], object]  # type: ignore[assignment]  # of downstream, in place of a method

    def __init__(self, op: Op[Any]) -> None:
        super().__init__(op)
        self.on_next = op.emit

    def close(self) -> None:
        self.on_next = self.op.discard
        super().close()


class _OnBackpressure(Overflow[T]):
    __slots__ = ("source",)

    discards: ClassVar[bool] = True

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        policy: Policy | None,
        capacity: int,
        on_drop: Callable[[T], object] | None,
        delay_error: bool,
    ) -> None:
        super().__init__(down, policy, capacity, on_drop, delay_error)
        self.source = source
        self.main = _Everything(self)

    def open(self) -> None:
        if self.settled:
            self.main = _Straight(self)
        self.main.open(self.source)


@op("on_backpressure_buffer")
class OnBackpressureBuffer(_OnBackpressure[T]):
    """Lets at most ``capacity`` items wait; ``overflow`` decides about one more."""

    __slots__ = ()
    name = "on_backpressure_buffer"

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        capacity: int,
        on_drop: Callable[[T], object] | None,
        overflow: OverflowStrategy,
        delay_error: bool,
    ) -> None:
        policy = None if capacity == UNBOUNDED else _OVERFLOWS[overflow]
        super().__init__(down, source, policy, capacity, on_drop, delay_error)


@op("on_backpressure_drop")
class OnBackpressureDrop(_OnBackpressure[T]):
    """Drops what is not wanted when it comes."""

    __slots__ = ()
    name = "on_backpressure_drop"

    def __init__(self, down: Subscriber[T], source: Publisher[T], on_drop: Callable[[T], object] | None) -> None:
        super().__init__(down, source, _drop, 0, on_drop, False)


@op("on_backpressure_latest")
class OnBackpressureLatest(_OnBackpressure[T]):
    """Keeps the newest item for who asks next. An error does not wait for that."""

    __slots__ = ()
    name = "on_backpressure_latest"

    def __init__(self, down: Subscriber[T], source: Publisher[T], on_drop: Callable[[T], object] | None) -> None:
        super().__init__(down, source, _latest, 1, on_drop, False)


@op("on_backpressure_reduce")
class OnBackpressureReduce(_OnBackpressure[T]):
    """Items that are not wanted become one. An error does not wait for a request."""

    __slots__ = ()
    name = "on_backpressure_reduce"

    def __init__(self, down: Subscriber[T], source: Publisher[T], reducer: Callable[[T, T], T]) -> None:
        super().__init__(down, source, _reducing(reducer), 1, None, False)


_NOTHING: Final[Any] = object()


@op("on_backpressure_reduce")
class OnBackpressureReduceWith(_OnBackpressure[T]):
    """The same from a start that each total has of its own: also an item that is wanted goes through ``reducer``."""

    __slots__ = ("reducer", "supplier", "total")
    name = "on_backpressure_reduce"

    #: What the items that are not wanted became so far.
    total: Any

    def __init__(
        self, down: Subscriber[T], source: Publisher[Any], supplier: Callable[[], T], reducer: Callable[[T, Any], T]
    ) -> None:
        super().__init__(down, source, _keep, 1, None, False)
        self.supplier = supplier
        self.reducer = reducer
        self.total = _NOTHING
        self.main = _Waiting(self)

    def open(self) -> None:
        self.main.open(self.source)

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before taking: what came before the end is in the queue
        queue = main.queue
        if done and main.error is not None:
            return self.finish(main.error)
        while queue or self.total is not _NOTHING:
            if self.dirty:
                return demand  # what was requested meanwhile is looked at first
            if demand and self.total is not _NOTHING:
                total, self.total = self.total, _NOTHING
                self.emit(total)
                if demand is not UNBOUNDED:
                    demand -= 1
            elif not queue:
                break
            else:
                try:
                    self.total = _reduced(self.reducer, self.begun(), queue.popleft())
                except Exception as error:
                    return self.finish(as_error(error))
        if self.stopped:
            return 0
        return self.finish(None) if done and self.total is _NOTHING else demand

    def begun(self) -> Any:
        if self.total is not _NOTHING:
            return self.total
        start = user_call(self.name, self.supplier)
        if start is None:
            raise none_produced(self.name, self.supplier)
        return start

    def close(self) -> None:
        super().close()
        total = self.total
        if total is not _NOTHING:
            self.total = _NOTHING
            self.discard(total)


def _keep(_overflow: Overflow[Any], _queue: deque[Any]) -> None:
    """For what looks at its queue itself."""


class _Waiting(_Everything[T]):
    """Each item waits, if only for the step that follows."""

    __slots__ = ()

    def on_next(self, item: T, /) -> None:
        self.wait(item)


@op("on_backpressure_timeout")
class OnBackpressureTimeout(_OnBackpressure[T]):
    """Lets an item wait for ``seconds`` at most, and ``capacity`` items; of more the oldest go. The end waits behind them."""

    __slots__ = ("armed", "seconds", "worker")
    name = "on_backpressure_timeout"

    worker: Worker
    #: An alarm is to ring. One too many does no harm.
    armed: bool

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        seconds: float,
        capacity: int,
        scheduler: Scheduler,
        on_drop: Callable[[T], object] | None,
    ) -> None:
        super().__init__(down, source, _keep, capacity, on_drop, True)
        self.seconds = seconds
        self.armed = False
        self.main = _Aging(self)
        self.worker = worker_of(scheduler)

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before taking: what came before the end is in the queue
        queue: deque[Any] = main.queue
        while queue and demand:
            self.emit(queue.popleft()[1])
            if demand is not UNBOUNDED:
                demand -= 1
            if self.dirty:
                return demand
        if self.stopped:
            return 0
        if queue:
            if self.requests:
                return demand  # they are looked at before anything is given up
            try:
                self.give_up_old(queue)
            except Exception as error:
                return self.finish(as_error(error))
        if done and not queue:
            return self.finish(main.error)
        if queue and not self.armed:
            self.armed = True
            scheduled(self, self.worker, self.ring, max(0.0, queue[0][0] - self.worker.now()))
        return demand

    def give_up_old(self, queue: deque[Any]) -> None:
        over = self.worker.now() + ROUNDING
        while queue and (len(queue) > self.capacity or queue[0][0] <= over):
            self.give_up(queue.popleft()[1])

    def ring(self) -> None:
        """On the worker."""
        self.armed = False
        self.drain_on_worker()

    def close(self) -> None:
        super().close()
        self.worker.dispose()


class _Aging(_Everything[T]):
    """Each item waits with the instant until which it may."""

    __slots__ = ()

    def put(self, item: T) -> None:
        until: Any = (self.op.worker.now() + self.op.seconds, item)
        super().put(until)

    def forget(self) -> None:
        queue: deque[Any] = self.queue
        while True:
            try:
                item = queue.popleft()[1]
            except IndexError:
                return
            self.op.discard(item)


@op("to_flowable")
class ToFlowable(_OnBackpressure[T]):
    """Items of an observable for who asks."""

    __slots__ = ()
    name = "to_flowable"

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        strategy: BackpressureStrategy,
        capacity: int,
        on_drop: Callable[[T], object] | None,
    ) -> None:
        super().__init__(down, source, policy_of(strategy, capacity), capacity, on_drop, False)
