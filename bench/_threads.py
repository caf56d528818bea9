"""Across threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context, ContextVar
from queue import Queue, SimpleQueue

from bench._common import Counting, operators, reactivex
from bench._measure import Case, Way, absent, at_most
from rx_core import GROWING_PREFETCH, FlowableBase, Subscriber, Subscription
from rx_ops import Flowable
from rx_schedulers import single


def thread_cases(size: int) -> Iterator[Case]:
    yield _observe_on(size)
    yield _iterated(size)
    yield _context(size)


class _Waiting(Counting):
    """A Counting whose end can be waited for."""

    __slots__ = ("_ended",)

    def __init__(self, window: int = 2**63 - 1) -> None:
        super().__init__(window)
        self._ended = threading.Lock()
        self._ended.acquire()

    def on_complete(self) -> None:
        self._ended.release()

    def result(self) -> int:
        assert self._ended.acquire(timeout=60)
        return self.total


class _Fed(FlowableBase[int]):
    """Somebody's source: the thread that calls :meth:`feed` pushes as fast as it is asked. Nothing to poll, so it is queued."""

    __slots__ = ("_asked", "_size", "_subscriber")

    def __init__(self, size: int) -> None:
        self._size = size
        self._asked: SimpleQueue[int] = SimpleQueue()

    def subscribe_actual(self, subscriber: Subscriber[int], /) -> None:
        self._subscriber = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self._asked.put(n)

    def cancel(self) -> None:
        self._asked.put(0)

    def feed(self) -> None:
        sent, wanted = 0, 0
        while sent < self._size:
            more = self._asked.get(timeout=60)
            if not more:
                return
            on_next = self._subscriber.on_next
            wanted += more
            stop = min(sent + wanted, self._size)
            wanted -= stop - sent
            for item in range(sent, stop):
                on_next(item)
            sent = stop
        self._subscriber.on_complete()


def queued(size: int, prefetch: int = GROWING_PREFETCH) -> Callable[[], int]:
    """A way: another thread pushes as far as it is asked, through the queue of ``observe_on``."""

    def run() -> int:
        end, source = _Waiting(), _Fed(size)
        Flowable.wrap(source).observe_on(single(), prefetch=prefetch).subscribe(end)
        source.feed()
        return end.result()

    return run


class _Boundary:
    """What ``observe_on(prefetch=128)`` has to do, by hand: a queue of 128, replenished at 75 %, and a thread that empties it.

    Nothing is checked, nobody may cancel, and there is one thread for it.
    """

    __slots__ = ("_end", "_idle", "_over", "_queue", "_up", "_wakes")

    def __init__(self, end: _Waiting) -> None:
        self._end = end
        self._idle = True
        self._over = False
        self._queue: deque[int] = deque()
        self._wakes: SimpleQueue[None] = SimpleQueue()

    def on_subscribe(self, up: Subscription, /) -> None:
        self._up = up
        threading.Thread(target=self._work, daemon=True).start()
        up.request(128)

    def on_next(self, item: int, /) -> None:
        self._queue.append(item)
        if self._idle:
            self._idle = False
            self._wakes.put(None)

    def on_complete(self) -> None:
        self._over = True
        self._wakes.put(None)

    def on_error(self, error: Exception, /) -> None:
        raise error

    def _work(self) -> None:
        queue, on_next, taken = self._queue, self._end.on_next, 0
        while queue or not self._over:
            while queue:
                item = queue.popleft()
                taken += 1
                if taken == 96:
                    taken = 0
                    self._up.request(96)
                on_next(item)
            self._idle = True
            if not queue:
                self._wakes.get()
            self._idle = False
        self._end.on_complete()


def bounded_by_hand(size: int) -> Callable[[], int]:
    """The same through a queue that knows nothing else."""

    def run() -> int:
        end, source = _Waiting(), _Fed(size)
        source.subscribe(_Boundary(end))
        source.feed()
        return end.result()

    return run


def _observe_on(size: int) -> Case:
    def direct() -> int:
        end = Counting()
        on_next = end.on_next
        for item in range(size):
            on_next(item)
        return end.total

    def polled() -> int:
        end = _Waiting()
        Flowable.range(size).observe_on(single()).subscribe(end)
        return end.result()

    part = max(size // 10, 1)

    def queue_by_hand() -> int:
        end = Counting()
        queue: SimpleQueue[int | None] = SimpleQueue()

        def work() -> None:
            while (item := queue.get()) is not None:
                end.on_next(item)

        worker = threading.Thread(target=work)
        worker.start()
        for item in range(part):
            queue.put(item)
        queue.put(None)
        worker.join()
        return end.total

    def theirs() -> int:
        from reactivex.scheduler import EventLoopScheduler

        got, ended = [0], threading.Event()

        def add(item: int) -> None:
            got[0] += item

        scheduler = EventLoopScheduler()
        reactivex.range(part).pipe(operators.observe_on(scheduler)).subscribe(add, on_completed=ended.set)
        assert ended.wait(60)
        scheduler.dispose()
        return got[0]

    total, partly = size * (size - 1) // 2, part * (part - 1) // 2
    return Case(
        "observe_on to a thread",
        size,
        {
            "direct call": Way(direct, expected=total),
            "rx, synchronous source": polled,
            "rx, queued": queued(size),
            "rx, queued, 128": queued(size, 128),
            "rx, queued, 1024": queued(size, 1024),
            "queue of 128 by hand": bounded_by_hand(size),
            "SimpleQueue by hand, unbounded": Way(queue_by_hand, part, partly),
            "reactivex": absent("reactivex") if reactivex is None else Way(theirs, part, partly, slow=True),
        },
        [
            at_most("rx, synchronous source", 1.3, 1.1),
            at_most("rx, queued", 4.2, 3.5),
            at_most("rx, queued, 128", 4.2, 3.5),
            at_most("rx, queued, 1024", 4.2, 3.5),
        ],
        note="the wait for the thread included; queued: another thread pushes as far as it is asked",
        waits=True,
    )


def _iterated(size: int) -> Case:
    """A thread computes the items, and this one takes them in a loop."""
    part = max(size // 10, 1)

    def over(items: Callable[[], Iterable[int]]) -> Callable[[], int]:
        def run() -> int:
            total = 0
            for item in items():
                total += item
            return total

        return run

    def from_a_queue() -> Iterator[int]:
        queue: Queue[int | None] = Queue(128)

        def fill() -> None:
            for item in range(part):
                queue.put(item)
            queue.put(None)

        thread = threading.Thread(target=fill)
        thread.start()
        while (item := queue.get()) is not None:
            yield item
        thread.join()

    on_thread = Flowable.range(size).observe_on(single())
    return Case(
        "iterated, from a thread",
        size,
        {
            "plain for": over(lambda: range(size)),
            "rx": over(lambda: on_thread),
            "rx, 128": over(lambda: on_thread.blocking_iter(prefetch=128)),
            "queue.Queue(128) by hand": Way(over(from_a_queue), part, part * (part - 1) // 2),
        },
        [at_most("rx", 8)],
        waits=True,
    )


_REQUEST: ContextVar[int] = ContextVar("request")


def _context(size: int) -> Case:
    """What it costs that a worker's actions run in the context of the subscriber, where that has set anything."""
    tasks = max(size // 50, 1)

    def boundary() -> int:
        end = _Waiting()
        Flowable.range(size).hide().observe_on(single()).subscribe(end)
        return end.result()

    def hops() -> int:
        end = _Waiting()
        Flowable.range(tasks).flat_map(lambda n: Flowable.just(n).subscribe_on(single()), max_concurrency=64).subscribe(end)
        return end.result()

    def without(run: Callable[[], int]) -> Callable[[], int]:
        return lambda: Context().run(run)

    def carried(run: Callable[[], int]) -> Callable[[], int]:
        def inside() -> int:
            _REQUEST.set(1)
            return run()

        return lambda: Context().run(inside)

    hopping = sum(range(tasks))
    return Case(
        "context variables behind a boundary",
        size,
        {
            "observe_on, nothing set": without(boundary),
            "observe_on, carried": carried(boundary),
            "subscribe_on for each item, nothing set": Way(without(hops), tasks, hopping),
            "subscribe_on for each item, carried": Way(carried(hops), tasks, hopping),
        },
        goals=(
            at_most("observe_on, carried", 1.15),
            at_most("subscribe_on for each item, carried", 1.15, of="subscribe_on for each item, nothing set"),
        ),
        waits=True,
        fastest=True,
    )
