"""Where signals and requests run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar

from rx_core import DISPOSED, FlowableBase, Items, Publisher, Run, Scheduler, Source, Subscriber, Subscription
from rx_fusion import OperatorHead, Pipeline, operator
from rx_ops.coordination._backpressure import on_backpressure_drop, on_backpressure_latest
from rx_ops.coordination._buffer import buffer_boundary, buffer_cut, buffer_time
from rx_ops.coordination._debounce import debounce, debounce_by, throttle_first, throttle_latest
from rx_ops.coordination._sample import sample, sample_by
from rx_ops.coordination._time import interval, timer

if TYPE_CHECKING:
    from rx_core import Worker

T = TypeVar("T")


@operator(eager="none", relays=True)
def observe_on(_run: Run, source: Source[T]) -> Items[T]:
    """Nothing but its source: the run has a worker, so polling, requesting and emitting happen there.

    What comes by itself waits in a queue: this has asked for it, whether or not somebody asks for more behind the worker.
    """
    return source.apart() if _comes_by_itself(source.publisher) else iter(source)


#: They look at what is wanted when something comes, and drop it or fail where that is nothing.
_UNASKED: Final = frozenset(
    {
        *(buffer_boundary, buffer_cut, buffer_time, debounce, debounce_by, interval, on_backpressure_drop),
        *(on_backpressure_latest, sample, sample_by, throttle_first, throttle_latest, timer),
    }
)


def _comes_by_itself(source: object) -> bool:
    if not isinstance(source, Pipeline) or not isinstance(source, FlowableBase):
        return False  # who takes everything wants everything
    head = source._head
    if not isinstance(head, OperatorHead) or head.scheduler is not None:
        return False  # a queue is there
    return head.operator.function in _UNASKED or any(map(_comes_by_itself, head.upstream))


class SubscribeOn(FlowableBase[T]):
    """Subscribes and requests on a worker. Hand-written: signals pass on whatever thread they come on."""

    __slots__ = ("_scheduler", "_source")

    #: What it sends comes on its worker, unless the source has one of its own: then on that.
    _rx_on_worker: ClassVar[bool] = True

    def __init__(self, source: Publisher[T], scheduler: Scheduler) -> None:
        self._source = source
        self._scheduler = scheduler

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        worker = self._scheduler.create_worker()
        relay = _OnWorker(subscriber, worker)
        subscriber.on_subscribe(relay)
        if worker.schedule(lambda: relay.subscribe_to(self._source)) is DISPOSED and not relay.cancelled:
            relay.on_error(RuntimeError(f"{self._scheduler!r} was shut down; subscribe_on() needs a running scheduler"))

    def __repr__(self) -> str:
        return f"{self._source!r}.subscribe_on({self._scheduler!r})"


class _OnWorker(Generic[T]):
    """Deferred requesting: what is asked before the source is there waits, and all of it is asked on the worker (RS 2.7)."""

    __slots__ = ("_deferred", "_done", "_down", "_lends", "_needs", "_thread", "_up", "_worker", "cancelled")

    def __init__(self, down: Subscriber[T], worker: Worker) -> None:
        self._down = down
        self._worker = worker
        self._up: Subscription | None = None
        self._deferred: deque[int] = deque()
        self._thread = 0
        #: See Drain.
        self._lends: list[int] | None = None
        self._needs = [0]
        self._done = False
        self.cancelled = False

    def subscribe_to(self, source: Publisher[T]) -> None:
        self._thread = get_ident()
        if not self.cancelled:
            source.subscribe(self)

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self._up is not None:
            subscription.cancel()  # RS 2.5
            return
        self._up = subscription  # publish first, look afterwards: cancel() and request() do the same
        if self.cancelled:
            subscription.cancel()
        else:
            self._ask()

    def on_next(self, item: T, /) -> None:
        self._down.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        self._done = True
        try:
            self._down.on_error(error)
        finally:
            self._over()

    def on_complete(self) -> None:
        self._done = True
        try:
            self._down.on_complete()
        finally:
            self._over()

    def request(self, n: int, /) -> None:
        self._deferred.append(n)
        if self._up is None or self._done:
            return
        if get_ident() == self._thread:
            self._ask()
        else:
            self._worker.schedule(self._ask)

    def _rx_promise(self, n: int, /) -> Callable[[], object]:
        self.request(n)  # the source has a worker: it does not matter who asks
        return _nothing

    def _ask(self) -> None:
        up = self._up
        while up is not None:
            try:
                n = self._deferred.popleft()
            except IndexError:
                return
            up.request(n)

    def cancel(self) -> None:
        self.cancelled = True
        if self._up is not None:
            self._up.cancel()
        self._over()

    def _over(self) -> None:
        """This needs the worker no more. Who has it as well may: items of a stage that had enough and cancelled."""
        try:
            self._needs.pop()
        except IndexError:
            return  # cancelled before, or at the same time
        self.rx_give_back()

    @property
    def _rx_lender(self) -> _OnWorker[T]:
        return self

    def rx_lend(self) -> bool:
        self._lends = [0, 1]
        return True

    def rx_worker(self) -> Worker:
        return self._worker

    def rx_give_back(self) -> None:
        lends = self._lends
        if lends:
            try:
                if lends.pop():
                    return
            except IndexError:
                return
        self._worker.dispose()


def _nothing() -> None:
    pass
