"""Samples are taken when it is time, also where the worker that gives them away gets to it later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import MissingBackpressureError, Publisher
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Build = Callable[[Flowable[Any], Publisher[Any]], Flowable[Any]]

KINDS: dict[str, Callable[[bool], Build]] = {
    "by a clock": lambda last: lambda flow, beats: flow.sample(1.0, scheduler=beats, emit_last=last),  # type: ignore[call-overload]
    "by a sampler": lambda last: lambda flow, beats: flow.sample(sampler=beats, emit_last=last),
}


class Played:
    """A source that is sampled; its samples go to a worker that only runs when it is told to."""

    def __init__(self, kind: str, *, request: int = 9, emit_last: bool = False, wall: bool = False) -> None:
        self.clock, self.late = VirtualScheduler(), VirtualScheduler()
        self.source = ManualPublisher[Any]()
        self.sampler = ManualPublisher[Any]()
        beats: Any = self.clock if kind == "by a clock" else self.sampler
        sampled = KINDS[kind](emit_last)(Flowable.wrap(self.source), beats)
        self.got = TestSubscriber[Any](request=request)
        (sampled.hide() if wall else sampled).observe_on(self.late).subscribe(self.got)
        self.late.run_due()

    def beat(self) -> None:
        self.sampler.next("now") if self.sampler.subscriptions else self.clock.advance_by(1.0)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("wall", [False, True])
@pytest.mark.parametrize("emit_last", [False, True])
def test_a_late_worker_gets_every_sample(kind: str, wall: bool, emit_last: bool) -> None:
    made = Played(kind, emit_last=emit_last, wall=wall)
    for item in (1, 2, 3, 4):
        made.source.next(item)
        if item != 3:
            made.beat()
    made.source.next(5)
    made.source.complete()
    made.late.run_due()
    made.got.assert_result(1, 2, 4, *([5] if emit_last else []))


def test_an_item_that_comes_after_its_time_is_of_the_next_sample(kind: str) -> None:
    made = Played(kind)
    made.source.next(1)
    made.beat()
    made.source.next(2)
    made.late.run_due()
    made.got.assert_values(1)
    made.beat()
    made.late.run_due()
    made.got.assert_values(1, 2)


@pytest.mark.parametrize("wall", [False, True])
def test_the_boundary_takes_what_nobody_wants_yet(kind: str, wall: bool) -> None:
    made = Played(kind, request=2, wall=wall)
    for item in (1, 2, 3):
        made.source.next(item)
        made.beat()
    made.late.run_due()
    made.got.assert_values(1, 2)
    made.got.request(1)
    made.late.run_due()
    made.got.assert_values(1, 2, 3)
    assert not made.source.cancelled


def test_a_sample_that_nobody_wants_is_an_error_where_no_boundary_takes_it(kind: str) -> None:
    source, sampler, clock = ManualPublisher[Any](), ManualPublisher[Any](), VirtualScheduler()
    beats: Any = clock if kind == "by a clock" else sampler
    got = TestSubscriber[Any](request=2)
    KINDS[kind](False)(Flowable.wrap(source), beats).subscribe(got)
    for item in (1, 2, 3):
        source.next(item)
        sampler.next("now") if sampler.subscriptions else clock.advance_by(1.0)
    got.assert_failure(MissingBackpressureError, 1, 2)
    assert source.cancelled


@pytest.mark.parametrize("sent", [[], [1, 2]], ids=["", "sends at once"])
def test_the_sampler_is_subscribed_when_its_source_is_there_and_before_that_is_asked(sent: list[int]) -> None:
    events: list[str] = []
    sampler: Flowable[int] = Flowable.never().do_on_subscribe(lambda _subscription: events.append("sampler"))
    source = Flowable.from_iterable(sent).hide().do_on_subscribe(lambda _subscription: events.append("source"))
    asked = source.do_on_request(lambda _count: events.append("request"))
    asked.sample(sampler=sampler).subscribe(TestSubscriber[int]())
    assert events == ["source", "sampler", "request"]
