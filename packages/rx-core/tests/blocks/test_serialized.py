"""Serialized receiving ends."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import pytest

from rx_core import UNBOUNDED, FlagDisposable
from rx_core.blocks import SerializedObserver, SerializedSubscriber

from .racing import Probe, Upstream, caught, every_round, in_turn, race, rounds


def subscribed(end: Probe) -> tuple[SerializedSubscriber[object], Upstream]:
    subscriber, upstream = SerializedSubscriber[object](end), Upstream()
    subscriber.on_subscribe(upstream)
    return subscriber, upstream


def test_signals_pass() -> None:
    end = Probe()
    subscriber, upstream = subscribed(end)
    subscriber.on_next(1)
    subscriber.on_next(2)
    subscriber.on_complete()
    subscriber.on_next(3)
    assert (end.values, end.completions, upstream.requests) == ([1, 2], 1, [UNBOUNDED])
    end.assert_serial()


def test_it_is_downstreams_subscription() -> None:
    end = Probe(request=0)
    subscriber, upstream = subscribed(end)
    assert end.subscription is subscriber
    subscriber.request(3)
    subscriber.cancel()
    subscriber.request(4)
    subscriber.on_next(1)
    assert (upstream.requests, upstream.cancels, end.values) == ([3], 1, [])


def test_a_second_subscription_is_cancelled() -> None:
    subscriber, first = subscribed(Probe())
    second = Upstream()
    subscriber.on_subscribe(second)
    assert (first.cancels, second.cancels) == (0, 1)


def test_what_comes_before_on_subscribe_has_returned_waits() -> None:
    end = Probe()
    subscriber = SerializedSubscriber[object](end)
    upstream = Upstream(lambda n: in_turn(partial(subscriber.on_next, 1), partial(subscriber.on_next, 2), subscriber.on_complete))
    subscriber.on_next(0)
    subscriber.on_subscribe(upstream)
    assert (end.values, end.completions) == ([0, 1, 2], 1)
    end.assert_serial()


def test_an_error_overtakes_and_a_second_one_is_reported(reported: list[Exception]) -> None:
    end = Probe()
    subscriber, _ = subscribed(end)
    error, late = ValueError("a"), ValueError("late")

    def reenter(item: object) -> None:
        subscriber.on_next(2)
        subscriber.on_error(error)
        subscriber.on_error(late)

    end.on_value = reenter
    subscriber.on_next(1)
    assert (end.values, end.errors, reported) == ([1], [error], [late])


def test_an_error_on_its_way_when_downstream_cancels_is_reported(reported: list[Exception]) -> None:
    end = Probe()
    subscriber, _ = subscribed(end)
    error = ValueError("a")

    def reenter(item: object) -> None:
        subscriber.on_error(error)
        subscriber.cancel()

    end.on_value = reenter
    subscriber.on_next(1)
    assert (end.errors, reported) == ([], [error])


def test_a_subscriber_that_raises_has_cancelled() -> None:
    end = Probe()
    subscriber, upstream = subscribed(end)
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError):
        subscriber.on_next(1)
    subscriber.on_next(2)
    subscriber.on_complete()
    assert (end.values, end.completions, upstream.cancels) == ([1], 0, 1)


def test_a_subscriber_that_raises_in_on_subscribe_has_cancelled() -> None:
    class Failing(Probe):
        def on_subscribe(self, subscription: object, /) -> None:
            raise ZeroDivisionError

    subscriber, upstream = SerializedSubscriber[object](Failing()), Upstream()
    with pytest.raises(ZeroDivisionError):
        subscriber.on_subscribe(upstream)
    subscriber.on_next(1)
    assert upstream.cancels == 1


@pytest.mark.parametrize("how", ["on_complete", "cancel"])
def test_the_subscriber_is_forgotten(how: str) -> None:
    end = Probe()
    watch = weakref.ref(end)
    subscriber, _ = subscribed(end)
    getattr(subscriber, how)()
    del end
    gc.collect()
    assert watch() is None


def test_an_observer_is_disposed() -> None:
    class End(Probe):
        def on_subscribe(self, disposable: Any, /) -> None:
            self.disposable = disposable

    end, upstream = End(), FlagDisposable()
    observer = SerializedObserver[object](end)
    observer.on_subscribe(upstream)
    observer.on_next(1)
    end.disposable.dispose()
    observer.on_next(2)
    assert (end.values, upstream.is_disposed, observer.is_disposed) == ([1], True, True)


class Unserialized:
    """The control."""

    def __init__(self, down: Any) -> None:
        self.down = down
        self.on_next = down.on_next
        self.over = False

    def on_subscribe(self, subscription: object) -> None:
        self.down.on_subscribe(subscription)

    def on_error(self, error: Exception) -> None:
        if not self.over:
            self.over = True
            self.down.on_error(error)

    def on_complete(self) -> None:
        if not self.over:
            self.over = True
            self.down.on_complete()


def all_elements_serially(make: Any, threads: int) -> None:
    end = Probe()
    subscriber = make(end)

    def feed(who: int) -> None:
        for number in range(8):
            subscriber.on_next((who, number))

    race(*[lambda who=who: feed(who) for who in range(threads)], lambda: subscriber.on_subscribe(Upstream()))
    subscriber.on_complete()
    end.assert_serial()
    assert end.completions == 1
    assert sorted(end.values) == [(who, number) for who in range(threads) for number in range(8)]  # type: ignore[type-var]
    for who in range(threads):
        assert [value for value in end.values if value[0] == who] == [(who, number) for number in range(8)]  # type: ignore[index]


@pytest.mark.stress
def test_many_threads_and_every_element_once() -> None:
    for number in rounds():
        all_elements_serially(SerializedSubscriber, 2 + number % 7)


@pytest.mark.stress
def test_the_control_overlaps() -> None:
    assert caught(lambda _: all_elements_serially(Unserialized, 4))


def one_end(make: Any, reported: list[Exception]) -> None:
    reported.clear()
    end = Probe()
    subscriber = make(end)
    subscriber.on_subscribe(Upstream())
    errors = [ValueError(n) for n in range(2)]

    def feed() -> None:
        for number in range(10):
            subscriber.on_next(number)

    race(feed, feed, subscriber.on_complete, *[lambda error=error: subscriber.on_error(error) for error in errors])
    end.assert_serial()
    assert len(end.errors) + end.completions == 1
    assert sorted(map(id, end.errors + reported)) == sorted(map(id, errors))


@pytest.mark.stress
def test_one_end_and_no_error_lost(reported: list[Exception]) -> None:
    for _ in rounds():
        one_end(SerializedSubscriber, reported)


@pytest.mark.stress
def test_the_control_has_signals_after_the_end(reported: list[Exception]) -> None:
    assert caught(lambda _: one_end(Unserialized, reported))


@pytest.mark.stress
def test_a_cancel_in_between_loses_no_error_and_forgets(reported: list[Exception]) -> None:
    def once(_: int) -> None:
        reported.clear()
        end = Probe()
        subscriber, upstream = subscribed(end)
        error = ValueError("a")

        def feed(subscriber: SerializedSubscriber[object] = subscriber) -> None:
            for number in range(10):
                subscriber.on_next(number)

        race(feed, feed, subscriber.cancel, lambda: subscriber.on_error(error))
        end.assert_serial()
        assert end.errors + reported == [error]
        assert upstream.cancels <= 1  # none if the source had ended before
        watch = weakref.ref(end)
        del end
        assert watch() is None

    every_round(once)
