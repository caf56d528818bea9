"""Subscribing and requesting on a worker: subscribe_on."""

from __future__ import annotations

from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, TypeVar

from rx_core import DISPOSED, UNBOUNDED, dropped
from rx_core.streams import OneAtATime, RelayedInput
from rx_fusion import op
from rx_ops.operators._clock import shut_down

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Worker

T = TypeVar("T")


@op("subscribe_on")
class SubscribeOn(OneAtATime[T]):
    """Subscribes and requests on a worker. Signals pass on whatever thread they come on."""

    __slots__ = ("failure", "source", "thread", "worker")

    source: Publisher[T]
    worker: Worker
    #: The worker's thread, once the source is subscribed there.
    thread: int
    failure: Exception | None

    def __init__(self, down: Subscriber[T], source: Publisher[T], scheduler: Scheduler) -> None:
        super().__init__(down)
        self.source = source
        self.thread = 0
        self.failure = None
        self.worker = scheduler.create_worker()

    def open(self) -> None:
        if self.worker.schedule(self.begin) is DISPOSED and not self.thread and not self.stopped:
            self.failure = shut_down(self.worker)
            self.drain()

    def begin(self) -> None:
        """On the worker."""
        self.thread = get_ident()
        current: _AskedOnWorker[T] = _AskedOnWorker(self)
        self.current = current
        try:
            if not self.stopped:
                current.open(self.source)
            self.drain()  # a cancel that did not find ``current`` finds it now
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.origin)

    def step(self, demand: int) -> int:
        return super().step(demand) if self.failure is None else self.finish(self.failure)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)

    def close(self) -> None:
        super().close()
        self.worker.dispose()


class _AskedOnWorker(RelayedInput[T]):
    """The source of :class:`SubscribeOn`: requests reach it on the worker."""

    __slots__ = ()

    def ask(self, demand: int) -> None:
        more = demand - self.asked
        if more and self.up is not None and not self.done:
            self.asked = demand
            self.op.later.append((self.send, UNBOUNDED if demand == UNBOUNDED else more))

    def send(self, n: int) -> None:
        op = self.op
        if op.stopped:
            return
        if get_ident() == op.thread:
            self.up.request(n)
        else:
            op.worker.schedule(partial(self.request, n))

    def request(self, n: int) -> None:
        """On the worker."""
        if self.done or self.closed:
            return
        try:
            self.up.request(n)
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.op.origin)
