"""The item of a Single or Maybe comes when it is there, and waits until it is wanted: no time runs against it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_fusion import fusion_off
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


COMPUTED: dict[str, Callable[[Callable[[], int]], Single[int] | Maybe[int]]] = {
    "from_callable": Single.from_callable,
    "map": lambda function: Single.just(1).map(lambda _item: function()),
    "maybe": lambda function: Maybe.just(1).map(lambda _item: function()),
    "count": lambda function: Flowable.range(3).count().map(lambda _count: function()),
    "hidden": lambda function: Single.from_callable(function).hide(),
    "flat_map": lambda function: Single.just(1).flat_map(lambda _item: Single.from_callable(function)),
}
computing = pytest.mark.parametrize("make", COMPUTED.values(), ids=COMPUTED)

JOINED: dict[str, Callable[[Any], Flowable[int]]] = {
    "concat": lambda source: Flowable.concat(source, Flowable.never()),
    "concat_map": lambda source: Flowable.just(1).concat_map(lambda _item: source),
    "concat_map of what pushes": lambda source: Flowable.just(1).hide().concat_map(lambda _item: source),
    "flat_map": lambda source: Flowable.just(1).flat_map(lambda _item: source),
    "flat_map of what pushes": lambda source: Flowable.just(1).hide().flat_map(lambda _item: source),
    "merge": lambda source: Flowable.merge(Flowable.never(), source),
    "switch_map": lambda source: Flowable.just(1).switch_map(lambda _item: source),
    "to_flowable": lambda source: source.to_flowable(),
    "stages behind to_flowable": lambda source: source.to_flowable().map(int).filter(bool),
    "repeat": lambda source: source.repeat(2),
    "repeat_until": lambda source: source.repeat_until(lambda: True),
    "repeat_when": lambda source: source.repeat_when(lambda completions: completions.take(1)),
}
joining = pytest.mark.parametrize("join", JOINED.values(), ids=JOINED)
BOTH_FORMS = pytest.mark.parametrize("forms", [nullcontext, fusion_off], ids=["fused", "without fusion"])


@BOTH_FORMS
@joining
@computing
def test_it_is_computed_when_it_is_subscribed_and_the_item_waits(
    make: Callable[..., Any], join: Callable[[Any], Flowable[int]], forms: Callable[[], Any]
) -> None:
    with forms():
        calls: list[int] = []

        def compute() -> int:
            calls.append(1)
            return 7

        subscriber = TestSubscriber[int](request=0)
        join(make(compute)).subscribe(subscriber)
        assert len(calls) == 1
        subscriber.assert_empty()
        subscriber.request(1)
        assert subscriber.values == [7]


@BOTH_FORMS
@joining
@computing
def test_its_error_needs_no_demand(
    make: Callable[..., Any], join: Callable[[Any], Flowable[int]], forms: Callable[[], Any]
) -> None:
    def fail() -> int:
        raise KeyError("no item")

    with forms():
        subscriber = TestSubscriber[int](request=0)
        join(make(fail)).subscribe(subscriber)
        subscriber.assert_failure(KeyError)


@BOTH_FORMS
@pytest.mark.parametrize("flattened", ["flat_map", "concat_map", "switch_map"])
@computing
def test_the_end_behind_the_item_of_the_last_one_needs_no_demand(
    make: Callable[..., Any], flattened: str, forms: Callable[[], Any]
) -> None:
    with forms():
        for source in (Flowable.of(1, 2), Flowable.of(1, 2).hide()):
            subscriber = TestSubscriber[int](request=2)
            getattr(source, flattened)(lambda _item: make(lambda: 7)).subscribe(subscriber)
            subscriber.assert_result(7, 7) if flattened != "switch_map" else subscriber.assert_complete()


def test_the_time_of_an_item_is_that_of_its_subscription() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[Any](request=1)
    Single.just(1).timestamp(scheduler=clock).repeat(2).map(lambda timed: timed.seconds).subscribe(subscriber)
    clock.advance_by(5.0)
    subscriber.request(1)
    subscriber.assert_result(0.0, 0.0)


@BOTH_FORMS
def test_the_end_of_a_maybe_without_an_item_needs_no_demand(forms: Callable[[], Any]) -> None:
    with forms():
        for empty in (
            Maybe.just(1).filter(lambda item: item > 1),
            Flowable.of(1, 3).hide().all(bool).filter(lambda answer: not answer),
        ):
            subscriber = TestSubscriber[Any](request=0)
            empty.to_flowable().subscribe(subscriber)
            subscriber.assert_result()


@BOTH_FORMS
@of_one
def test_stages_behind_to_flowable_see_the_item_when_it_is_wanted(make: Callable[[], Any], forms: Callable[[], Any]) -> None:
    with forms():
        seen: list[int] = []
        subscriber = TestSubscriber[int](request=0)
        make().to_flowable().do_on_next(seen.append).subscribe(subscriber)
        assert not seen
        subscriber.request(1)
        subscriber.assert_result(3)
        assert seen == [3]


REDUCED: dict[str, Callable[[Flowable[int]], Single[Any]]] = {
    "buffer": lambda ticks: ticks.buffer(2).first(),
    "flat_map_iterable": lambda ticks: ticks.flat_map_iterable(lambda tick: [tick, tick + 1]).to_list(),
    "take_last": lambda ticks: ticks.take_last(2).to_list(),
    "start_with": lambda ticks: ticks.start_with(0).skip(1).to_list(),
    "skip": lambda ticks: ticks.skip(0).to_list(),
}


@BOTH_FORMS
@pytest.mark.parametrize("reduce", REDUCED.values(), ids=REDUCED)
def test_what_an_item_is_made_of_need_not_be_requested(
    reduce: Callable[[Flowable[int]], Single[Any]], forms: Callable[[], Any]
) -> None:
    with forms():
        clock = VirtualScheduler()
        subscriber = TestSubscriber[Any](request=0)
        reduce(Flowable.interval(1.0, scheduler=clock).take(2)).to_flowable().subscribe(subscriber)
        clock.advance_by(10.0)
        subscriber.assert_empty()
        subscriber.request(1)
        subscriber.assert_result([0, 1, 1, 2] if reduce is REDUCED["flat_map_iterable"] else [0, 1])
