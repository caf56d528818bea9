"""The clock of timeout starts with the subscription, not with the first request."""

from __future__ import annotations

from rx_ops import Flowable
from rx_testing import TestSubscriber, VirtualScheduler


def test_the_time_is_up_although_nothing_was_requested() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    Flowable.never().timeout(1.0, scheduler=clock).subscribe(subscriber)
    clock.advance_by(0.999)
    subscriber.assert_empty()
    clock.advance_by(0.001)
    subscriber.assert_failure(TimeoutError)


def test_a_request_that_comes_later_does_not_start_the_clock_again() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    Flowable.never().timeout(1.0, scheduler=clock).subscribe(subscriber)
    clock.advance_by(0.5)
    subscriber.request(1)
    clock.advance_by(0.5)
    subscriber.assert_failure(TimeoutError)


def test_the_error_of_the_fallback_needs_no_demand() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    Flowable.never().timeout(1.0, fallback=Flowable.error(KeyError), scheduler=clock).subscribe(subscriber)
    clock.advance_by(1.0)
    subscriber.assert_failure(KeyError)


def test_cancelled_before_the_first_request_nothing_is_left_on_the_clock() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    Flowable.never().timeout(1.0, scheduler=clock).subscribe(subscriber)
    subscriber.cancel()
    assert clock.pending == 0


def test_a_fallback_that_opens_sources_answers_the_first_request() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    fallback = Flowable.concat(Flowable.from_iterable([1, 2]), Flowable.empty())
    Flowable.never().timeout(1.0, fallback=fallback, scheduler=clock).subscribe(subscriber)
    clock.advance_by(1.0)
    subscriber.request(1).assert_values(1)
    subscriber.request(1).assert_values(1, 2)
