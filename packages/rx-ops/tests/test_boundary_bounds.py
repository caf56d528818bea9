"""How much waits at ``observe_on`` while another thread sends as fast as it is asked: a bound that was given is one."""

from __future__ import annotations

from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest

from rx_core import DEFAULT_PREFETCH, LARGEST_PREFETCH, BufferWatch, FlowableBase, Subscriber
from rx_ops import Flowable
from rx_schedulers import single
from rx_testing import TestSubscriber

SIZE = 30_000


class Fed(FlowableBase[int]):
    """The thread that calls ``feed`` sends as far as it is asked."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[int] = SimpleQueue()
        self.requests: list[int] = []

    def subscribe_actual(self, subscriber: Subscriber[int], /) -> None:
        self.subscriber = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.requests.append(n)
        self.asked.put(n)

    def cancel(self) -> None:
        self.asked.put(0)

    def feed(self) -> None:
        sent = 0
        while sent < SIZE and (more := self.asked.get(timeout=30)):
            stop = min(sent + more, SIZE)
            for item in range(sent, stop):
                self.subscriber.on_next(item)
            sent = stop
        self.subscriber.on_complete()


class Ended(TestSubscriber[Any]):
    def __init__(self, request: int | None = None) -> None:
        super().__init__() if request is None else super().__init__(request=request)
        self.ended = Event()

    def on_complete(self) -> None:
        super().on_complete()
        self.ended.set()


@pytest.mark.slow
@pytest.mark.parametrize("prefetch", [1, 2, 16, 128, 1000])
def test_a_bound_that_was_given(prefetch: int) -> None:
    source, got = Fed(), Ended()
    with BufferWatch() as watch:
        Flowable.wrap(source).observe_on(single(), prefetch=prefetch).subscribe(got)
        source.feed()
        assert got.ended.wait(30)
    got.assert_result(*range(SIZE))
    assert watch.peak <= prefetch
    assert source.requests[0] == prefetch
    assert set(source.requests[1:]) <= {prefetch - prefetch // 4}


def test_none_was_given() -> None:
    source, got = Fed(), Ended()
    with BufferWatch() as watch:
        Flowable.wrap(source).map(lambda x: x).observe_on(single()).subscribe(got)
        source.feed()
        assert got.ended.wait(30)
    got.assert_result(*range(SIZE))
    assert source.requests[0] == DEFAULT_PREFETCH
    assert watch.peak <= LARGEST_PREFETCH


def test_a_consumer_that_stops_requesting_lets_nothing_grow() -> None:
    source, got = Fed(), Ended(request=10)
    with BufferWatch() as watch:
        Flowable.wrap(source).observe_on(single()).subscribe(got)
        assert source.asked.get(timeout=30) == DEFAULT_PREFETCH
        for _ in range(DEFAULT_PREFETCH):
            source.subscriber.on_next(1)
        got.cancel()
    assert source.requests == [DEFAULT_PREFETCH]
    assert all(peak <= DEFAULT_PREFETCH for peak in watch.peaks)
