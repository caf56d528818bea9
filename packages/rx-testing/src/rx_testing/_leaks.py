"""What a test leaves behind: subscriptions that did not end, workers that were not given back, and what waits on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final

from rx_core import BaseDisposable, Scheduler, Worker, on_schedule

if TYPE_CHECKING:
    from rx_core import Disposable, Publisher, Subscriber, Subscription

T = TypeVar("T")
Action = Callable[[], object]


class Watched(Protocol):
    """Something that has to be over when the test is."""

    @property
    def is_over(self) -> bool: ...


#: The watches that are open; more than one where tests nest.
_open: list[LeakWatch] = []


def opened(what: Watched, /) -> None:
    """Called by the test tools with everything that has to end."""
    for watch in _open:
        watch.add(what)


@final
class LeakWatch:
    """Collects, while it is open, what has to be over in the end. The fixture ``no_leaks`` is one.

    ::

        def test_nothing_is_left(no_leaks: LeakWatch) -> None:
            flow.observe_on(no_leaks.scheduler(computation())).take(1).subscribe(subscriber)

    Subscriptions of a ManualPublisher and workers of a VirtualScheduler are seen without being asked for.
    """

    def __init__(self) -> None:
        self._watched: list[Watched] = []

    @contextmanager
    def open(self) -> Iterator[LeakWatch]:
        """Watch for a ``with`` block."""
        _open.append(self)
        try:
            yield self
        finally:
            _open.remove(self)

    def add(self, what: Watched, /) -> None:
        """Expect ``what`` to be over in the end; its repr is part of the message."""
        self._watched.append(what)

    def scheduler(self, scheduler: Scheduler, /) -> Scheduler:
        """``scheduler``, whose workers have to be disposed in the end."""
        return _WatchedScheduler(scheduler, self)

    def publisher(self, publisher: Publisher[T], /) -> Publisher[T]:
        """``publisher``, whose subscriptions have to be cancelled or ended in the end."""
        return _WatchedPublisher(publisher, self)

    def left(self, seconds: float = 0.0) -> list[Watched]:
        """What is not over; what other threads are just ending gets ``seconds`` for it."""
        deadline = monotonic() + seconds
        pause = threading.Event()
        while True:
            self._watched = [each for each in self._watched if not each.is_over]
            if not self._watched or monotonic() >= deadline:
                return list(self._watched)
            pause.wait(0.001)


# -- publishers --------------------------------------------------------------------------------------------------------


@final
class _WatchedPublisher:
    __slots__ = ("_publisher", "_watch")

    def __init__(self, publisher: Publisher[Any], watch: LeakWatch) -> None:
        self._publisher = publisher
        self._watch = watch

    def subscribe(self, subscriber: Subscriber[Any], /) -> object:
        if not hasattr(subscriber, "on_next"):
            return self._publisher.subscribe(subscriber)  # which says what is wrong with it
        watched = _WatchedSubscription(self._publisher, subscriber)
        self._watch.add(watched)
        return self._publisher.subscribe(watched)

    def __repr__(self) -> str:
        return f"watched {self._publisher!r}"


@final
class _WatchedSubscription:
    """Stands between the two and sees how it ends."""

    __slots__ = ("_down", "_publisher", "_up", "is_over", "on_next")

    def __init__(self, publisher: object, down: Subscriber[Any]) -> None:
        self._publisher = publisher
        self._down = down
        self._up: Subscription | None = None
        self.is_over = False
        self.on_next = down.on_next

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self._up = self._up or subscription
        self._down.on_subscribe(self if self._up is subscription else subscription)

    def on_error(self, error: Exception, /) -> None:
        self.is_over = True
        self._down.on_error(error)

    def on_complete(self) -> None:
        self.is_over = True
        self._down.on_complete()

    def request(self, n: int, /) -> None:
        if self._up is not None:
            self._up.request(n)

    def cancel(self) -> None:
        self.is_over = True
        if self._up is not None:
            self._up.cancel()

    def __repr__(self) -> str:
        return f"a subscription of {self._publisher!r}: neither cancelled nor ended"


# -- schedulers --------------------------------------------------------------------------------------------------------


@final
class _WatchedScheduler(Scheduler):
    __slots__ = ("_scheduler", "_watch")

    def __init__(self, scheduler: Scheduler, watch: LeakWatch) -> None:
        self._scheduler = scheduler
        self._watch = watch

    def create_worker(self) -> Worker:
        worker = _WatchedWorker(self._scheduler.create_worker(), self._scheduler)
        self._watch.add(worker)
        return worker

    def now(self) -> float:
        return self._scheduler.now()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return self._scheduler.shutdown(timeout)

    def __repr__(self) -> str:
        return repr(self._scheduler)


@final
class _WatchedWorker(Worker):
    __slots__ = ("_scheduler", "_waiting", "_worker")

    def __init__(self, worker: Worker, scheduler: Scheduler) -> None:
        self._worker = worker
        self._scheduler = scheduler
        self._waiting: dict[object, None] = {}

    @property
    def quantum(self) -> int | None:  # type: ignore[override]  # a constant of the class for others, taken over here
        return self._worker.quantum

    def schedule(self, action: Action, /, delay: float = 0.0) -> Disposable:
        if not callable(action):
            on_schedule(action)  # type: ignore[unreachable]  # which refuses it: a function around it could be called
        key = object()

        def run() -> None:
            self._waiting.pop(key, None)
            action()

        self._waiting[key] = None
        made = self._worker.schedule(run, delay)
        if made.is_disposed:  # refused, or it has run already
            self._waiting.pop(key, None)
            return made
        return _WatchedTask(made, self._waiting, key)

    def now(self) -> float:
        return self._worker.now()

    def dispose(self) -> None:
        self._worker.dispose()
        self._waiting.clear()

    @property
    def is_disposed(self) -> bool:
        return self._worker.is_disposed

    @property
    def is_over(self) -> bool:
        return self._worker.is_disposed

    def __repr__(self) -> str:
        return f"a worker of {self._scheduler!r}: not disposed, {len(self._waiting)} actions wait on it"


@final
class _WatchedTask(BaseDisposable):
    __slots__ = ("_key", "_task", "_waiting")

    def __init__(self, task: Disposable, waiting: dict[object, None], key: object) -> None:
        self._task, self._waiting, self._key = task, waiting, key

    def dispose(self) -> None:
        self._waiting.pop(self._key, None)
        self._task.dispose()

    @property
    def is_disposed(self) -> bool:
        return self._task.is_disposed
