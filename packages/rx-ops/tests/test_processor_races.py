"""Processors and subjects that are fed, subscribed to and left by several threads at once.

Feeding a serialized one from eight threads is in `tests/integration/test_eight_threads.py`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rx_ops
from rx_ops import BehaviorProcessor, FlowableProcessor, PublishProcessor, ReplayProcessor, Subject
from rx_testing import TestObserver, TestSubscriber
from rx_testing.racing import race, rounds

pytestmark = pytest.mark.stress

WATCHED = (str(Path(rx_ops.__file__).parent),)


def watched(number: int) -> tuple[str, ...]:
    """In every fourth round the threads stumble."""
    return WATCHED if number % 4 == 3 else ()


def watch(source: FlowableProcessor[Any] | Subject[Any], **options: Any) -> Any:
    """A test subscriber, or observer, of ``source``."""
    end: Any = TestSubscriber(**options) if isinstance(source, FlowableProcessor) else TestObserver(**options)
    source.subscribe(end)
    return end


def feed(source: FlowableProcessor[int] | Subject[int], *items: int) -> None:
    for item in items:
        source.on_next(item)


def _join(found: list[Any], source: Any, **options: Any) -> None:
    found.append(watch(source, **options))


@pytest.mark.parametrize("made", [ReplayProcessor, BehaviorProcessor])
def test_who_subscribes_while_it_is_fed_misses_nothing(made: Any) -> None:
    for number in rounds(40):
        source = made(0) if made is BehaviorProcessor else made()
        found: list[Any] = []
        race(partial(feed, source, *range(1, 50)), *[partial(_join, found, source)] * 4, watch=watched(number))
        source.on_complete()
        for got in found:
            got.assert_complete()
            first = got.values[0] if got.values else 50
            assert got.values == list(range(first, 50))
            assert made is BehaviorProcessor or first == 1


def test_subscribers_come_and_go_while_it_is_fed() -> None:
    for number in rounds(25):
        source = PublishProcessor[int]()
        stay = watch(source)
        gone: list[Any] = []

        def come_and_go(source: Any = source, gone: Any = gone) -> None:
            for _ in range(10):
                got = watch(source)
                got.cancel()
                gone.append(got)

        race(partial(feed, source, *range(200)), come_and_go, come_and_go, watch=watched(number))
        source.on_complete()
        stay.assert_values(*range(200)).assert_complete()
        assert not source.has_subscribers
        for got in gone:
            got.assert_valid()


def test_who_meets_the_end_gets_it_once() -> None:
    for number in rounds(40):
        source = PublishProcessor[int]()
        found: list[Any] = []
        race(source.on_complete, *[partial(_join, found, source, request=0)] * 4, watch=watched(number))
        for got in found:
            got.assert_complete()


def test_what_is_offered_while_another_thread_requests_is_wanted_and_comes_once() -> None:
    for number in rounds(25):
        source = PublishProcessor[int]()
        got, other = watch(source, request=0), watch(source)

        def offer_all(source: Any = source) -> None:
            for item in range(60):
                while not source.offer(item):
                    pass

        def request_all(got: Any = got) -> None:
            for _ in range(60):
                got.request(1)

        race(offer_all, request_all, watch=watched(number))
        for each in (got, other):
            each.assert_values(*range(60)).assert_not_terminated().assert_valid()
