"""The concurrency blocks next to what one would write by hand: with a lock, with the dict token, and (wrongly) with nothing."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from bench._measure import Case
from rx_core import UNBOUNDED, Subscriber, Subscription
from rx_core.blocks import (
    CANCELLED_SUBSCRIPTION,
    AtomicReference,
    HalfSerializer,
    QueueDrain,
    Requested,
    RequestInbox,
    SerializedSubscriber,
    StableRequestDrain,
    StrictSubscriber,
    SubscriptionCell,
    strict,
)
from rx_ops import Flowable


def block_cases(size: int) -> Iterator[Case]:
    """All cases for ``size`` hand-overs. Nobody contends: that is the case to keep cheap."""
    yield _serialized(size)
    yield _requests(size)
    yield _cells(size)
    yield from _strict(size)


class _Sum:
    """A subscriber that adds up what it gets; it stands at the end of every way."""

    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total = 0

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.request(UNBOUNDED)

    def on_next(self, item: int, /) -> None:
        self.total += item

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        pass


class _Relay:
    """One more subscriber in between, which everything below is: what the hand-over costs comes on top."""

    __slots__ = ("_down",)

    def __init__(self, down: _Sum) -> None:
        self._down = down.on_next

    def on_next(self, item: int, /) -> None:
        self._down(item)


class _Locked:
    """A lock around on_next: serial, but everybody waits, and an on_next that calls it again never returns."""

    __slots__ = ("_down", "_lock")

    def __init__(self, down: _Sum) -> None:
        self._down = down.on_next
        self._lock = threading.Lock()

    def on_next(self, item: int, /) -> None:
        with self._lock:
            self._down(item)


class _TryLocked:
    """The same without waiting: who does not get the lock leaves the item to who has it."""

    __slots__ = ("_down", "_lock", "_queue")

    def __init__(self, down: _Sum) -> None:
        self._down = down.on_next
        self._lock = threading.Lock()
        self._queue: deque[int] = deque()

    def on_next(self, item: int, /) -> None:
        queue = self._queue
        queue.append(item)
        while queue and self._lock.acquire(blocking=False):
            try:
                while queue:
                    self._down(queue.popleft())
            finally:
                self._lock.release()


class _TokenAlone:
    """The dict token with nothing to hand over: what the figure in the notes on performance measures."""

    __slots__ = ("_dirty", "_down", "_token")

    def __init__(self, down: _Sum) -> None:
        self._down = down.on_next
        self._token = {0: True}
        self._dirty = False

    def on_next(self, item: int, /) -> None:
        token = self._token
        self._dirty = True
        while self._dirty and token.pop(0, None) is not None:
            try:
                self._dirty = False
                self._down(item)
            finally:
                token[0] = True


class _Token:
    """The dict token with a queue, by hand: publish, take the token, work, put it back, look again."""

    __slots__ = ("_dirty", "_down", "_queue", "_token")

    def __init__(self, down: _Sum) -> None:
        self._down = down.on_next
        self._queue: deque[int] = deque()
        self._token = {0: True}
        self._dirty = False

    def on_next(self, item: int, /) -> None:
        queue, token = self._queue, self._token
        queue.append(item)
        self._dirty = True
        while self._dirty and token.pop(0, None) is not None:
            try:
                self._dirty = False
                while queue:
                    self._down(queue.popleft())
            finally:
                token[0] = True


def _feed(make: Callable[[_Sum], Callable[[int], object]], size: int) -> Callable[[], int]:
    def run() -> int:
        end = _Sum()
        on_next = make(end)
        for item in range(size):
            on_next(item)
        return end.total

    return run


def _subscribed(subscriber: SerializedSubscriber[int]) -> Callable[[int], object]:
    subscriber.on_subscribe(CANCELLED_SUBSCRIPTION)
    return subscriber.on_next


def _request_drain(end: _Sum) -> Callable[[int], object]:
    drain = StableRequestDrain[int, int](end, 128)
    drain.on_subscribe(_NOTHING)
    return drain.on_next


def _serialized(size: int) -> Case:
    ways: dict[str, Callable[[_Sum], Callable[[int], object]]] = {
        "dict token alone": lambda end: _TokenAlone(end).on_next,
        "dict token and queue": lambda end: _Token(end).on_next,
        "not serialized": lambda end: _Relay(end).on_next,
        "lock": lambda end: _Locked(end).on_next,
        "try-lock and queue": lambda end: _TryLocked(end).on_next,
        "QueueDrain": lambda end: QueueDrain(end.on_next).offer,
        "SerializedSubscriber": lambda end: _subscribed(SerializedSubscriber(end)),
        "HalfSerializer": lambda end: HalfSerializer[int](end).on_next,
        "StrictSubscriber": lambda end: _subscribed(StrictSubscriber(end)),
        "StableRequestDrain(128)": _request_drain,
    }
    return Case("serialized hand-over", size, {name: _feed(make, size) for name, make in ways.items()})


class _LockedCount:
    __slots__ = ("_lock", "value")

    def __init__(self) -> None:
        self.value = 0
        self._lock = threading.Lock()

    def add(self, n: int) -> int:
        with self._lock:
            before = self.value
            self.value = min(before + n, UNBOUNDED)
        return before


def _requests(size: int) -> Case:
    def with_lock() -> int:
        count = _LockedCount()
        for _ in range(size):
            count.add(2)
        return count.value

    def atomic() -> int:
        count = Requested()
        for _ in range(size):
            count.add(2)
        return count.get()

    def inbox() -> int:
        count = RequestInbox()
        for _ in range(size):
            count.add(2)
            count.collect()
        return count.demand

    return Case("adding a request", size, {"lock": with_lock, "Requested": atomic, "RequestInbox, add and collect": inbox})


def _cells(size: int) -> Case:
    def with_lock() -> int:
        lock, value = threading.Lock(), 0
        for item in range(size):
            with lock:
                if value == item:
                    value = item + 1
        return value

    def atomic() -> int:
        value = 0
        cell = AtomicReference(value)
        for item in range(size):
            cell.compare_and_set(value, value := item + 1)
        return cell.get()

    def replace() -> int:
        cell = SubscriptionCell()
        for _ in range(size):
            cell.replace(CANCELLED_SUBSCRIPTION if cell.is_disposed else _NOTHING)
        return size

    return Case("replacing a value", size, {"lock": with_lock, "compare_and_set": atomic, "SubscriptionCell.replace": replace})


class _Hot:
    """A publisher that is not ours and pushes ten items to each subscriber."""

    def subscribe(self, subscriber: Subscriber[int], /) -> None:
        subscriber.on_subscribe(_NOTHING)
        for item in range(10):
            subscriber.on_next(item)
        subscriber.on_complete()


def _strict(size: int) -> Iterator[Case]:
    """What wrapping every foreign subscriber would cost: docs/decisions/0013-foreign-subscribers.md."""
    flows: dict[str, tuple[Flowable[int], int]] = {
        "just(1).map(f)": (Flowable.just(1).map(abs), 50),
        "ten pushed items, map(f)": (Flowable.wrap(_Hot()).map(abs), 200),
        "range(1000).map(f)": (Flowable.range(1000).map(abs), 2_000),
    }
    for name, (flow, share) in flows.items():
        times = max(1, size // share)
        ways = {"as it is": _subscribing(flow, times, _as_it_is), "strict": _subscribing(flow, times, strict)}
        yield Case(f"subscribing a foreign subscriber to {name}", times, ways)


def _as_it_is(subscriber: Subscriber[int]) -> Subscriber[int]:
    return subscriber


def _subscribing(flow: Flowable[int], times: int, before: Callable[[Subscriber[int]], Subscriber[int]]) -> Callable[[], int]:
    def run() -> int:
        total = 0
        for _ in range(times):
            end = _Sum()
            flow.subscribe(before(end))
            total += end.total
        return total

    return run


class _Nothing:
    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


_NOTHING = _Nothing()
