"""The item of a Single or Maybe comes when it is there, and waits until it is wanted: no time runs against it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Flowable, Maybe, Single
from rx_testing import TestSubscriber, VirtualScheduler

SOURCES: dict[str, Callable[[], Single[Any] | Maybe[Any]]] = {
    "just": lambda: Single.just(3),
    "from_callable": lambda: Maybe.from_callable(lambda: 3),
    "count": lambda: Flowable.range(3).hide().count(),
    "first": lambda: Flowable.of(3, 4).first(),
    "hidden": lambda: Maybe.just(3).hide(),
}
of_one = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)


@of_one
def test_an_item_that_is_there_is_not_too_late_because_it_is_not_wanted_yet(make: Callable[[], Any]) -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    make().timeout(1.0, scheduler=clock).to_flowable().subscribe(subscriber)
    clock.advance_by(10.0)
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_result(3)


@of_one
def test_another_source_does_not_make_an_item_too_late_that_is_there(make: Callable[[], Any]) -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    make().timeout(first=Flowable.timer(1.0, scheduler=clock)).to_flowable().subscribe(subscriber)
    clock.advance_by(10.0)
    subscriber.request(1)
    subscriber.assert_result(3)


@of_one
def test_a_delay_begins_when_the_item_is_there(make: Callable[[], Any]) -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    make().delay(1.0, scheduler=clock).to_flowable().subscribe(subscriber)
    clock.advance_by(1.0)
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_result(3)


@of_one
def test_another_source_does_not_end_what_waits_to_be_wanted(make: Callable[[], Any]) -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    make().take_until(Flowable.timer(1.0, scheduler=clock)).to_flowable().subscribe(subscriber)
    clock.advance_by(10.0)
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_result(3)


def test_what_never_comes_is_too_late_whether_it_is_wanted_or_not() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    Single.never().timeout(1.0, scheduler=clock).to_flowable().subscribe(subscriber)
    clock.advance_by(1.0)
    subscriber.assert_failure(TimeoutError)


def test_a_cancel_while_the_item_waits_forgets_it() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int](request=0)
    Single.just(3).timeout(1.0, scheduler=clock).to_flowable().subscribe(subscriber)
    subscriber.cancel()
    subscriber.request(1)
    clock.advance_by(10.0)
    subscriber.assert_empty()
