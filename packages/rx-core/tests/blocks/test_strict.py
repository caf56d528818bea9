"""The strict subscriber, rule by rule, between parties that keep none of them."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError, ProtocolViolationError
from rx_core.blocks import RelaxedSubscriber, StrictSubscriber, strict

from .racing import Probe, Upstream, caught, every_round, race, repeat, rounds


def subscribed(request: int = UNBOUNDED) -> tuple[StrictSubscriber[Any], Probe, Upstream]:
    end, upstream = Probe(request), Upstream()
    subscriber = StrictSubscriber[Any](end)
    subscriber.on_subscribe(upstream)
    return subscriber, end, upstream


def test_ours_are_left_alone_and_others_wrapped() -> None:
    class Ours(Probe, RelaxedSubscriber):
        pass

    class Marked(Probe):
        _rx_relaxed = True

    for ours in (Ours(), Marked()):
        assert strict(ours) is ours
    assert isinstance(strict(Probe()), StrictSubscriber)


def test_signals_pass() -> None:
    subscriber, end, upstream = subscribed(3)
    subscriber.on_next(1)
    subscriber.on_next(2)
    subscriber.on_complete()
    assert (end.values, end.completions, upstream.requests, upstream.cancels) == ([1, 2], 1, [3], 0)


def test_1_1_more_than_was_requested() -> None:
    subscriber, end, upstream = subscribed(1)
    subscriber.on_next(1)
    subscriber.on_next(2)
    subscriber.on_next(3)
    assert (end.values, upstream.cancels, [type(error) for error in end.errors]) == ([1], 1, [MissingBackpressureError])


def test_1_1_requests_add_up() -> None:
    subscriber, end, upstream = subscribed(1)
    subscriber.request(2)
    subscriber.request(UNBOUNDED)
    subscriber.request(5)
    for item in range(10):
        subscriber.on_next(item)
    assert (len(end.values), end.errors, upstream.requests) == (10, [], [1, 2, UNBOUNDED, 5])


def test_1_3_nothing_comes_while_on_subscribe_runs() -> None:
    end = Probe()
    subscriber = StrictSubscriber[Any](end)
    subscriber.on_subscribe(Upstream(lambda n: subscriber.on_next(1)))
    assert end.values == [1]
    end.assert_serial()


def test_1_7_nothing_after_the_end(reported: list[Exception]) -> None:
    subscriber, end, upstream = subscribed()
    subscriber.on_complete()
    late = ValueError("late")
    subscriber.on_next(1)
    subscriber.on_complete()
    subscriber.on_error(late)
    subscriber.request(1)
    assert (end.values, end.completions, reported, upstream.requests) == ([], 1, [late], [UNBOUNDED])
    end.assert_serial()


@pytest.mark.parametrize("signal", ["on_next", "on_complete"])
def test_1_9_a_signal_before_on_subscribe(signal: str, reported: list[Exception]) -> None:
    end = Probe()
    subscriber = StrictSubscriber[Any](end)
    subscriber.on_next(1) if signal == "on_next" else subscriber.on_complete()
    subscriber.on_next(2)
    late = Upstream()
    subscriber.on_subscribe(late)
    assert end.subscription is subscriber
    assert (end.values, late.cancels, late.requests) == ([], 1, [])
    (error,) = end.errors
    assert isinstance(error, ProtocolViolationError)
    assert str(error).startswith(f"RS 1.9: {signal}")
    end.assert_serial()


def test_1_9_an_error_before_on_subscribe_is_signalled_with_a_note() -> None:
    end, error = Probe(), ValueError("a")
    StrictSubscriber[Any](end).on_error(error)
    assert end.errors == [error]
    assert "RS 1.9" in error.__notes__[0]


def test_2_12_a_second_subscription(reported: list[Exception]) -> None:
    subscriber, end, first = subscribed()
    second = Upstream()
    subscriber.on_subscribe(second)
    subscriber.on_next(1)
    assert (first.cancels, second.cancels, end.values, len(reported)) == (0, 1, [1], 1)


def test_2_13_none_is_raised_at_the_caller_and_ends_the_stream_once(reported: list[Exception]) -> None:
    subscriber, end, upstream = subscribed()
    with pytest.raises(TypeError, match=r"RS 2\.13") as caught_one:
        subscriber.on_next(None)
    subscriber.on_error(caught_one.value)  # what a publisher does with an exception
    assert (end.errors, upstream.cancels, reported) == ([caught_one.value], 1, [])


@pytest.mark.parametrize("call", ["on_subscribe", "on_error"])
def test_2_13_none_for_the_others(call: str) -> None:
    subscriber = StrictSubscriber[Any](Probe())
    with pytest.raises(TypeError):
        getattr(subscriber, call)(None)


def test_2_13_a_subscriber_that_raises_is_cancelled(reported: list[Exception]) -> None:
    subscriber, end, upstream = subscribed()
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError) as caught_one:
        subscriber.on_next(1)
    subscriber.on_error(caught_one.value)
    subscriber.on_next(2)
    assert (end.values, end.errors, upstream.cancels, reported) == ([1], [], 1, [])


def test_2_13_what_the_subscriber_raised_passes_through_a_publisher_that_answers_at_once() -> None:
    end = Probe(request=0)
    subscriber = StrictSubscriber[Any](end)
    upstream = Upstream(subscriber.on_next)
    subscriber.on_subscribe(upstream)
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError):
        subscriber.request(1)
    assert (end.errors, upstream.cancels) == ([], 1)


def test_3_3_recursion_is_bounded() -> None:
    end = Probe(request=0)
    subscriber = StrictSubscriber[Any](end)
    left = [50_000]

    def naive(n: int) -> None:
        if left[0]:
            left[0] = left[0] - 1
            subscriber.on_next(left[0])

    end.on_value = lambda item: subscriber.request(1)
    subscriber.on_subscribe(Upstream(naive))
    limit = sys.getrecursionlimit()
    subscriber.request(1)
    assert len(end.values) == 50_000 > limit


def test_3_6_and_3_7_after_a_cancel_nothing_has_an_effect() -> None:
    subscriber, end, upstream = subscribed(1)
    subscriber.cancel()
    subscriber.cancel()
    subscriber.request(1)
    subscriber.request(0)
    assert (upstream.requests, upstream.cancels, end.errors) == ([1], 1, [])


@pytest.mark.parametrize("wrong", [0, -1])
def test_3_9_a_wrong_request(wrong: int) -> None:
    subscriber, end, upstream = subscribed(1)
    subscriber.request(wrong)
    subscriber.on_next(1)
    assert (end.values, upstream.cancels, upstream.requests) == ([], 1, [1])
    assert "§3.9" in str(end.errors[0])


def test_3_9_a_wrong_request_inside_on_subscribe() -> None:
    _, end, upstream = subscribed(-1)
    assert "§3.9" in str(end.errors[0])
    assert (upstream.requests, upstream.cancels) == ([], 1)
    end.assert_serial()


@pytest.mark.parametrize("how", ["cancel", "on_complete"])
def test_3_13_both_sides_are_forgotten(how: str) -> None:
    subscriber, end, upstream = subscribed()
    watches: list[weakref.ref[Any]] = [weakref.ref(end), weakref.ref(upstream)]
    getattr(subscriber, how)()
    del end, upstream
    gc.collect()
    assert [watch() for watch in watches] == [None, None]


def test_3_15_a_cancel_that_raises_is_reported(reported: list[Exception]) -> None:
    class Failing(Upstream):
        def cancel(self) -> None:
            raise ZeroDivisionError

    end = Probe()
    subscriber = StrictSubscriber[Any](end)
    subscriber.on_subscribe(Failing())
    subscriber.cancel()
    assert [type(error) for error in reported] == [ZeroDivisionError]


def test_3_16_a_request_that_raises_ends_the_stream() -> None:
    end = Probe(request=0)
    subscriber = StrictSubscriber[Any](end)
    upstream = Upstream(lambda n: 1 // 0)
    subscriber.on_subscribe(upstream)
    subscriber.request(1)
    (error,) = end.errors
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "RS 3.16" in str(error)
    assert upstream.cancels == 1


class Unguarded:
    """The control: relays."""

    def __init__(self, down: Any) -> None:
        self.on_subscribe, self.on_next = down.on_subscribe, down.on_next
        self.on_error, self.on_complete = down.on_error, down.on_complete
        self.request = self.cancel = lambda *_: None


def nothing_breaks(make: Any) -> None:
    end = Probe(request=40)
    subscriber = make(end)
    upstream = Upstream()
    subscriber.on_subscribe(upstream)

    def emit(who: int) -> None:
        for number in range(10):
            subscriber.on_next((who, number))

    def misbehave() -> None:
        for n in (3, 0, 5):
            subscriber.request(n)

    race(*[lambda who=who: emit(who) for who in range(4)], misbehave, subscriber.on_complete)
    end.assert_serial()
    assert len(end.errors) + end.completions == 1
    assert not upstream.overlaps


@pytest.mark.stress
def test_signals_and_wrong_requests_race() -> None:
    for _ in rounds():
        nothing_breaks(StrictSubscriber)


@pytest.mark.stress
def test_the_control_fails() -> None:
    assert caught(lambda _: nothing_breaks(Unguarded))


@pytest.mark.stress
def test_demand_is_kept_while_several_threads_request_and_emit() -> None:
    def once(number: int) -> None:
        end = Probe(request=0)
        subscriber = StrictSubscriber[Any](end)
        subscriber.on_subscribe(Upstream(lambda n: repeat(n, subscriber.on_next, n)()))
        threads = 2 + number % 7

        def ask(subscriber: StrictSubscriber[Any] = subscriber) -> None:
            for n in range(1, 4):
                subscriber.request(n)

        race(*[ask] * threads)
        end.assert_serial()
        assert (len(end.values), end.errors) == (threads * 6, [])

    every_round(once)
