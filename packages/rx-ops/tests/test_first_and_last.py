"""The first and the last items of a stream, by number and by the clock; ends that an item decides; lists that items cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler, cold, expect_marbles

Build = Callable[[Flowable[Any], VirtualScheduler], Flowable[Any]]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


class Boom(Exception):
    pass


@pytest.mark.parametrize(
    ("source", "build", "expected"),
    [
        ("-1-2-3-4-|", lambda s, c: s.take(seconds=4.0, scheduler=c), "-1-2|"),
        ("-1|", lambda s, c: s.take(seconds=4.0, scheduler=c), "-1|"),
        ("-1#", lambda s, c: s.take(seconds=4.0, scheduler=c), "-1#"),
        ("-1-2-|", lambda s, c: s.take(seconds=0, scheduler=c), "|"),
        ("-1-2-3-4-|", lambda s, c: s.skip(seconds=4.0, scheduler=c), "-----3-4-|"),
        ("-1-2-#", lambda s, c: s.skip(seconds=9.0, scheduler=c), "-----#"),
        ("-1-2-3-4-|", lambda s, c: s.take_last(seconds=4.0, scheduler=c), "---------(34|)"),
        ("-1-2-3-4-|", lambda s, c: s.take_last(seconds=4.0, count=1, scheduler=c), "---------(4|)"),
        ("-1-2-3-4-----|", lambda s, c: s.take_last(seconds=4.0, scheduler=c), "-------------|"),
        ("-1-2-#", lambda s, c: s.take_last(seconds=9.0, scheduler=c), "-----#"),
        ("-1-2-#", lambda s, c: s.take_last(seconds=9.0, scheduler=c, delay_error=True), "-----(12#)"),
        ("-1-2-3-4-|", lambda s, c: s.skip_last(seconds=4.0, scheduler=c), "-----1-2-(3|)"),
        ("-1-2-----3----|", lambda s, c: s.skip_last(seconds=6.0, scheduler=c), "---------(12)-|"),
        ("-1-2-----#", lambda s, c: s.skip_last(seconds=4.0, scheduler=c), "---------#"),
        ("-1-2-----#", lambda s, c: s.skip_last(seconds=4.0, scheduler=c, delay_error=True), "---------(12#)"),
        ("-1-2-3-4-|", lambda s, c: s.take_last(2), "---------(34|)"),
        ("-1-2-3-4-#", lambda s, c: s.take_last(2), "---------#"),
        ("-1-2-3-4-|", lambda s, c: s.take_last(0), "---------|"),
        ("-1-2-3-4-|", lambda s, c: s.skip_last(2), "-----1-2-|"),
        ("-1-2-3-4-|", lambda s, c: s.take_until(predicate=lambda x: x == 3), "-1-2-(3|)"),
        ("-1-2-|", lambda s, c: s.take_until(predicate=lambda x: x == 3), "-1-2-|"),
        ("-1-2-#", lambda s, c: s.take_until(predicate=lambda x: x == 3), "-1-2-#"),
    ],
)
def test_at_exact_instants(source: str, build: Build, expected: str, clock: VirtualScheduler) -> None:
    made = cold(clock, source)
    expect_marbles(build(Flowable.wrap(made), clock), expected + "----", clock=clock)
    assert clock.pending == 0
    assert all(end is not None or source[-1] in "|#" for _, end in made.subscriptions)


@pytest.mark.parametrize("offset", [0.1, 0.2, 0.7])
def test_the_edge_of_the_time_is_one_that_floats_miss(offset: float, clock: VirtualScheduler) -> None:
    """An item that is exactly as old as the time counts as one of the last, and as old enough not to be."""
    for name, expected in (("take_last", [1, 2]), ("skip_last", [1])):
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[Any] = TestSubscriber()
        start = clock.now()
        getattr(Flowable.wrap(source), name)(seconds=0.2, scheduler=clock).subscribe(got)
        clock.advance_to(start + offset)
        source.next(1)
        clock.advance_to(start + offset + 0.2)
        source.next(2)
        source.complete()
        got.assert_result(*expected)


def test_the_first_items_by_the_clock_cancel_the_source_at_the_instant(clock: VirtualScheduler) -> None:
    source = cold(clock, "-1-2-3-4-")
    expect_marbles(Flowable.wrap(source).take(seconds=4.0, scheduler=clock), "-1-2|", clock=clock)
    source.assert_subscriptions("^---!")


def test_the_last_items_are_given_as_requested(clock: VirtualScheduler) -> None:
    builds: list[Build] = [lambda s, _c: s.take_last(2), lambda s, c: s.take_last(seconds=5.0, scheduler=c)]
    for build in builds:
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[Any] = TestSubscriber(request=1)
        build(Flowable.wrap(source), clock).subscribe(got)
        source.next(1)
        source.next(2)
        source.complete()
        got.assert_values(1).assert_not_terminated()
        got.request(1)
        got.assert_result(1, 2)


def test_the_last_items_by_the_clock_do_not_pile_up(clock: VirtualScheduler) -> None:
    alive: list[Any] = []

    class Item:
        def __init__(self) -> None:
            alive.append(None)

        def __del__(self) -> None:
            alive.pop()

    source: ManualPublisher[Any] = ManualPublisher()
    Flowable.wrap(source).take_last(seconds=1.0, scheduler=clock).subscribe(TestSubscriber())
    for _ in range(50):
        source.next(Item())
        clock.advance_by(0.5)
    assert len(alive) <= 3


def test_skip_last_looks_again_when_something_is_requested(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.wrap(source).skip_last(seconds=1.0, scheduler=clock).subscribe(got)
    source.next(1, 2)
    clock.advance_by(2.0)
    source.next(3)
    got.assert_no_values()
    got.request(1)
    got.assert_values(1)
    source.complete()
    clock.advance_by(5.0)  # what was too young at the end stays so
    got.assert_not_terminated()
    got.request(5)
    got.assert_result(1, 2)


# -- an item that is the last ----------------------------------------------------------------------------------------------------


def test_take_until_completes_with_the_item_and_cancels() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=2)
    Flowable.wrap(source).take_until(predicate=lambda x: x == 2).subscribe(got)
    assert source.requested == 2
    source.next(1, 2)
    got.assert_result(1, 2)
    assert source.cancelled


def test_take_until_gives_the_item_its_predicate_failed_for_and_then_the_error() -> None:
    for source in (Flowable.of(1, 2), Flowable.of(1, 2).hide()):
        got: TestSubscriber[int] = TestSubscriber(request=1)

        def fail(_item: int) -> bool:
            raise Boom

        source.take_until(predicate=fail).subscribe(got)
        got.assert_failure(Boom, 1)
        assert got.error is not None
        assert "take_until" in got.error.__notes__[0]


def test_a_stop_iteration_of_the_predicate_is_the_error() -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.of(1, 2).take_until(predicate=lambda _x: next(iter(()))).subscribe(got)
    got.assert_failure(StopIteration, 1)


# -- lists ---------------------------------------------------------------------------------------------------------------------


def test_lists_are_given_as_soon_as_it_is_known_that_they_are_complete(clock: VirtualScheduler) -> None:
    source = "-1-2-2-3-|"
    cases: list[tuple[Callable[[Flowable[int]], Flowable[list[int]]], str, dict[str, list[int]]]] = [
        (lambda s: s.buffer_until(lambda x: x == 2), "---a-b---(c|)", {"a": [1, 2], "b": [2], "c": [3]}),
        (lambda s: s.buffer_until(lambda x: x == 2, cut_before=True), "---a-b---(c|)", {"a": [1], "b": [2], "c": [2, 3]}),
        (lambda s: s.buffer_while(lambda x: x != 2), "---a-----(c|)", {"a": [1], "c": [3]}),
        (lambda s: s.buffer_until_changed(), "---a---b-(c|)", {"a": [1], "b": [2, 2], "c": [3]}),
    ]
    for build, expected, values in cases:
        expect_marbles(build(Flowable.wrap(cold(clock, source))), expected, clock=clock, values=values)


# -- the rest ------------------------------------------------------------------------------------------------------------------


def test_observables_have_them_too(clock: VirtualScheduler) -> None:
    numbers = Observable.interval(1.0, initial=0.5, scheduler=clock).take(6)
    for made, expected in (
        (numbers.take(seconds=2.0, scheduler=clock), [0, 1]),
        (numbers.skip(seconds=4.0, scheduler=clock), [4, 5]),
        (numbers.take_last(2), [4, 5]),
        (numbers.take_last(seconds=1.5, scheduler=clock), [4, 5]),
        (numbers.skip_last(2), [0, 1, 2, 3]),
        (numbers.skip_last(seconds=2.0, scheduler=clock), [0, 1, 2, 3]),
        (numbers.take_until(predicate=lambda x: x == 2), [0, 1, 2]),
        (numbers.buffer_until(lambda x: x % 3 == 2), [[0, 1, 2], [3, 4, 5]]),
    ):
        values: list[Any] = []
        made.subscribe(values.append)
        clock.run_until_idle()
        assert values == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.take(),
        lambda s: s.take(1, seconds=1.0),
        lambda s: s.take(-1),
        lambda s: s.take(seconds=-1),
        lambda s: s.skip(1, seconds=1.0),
        lambda s: s.take_last(),
        lambda s: s.take_last(1, delay_error=True),
        lambda s: s.take_last(seconds=1.0, count=-1),
        lambda s: s.skip_last(1, seconds=1.0),
        lambda s: s.skip_last(1, scheduler=VirtualScheduler()),
        lambda s: s.take_until(),
        lambda s: s.take_until(Flowable.never(), predicate=bool),
        lambda s: s.take_until(predicate=1),
        lambda s: s.buffer_until(1),
    ],
)
def test_bad_arguments_are_refused_when_the_pipeline_is_built(call: Callable[[Any], object]) -> None:
    for source in (Flowable.of(1), Observable.of(1)):
        with pytest.raises((TypeError, ValueError)):
            call(source)


def test_the_default_clock_is_that_of_computation(clock: VirtualScheduler) -> None:
    with clock.installed("computation"):
        for made in (Flowable.never().take(seconds=3.0), Flowable.never().timeout(3.0, fallback=Flowable.empty())):
            got: TestSubscriber[Any] = TestSubscriber()
            made.subscribe(got)
            clock.advance_by(3.0)
            got.assert_result()
