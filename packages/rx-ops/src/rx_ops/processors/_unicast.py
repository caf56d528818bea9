"""A queue with two ends: one party feeds it, one subscriber takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import ClassVar, TypeVar

from rx_core import UNBOUNDED, Subscriber, check_callable, dropped, dropped_late, none_argument
from rx_core.queue_fusion import ASYNC, NONE, fusion_enabled
from rx_core.streams import NO_ITEMS, End, Hub, Unicast
from rx_ops.processors._multicast import FlowableProcessor, QueueHead, Subject

T = TypeVar("T")


class UnicastQueue(Unicast[T]):
    """The queue, and the Subscription of its subscriber, which may rather poll it (micro-fusion)."""

    __slots__ = ("hub", "polled")

    hub: UnicastHub[T]
    #: ASYNC was granted: ``on_next`` says that there is something to poll.
    polled: bool

    def __init__(self, hub: UnicastHub[T]) -> None:
        super().__init__(hub)
        self.hub = hub
        self.polled = False

    def attach(self, down: Subscriber[T]) -> None:
        if not self.hub.asked:
            self.requests.append(UNBOUNDED)  # an observer takes what comes
        super().attach(down)

    def push(self, item: T) -> bool:
        if not self.polled:
            return super().push(item)
        self.queue.append(item)
        self.drain()
        return False

    def step(self, demand: int) -> int:
        if not self.polled:
            return super().step(demand)
        if self.done:
            return self.finish(self.error)
        self.emit(None)  # what this mode says: look
        return demand

    def cancel(self) -> None:
        self.stopped = True
        self.hub.left()
        self.drain()

    def close(self) -> None:
        self.hub.left()
        if not (self.polled and self.done):  # told its end, the subscriber may still poll what waits
            super().close()

    # -- micro-fusion ----------------------------------------

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self.down

    def request_fusion(self, mode: int, /) -> int:
        # Polling runs no user code, so it may happen on any thread. Not after on_subscribe: then items go out already.
        if not mode & ASYNC or self.token or not fusion_enabled():
            return NONE
        if self.queue is NO_ITEMS:
            self.queue = deque()
        self.polled = True
        return ASYNC

    def poll(self) -> T | None:
        try:
            item: T = self.queue.popleft()
        except IndexError:
            return None
        return item

    def poll_many(self, n: int, /) -> list[T]:
        batch: list[T] = []
        while len(batch) < n and (item := self.poll()) is not None:
            batch.append(item)
        return batch

    def is_empty(self) -> bool:
        return not self.queue

    def clear(self) -> None:
        while self.poll() is not None:
            pass


class UnicastHub(Hub[T]):
    """Keeps everything for the one subscriber it ever has, and nothing once that one has left."""

    __slots__ = ("gone", "on_terminate", "queue")

    #: Its subscriber has left, or was told the end.
    gone: bool
    #: What to call at the end, at key 0 until it is called.
    on_terminate: dict[int, Callable[[], object]]
    queue: UnicastQueue[T]

    def __init__(self, name: str, on_terminate: Callable[[], object] | None, *, asked: bool) -> None:
        if on_terminate is not None:
            check_callable(name, "on_terminate", on_terminate)
        super().__init__(name, asked=asked)
        self.gone = False
        self.on_terminate = {} if on_terminate is None else {0: on_terminate}
        self.queue = UnicastQueue(self)

    def subscribe(self, down: Subscriber[T], /) -> None:
        self.queue.attach(down)

    @property
    def has_subscribers(self) -> bool:
        return self.queue.is_attached and not self.gone

    def left(self) -> None:
        self.gone = True
        self.terminated()

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self.refused(none_argument("on_next(None)", "item"))
        if not self.is_over:
            try:
                self.queue.push(item)
            except Exception as error:  # RS 2.13: it has cancelled, and that is nothing to the party that sends
                dropped(error, self)

    def on_error(self, error: Exception, /) -> None:
        if self.gone:
            dropped_late(error, self)
        else:
            super().on_error(error)

    @property
    def is_over(self) -> bool:
        return self.gone or self.end is not None

    def finish(self, end: End) -> None:
        self.terminated()
        self.end = end
        self.source.clear()
        try:
            self.queue.end(end.error)
        except Exception as error:
            dropped(error, self)

    def terminated(self) -> None:
        action = self.on_terminate.pop(0, None)  # atomic: called once
        if action is not None:
            try:
                action()
            except Exception as error:
                dropped(error, self)


class UnicastProcessor(FlowableProcessor[T]):
    """A queue: what it is fed waits for its only subscriber, and then for its requests. A second subscriber gets RuntimeError.

    Demand:  items wait.
    Errors:  go to the subscriber behind the items; after the end, or when it has cancelled, to the error hook.
    Memory:  what was fed and not taken, without a bound; none after a cancel.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`), or the one that requests.
    Fusion:  hot source, stages are pushed through without a queue.
    Source:  RxJava ``UnicastProcessor``. ``on_terminate`` is called once, at the end or when the subscriber cancels.
    """

    __slots__ = ()

    _made_empty: ClassVar[bool] = True

    def __init__(self, *, on_terminate: Callable[[], object] | None = None) -> None:
        super().__init__(UnicastHub("UnicastProcessor", on_terminate, asked=True), QueueHead)


class UnicastSubject(Subject[T]):
    """A queue: what it is fed waits for its only observer. A second observer gets RuntimeError.

    Demand:  none.   Errors: go to the observer behind the items; after the end, or when it has left, to the error hook.
    Memory:  what was fed before the observer came, without a bound.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`); what waits comes on the one that
             subscribes.   Fusion: hot source, stages are pushed through without a queue.
    Source:  RxJava ``UnicastSubject``. ``on_terminate`` is called once, at the end or when the observer leaves.
    """

    __slots__ = ()

    _made_empty: ClassVar[bool] = True

    def __init__(self, *, on_terminate: Callable[[], object] | None = None) -> None:
        super().__init__(UnicastHub("UnicastSubject", on_terminate, asked=False), QueueHead)
