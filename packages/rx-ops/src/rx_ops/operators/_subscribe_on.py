"""Subscribing, requesting and cancelling on a worker: subscribe_on, unsubscribe_on."""

from __future__ import annotations

from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import DISPOSED, UNBOUNDED, current_context, dropped, worker_of
from rx_core.streams import OneAtATime, RelayedInput, Transparent, ignore
from rx_fusion import op
from rx_ops.operators._clock import shut_down
from rx_ops.operators._mapping import as_error

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
        self.worker = worker_of(scheduler)

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


@op("unsubscribe_on")
class UnsubscribeOn(Transparent[T]):
    """Cancels its source on a worker. Downstream gets nothing more from the cancel on."""

    __slots__ = ("first", "scheduler")

    #: Holds one entry until a cancel takes it out.
    first: Any

    def __init__(self, down: Subscriber[T], source: Publisher[T], scheduler: Scheduler) -> None:
        super().__init__(down, source)
        self.scheduler = scheduler
        self.first = [True]

    def cancel(self) -> None:
        if self.done:
            return
        try:
            self.first.pop()  # atomic: exactly one of several that cancel at the same time
        except IndexError:
            return
        self.done = True
        self.on_next = ignore
        self.let_go()
        if self.up is None:
            return
        try:
            context = current_context()
            leave = self.leave if context is None else partial(context.run, self.leave)
            refused = self.scheduler.schedule_direct(leave) is DISPOSED
        except Exception as failure:  # RS 3.15: cancel must not raise
            refused = True
            dropped(as_error(failure), self.origin)
        if refused:  # the scheduler was shut down: the source must not run on for that
            self.leave()

    def leave(self) -> None:
        try:
            self.up.cancel()
        except Exception as failure:  # no caller on the worker could act on it
            dropped(as_error(failure), self.origin)
