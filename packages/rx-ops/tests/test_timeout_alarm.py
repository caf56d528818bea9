"""The alarm of a timeout: one at a time, whatever it meets when it goes off."""

from __future__ import annotations

from typing import Any

import pytest

from rx_ops import PublishProcessor
from rx_ops.operators import _timeout
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler
from rx_testing.racing import interrupted


def rung_everywhere() -> set[str]:
    """Rings in the middle of an item, at a limit that is the item's or that of the one before. Gives who was the first."""
    at, instructions = 0, 1
    first: set[str] = set()
    while at <= instructions:
        clock = VirtualScheduler()
        source = PublishProcessor[int]()
        got: TestSubscriber[int] = TestSubscriber()
        source.timeout(10.0, scheduler=clock).subscribe(got)
        clock.advance_by(5.0)
        source.on_next(1)
        clock.advance_by(4.0)
        instructions = interrupted(lambda: source.on_next(2), (at, lambda: clock.advance_by(6.0)), watch=[_timeout.__file__])  # noqa: B023
        assert got.values in ([1], [1, 2])
        in_time = got.values == [1, 2]
        first.add("item" if in_time else "limit")
        assert got.error is None or not in_time
        clock.advance_by(3.5)
        assert got.error is None or not in_time  # the limit of the second item is at 19, or later where it is just being given
        clock.advance_by(7.0)
        got.assert_error(TimeoutError)
        assert not source.has_subscribers
        at += 1
    assert instructions > 30
    return first


def test_a_limit_between_any_two_instructions_of_an_item_ends_the_stream_once() -> None:
    assert rung_everywhere() == {"item", "limit"}


def test_the_control_ends_a_stream_whose_item_was_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def claim(op: Any, _contested: object, _failure: Exception | None = None) -> bool:
        op.late = True
        return True

    monkeypatch.setattr(_timeout.Timeout, "claim", claim)
    with pytest.raises(AssertionError):
        rung_everywhere()


def test_a_timeout_sets_one_alarm_at_a_time() -> None:
    clock = VirtualScheduler()
    source = PublishProcessor[int]()
    got: TestSubscriber[int] = TestSubscriber()
    source.timeout(10.0, scheduler=clock).subscribe(got)
    for item in range(100):
        source.on_next(item)
        assert clock.pending == 1
    clock.advance_by(9.5)
    source.on_next(100)
    clock.advance_by(9.5)
    assert got.error is None
    clock.advance_by(0.5)
    got.assert_error(TimeoutError)
    assert clock.pending == 0


def test_a_limit_that_is_just_over_does_not_take_the_only_item_for_the_next_one() -> None:
    """The alarm of a Single goes off, and the item comes between any two of its instructions, before the end that follows it."""
    at, instructions = 0, 1
    while at <= instructions:
        clock = VirtualScheduler()
        source = ManualPublisher[int]()
        got: TestSubscriber[int] = TestSubscriber()
        op = _timeout.Timeout(got, source, 10.0, clock, None, of_one=True)
        op.start()
        instructions = interrupted(lambda: clock.advance_by(10.0), (at, lambda: op.main.on_next(1)), watch=[_timeout.__file__])  # noqa: B023
        if got.values:
            op.main.on_complete()
            got.assert_result(1)
        else:
            got.assert_error(TimeoutError)
        at += 1
    assert instructions > 20
