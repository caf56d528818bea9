"""Operators made by hand, right ones and ones with a fault each: what the storms are there to catch.

They are written with locks and plain fields, and not for speed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rx_core import UNBOUNDED, add_cap

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription

PREFETCH: Final = 4

#: What each faulty merge does.
MERGE_FAULTS: Final = {
    "signals overlap": "every thread delivers",
    "a wake-up is lost": "a thread that finds it busy goes away, and the busy one does not look again",
    "an item comes twice": "two threads may be busy, and an item is removed when it has been delivered",
    "items change places": "the newest is delivered first",
    "demand is ignored": "delivers everything at once",
    "demand is counted without a lock": "requests are lost",
    "the end comes early": "completes with the first source",
    "the end comes twice": "every source that ends looks whether all have",
    "a source is kept": "does not cancel the last source",
    "too much is requested": "has no window",
}

#: What each faulty way to share does.
SHARE_FAULTS: Final = {
    "a subscriber is lost": "the list of subscribers is read, changed and stored in three steps",
    "two connections": "a new subscriber looks whether there is another one, and connects, in two steps",
    "the source is kept": "the last to leave does not cancel",
    "an item is lost": "does not wait for all, so the slow are left out",
}


def room(size: int = 10) -> None:
    """A place in the middle of a fault, where another thread may come in between."""
    for _ in range(size):
        pass


class HandMadeMerge:
    """Merges publishers; ``fault`` is one of MERGE_FAULTS or None."""

    def __init__(self, sources: Sequence[Publisher[Any]], fault: str | None = None) -> None:
        assert fault is None or fault in MERGE_FAULTS
        self._sources = sources
        self._fault = fault

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        run = _Run(subscriber, len(self._sources), self._fault)
        subscriber.on_subscribe(run)
        for source in self._sources:
            source.subscribe(_Inner(run))


class _Run:
    """The operator for one subscriber, and its Subscription."""

    def __init__(self, subscriber: Subscriber[Any], sources: int, fault: str | None) -> None:
        self.fault = fault
        self._subscriber = subscriber
        self._left = sources
        self._lock = threading.RLock()
        self._queue: deque[tuple[_Inner, Any]] = deque()
        self._inners: list[_Inner] = []
        self._demand = 0
        self._busy = False
        self._missed = False
        self._over = False
        self._ended = False

    # the subscriber's side ------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        if self.fault == "demand is counted without a lock":
            before = self._demand
            room(1000)  # one thread requests and another one takes items: they meet seldom
            self._demand = add_cap(before, n)
        else:
            with self._lock:
                self._demand = add_cap(self._demand, n)
        self.drain()

    def cancel(self) -> None:
        with self._lock:
            self._over = True
            inners = list(self._inners)
        for inner in inners[: len(inners) - (self.fault == "a source is kept")]:
            inner.upstream.cancel()

    # the sources' side ----------------------------------------------------------------------------

    def opened(self, inner: _Inner) -> None:
        with self._lock:
            self._inners.append(inner)
            over = self._over
        if over:
            inner.upstream.cancel()
        else:
            inner.upstream.request(UNBOUNDED if self.fault == "too much is requested" else PREFETCH)

    def put(self, inner: _Inner, item: Any) -> None:
        if self.fault == "signals overlap":
            self._subscriber.on_next(item)
            inner.upstream.request(1)
            return
        with self._lock:
            self._queue.append((inner, item))
        self.drain()

    def closed(self) -> None:
        if self.fault == "the end comes twice":
            with self._lock:
                self._left -= 1
            room()
            if self._left == 0:
                self._subscriber.on_complete()
            return
        with self._lock:
            self._left -= 1
            if self.fault == "the end comes early":
                self._left = 0
        self.drain()

    # delivering -----------------------------------------------------------------------------------

    def drain(self) -> None:
        if self.fault == "a wake-up is lost":
            if self._busy:
                return
            self._busy = True
            while self._step():
                pass
            room()
            self._busy = False
            return
        if self.fault == "an item comes twice":
            if self._busy:
                self._missed = True
                return
            room()
            self._busy = True
        else:
            with self._lock:
                if self._busy:
                    self._missed = True
                    return
                self._busy = True
        while True:
            if self._step():
                continue
            with self._lock:
                if not self._missed:
                    self._busy = False
                    return
                self._missed = False

    def _step(self) -> bool:
        """Deliver one signal; False when there is none to be delivered."""
        with self._lock:
            if self._over:
                return False
            end = self._left == 0 and (not self._queue or self.fault == "the end comes early") and not self._ended
            wanted = bool(self._queue) and (self._demand > 0 or self.fault == "demand is ignored")
            if end:
                self._ended = self._over = True
            elif not wanted:
                return False
            elif self.fault == "an item comes twice":
                inner, item = self._queue[0]
            else:
                inner, item = self._queue.pop() if self.fault == "items change places" else self._queue.popleft()
            if not end and self._demand != UNBOUNDED:
                self._demand -= 1
        if end:
            self._subscriber.on_complete()
            return False
        self._subscriber.on_next(item)
        if self.fault == "an item comes twice":
            with self._lock:
                if self._queue:
                    self._queue.popleft()
        inner.upstream.request(1)
        return True


class _Inner:
    def __init__(self, run: _Run) -> None:
        self._run = run
        self.upstream: Subscription

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self.upstream = subscription
        self._run.opened(self)

    def on_next(self, item: Any, /) -> None:
        self._run.put(self, item)

    def on_error(self, error: Exception, /) -> None:
        raise AssertionError("the sources of a hand-made operator do not fail") from error

    def on_complete(self) -> None:
        self._run.closed()


class HandMadeShare:
    """One subscription of a publisher for all; ``fault`` is one of SHARE_FAULTS or None.

    Each item is delivered when all subscribers want one.
    """

    def __init__(self, source: Publisher[Any], fault: str | None = None) -> None:
        assert fault is None or fault in SHARE_FAULTS
        self.fault = fault
        self._source = source
        self._lock = threading.RLock()
        self.subscribers: list[_Shared] = []
        self._connection: _Connection | None = None

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        shared = _Shared(self, subscriber)
        subscriber.on_subscribe(shared)
        if self.fault == "a subscriber is lost":
            before = self.subscribers
            room()
            self.subscribers = [*before, shared]
        else:
            with self._lock:
                self.subscribers = [*self.subscribers, shared]
        if self.fault == "two connections":
            connect = self._connection is None
            connection = _Connection(self)
            room()
        else:
            with self._lock:
                connect = self._connection is None
                connection = self._connection = self._connection or _Connection(self)
        if connect:
            self._connection = connection
            self._source.subscribe(connection)
        self.look()

    def leave(self, shared: _Shared) -> None:
        with self._lock:
            self.subscribers = [other for other in self.subscribers if other is not shared]
            connection = self._connection
            if self.subscribers or connection is None:
                connection = None
            else:
                self._connection = None
        if connection is not None and self.fault != "the source is kept":
            connection.cancel()
        self.look()

    def look(self) -> None:
        """Ask for an item if every subscriber wants one."""
        with self._lock:
            connection = self._connection
        if connection is not None:
            connection.ask()

    def wanted(self) -> bool:
        subscribers = self.subscribers
        return (bool(subscribers) and all(each.wanted for each in subscribers)) or self.fault == "an item is lost"


class _Shared:
    def __init__(self, hub: HandMadeShare, subscriber: Subscriber[Any]) -> None:
        self.subscriber = subscriber
        self.wanted = 0
        self._hub = hub
        self._lock = threading.Lock()

    def request(self, n: int, /) -> None:
        with self._lock:
            self.wanted = add_cap(self.wanted, n)
        self._hub.look()

    def take(self) -> bool:
        with self._lock:
            if not self.wanted:
                return False
            if self.wanted != UNBOUNDED:
                self.wanted -= 1
            return True

    def cancel(self) -> None:
        self._hub.leave(self)


class _Connection:
    """Has one item requested at a time."""

    def __init__(self, hub: HandMadeShare) -> None:
        self._hub = hub
        self._lock = threading.RLock()
        self._upstream: Subscription | None = None
        self._asked = False
        self._over = False

    def on_subscribe(self, subscription: Subscription, /) -> None:
        with self._lock:
            self._upstream = subscription
            over = self._over
        if over:
            subscription.cancel()
        else:
            self._hub.look()

    def ask(self) -> None:
        with self._lock:
            # In one step with what was asked before: an item that came meanwhile has used up what was wanted.
            if self._asked or self._upstream is None or not self._hub.wanted():
                return
            self._asked = True
            upstream = self._upstream
        upstream.request(1)

    def cancel(self) -> None:
        with self._lock:
            self._over = True
            upstream = self._upstream
        if upstream is not None:
            upstream.cancel()

    def on_next(self, item: Any, /) -> None:
        for each in self._hub.subscribers:
            if each.take():
                each.subscriber.on_next(item)
        with self._lock:
            self._asked = False
        self._hub.look()

    def on_error(self, error: Exception, /) -> None:
        raise AssertionError("the source of a hand-made operator does not fail") from error

    def on_complete(self) -> None:
        for each in self._hub.subscribers:
            each.subscriber.on_complete()
