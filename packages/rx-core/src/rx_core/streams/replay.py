"""ReplayHub: a hot source that late subscribers read from the start of what is kept, each at its own pace.

The feeding party appends to a linked list and tells the subscribers; each goes through the list on whatever thread is there, as
far as it has requested. What no subscriber and no late one can reach any more is free, because nothing points at it.

A position is the *empty* node that the next item will be put into. So a subscriber that has read everything holds no item, and a
log that keeps nothing for late subscribers holds none either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core._demand import UNBOUNDED, add_cap
from rx_core.gate import LOOK_FIRST
from rx_core.streams.contracts import ROUNDING
from rx_core.streams.hub import End, Hub, HubSubscription

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core._schedulers import Scheduler

T = TypeVar("T")


class Node:
    """A place in a log: empty, then an item and the place after it. ``next`` is written last."""

    __slots__ = ("at", "index", "next", "value")

    index: int
    next: Node | None
    value: Any
    #: When the item came, by the log's clock.
    at: float

    def __init__(self, index: int) -> None:
        self.index = index
        self.next = None
        self.value = None
        self.at = 0.0


class Log(Generic[T]):
    """What was sent, as far as late subscribers are to get it. One thread at a time writes, any thread reads.

    ``size`` items are kept (None: all; 0: none), those older than ``seconds`` excepted.
    """

    __slots__ = ("clock", "head", "seconds", "size", "tail")

    size: int | None
    seconds: float | None
    clock: Scheduler | None
    #: Where the next item is put.
    tail: Node
    #: The first that is kept; None: nothing is.
    head: Node | None

    def __init__(self, size: int | None = None, seconds: float | None = None, clock: Scheduler | None = None) -> None:
        self.size = size
        self.seconds = seconds
        self.clock = clock
        self.tail = Node(0)
        self.head = None if size == 0 else self.tail

    def append(self, item: Any) -> Node:
        """Write ``item`` into the place that waits for it, which is returned."""
        tail = self.tail
        after = Node(tail.index + 1)
        tail.value = item
        if self.seconds is not None:
            tail.at = self.now()
        self.tail = after
        tail.next = after  # from here on it can be read
        if self.size or self.seconds is not None:
            self.trim()
        return tail

    def end(self, end: End) -> None:
        """Put the end behind the last item. What is too old by now is not kept for later."""
        tail = self.tail
        tail.value = end
        tail.next = Node(tail.index)  # no subscriber goes there
        self.trim()

    def start(self) -> Node:
        """Where a subscriber that comes now begins."""
        head = self.head
        if head is None:
            return self.tail
        return head if self.seconds is None else self.first_fresh(head, self.seconds)

    def skip(self) -> None:
        """Keep nothing of what there is now, but what comes."""
        self.head = self.tail

    def kept(self) -> Iterator[T]:
        """The items a subscriber that comes now would get."""
        node = self.start()
        while (after := node.next) is not None and type(node.value) is not End:
            yield node.value
            node = after

    def trim(self) -> None:
        head, tail = self.head, self.tail
        if head is None:
            return
        size = self.size
        while size is not None and tail.index - head.index > size and head.next is not None:
            head = head.next
        self.head = head if self.seconds is None else self.first_fresh(head, self.seconds)

    def first_fresh(self, node: Node, seconds: float) -> Node:
        oldest = self.now() - seconds + ROUNDING
        while (after := node.next) is not None and type(node.value) is not End and node.at <= oldest:
            node = after
        return node

    def now(self) -> float:
        assert self.clock is not None  # given with seconds
        return self.clock.now()


class ReplaySubscription(HubSubscription[T]):
    """One subscriber's way through a log."""

    __slots__ = ("at", "wanted")

    #: The next node to read; None once it has left.
    at: Node | None
    #: How much of the log it wants in all, from the log's first item on. As if it were all, until it joins: a subscriber that
    #: leaves at what is kept has the source asked for nothing.
    wanted: int

    def __init__(self, hub: ReplayHub[T], down: Subscriber[T], at: Node) -> None:
        super().__init__(hub, down)
        self.at = at
        self.wanted = UNBOUNDED

    def open(self) -> None:
        if self.hub.gives_on_request:
            self.drain()  # what was requested inside of on_subscribe comes before it joins, as in RxJava
        super().open()
        self.wanted = 0
        self.dirty = True  # behind it: step asks for what was wanted so far

    def after_answer(self, then: Callable[[], object], /) -> None:
        if self.hub.gives_on_request:
            self.put_off(then)
        else:
            then()

    @property
    def has_room(self) -> bool:
        return self.at is self.hub.log.tail and super().has_room

    def deliver(self, node: Node, item: T) -> None:
        """``item`` was put into ``node``. Straight, if that is where the subscriber stands and the item is wanted."""
        token = self.token
        if token or not LOOK_FIRST:
            try:
                demand = token.pop()
            except IndexError:  # another thread is at work, or this is sent from inside its on_next
                pass
            else:
                if demand and not self.dirty and self.at is node:
                    self.at = node.next
                    emit = self.emit_unguarded
                    try:
                        emit(item)
                    except BaseException as error:
                        try:
                            told = self.unguarded_raised(error)
                        finally:
                            token += (0,)
                        if not told:
                            raise
                        self.drain()
                        return
                    token.append(demand if demand is UNBOUNDED else demand - 1)
                    if self.dirty:
                        self.drain()  # type: ignore[unreachable]  # set meanwhile
                    return
                token.append(demand)
        self.drain()

    def step(self, demand: int) -> int:
        node = self.at
        if node is not None:
            wanted = add_cap(node.index, demand)
            if wanted > self.wanted:
                self.wanted = wanted
                self.later.append((self.hub.want, wanted))
        while node is not None and not self.stopped:
            after = node.next
            if after is None:
                return demand
            value = node.value
            if type(value) is End:
                return self.finish(value.error)
            if not demand:
                if self.hub.patient or self.requests:
                    return 0
                return self.unrequested()
            self.at = node = after
            if demand is not UNBOUNDED:
                demand -= 1
            self.emit(value)
        return 0

    def close(self) -> None:
        super().close()
        self.at = None


class ReplayHub(Hub[T]):
    """A log, and the subscribers that read it.

    ``patient``: items wait for a subscriber that has not requested them; otherwise it gets a MissingBackpressureError.
    """

    __slots__ = ("log", "patient")

    log: Log[T]
    patient: bool
    #: Whether what is kept comes with a subscriber's first request. Otherwise it comes once the subscriber is subscribed; that is
    #: a difference where RxJava answers a request inside of on_subscribe.
    gives_on_request: ClassVar[bool] = True

    def __init__(self, name: str, log: Log[T], *, patient: bool, asked: bool = True) -> None:
        super().__init__(name, asked=asked)
        self.log = log
        self.patient = patient

    def subscribe(self, down: Subscriber[T], /) -> None:
        """Start ``down`` where the log says."""
        # It joins and looks afterwards: an item that comes from there on tells it, one that came before is in the log.
        ReplaySubscription(self, down, self.log.start()).start()

    def want(self, total: int) -> None:
        """A subscriber wants the first ``total`` items of the log; for hubs whose source can be asked."""

    def on_next(self, item: T, /) -> None:
        if self.end is None:
            node = self.log.append(item)
            for subscription in list(self.subscribers):
                try:
                    subscription.deliver(node, item)
                except Exception as error:
                    self.raised(subscription, error)

    def finish(self, end: End) -> None:
        self.log.end(end)
        super().finish(end)
