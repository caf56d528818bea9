"""Subscribing, requesting and cancelling on a worker: subscribe_on, unsubscribe_on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, final

from rx_core import DEMAND, DISPOSED, UNBOUNDED, current_context, dropped, worker_of
from rx_core.streams import OneAtATime, RelayedInput, Stream, Transparent, without_demand
from rx_fusion import ONE_FUNCTION, OperatorHead, op, operator_head, operator_of
from rx_ops.operators._clock import scheduled
from rx_ops.operators._mapping import as_error

if TYPE_CHECKING:
    from rx_core import Publisher, Scheduler, Subscriber, Worker

T = TypeVar("T")


@op("subscribe_on")
class SubscribeOn(OneAtATime[T]):
    """Subscribes and requests on a worker. Signals pass on whatever thread they come on."""

    __slots__ = ("source", "thread", "turn", "worker")

    discards: ClassVar[bool] = True
    source: Publisher[T]
    worker: Worker
    #: The worker's thread, once the source is subscribed there.
    thread: int
    #: The thread on which the worker goes on with a passive source now, if that is another one; 0 between its actions.
    turn: int

    def __init__(self, down: Subscriber[T], source: Publisher[T], scheduler: Scheduler) -> None:
        super().__init__(down)
        self.source = source
        self.thread = 0
        self.turn = 0
        self.worker = worker_of(scheduler)

    def open(self) -> None:
        scheduled(self, self.worker, self.begin)

    def begin(self) -> None:
        """On the worker."""
        self.thread = get_ident()
        source = self.source
        try:
            if not self.stopped and not self.pulls(source):
                current: _AskedOnWorker[T] = _AskedOnWorker(self)
                self.current = current
                current.open(source)
            self.drain()  # a cancel that did not find what was opened finds it now
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.origin)

    def pulls(self, source: Any) -> bool:
        """Whether ``source`` is passive: then the worker iterates it, and other threads only close it."""
        self.unasked = without_demand(source)
        return isinstance(source, Stream) and source._passive_into(self)

    def go_on(self) -> None:
        """On the worker: more was requested of a passive source."""
        before = self.turn  # not 0 where the worker runs an action inside another one
        self.turn = get_ident()
        try:
            self.drain_on_worker()
        finally:
            self.turn = before

    def hand_over(self, _: None) -> None:
        scheduled(self, self.worker, self.go_on)

    def step(self, demand: int) -> int:
        if self.current is None and get_ident() not in (self.thread, self.turn):
            if self.items is not None:
                self.later.append((self.hand_over, None))
            return demand  # where nothing is open yet begin() looks once more
        return super().step(demand)

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
            scheduled(op, op.worker, partial(self.request, n))

    def request(self, n: int) -> None:
        """On the worker."""
        if self.done or self.closed:
            return
        try:
            self.up.request(n)
        except Exception as error:  # what the subscriber raised has no caller here (RS 2.13)
            dropped(error, self.op.origin)


@final
class SubscribeOnHead(OperatorHead):
    """Writes itself when it is asked to: inner streams are made with it in the thousands."""

    __slots__ = ()

    def notes(self) -> Sequence[str]:
        return (f"thread: subscribes and requests on a worker of {self.args[0]!r}",)


_SUBSCRIBE_ON: Final = operator_of(SubscribeOn)


def subscribe_on_head(source: object, scheduler: Scheduler) -> SubscribeOnHead:
    """The head of ``subscribe_on`` of ``source``, which is of any type."""
    return operator_head(SubscribeOnHead, _SUBSCRIBE_ON, (source,), (scheduler,), DEMAND, ONE_FUNCTION)


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
        self.on_next = self.discard
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
