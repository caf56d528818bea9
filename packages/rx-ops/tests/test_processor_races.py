"""Processors and subjects that are fed, subscribed to and left by several threads at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from rx_ops import (
    BehaviorProcessor,
    FlowableProcessor,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
    Subject,
    UnicastProcessor,
)
from rx_ops.coordination import _history
from rx_ops.coordination._history import Node
from rx_testing import TestObserver, TestSubscriber


def watch(source: FlowableProcessor[Any] | Subject[Any], **options: Any) -> Any:
    """A test subscriber, or observer, of ``source``."""
    end: Any = TestSubscriber(**options) if isinstance(source, FlowableProcessor) else TestObserver(**options)
    source.subscribe(end)
    return end


def feed(source: FlowableProcessor[int] | Subject[int], *items: int) -> None:
    for item in items:
        source.on_next(item)


INTERVALS = (1e-6, 1e-5, 1e-4, 1e-3, 5e-3)


def race(*workers: Callable[[], object]) -> None:
    start = threading.Barrier(len(workers))
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait(30)
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


def rounds(count: int) -> Iterator[int]:
    before = sys.getswitchinterval()
    try:
        for number in range(count):
            sys.setswitchinterval(INTERVALS[number % len(INTERVALS)])
            yield number
    finally:
        sys.setswitchinterval(before)


EIGHT, EACH_SENDS = 8, 25


def feed_from_eight_threads(source: Any, got: Any) -> None:
    def work(number: int) -> Callable[[], None]:
        return lambda: feed(source, *range(number * EACH_SENDS, (number + 1) * EACH_SENDS))

    race(*(work(number) for number in range(EIGHT)))
    source.on_complete()
    got.assert_complete()
    assert sorted(got.values) == list(range(EIGHT * EACH_SENDS))
    for number in range(EIGHT):  # those of one thread are in order
        mine = [value for value in got.values if value // EACH_SENDS == number]
        assert mine == sorted(mine)


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may have its turn in the middle of writing an item: what a missing serializer leads to happens soon."""

    class Interrupted(Node):
        __slots__ = ()

        def __init__(self, index: int) -> None:
            super().__init__(index)
            if index % 16 == 0:
                time.sleep(0)  # gives up the turn and does not wait

    monkeypatch.setattr(_history, "Node", Interrupted)


@pytest.mark.usefixtures("interrupted")
@pytest.mark.parametrize("made", [PublishProcessor, ReplayProcessor, UnicastProcessor, PublishSubject, ReplaySubject])
def test_eight_threads_feed_a_serialized_one(made: Any) -> None:
    for _ in rounds(100):
        source = made()
        feed_from_eight_threads(source.to_serialized(), watch(source))


@pytest.mark.usefixtures("interrupted")
def test_the_same_without_a_serializer_is_caught() -> None:
    """The control: the test above can fail."""
    for _ in rounds(300):
        source = PublishProcessor[int]()
        try:
            feed_from_eight_threads(source, watch(source))
        except AssertionError:
            return
    pytest.fail("a missing serializer was not noticed")


@pytest.mark.parametrize("made", [ReplayProcessor, UnicastProcessor])
def test_eight_threads_feed_while_another_requests(made: Any) -> None:
    for _ in rounds(15):
        source = made()
        serialized = source.to_serialized()
        got = watch(source, request=0)

        def ask(got: Any = got) -> None:
            for _ in range(EIGHT * EACH_SENDS):
                got.request(1)

        def work(number: int, serialized: Any = serialized) -> Callable[[], None]:
            return lambda: feed(serialized, *range(number * EACH_SENDS, (number + 1) * EACH_SENDS))

        race(ask, *(work(number) for number in range(EIGHT)))
        serialized.on_complete()
        got.assert_complete()  # which also says: serial, and no more than requested
        assert sorted(got.values) == list(range(EIGHT * EACH_SENDS))


def _join(found: list[Any], source: Any, **options: Any) -> None:
    found.append(watch(source, **options))


@pytest.mark.parametrize("made", [ReplayProcessor, BehaviorProcessor])
def test_who_subscribes_while_it_is_fed_misses_nothing(made: Any) -> None:
    for _ in rounds(40):
        source = made(0) if made is BehaviorProcessor else made()
        found: list[Any] = []
        race(partial(feed, source, *range(1, 50)), *[partial(_join, found, source)] * 4)
        source.on_complete()
        for got in found:
            got.assert_complete()
            first = got.values[0] if got.values else 50
            assert got.values == list(range(first, 50))
            assert made is BehaviorProcessor or first == 1


def test_subscribers_come_and_go_while_it_is_fed() -> None:
    for _ in rounds(25):
        source = PublishProcessor[int]()
        stay = watch(source)
        gone: list[Any] = []

        def come_and_go(source: Any = source, gone: Any = gone) -> None:
            for _ in range(10):
                got = watch(source)
                got.cancel()
                gone.append(got)

        race(partial(feed, source, *range(200)), come_and_go, come_and_go)
        source.on_complete()
        stay.assert_values(*range(200)).assert_complete()
        assert not source.has_subscribers
        for got in gone:
            got.assert_valid()


def test_who_meets_the_end_gets_it_once() -> None:
    for _ in rounds(40):
        source = PublishProcessor[int]()
        found: list[Any] = []
        race(source.on_complete, *[partial(_join, found, source, request=0)] * 4)
        for got in found:
            got.assert_complete()
