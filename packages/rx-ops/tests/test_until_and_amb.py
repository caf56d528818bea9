"""Streams that another one ends, starts, wins against or replaces: take_until, skip_until, amb, first_with_value,
switch_if_empty."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

import pytest
from ops_parties import Busy

from rx_core import UNBOUNDED, CompositeException, hooks
from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")


Source = ManualPublisher[Any]


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Errors that reach the error hook."""
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    return errors


# -- take_until and skip_until -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signal", ["item", "end"])
def test_take_until_ends_with_the_first_signal_of_the_other(signal: str) -> None:
    source, other = Source(), Source()
    subscriber = TestSubscriber[Any](request=1)
    Flowable.wrap(source).take_until(other).subscribe(subscriber)
    assert (source.requested, other.requested) == (1, UNBOUNDED)
    source.next(1)
    other.next("x") if signal == "item" else other.complete()
    subscriber.assert_result(1)
    assert source.cancelled
    assert other.cancelled or signal == "end"


def test_an_error_of_the_other_ends_the_stream_at_once() -> None:
    for build in (Flowable.take_until, Flowable.skip_until):
        source, other = Source(), Source()
        subscriber = TestSubscriber[Any](request=0)
        build(Flowable.wrap(source), other).subscribe(subscriber)
        other.error(OOPS)
        subscriber.assert_failure(OOPS)
        assert source.cancelled


@pytest.mark.parametrize("mode", ["fused", "hidden", "off"])
def test_an_other_that_has_its_signal_already_lets_nothing_through(mode: str) -> None:
    given: list[int] = []
    other: Flowable[int] = Flowable.just(1)
    flow = Flowable.of(1, 2).do_on_next(given.append).take_until(other.hide() if mode == "hidden" else other)
    for request in (0, 1):
        subscriber = TestSubscriber[int](request=request)
        if mode == "off":
            with fusion_off():
                flow.subscribe(subscriber)
        else:
            flow.subscribe(subscriber)
        subscriber.assert_result()
    assert given == []


def test_the_end_of_the_source_lets_go_of_the_other() -> None:
    for build in (Flowable.take_until, Flowable.skip_until):
        source, other = Source(), Source()
        subscriber = TestSubscriber[Any]()
        build(Flowable.wrap(source), other).subscribe(subscriber)
        source.complete()
        subscriber.assert_result()
        assert other.cancelled


def test_both_are_cancelled_before_the_first_request_too() -> None:
    builds: list[Callable[[Any, Any], Flowable[Any]]] = [
        Flowable.take_until,
        Flowable.skip_until,
        Flowable.amb_with,
        Flowable.with_latest_from,
        Flowable.combine_latest,
        Flowable.merge_with,
    ]
    for build in builds:
        source, other = Source(), Source()
        subscriber = TestSubscriber[Any](request=0)
        build(Flowable.wrap(source), other).subscribe(subscriber)
        subscriber.cancel()
        assert source.cancelled, build
        assert other.cancelled, build


def test_a_busy_source_is_ended_from_another_thread() -> None:
    other: Source = ManualPublisher()
    endless = Busy()
    started = threading.Event()
    ended = threading.Event()
    flow = Flowable.from_iterable(endless).take_until(other)

    def work() -> None:
        flow.subscribe(lambda _item: started.set(), on_complete=ended.set)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(5)
    other.next(1)
    assert ended.wait(5)
    assert endless.closed.wait(5)
    thread.join(5)


@pytest.mark.parametrize("signal", ["item", "end"])
def test_skip_until_asks_again_for_what_it_leaves_out(signal: str) -> None:
    source, other = Source(), Source()
    subscriber = TestSubscriber[Any](request=2)
    Flowable.wrap(source).skip_until(other).subscribe(subscriber)
    source.next(1, 2, 3)
    assert source.requested == 5
    other.next("x") if signal == "item" else other.complete()
    source.next(4, 5)
    assert source.requested == 5
    subscriber.assert_values(4, 5)
    assert other.cancelled or signal == "end"


def test_nothing_is_taken_from_the_source_when_the_gate_opens_without_demand() -> None:
    given: list[int] = []
    other: Source = ManualPublisher()
    subscriber = TestSubscriber[int](request=0)
    Flowable.range(5).do_on_next(given.append).skip_until(other).subscribe(subscriber)
    other.next(1)
    assert given == []
    subscriber.request(1)
    subscriber.assert_values(0)


def test_a_source_whose_items_are_all_left_out_can_be_cancelled() -> None:
    subscriber = TestSubscriber[int]()
    endless = Busy()
    flow = Flowable.from_iterable(endless).skip_until(Flowable.never())
    thread = threading.Thread(target=lambda: flow.subscribe(subscriber), daemon=True)
    thread.start()
    assert endless.started.wait(5)
    subscriber.cancel()
    assert endless.closed.wait(5)
    thread.join(5)


def test_times_of_take_until_and_skip_until_are_exact() -> None:
    clock = VirtualScheduler()
    taken, skipped = TestSubscriber[int](), TestSubscriber[int]()
    ticks = Flowable.interval(1.0, scheduler=clock).take(4)
    ticks.take_until(Flowable.timer(2.5, scheduler=clock)).subscribe(taken)
    ticks.skip_until(Flowable.timer(2.5, scheduler=clock)).subscribe(skipped)
    clock.advance_to(2.499)
    taken.assert_values(0, 1).assert_not_terminated()
    clock.advance_to(2.5)
    taken.assert_result(0, 1)
    clock.advance_to(5)
    skipped.assert_result(2, 3)
    assert clock.pending == 0


# -- amb ---------------------------------------------------------------------------------------------------------------------


def test_the_first_to_signal_wins_and_gets_the_requests() -> None:
    first, second = Source(), Source()
    subscriber = TestSubscriber[Any](request=2)
    Flowable.amb(first, second).subscribe(subscriber)
    assert (first.requested, second.requested) == (2, 2)
    second.next("b")
    assert first.cancelled
    subscriber.request(3)
    assert (first.requested, second.requested) == (2, 5)
    second.next("c")
    second.complete()
    subscriber.assert_result("b", "c")


@pytest.mark.parametrize("error", [None, OOPS])
def test_an_end_wins_as_well_and_needs_no_demand(error: Exception | None) -> None:
    first, second = Source(), Source()
    subscriber = TestSubscriber[Any](request=0)
    Flowable.amb(first, second).subscribe(subscriber)
    second.complete() if error is None else second.error(error)
    assert first.cancelled
    assert (subscriber.completions, subscriber.errors) == ((1, []) if error is None else (0, [error]))


def test_of_synchronous_sources_the_first_wins() -> None:
    given: list[int] = []
    assert Flowable.amb(Flowable.of(1, 2), Flowable.of(3).do_on_next(given.append)).blocking_list() == [1, 2]
    assert Flowable.amb(Flowable.of(1, 2).hide(), Flowable.of(3).hide()).blocking_list() == [1, 2]
    assert Flowable.amb(Flowable.empty(), Flowable.of(3)).blocking_list() == []
    assert given == []


def test_a_late_error_of_a_loser_reaches_the_hook_once(lost: list[Exception]) -> None:
    first: Source = ManualPublisher(unchecked=True)
    second: Source = ManualPublisher()
    subscriber = TestSubscriber[Any]()
    Flowable.amb(first, second).subscribe(subscriber)
    second.next(1)
    first.error(OOPS)
    subscriber.assert_values(1).assert_not_terminated()
    assert lost == [OOPS]


def test_threads_that_race_have_one_winner() -> None:
    for _ in range(100):
        sources = [Source(), Source(), Source()]
        subscriber = TestSubscriber[Any]()
        Flowable.amb(*sources).subscribe(subscriber)
        barrier = threading.Barrier(3)

        def race(at: int, sources: list[Source] = sources, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            for _ in range(3):
                sources[at].next(at)
            sources[at].complete()

        threads = [threading.Thread(target=race, args=(at,)) for at in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
        winner = subscriber.values[0]
        subscriber.assert_result(winner, winner, winner)
        assert not sources[winner].cancelled
        assert [source.subscribers for source in sources] == [0, 0, 0]  # a loser may have ended before it could be cancelled


# -- first_with_value --------------------------------------------------------------------------------------------------------


def test_a_source_without_an_item_is_passed_over_and_the_first_item_wins(lost: list[Exception]) -> None:
    failing, empty, winner, loser = Source(), Source(), Source(), Source()
    subscriber = TestSubscriber[Any](request=2)
    Flowable.first_with_value(failing, empty, winner, loser).subscribe(subscriber)
    failing.error(OOPS)
    empty.complete()
    assert [winner.requested, loser.requested] == [2, 2]
    winner.next(1)
    assert (winner.cancelled, loser.cancelled) == (False, True)
    subscriber.request(3)
    assert [winner.requested, loser.requested] == [5, 2]
    winner.next(2)
    winner.complete()
    subscriber.assert_result(1, 2)
    assert lost == []  # the error of a source that was passed over is dealt with


def test_an_error_behind_the_first_item_ends_it_whatever_the_others_would_give(lost: list[Exception]) -> None:
    first = Source()
    second: Source = ManualPublisher(unchecked=True)
    subscriber = TestSubscriber[Any]()
    Flowable.first_with_value(first, second).subscribe(subscriber)
    first.next(1)
    first.error(OOPS)
    subscriber.assert_values(1)
    assert subscriber.error is OOPS
    late = ValueError("late")
    second.error(late)
    assert lost == [late]


def test_when_no_source_is_left_their_errors_come_together_in_the_order_in_which_they_came() -> None:
    sources = [Source(), Source(), Source()]
    second = KeyError("second")
    subscriber = TestSubscriber[Any](request=0)
    Flowable.first_with_value(*sources).subscribe(subscriber)
    sources[2].error(OOPS)
    sources[1].complete()
    subscriber.assert_not_terminated()
    sources[0].error(second)
    assert isinstance(subscriber.error, CompositeException)
    assert subscriber.error.exceptions == (OOPS, second)


def test_the_only_error_is_itself_and_without_one_it_completes() -> None:
    with pytest.raises(ValueError, match="oops"):
        Flowable.first_with_value(Flowable.empty(), Flowable.error(OOPS)).blocking_list()
    assert Flowable.first_with_value(Flowable.empty(), Flowable.empty()).blocking_list() == []
    assert Flowable.first_with_value().blocking_list() == []
    assert Maybe.first_with_value(Maybe.empty(), Maybe.empty()).blocking_get() is None


def test_a_source_behind_the_winner_is_not_subscribed() -> None:
    subscribed: list[int] = []
    flows = [Flowable.error(OOPS), Flowable.of(1, 2), Flowable.of(3)]
    flows = [flow.do_on_subscribe(lambda _up, at=at: subscribed.append(at)) for at, flow in enumerate(flows)]  # type: ignore[misc]  # mypy does not see the default of a lambda
    assert Flowable.first_with_value(*flows).blocking_list() == [1, 2]
    assert subscribed in ([0, 1], [0, 1, 2])


def test_of_all_types_the_first_with_an_item_wins() -> None:
    assert Observable.first_with_value(Observable.empty(), Observable.of(1, 2)).blocking_list() == [1, 2]
    assert Single.first_with_value(Single.error(OOPS), Single.never(), Single.just(1)).blocking_get() == 1
    assert Maybe.first_with_value(Maybe.empty(), Maybe.error(OOPS), Maybe.just(1)).blocking_get() == 1
    with pytest.raises(CompositeException):
        Single.first_with_value(Single.error(OOPS), Single.error(KeyError("b"))).blocking_get()


def test_a_cancel_reaches_those_that_are_still_in_the_race() -> None:
    sources = [Source(), Source()]
    subscriber = TestSubscriber[Any]()
    Flowable.first_with_value(*sources).subscribe(subscriber)
    sources[0].complete()
    subscriber.cancel()
    assert sources[1].cancelled


@pytest.mark.stress
def test_threads_that_give_up_and_one_that_does_not_have_one_outcome() -> None:
    for _ in range(200):
        sources = [Source(), Source(), Source()]
        subscriber = TestSubscriber[Any]()
        Flowable.first_with_value(*sources).subscribe(subscriber)
        barrier = threading.Barrier(3)

        def race(at: int, sources: list[Source] = sources, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            if at == 0:
                sources[at].error(OOPS)
            elif at == 1:
                sources[at].complete()
            else:
                sources[at].next(at)
                sources[at].complete()

        threads = [threading.Thread(target=race, args=(at,)) for at in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
        subscriber.assert_result(2)


# -- empty streams -----------------------------------------------------------------------------------------------------------


def test_the_replacement_gets_the_demand() -> None:
    source, other = Source(), Source()
    subscriber = TestSubscriber[Any](request=3)
    Flowable.wrap(source).switch_if_empty(other).subscribe(subscriber)
    assert not other.subscriptions
    source.complete()
    assert other.requested == 3
    other.next(1, 2)
    other.complete()
    subscriber.assert_result(1, 2)


def test_one_item_is_enough_to_need_no_replacement() -> None:
    source, other = Source(), Source()
    subscriber = TestSubscriber[Any]()
    Flowable.wrap(source).switch_if_empty(other).subscribe(subscriber)
    source.next(1)
    source.complete()
    subscriber.assert_result(1)
    assert not other.subscriptions


def test_the_default_waits_until_it_is_wanted() -> None:
    source: Source = ManualPublisher()
    subscriber = TestSubscriber[Any](request=0)
    Flowable.wrap(source).default_if_empty(7).subscribe(subscriber)
    source.complete()
    subscriber.assert_empty()
    subscriber.request(1)
    subscriber.assert_result(7)


@pytest.mark.parametrize(
    "name", ["take_until", "skip_until", "amb_with", "switch_if_empty", "amb", "first_with_value", "with_latest_from"]
)
def test_what_is_no_source_is_refused_at_assembly(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name.removesuffix('_with')}.*expected a source"):
        getattr(Flowable.just(1), name)(5)


# -- the other types ---------------------------------------------------------------------------------------------------------


def test_observables_switch_and_race() -> None:
    assert Observable.of(1, 2).switch_map(lambda x: Observable.of(x, -x)).blocking_list() == [1, -1, 2, -2]
    assert Observable.amb(Observable.never(), Observable.of(1)).blocking_list() == [1]
    assert Observable.of(1, 2).take_until(Observable.never()).blocking_list() == [1, 2]
    assert Observable.empty().default_if_empty(1).blocking_list() == [1]


def test_singles_race_and_are_cancelled() -> None:
    assert Single.amb(Single.never(), Single.just(1)).blocking_get() == 1
    assert Single.never().amb_with(Single.just(1)).blocking_get() == 1
    assert Single.just(1).take_until(Flowable.never()).blocking_get() == 1
    with pytest.raises(CancelledError):
        Single.never().take_until(Flowable.just(1)).blocking_get()
    with pytest.raises(CancelledError):
        Single.never().take_until(Completable.complete()).blocking_get()


def test_maybes_race_end_and_are_replaced() -> None:
    assert Maybe.amb(Maybe.never(), Maybe.empty()).blocking_get() is None
    assert Maybe.never().take_until(Single.just(1)).blocking_get() is None
    assert Maybe.empty().switch_if_empty(Maybe.just(2)).blocking_get() == 2
    assert Maybe.just(1).switch_if_empty(Single.just(2)).blocking_get() == 1
    assert Maybe.amb().blocking_get() is None


def test_completables_race_by_their_ends_alone() -> None:
    gives_items = Flowable.of(1, 2).concat_with(Flowable.never()).ignore_elements()
    Completable.amb(gives_items, Completable.complete()).blocking_await(seconds=5)
    gives_items.amb_with(Completable.complete()).blocking_await(seconds=5)
    gives_items.take_until(Flowable.just(1)).blocking_await(seconds=5)
