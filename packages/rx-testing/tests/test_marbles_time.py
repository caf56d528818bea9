"""Sources that play a diagram, and the expectation that a publisher does."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import FlowableBase, MissingBackpressureError
from rx_testing import (
    ManualPublisher,
    MarbleError,
    PublisherVerification,
    TestSubscriber,
    VirtualScheduler,
    cold,
    expect_marbles,
    hot,
)


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler(100.0)  # that nobody relies on starting at zero


def test_a_cold_source_plays_for_each_subscriber(clock: VirtualScheduler) -> None:
    source = cold(clock, "--a-b|")
    expect_marbles(source, "--a-b|", clock=clock)
    expect_marbles(source, "--a-b|-", clock=clock)
    source.assert_subscriptions("^", "-----^")


def test_a_cold_source_waits_for_requests(clock: VirtualScheduler) -> None:
    subscriber = TestSubscriber[Any](request=1)
    cold(clock, "-abc|").subscribe(subscriber)
    clock.advance_by(10)
    subscriber.assert_values("a").assert_not_terminated()
    subscriber.request(1).assert_values("a", "b").assert_not_terminated()
    subscriber.request(1).assert_result("a", "b", "c")


def test_what_is_due_later_stays_later(clock: VirtualScheduler) -> None:
    subscriber = TestSubscriber[Any](request=0)
    cold(clock, "-a-b").subscribe(subscriber)
    clock.advance_by(1)
    subscriber.request(2).assert_values("a")
    clock.advance_by(2)
    subscriber.assert_values("a", "b")


def test_a_cancelled_cold_source_leaves_nothing_on_the_clock(clock: VirtualScheduler) -> None:
    source = cold(clock, "-a-b-c|")
    expect_marbles(source, "-a-b!-", clock=clock)
    source.assert_subscriptions("^---!")
    assert clock.pending == 0


def test_a_hot_source_plays_once(clock: VirtualScheduler) -> None:
    source = hot(clock, "-a-b-c|")
    expect_marbles(source, "--^b-c|", clock=clock)
    expect_marbles(source, "|", clock=clock)
    source.assert_subscriptions("--^", "------^")


def test_what_is_before_the_subscription_sign_is_over(clock: VirtualScheduler) -> None:
    expect_marbles(hot(clock, "-a-^-b|"), "--b|", clock=clock)


def test_a_hot_source_has_several_listeners(clock: VirtualScheduler) -> None:
    source = hot(clock, "-a-b-#")
    early, late = TestSubscriber[Any](), TestSubscriber[Any]()
    source.subscribe(early)
    clock.advance_by(2)
    source.subscribe(late)
    clock.advance_by(5)
    early.assert_failure(MarbleError, "a", "b")
    late.assert_failure(MarbleError, "b")


def test_a_hot_source_does_not_wait(clock: VirtualScheduler) -> None:
    expect_marbles(hot(clock, "-a-b-c|"), "-a-#", clock=clock, request=1, error=MissingBackpressureError)


def test_a_hot_source_forgets_who_cancelled(clock: VirtualScheduler) -> None:
    source = hot(clock, "-a-b-c|")
    expect_marbles(source, "-a!---", clock=clock)
    source.assert_subscriptions("^-!")


def test_signals_of_one_instant(clock: VirtualScheduler) -> None:
    expect_marbles(cold(clock, "-(ab)-(c|)"), "-(ab)-(c|)", clock=clock)


def test_values_errors_and_frames(clock: VirtualScheduler) -> None:
    oops = ValueError("oops")
    values = {"x": [1], "y": [2]}
    source = cold(clock, "-x-y#", values=values, error=oops, frame=0.25)
    expect_marbles(source, "-x-y#", clock=clock, values=values, error=oops, frame=0.25)
    expect_marbles(source, "-x-y#", clock=clock, values=values, error=ValueError, frame=0.25)
    expect_marbles(source, "-x-y#", clock=clock, values=values, error=ValueError("oops"), frame=0.25)
    assert clock.now() == 103.0


@pytest.mark.parametrize(
    ("got", "expected", "difference"),
    [
        ("-a-b|", "-a--b|", "expected 4 s: on_next('b'), got 3 s: on_next('b')"),
        ("-a-b|", "-a-c|", "expected 3 s: on_next('c'), got 3 s: on_next('b')"),
        ("-a-b|", "-a-b-", "unexpected 4 s: on_complete()"),
        ("-a-b-", "-a-b|", "expected 4 s: on_complete(), it did not come"),
        ("-a-#", "-a-|", r"expected 3 s: on_complete\(\), got 3 s: on_error\(MarbleError"),
        ("----", "-a-|", "expected 1 s: on_next('a'), it did not come"),
    ],
)
def test_a_difference_is_shown(clock: VirtualScheduler, got: str, expected: str, difference: str) -> None:
    pattern = difference if "\\" in difference else difference.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(AssertionError, match=pattern) as caught:
        expect_marbles(cold(clock, got), expected, clock=clock)
    assert f"expected {expected}\n  but was  {got}" in str(caught.value)


def test_a_difference_that_cannot_be_drawn_is_told(clock: VirtualScheduler) -> None:
    with pytest.raises(AssertionError, match=r"but was  0\.5 s: on_next\('a'\)"):
        expect_marbles(cold(clock, "-a", frame=0.5), "-a", clock=clock)


def test_errors_differ_by_type_and_arguments(clock: VirtualScheduler) -> None:
    for other in (ValueError("another"), KeyError):
        with pytest.raises(AssertionError, match="on_error"):
            expect_marbles(cold(clock, "#", error=ValueError("one")), "#", clock=clock, error=other)


def test_a_broken_rule_is_a_difference_too(clock: VirtualScheduler) -> None:
    class Twice(FlowableBase[Any]):
        def subscribe_actual(self, subscriber: Any, /) -> None:
            ManualPublisher[Any](unchecked=True).subscribe(subscriber)
            subscriber.on_complete()
            subscriber.on_complete()

    with pytest.raises(AssertionError, match=r"§1\.7"):
        expect_marbles(Twice(), "|", clock=clock)


def test_subscriptions_that_differ(clock: VirtualScheduler) -> None:
    source = cold(clock, "-a")
    expect_marbles(source, "-a!", clock=clock)
    with pytest.raises(AssertionError, match="subscriptions of Cold"):
        source.assert_subscriptions("^--!")


class TestCold(PublisherVerification[str]):
    synchronous = True
    max_elements_from_publisher = 1000

    def setup_method(self) -> None:
        self.clock = VirtualScheduler()

    def settle(self) -> bool:
        due = self.clock.next_due
        return due is not None and self.clock.advance_to(due) > 0

    def create_publisher(self, elements: int, /) -> Any:
        return cold(self.clock, "-" + "a" * elements + "|")

    def create_failed_publisher(self) -> Any:
        return cold(self.clock, "#")
