"""What the tests of several families share: sources that behave in some way, and who records what came of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from rx_core import UNBOUNDED, Subscription, hooks
from rx_ops import Flowable
from rx_ops.processors import FlowableProcessor, Subject
from rx_testing import ManualPublisher, TestObserver, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


Build = Callable[[Flowable[Any]], Flowable[Any]]


class Watchful:
    """A subscriber that writes down what comes, and notices what comes inside of an item."""

    def __init__(self, wanted: int) -> None:
        self.got: list[Any] = []
        self.overlaps = False
        self.inside = False
        #: What is called once, inside of the item at that place.
        self.within: dict[int, Callable[[], object]] = {}
        self._wanted = wanted

    def on_subscribe(self, subscription: Subscription) -> None:
        self.up = subscription
        self.up.request(self._wanted)

    def on_next(self, item: int) -> None:
        self.overlaps |= self.inside
        self.inside = True
        within = self.within.pop(len(self.got), int)
        self.got.append(item)
        within()
        self.inside = False

    def on_error(self, error: Exception) -> None:
        self.overlaps |= self.inside
        self.got.append(type(error))

    def on_complete(self) -> None:
        self.overlaps |= self.inside
        self.got.append("end")


class NeverTaken(list[int]):
    """A token that more than one may hold."""

    def pop(self, _at: Any = -1) -> int:
        return self[-1]

    def append(self, held: int) -> None:
        self[:] = [held]


class Stage:
    """One operator over a source that sends at given instants, and what came out of it when."""

    def __init__(self, clock: VirtualScheduler, build: Build, request: int | None = None) -> None:
        self.clock = clock
        self.source: Source = ManualPublisher()
        self.came: list[tuple[float, Any]] = []
        watch: Callable[[Any], object] = lambda value: self.came.append((clock.now(), value))  # noqa: E731
        self.got: TestSubscriber[Any] = (
            TestSubscriber(on_value=watch) if request is None else TestSubscriber(request=request, on_value=watch)
        )
        build(Flowable.wrap(self.source)).subscribe(self.got)

    def play(self, script: Mapping[float, Any]) -> Stage:
        """Send each item at its instant; ``"|"`` completes, an exception fails, None only lets the clock move."""
        for instant, item in script.items():
            self.clock.advance_to(instant)
            if item == "|":
                self.source.complete()
            elif isinstance(item, Exception):
                self.source.error(item)
            elif item is not None:
                self.source.next(item)
            self.clock.run_due()
        self.got.assert_valid()
        return self


class Consumer:
    """Subscribes to each window with a subscriber of its own."""

    def __init__(self, windows: Any, request: int = UNBOUNDED, each: int = UNBOUNDED) -> None:
        self.windows: list[TestSubscriber[Any]] = []
        self.each = each
        self.outer: TestSubscriber[Any] = TestSubscriber(request=request, on_value=self.take)
        windows.subscribe(self.outer)

    def take(self, window: Flowable[Any]) -> None:
        self.windows.append(TestSubscriber(request=self.each))
        window.subscribe(self.windows[-1])

    @property
    def values(self) -> list[list[Any]]:
        return [each.values for each in self.windows]


def watch(source: FlowableProcessor[Any] | Subject[Any], **options: Any) -> Any:
    """A test subscriber, or observer, of ``source``."""
    end: Any = TestSubscriber(**options) if isinstance(source, FlowableProcessor) else TestObserver(**options)
    source.subscribe(end)
    return end


def feed(source: FlowableProcessor[int] | Subject[int], *items: int) -> None:
    for item in items:
        source.on_next(item)


@contextmanager
def errors_of_the_hook() -> Iterator[list[BaseException]]:
    errors: list[BaseException] = []
    hooks.ensure_loaded()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
        yield errors


def busy(started: threading.Event, closed: threading.Event) -> Iterator[int]:
    try:
        started.set()
        while True:
            yield 1
    finally:
        closed.set()


class Busy:
    """Gives items without end, on the thread that asks."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.closed = threading.Event()

    def __iter__(self) -> Iterator[int]:
        return busy(self.started, self.closed)
