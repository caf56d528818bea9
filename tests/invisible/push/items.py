"""Operators of the naive reference that look at one item after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.invisible.push.streams import (
    UNBOUNDED,
    Count,
    Failure,
    Flow,
    Prefetch,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
    failing,
    required,
)

Fn = Callable[..., Any]


class Map(Stage):
    def __init__(self, down: Subscriber, function: Fn) -> None:
        super().__init__(down)
        self.function = function

    def next(self, item: Any) -> None:
        self.down.on_next(required(self.function(item)))


class Dropping(Stage):
    """Gives an item or drops it; in the place of a dropped one another is requested."""

    def next(self, item: Any) -> None:
        if self.keeps(item):
            self.down.on_next(item)
        else:
            self.up.request(1)

    def keeps(self, item: Any) -> object:
        return True


class Filter(Dropping):
    def __init__(self, down: Subscriber, predicate: Fn) -> None:
        super().__init__(down)
        self.keeps = predicate  # type: ignore[method-assign]  # the predicate is what the operator does


class MapOptional(Stage):
    """Drops what the function gives None for."""

    def __init__(self, down: Subscriber, function: Fn) -> None:
        super().__init__(down)
        self.function = function

    def next(self, item: Any) -> None:
        value = self.function(item)
        if value is None:
            self.up.request(1)
        else:
            self.down.on_next(value)


class Distinct(Dropping):
    def __init__(self, down: Subscriber, key: Fn) -> None:
        super().__init__(down)
        self.key = key
        self.seen: list[Any] = []

    def keeps(self, item: Any) -> object:
        key = required(self.key(item))
        if key in self.seen:
            return False
        self.seen.append(key)
        return True


class DistinctUntilChanged(Dropping):
    def __init__(self, down: Subscriber, key: Fn) -> None:
        super().__init__(down)
        self.key = key
        self.last: list[Any] = []

    def keeps(self, item: Any) -> object:
        before, self.last = self.last, [self.key(item)]
        return before != self.last


class SkipWhile(Dropping):
    def __init__(self, down: Subscriber, predicate: Fn) -> None:
        super().__init__(down)
        self.predicate = predicate
        self.begun = False

    def keeps(self, item: Any) -> object:
        self.begun = self.begun or not self.predicate(item)
        return self.begun


class Take(Stage):
    """Requests no more than it takes."""

    def __init__(self, down: Subscriber, count: int) -> None:
        super().__init__(down)
        self.left: Count = count
        self.not_requested: Count = count

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if self.left == 0 and not self.over:
            up.cancel()
            self.finish()

    def request(self, n: Count) -> None:
        n = min(n, self.not_requested)
        if n:
            self.not_requested -= n
            self.up.request(n)

    def next(self, item: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.up.cancel()
        self.down.on_next(item)
        if self.left == 0:
            self.finish()


class Skip(Stage):
    """Asks for the items that it drops when it is subscribed, or with the first request (``on_request``)."""

    def __init__(self, down: Subscriber, count: int, on_request: bool = False) -> None:
        super().__init__(down)
        self.count, self.on_request = count, on_request

    def on_subscribe(self, up: Subscription) -> None:
        at_once = 0 if self.on_request else self.count
        super().on_subscribe(up)
        if at_once:
            up.request(at_once)

    def request(self, n: Count) -> None:
        first, self.on_request = self.on_request, False
        self.up.request(n + self.count if first else n)

    def next(self, item: Any) -> None:
        if self.count:
            self.count -= 1
        else:
            self.down.on_next(item)


class TakeLast(Waiting):
    def __init__(self, down: Subscriber, count: int) -> None:
        super().__init__(down)
        self.count = count

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        up.request(UNBOUNDED)

    def next(self, item: Any) -> None:
        self.items.append(item)
        if len(self.items) > self.count:
            self.items.pop(0)

    def give(self) -> None:
        if self.done:
            super().give()


class SkipLast(Stage):
    def __init__(self, down: Subscriber, count: int) -> None:
        super().__init__(down)
        self.count = count
        self.kept: list[Any] = []

    def next(self, item: Any) -> None:
        self.kept.append(item)
        if len(self.kept) > self.count:
            self.down.on_next(self.kept.pop(0))
        else:
            self.up.request(1)


class TakeWhile(Stage):
    def __init__(self, down: Subscriber, predicate: Fn) -> None:
        super().__init__(down)
        self.predicate = predicate

    def next(self, item: Any) -> None:
        if self.predicate(item):
            self.down.on_next(item)
        else:
            self.up.cancel()
            self.finish()


class TakeUntilTrue(Stage):
    """The item that the predicate agrees to is the last. ``heeds``: it is not asked once the subscriber has left."""

    def __init__(self, down: Subscriber, predicate: Fn, heeds: bool = False) -> None:
        super().__init__(down)
        self.predicate, self.heeds = predicate, heeds

    def next(self, item: Any) -> None:
        self.down.on_next(item)
        if self.over and self.heeds:
            return
        if self.predicate(item):
            self.up.cancel()
            self.finish()


class Scan(Stage):
    """Without a seed: the first item as it is."""

    def __init__(self, down: Subscriber, function: Fn) -> None:
        super().__init__(down)
        self.function = function
        self.total: Any = None

    def next(self, item: Any) -> None:
        self.total = item if self.total is None else required(self.function(self.total, item))
        self.down.on_next(self.total)


class ScanWithSeed(Waiting):
    """The seed is given without an item, so what follows waits in a queue. ``pulls``: each item is fetched when it is needed."""

    def __init__(self, down: Subscriber, function: Fn, seed: Any, prefetch: Count, pulls: bool = False) -> None:
        super().__init__(down)
        self.pulls = pulls
        self.fetched: Count = -1  # the seed is no item
        self.function, self.total = function, seed
        self.items.append(seed)
        self.demand = Prefetch(prefetch)

    def on_subscribe(self, up: Subscription) -> None:
        super().on_subscribe(up)
        if not self.pulls:
            up.request(self.demand.size - 1)

    def request(self, n: Count) -> None:
        super().request(n)
        if self.pulls:
            more = n + min(self.fetched, 0)
            self.fetched = max(self.fetched + n, 0)
            if more and not self.over:
                self.up.request(more)

    def next(self, item: Any) -> None:
        self.total = required(self.function(self.total, item))
        self.put(self.total)

    def gave(self) -> None:
        if not self.pulls:
            self.demand.took(self.up)


class FailsOnRequest(Subscription):
    """Gives an error when it is asked for an item."""

    def __init__(self, down: Subscriber, failure: Failure) -> None:
        self.down, self.failures = down, [failure]

    def request(self, n: Count) -> None:
        while self.failures:
            self.down.on_error(self.failures.pop())

    def cancel(self) -> None:
        self.failures.clear()


def scan_with(source: Flow, supplier: Fn, function: Fn, prefetch: Count, ahead: bool = True) -> Flow:
    """A source that is pulled begins when an item of it is wanted, unless ``ahead``: a supplier that fails is heard of then."""

    def subscribe(down: Subscriber) -> None:
        try:
            seed = required(supplier())
        except Failure as failure:
            if source.passive and not ahead:
                down.on_subscribe(FailsOnRequest(down, failure))
            else:
                failing(down, failure)
        else:
            source.subscribe(ScanWithSeed(down, function, seed, prefetch, source.passive))

    return Flow(subscribe)
