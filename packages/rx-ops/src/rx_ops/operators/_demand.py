"""How much a source is asked for, and when: rebatch_requests, rate_limit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, worker_of
from rx_core.queue_fusion import fusion_enabled
from rx_core.streams import ROUNDING, AskedInput, MergedInput, Op, Pump, Stream
from rx_fusion import op
from rx_ops.operators._clock import scheduled

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Worker
    from rx_core.streams import Listening

T = TypeVar("T")


@op("rebatch_requests")
class RebatchRequests(Pump[T]):
    """A source that pushes is asked for ``count`` items, and for ``refill`` more each time so many were taken.

    A passive source gives what is requested: there is nothing that would be asked in batches.
    """

    __slots__ = ("ended", "main", "pulled", "ready", "source")

    discards: ClassVar[bool] = True
    main: MergedInput[T]
    #: The items come from ``items`` and not from a queue.
    pulled: bool
    #: What a MergedInput tells an operator with many of them.
    ready: deque[Any]
    ended: deque[Any]

    def __init__(self, down: Subscriber[T], source: Publisher[T], count: int, refill: int | None) -> None:
        super().__init__(down)
        self.source = source
        self.pulled = False
        self.ready = self.ended = deque(maxlen=0)
        main: MergedInput[T] = MergedInput(self, count)
        self.main = main
        if refill is not None:
            main.left = main.limit = refill

    def start(self) -> bool:
        return Op.start(self)  # as an operator that subscribes: the token is free while the source may answer already

    def after_answer(self, then: Callable[[], object], /) -> None:
        source = self.source
        if fusion_enabled() and isinstance(source, Stream) and source._answers_late:
            super().after_answer(then)  # it is pulled
        else:
            then()

    def open(self) -> None:
        source = self.source
        if isinstance(source, Stream) and source._passive_into(self):
            self.pulled = True
        else:
            self.main.open(source)

    def step(self, demand: int) -> int:
        if self.pulled:
            return super().step(demand)
        main = self.main
        done = main.done  # before taking: what came before the end is in the queue
        queue = main.queue
        while queue and demand:
            item = queue.popleft()
            main.took()
            self.emit(item)
            if demand is not UNBOUNDED:
                demand -= 1
            if self.dirty:
                return demand
        if self.stopped:
            return 0
        return self.finish(main.error) if done and not queue else demand

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        super().close()
        self.main.close()


@op("rate_limit")
class RateLimit(Op[T]):
    """Gives at most ``count`` items in any ``seconds``, and asks for no more than it may give by now.

    So nothing waits here, unless the source cannot be asked. An item that was given takes one of ``free`` places for ``seconds``.
    """

    __slots__ = ("armed", "asked", "came", "free", "given", "main", "seconds", "source", "worker")

    discards: ClassVar[bool] = True
    main: AskedInput[T]
    worker: Worker
    #: How many items may be given now.
    free: int
    #: When items were given that take a place still, in order.
    given: deque[float]
    #: How many items the source was asked for, and how many of them were taken.
    asked: int
    came: int
    #: An alarm is to ring. One too many does no harm.
    armed: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], count: int, seconds: float, scheduler: Scheduler) -> None:
        super().__init__(down)
        self.source = source
        self.seconds = seconds
        self.free = count
        self.given = deque()
        self.asked = 0
        self.came = 0
        self.armed = False
        self.main = AskedInput(self)
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        self.main.open(self.source)

    def step(self, demand: int) -> int:
        main = self.main
        done = main.done  # before taking: what came before the end is in the queue
        queue = main.queue
        self.take_back_places()
        while queue and demand and self.free:
            self.free -= 1
            self.given.append(self.worker.now())
            self.came += 1
            self.emit(queue.popleft())
            if demand is not UNBOUNDED:
                demand -= 1
            if self.dirty:
                return demand
        if self.stopped:
            return 0
        if done and not queue:
            return self.finish(main.error)
        if demand and not self.free and not self.armed:
            self.armed = True
            due = self.given[0] + self.seconds
            scheduled(self, self.worker, self.ring, max(0.0, due - self.worker.now()))
        if not done and main.up is not None and not main.unasked:
            more = min(demand, self.free) - (self.asked - self.came)
            if more > 0:
                self.asked += more
                self.later.append((main.up.request, more))
        return demand

    def take_back_places(self) -> None:
        given = self.given
        over = self.worker.now() - self.seconds + ROUNDING
        while given and given[0] <= over:
            given.popleft()
            self.free += 1

    def ring(self) -> None:
        """On the worker."""
        self.armed = False
        self.drain_on_worker()

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        self.main.close()
        self.worker.dispose()
