"""Half-serialization: one thread emits, others may end the stream."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import pytest

from rx_core import CompositeException, ProtocolViolationError
from rx_core.blocks import HalfSerializer

from .racing import Probe, caught, in_turn, race, rounds


def test_signals_pass() -> None:
    end = Probe()
    half = HalfSerializer[object](end)
    half.on_next(1)
    half.on_next(2)
    before = half.is_ended
    half.on_complete()
    half.on_next(3)
    half.on_complete()
    assert (before, half.is_ended) == (False, True)
    assert (end.values, end.completions) == ([1, 2], 1)


def test_an_end_that_comes_during_on_next_follows_it() -> None:
    end = Probe()
    half = HalfSerializer[object](end)
    end.on_value = lambda item: half.on_complete()
    half.on_next(1)
    assert (end.values, end.completions) == ([1], 1)
    end.assert_serial()


def test_errors_that_come_together_are_signalled_together_and_late_ones_reported(reported: list[Exception]) -> None:
    end = Probe()
    half = HalfSerializer[object](end)
    a, b, late = ValueError("a"), ValueError("b"), ValueError("late")
    end.on_value = lambda item: in_turn(partial(half.on_error, a), partial(half.on_error, b), half.on_complete)
    half.on_next(1)
    half.on_error(late)
    (together,) = end.errors
    assert isinstance(together, CompositeException)
    assert together.exceptions == (a, b)
    assert reported == [late]
    assert end.completions == 0


def test_overlapping_elements_are_reported(reported: list[Exception]) -> None:
    end = Probe()
    half = HalfSerializer[object](end)
    end.on_value = lambda item: half.on_next(2) if item == 1 else None
    half.on_next(1)
    half.on_next(3)
    assert end.values == [1, 3]
    assert [type(error) for error in reported] == [ProtocolViolationError]


def test_a_subscriber_that_raises_hears_nothing_more(reported: list[Exception]) -> None:
    end = Probe()
    half = HalfSerializer[object](end)
    lost, late = ValueError("lost"), ValueError("late")

    def fail(item: object) -> None:
        half.on_error(lost)
        raise ZeroDivisionError

    end.on_value = fail
    with pytest.raises(ZeroDivisionError):
        half.on_next(1)
    half.on_next(2)
    half.on_error(late)
    half.on_complete()
    assert (end.values, end.errors, end.completions, reported) == ([1], [], 0, [lost, late])


def test_cancelled(reported: list[Exception]) -> None:
    end = Probe()
    watch = weakref.ref(end)
    half = HalfSerializer[object](end)
    half.cancel()
    half.on_next(1)
    half.on_complete()
    late = ValueError("late")
    half.on_error(late)
    assert (end.values, end.completions, reported) == ([], 0, [late])
    del end
    gc.collect()
    assert watch() is None


class Unserialized:
    """The control: a flag that is looked at before."""

    def __init__(self, down: Any) -> None:
        self.down = down
        self.over = False

    def on_next(self, item: object) -> None:
        if not self.over:
            self.down.on_next(item)

    def on_error(self, error: Exception) -> None:
        if not self.over:
            self.over = True
            self.down.on_error(error)

    def on_complete(self) -> None:
        if not self.over:
            self.over = True
            self.down.on_complete()


def one_emits_and_three_end(make: Any, reported: list[Exception]) -> None:
    reported.clear()
    end = Probe()
    half = make(end)
    errors = [ValueError(n) for n in range(2)]

    def emit() -> None:
        for number in range(30):
            half.on_next(number)

    race(emit, half.on_complete, *[lambda error=error: half.on_error(error) for error in errors])
    end.assert_serial()
    assert len(end.errors) + end.completions == 1
    assert end.values == list(range(len(end.values)))
    signalled = [
        each for error in end.errors for each in (error.exceptions if isinstance(error, CompositeException) else [error])
    ]
    assert sorted(map(id, signalled + reported)) == sorted(map(id, errors))


@pytest.mark.stress
def test_one_end_serially_and_no_error_lost(reported: list[Exception]) -> None:
    for _ in rounds():
        one_emits_and_three_end(HalfSerializer, reported)


@pytest.mark.stress
def test_the_control_fails(reported: list[Exception]) -> None:
    assert caught(lambda _: one_emits_and_three_end(Unserialized, reported))
