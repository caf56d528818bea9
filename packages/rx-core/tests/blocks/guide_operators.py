"""The two operators of docs/guides/concurrency-blocks.md, word for word: a test compares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rx_core import FlowableBase, MissingBackpressureError, Publisher, Subscriber, Subscription, dropped, none_produced
from rx_core.blocks import (
    NOBODY,
    AtomicErrors,
    DeferredSubscription,
    Once,
    RelaxedSubscriber,
    RequestInbox,
    SpscArrayQueue,
    StableRequestDrain,
    SubscriptionCell,
    strict,
)
from rx_core.gate import Gate

T = TypeVar("T")
R = TypeVar("R")


# -- map and filter in one -----------------------------------------------------------------------------------------------


class MapFilter(FlowableBase[R], Generic[T, R]):
    """What ``function`` makes of each item, without the results that ``predicate`` refuses."""

    def __init__(self, source: Publisher[T], function: Callable[[T], R], predicate: Callable[[R], object]) -> None:
        self.source, self.function, self.predicate = source, function, predicate

    def subscribe_actual(self, subscriber: Subscriber[R], /) -> None:
        self.source.subscribe(MapFilterRun(strict(subscriber), self.function, self.predicate))


class MapFilterRun(RelaxedSubscriber, Generic[T, R]):
    def __init__(self, down: Subscriber[R], function: Callable[[T], R], predicate: Callable[[R], object]) -> None:
        self.down, self.function, self.predicate = down, function, predicate
        self.up = DeferredSubscription()
        self.subscribed = Once()
        self.done = False

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if not self.subscribed.claim():
            subscription.cancel()  # rule 2.5
            return
        self.down.on_subscribe(self)  # never upstream's own Subscription
        self.up.set_once(subscription)  # what was requested meanwhile goes up now

    def on_next(self, item: T, /) -> None:
        if not self.try_on_next(item):
            self.up.request(1)  # downstream asked for an item and did not get this one

    def try_on_next(self, item: T, /) -> bool:
        """False when ``item`` was left out: a conditional upstream sends the next one without being asked."""
        if self.done:
            return True
        try:
            value = self.function(item)
            if value is None:
                raise none_produced("map_filter", self.function)
            wanted = bool(self.predicate(value))
        except Exception as error:
            self.up.cancel()
            self.on_error(error)
            return True
        if wanted:
            self.down.on_next(value)
        return wanted

    def on_error(self, error: Exception, /) -> None:
        if self.done:
            dropped(error, self)
            return
        self.done = True
        self.down.on_error(error)

    def on_complete(self) -> None:
        if not self.done:
            self.done = True
            self.down.on_complete()

    def request(self, n: int, /) -> None:
        self.up.request(n)  # from any thread, while on_next may be replenishing: passed on one by one (rule 2.7)

    def cancel(self) -> None:
        self.up.cancel()


class PrefetchedMapFilter(StableRequestDrain[T, R]):
    """The same operator with a buffer: upstream is asked for 75 % of ``prefetch`` at a time, however many items drop out."""

    def __init__(self, down: Subscriber[R], prefetch: int, function: Callable[[T], R], predicate: Callable[[R], object]) -> None:
        super().__init__(down, prefetch, errors="delayed")
        self.function, self.predicate = function, predicate

    def deliver(self, item: T, /) -> bool:
        try:
            value = self.function(item)
            if value is None:
                raise none_produced("map_filter", self.function)
            if not self.predicate(value):
                return False
        except Exception as error:
            self.fail(error)
            return False
        self.down.on_next(value)
        return True


# -- ordered merge -------------------------------------------------------------------------------------------------------


class OrderedMerge(FlowableBase[T]):
    """The items of sorted sources, sorted. Errors end it at once, or with ``delay_errors`` after all items."""

    def __init__(self, *sources: Publisher[T], key: Callable[[T], Any], prefetch: int = 16, delay_errors: bool = False) -> None:
        self.sources, self.key, self.prefetch, self.delay_errors = sources, key, prefetch, delay_errors

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        OrderedMergeRun(strict(subscriber), self).start()


class OrderedMergeRun(Gate, Generic[T]):
    """Downstream's Subscription, and the gate through which everything is signalled."""

    def __init__(self, down: Subscriber[T], merge: OrderedMerge[T]) -> None:
        super().__init__()
        self.token.clear()  # held until on_subscribe has returned (rule 1.3)
        self.down, self.merge = down, merge
        self.requests = RequestInbox()
        self.errors = AtomicErrors()
        self.inputs = [Input(self, merge.prefetch) for _ in merge.sources]
        self.cancelled = False

    def start(self) -> None:
        try:
            self.down.on_subscribe(self)
        except BaseException as error:
            self.look_failed(error)
            raise
        self.token.append(0)
        for each, source in zip(self.inputs, self.merge.sources, strict=True):
            if not self.cancelled:
                source.subscribe(each)
        self.drain()

    def request(self, n: int, /) -> None:
        self.requests.add(n)
        self.drain()

    def cancel(self) -> None:
        self.cancelled = True
        self.cancel_sources()
        self.drain()

    def cancel_sources(self) -> None:
        for each in self.inputs:
            if not each.done:  # rule 2.4
                each.up.cancel()

    def look(self, held: int, /) -> int:
        while not self.cancelled:
            demand = self.requests.collect()
            wrong = self.requests.error  # rule 3.9
            if wrong is not None:
                self.end(wrong)
            elif not self.merge.delay_errors and not self.errors.is_empty:
                self.end(self.errors.terminate())
            elif not all(each.is_ready() for each in self.inputs):
                return held  # that source may still send something smaller
            else:
                waiting = [each for each in self.inputs if each.head is not None]
                if not waiting:
                    self.end(self.errors.terminate())
                elif not demand:
                    return held
                else:
                    first = min(waiting, key=lambda each: each.rank)
                    self.requests.spend()
                    self.down.on_next(first.take())
        self.clear()
        return held

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        """The subscriber raised, which counts as a cancel (rule 2.13)."""
        self.cancelled = True
        self.cancel_sources()
        self.clear()
        return None

    def end(self, error: Exception | None) -> None:
        self.cancelled = True
        down, self.down = self.down, NOBODY
        self.cancel_sources()
        if error is None:
            down.on_complete()
        else:
            down.on_error(error)

    def clear(self) -> None:
        """The stream is over: no item is kept, and an error that no subscriber will see is reported."""
        self.down = NOBODY
        for each in self.inputs:
            each.queue.clear()
            each.head = None
        lost = self.errors.terminate()
        if lost is not None:
            dropped(lost, self)


class Input(RelaxedSubscriber, Generic[T]):
    """One source: a bounded queue, asked for more when 75 % was taken."""

    def __init__(self, run: OrderedMergeRun[T], prefetch: int) -> None:
        self.run, self.prefetch = run, prefetch
        self.up = SubscriptionCell()
        self.queue = SpscArrayQueue[T](prefetch)
        self.head: T | None = None  # taken out of the queue, not yet delivered; for the holder of the token
        self.rank: Any = None
        self.taken = 0
        self.done = False

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self.up.set_once(subscription):
            subscription.request(self.prefetch)

    def on_next(self, item: T, /) -> None:
        if item is None:
            self.refuse(none_produced("a source of ordered_merge"))
        elif self.queue.offer(item):
            self.run.drain()
        else:
            self.refuse(MissingBackpressureError("ordered_merge: a source sent more than it was asked for"))

    def on_error(self, error: Exception, /) -> None:
        if self.run.errors.add_or_drop(error, self.run):
            self.done = True
            self.run.drain()

    def on_complete(self) -> None:
        self.done = True
        self.run.drain()

    def refuse(self, error: Exception) -> None:
        self.up.cancel()
        self.on_error(error)

    def is_ready(self) -> bool:
        """Whether it is known what comes next, a head or the end. For the holder of the token."""
        done = self.done  # before the queue: the end comes after the items
        if self.head is None:
            self.head = self.queue.poll()
            if self.head is None:
                return done
            try:
                self.rank = self.run.merge.key(self.head)
            except Exception as error:
                self.head = None
                self.refuse(error)
                self.queue.clear()
        return True

    def take(self) -> T:
        item, self.head = self.head, None
        assert item is not None
        self.taken += 1
        if self.taken == self.prefetch - (self.prefetch >> 2):
            amount, self.taken = self.taken, 0
            upstream = self.up.get()
            if upstream is not None and not self.done:  # rule 2.3
                upstream.request(amount)
        return item
