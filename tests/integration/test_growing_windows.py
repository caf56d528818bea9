"""A window that the user did not give doubles while another thread fills it faster than a hand-over takes, and not otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Thread

import pytest

import rx_core._demand
from rx_core import DEFAULT_PREFETCH, GROWING_PREFETCH, LARGEST_PREFETCH
from rx_core._demand import WINDOW_SECONDS
from rx_core.streams import Waiting
from rx_core.tasks import Arrivals
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

REPLENISHED = DEFAULT_PREFETCH - DEFAULT_PREFETCH // 4


class Clock:
    """Moves on by so much each time it is looked at: once for each window."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.now = 100.0

    def __call__(self) -> float:
        self.now += self.seconds
        return self.now


class Boundary(ABC):
    """Between a source and this thread, with the default window."""

    def __init__(self) -> None:
        self.source: ManualPublisher[int] = ManualPublisher()

    @abstractmethod
    def turn(self, send: Callable[[], object]) -> None:
        """Come back after there was nothing, when ``send`` was called, and take all items."""

    def send_all(self) -> None:
        """As many items as are requested."""
        (subscription,) = self.source.subscriptions
        for item in range(subscription.outstanding):
            subscription.next(item)

    def send_all_on_another_thread(self) -> None:
        thread = Thread(target=self.send_all)
        thread.start()
        thread.join(30)

    @property
    def requests(self) -> list[int]:
        return self.source.subscriptions[0].requests


class OfATask(Boundary):
    class Wakeup:
        woken = False

        def wake(self) -> None:
            self.woken = True

        async def wait(self) -> None:
            raise AssertionError("the test looks by itself")

        pause = wait

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: Arrivals[int] = Arrivals(GROWING_PREFETCH, self.source, self.Wakeup())
        self.arrivals.open(self.source)
        assert self.arrivals.take(1) is None

    def turn(self, send: Callable[[], object]) -> None:
        self.arrivals.wakeup.woken = False
        send()
        while (items := self.arrivals.take(10_000)) is not None:
            assert [*items]


class OfAWorker(Boundary):
    def __init__(self) -> None:
        super().__init__()
        self.scheduler = VirtualScheduler()
        Flowable.wrap(self.source).observe_on(self.scheduler).subscribe(TestSubscriber[int]())
        self.scheduler.run_due()

    def turn(self, send: Callable[[], object]) -> None:
        send()
        self.scheduler.run_due()


class OfALoop(Boundary):
    class Waiting(Waiting[int]):
        send: Callable[[], object]

        def sleep(self) -> None:
            self.asleep = True
            self.send()

    def __init__(self) -> None:
        super().__init__()
        self.waiting = self.Waiting(GROWING_PREFETCH, self.source)
        self.items = self.waiting.items(self.source)

    def turn(self, send: Callable[[], object]) -> None:
        came = 0

        def counted() -> None:
            nonlocal came
            came = self.source.subscriptions[0].outstanding
            send()

        self.waiting.send = counted
        next(self.items)
        for _ in range(came - 1):
            next(self.items)


@pytest.fixture(params=[OfATask, OfAWorker, OfALoop])
def boundary(request: pytest.FixtureRequest) -> Boundary:
    made: Boundary = request.param()
    return made


def set_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    clock = Clock(seconds)
    monkeypatch.setattr(rx_core._demand, "perf_counter", clock)


def test_it_doubles_while_windows_are_taken_fast(boundary: Boundary, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, WINDOW_SECONDS / 2)
    for _ in range(12):
        boundary.turn(boundary.send_all_on_another_thread)
    grown = [n for n in boundary.requests[1:] if n & (n - 1) == 0]  # what is replenished is three times a power of two
    assert grown == [128, 256, 512, 1024, 2048]
    assert DEFAULT_PREFETCH + sum(grown) == LARGEST_PREFETCH


def test_it_stays_where_a_window_lasts_longer_than_a_hand_over(boundary: Boundary, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, WINDOW_SECONDS * 2)
    for _ in range(12):
        boundary.turn(boundary.send_all_on_another_thread)
    assert set(boundary.requests[1:]) == {REPLENISHED}


def test_it_stays_where_the_thread_that_takes_the_items_sends_them(boundary: Boundary, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, WINDOW_SECONDS / 2)
    for _ in range(12):
        boundary.turn(boundary.send_all)
    assert set(boundary.requests[1:]) == {REPLENISHED}
