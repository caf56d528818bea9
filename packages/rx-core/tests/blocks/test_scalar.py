"""One value, some time."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_core.blocks import DeferredScalar, DeferredScalarSubscriber

from .racing import Probe, Upstream, caught, race, rounds


def started(end: Probe) -> DeferredScalar[object]:
    scalar = DeferredScalar[object](end)
    scalar.start()
    return scalar


def test_the_value_waits_for_the_request() -> None:
    end = Probe(request=0)
    scalar = started(end)
    assert scalar.complete(1)
    assert end.values == []
    scalar.request(5)
    assert (end.values, end.completions) == ([1], 1)


def test_the_request_waits_for_the_value() -> None:
    end = Probe()
    scalar = started(end)
    assert end.values == []
    assert scalar.complete(1)
    assert not scalar.complete(2)
    scalar.request(1)
    assert (end.values, end.completions) == ([1], 1)


def test_an_end_without_a_value_waits_for_nobody(reported: list[Exception]) -> None:
    empty, failed = Probe(request=0), Probe(request=0)
    error, late = ValueError("a"), ValueError("late")
    assert started(empty).complete()
    scalar = started(failed)
    assert scalar.fail(error)
    assert not scalar.fail(late)
    assert (empty.completions, failed.errors, reported) == (1, [error], [late])


def test_nothing_is_signalled_before_on_subscribe_has_returned() -> None:
    end = Probe()
    scalar = DeferredScalar[object](end)
    scalar.complete(1)
    scalar.start()
    assert (end.values, end.completions) == ([1], 1)
    end.assert_serial()


@pytest.mark.parametrize("wrong", [0, -3])
def test_a_wrong_request_is_answered_even_while_the_value_waits(wrong: int) -> None:
    end = Probe(request=0)
    scalar = started(end)
    scalar.complete(1)
    scalar.request(wrong)
    scalar.request(1)
    assert end.values == []
    assert "§3.9" in str(end.errors[0])
    end.assert_serial()


def test_a_wrong_request_inside_on_subscribe_waits_for_its_end() -> None:
    end = Probe(request=-1)
    started(end)
    assert "§3.9" in str(end.errors[0])
    end.assert_serial()


def test_cancelled(reported: list[Exception]) -> None:
    end = Probe(request=0)
    watch = weakref.ref(end)
    scalar = started(end)
    value = Probe()
    kept = weakref.ref(value)
    scalar.complete(value)
    scalar.cancel()
    scalar.request(1)
    scalar.request(0)
    assert not scalar.complete(2)
    late = ValueError("late")
    assert not scalar.fail(late)
    assert (end.values, end.errors, reported) == ([], [], [late])
    del end, value
    gc.collect()
    assert watch() is None
    assert kept() is None


def test_cancelled_in_on_next() -> None:
    end = Probe()
    scalar = started(end)
    end.on_value = lambda item: scalar.cancel()
    scalar.complete(1)
    assert (end.values, end.completions) == ([1], 0)


class Sum(DeferredScalarSubscriber[int, int]):
    def on_next(self, item: int, /) -> None:
        try:
            self.value = (self.value or 0) + 10 // item
        except ZeroDivisionError as error:
            self.reject(error)


def test_a_reduction_asks_for_everything_and_delivers_its_value() -> None:
    end, upstream = Probe(request=0), Upstream()
    total = Sum(end)
    total.on_subscribe(upstream)
    total.on_subscribe(second := Upstream())
    for item in (1, 2, 5):
        total.on_next(item)
    total.on_complete()
    assert (upstream.requests, second.cancels, end.values) == ([UNBOUNDED], 1, [])
    total.request(1)
    assert (end.values, end.completions) == ([17], 1)


def test_a_reduction_that_fails_or_is_cancelled_cancels_upstream(reported: list[Exception]) -> None:
    reported.clear()
    failing, upstream = Probe(), Upstream()
    total = Sum(failing)
    total.on_subscribe(upstream)
    total.on_next(0)
    assert upstream.cancels == 1
    assert isinstance(failing.errors[0], ZeroDivisionError)
    cancelled, upstream = Probe(), Upstream()
    total = Sum(cancelled)
    total.on_subscribe(upstream)
    total.cancel()
    total.on_complete()
    assert (upstream.cancels, cancelled.completions) == (1, 0)


def test_a_subscriber_that_raises_hears_nothing_more() -> None:
    end = Probe()
    scalar = started(end)
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError):
        scalar.complete(1)
    scalar.request(1)
    assert (end.values, end.completions) == ([1], 0)


class RacyScalar:
    """The control: two flags."""

    def __init__(self, down: Any) -> None:
        self.down = down
        self.requested = False
        self.value: object = None

    def start(self) -> None:
        self.down.on_subscribe(self)

    def complete(self, value: object) -> None:
        self.value = value
        if self.requested:
            self.emit()

    def request(self, n: int) -> None:
        self.requested = True
        if self.value is not None:
            self.emit()

    def emit(self) -> None:
        self.down.on_next(self.value)
        self.down.on_complete()

    def cancel(self) -> None:
        pass


def one_value_once(make: Any) -> None:
    end = Probe(request=0)
    scalar = make(end)
    race(scalar.start, lambda: scalar.complete(1), lambda: scalar.request(1), lambda: scalar.request(2))
    end.assert_serial()
    assert (end.values, end.completions) == ([1], 1)


@pytest.mark.stress
def test_the_value_comes_once_whoever_is_first() -> None:
    for _ in rounds():
        one_value_once(DeferredScalar)


@pytest.mark.stress
def test_the_control_signals_twice_or_too_early() -> None:
    assert caught(lambda _: one_value_once(RacyScalar))
