"""delay_subscription, timestamp and time_interval at exact instants, and what all operators with a clock have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import Stage

from rx_core import Publisher
from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Maybe, Observable, Single, Timed
from rx_testing import ManualPublisher, TestMaybeObserver, TestObserver, TestSubscriber, VirtualScheduler

Source = ManualPublisher[Any]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


# -- sums of floats ----------------------------------------------------------------------------------------------------


def test_an_item_is_delayed_to_an_instant_that_floats_miss(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.delay(0.2, scheduler=clock)).play({0.1: 1, 0.3: None})  # 0.1 + 0.2 > 0.3
    assert made.came == [(0.3, 1)]


def test_a_timeout_falls_on_an_instant_that_floats_miss(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.timeout(0.2, scheduler=clock)).play({0.1: 1, 0.3: None})
    made.got.assert_failure(TimeoutError, 1)


def test_throttle_first_opens_at_an_instant_that_floats_miss(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.throttle_first(0.2, scheduler=clock)).play({0.1: 1, 0.299: 2, 0.3: 3})
    assert made.came == [(0.1, 1), (0.3, 3)]


# -- delay_subscription ------------------------------------------------------------------------------------------------


def test_delay_subscription_subscribes_later_whether_or_not_something_is_wanted(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.delay_subscription(2.0, scheduler=clock), request=0)
    clock.advance_to(1.999)
    assert not made.source.subscriptions
    clock.advance_to(2.0)
    assert len(made.source.subscriptions) == 1
    assert made.source.requested == 0
    made.got.request(2)
    assert made.source.requested == 2
    made.play({3.0: 1, 4.0: "|"})
    made.got.assert_result(1)


@pytest.mark.parametrize("signal", ["next", "complete"])
def test_delay_subscription_waits_for_another_source(signal: str, clock: VirtualScheduler) -> None:
    other: Source = ManualPublisher()
    made = Stage(clock, lambda s: s.delay_subscription(until=other), request=0)
    assert other.requested == 2**63 - 1
    assert not made.source.subscriptions
    other.next(1) if signal == "next" else other.complete()
    assert len(made.source.subscriptions) == 1
    assert other.cancelled == (signal == "next")


def test_an_error_of_the_other_source_is_the_end_and_nothing_is_subscribed(clock: VirtualScheduler) -> None:
    error = OSError()
    made = Stage(clock, lambda s: s.delay_subscription(until=Flowable.error(error)), request=0)
    made.got.assert_failure(error)
    assert not made.source.subscriptions


def test_a_subscription_that_is_cancelled_before_its_time_is_not_made(clock: VirtualScheduler) -> None:
    other: Source = ManualPublisher()
    for build in (lambda s: s.delay_subscription(2.0, scheduler=clock), lambda s: s.delay_subscription(until=other)):
        made = Stage(clock, build)
        made.got.cancel()
        clock.run_until_idle()
        assert not made.source.subscriptions
    assert other.cancelled


@pytest.mark.parametrize("kind", [Single, Maybe, Completable])
def test_delay_subscription_of_at_most_one_item(kind: Any, clock: VirtualScheduler) -> None:
    calls: list[float] = []

    def call() -> int:
        calls.append(clock.now())
        return 5

    one = kind.from_action(call) if kind is Completable else kind.from_callable(call)
    for late in (
        one.delay_subscription(2.0, scheduler=clock),
        one.delay_subscription(until=Flowable.timer(2.0, scheduler=clock)),
    ):
        start = clock.now()
        got: TestMaybeObserver[Any] = TestMaybeObserver()
        late.subscribe(got)
        clock.run_until_idle()
        assert calls.pop() == start + 2.0
        got.assert_complete()


# -- timestamp and time_interval ---------------------------------------------------------------------------------------


def test_timestamp_says_when_an_item_came(clock: VirtualScheduler) -> None:
    made = Stage(clock, lambda s: s.timestamp(scheduler=clock)).play({1.0: "a", 5.0: "b", 6.0: "|"})
    made.got.assert_result(Timed("a", 1.0), Timed("b", 5.0))


def test_time_interval_counts_from_the_subscription_and_then_from_item_to_item(clock: VirtualScheduler) -> None:
    clock.advance_to(10.0)
    made = Stage(clock, lambda s: s.time_interval(scheduler=clock)).play({11.0: "a", 15.5: "b", 16.0: "|"})
    made.got.assert_result(Timed("a", 1.0), Timed("b", 4.5))


def test_the_clock_of_timestamp_is_the_one_installed_when_the_run_starts(clock: VirtualScheduler) -> None:
    stamped = Flowable.of(1).timestamp()
    clock.advance_to(7.0)
    with clock.installed():
        assert stamped.blocking_list() == [Timed(1, 7.0)]


@pytest.mark.parametrize("kind", [Single, Maybe])
def test_timestamp_and_time_interval_of_at_most_one_item(kind: Any, clock: VirtualScheduler) -> None:
    for name, expected in (("timestamp", 2.0), ("time_interval", 2.0)):
        clock = VirtualScheduler()
        one = kind.just("a").delay_subscription(2.0, scheduler=clock)
        got: TestMaybeObserver[Any] = TestMaybeObserver()
        getattr(one, name)(scheduler=clock).subscribe(got)
        clock.run_until_idle()
        got.assert_result(Timed("a", expected))


# -- all of them -------------------------------------------------------------------------------------------------------


TIMED: dict[str, Callable[[Any, VirtualScheduler | None], Any]] = {
    "delay": lambda s, c: s.delay(0.001, scheduler=c),
    "timeout": lambda s, c: s.timeout(5.0, scheduler=c),
    "interval": lambda s, c: type(s).interval(0.001, scheduler=c).take(3),
    "timer": lambda s, c: type(s).timer(0.001, scheduler=c),
    "debounce": lambda s, c: s.debounce(0.001, scheduler=c),
    "sample": lambda s, c: s.sample(0.001, scheduler=c),
    "throttle_first": lambda s, c: s.throttle_first(0.001, scheduler=c),
    "throttle_latest": lambda s, c: s.throttle_latest(0.001, scheduler=c),
    "buffer": lambda s, c: s.buffer(seconds=0.001, scheduler=c),
    "window": lambda s, c: s.window(seconds=0.001, scheduler=c).flat_map(lambda window: window),
    "delay_subscription": lambda s, c: s.delay_subscription(0.001, scheduler=c),
    "timestamp": lambda s, c: s.timestamp(scheduler=c),
    "time_interval": lambda s, c: s.time_interval(scheduler=c),
}


@pytest.mark.parametrize("name", TIMED)
def test_a_cancelled_operator_leaves_nothing_on_the_clock(name: str, clock: VirtualScheduler) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    TIMED[name](Flowable.wrap(ManualPublisher[Any]()), clock).subscribe(got)
    got.cancel()
    clock.run_due()  # delay runs on its worker
    assert clock.pending == 0


@pytest.mark.parametrize("name", TIMED)
def test_an_operator_that_is_over_leaves_nothing_on_the_clock_while_the_run_goes_on(name: str, clock: VirtualScheduler) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.concat(TIMED[name](Flowable.of(1, 2), clock), Flowable.never()).subscribe(got)
    clock.advance_by(0.1)
    assert got.values or name == "sample"
    assert clock.pending == 0


@pytest.mark.parametrize("name", TIMED)
def test_the_default_scheduler_is_looked_up_when_a_run_starts(name: str, clock: VirtualScheduler) -> None:
    made = TIMED[name](Flowable.of(1, 2), None)
    got: TestSubscriber[Any] = TestSubscriber()
    with clock.installed():
        made.subscribe(got)
        clock.run_until_idle()
    got.assert_complete()


@pytest.mark.parametrize("name", TIMED)
def test_without_fusion_they_ask_their_source_as_well(name: str, clock: VirtualScheduler) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    with fusion_off():
        TIMED[name](Flowable.of(1, 2), clock).subscribe(got)
        clock.run_until_idle()
    got.assert_complete()


@pytest.mark.parametrize("name", TIMED)
def test_observables_have_them_too(name: str, clock: VirtualScheduler) -> None:
    flowing: TestSubscriber[Any] = TestSubscriber()
    TIMED[name](Flowable.of(1, 2, 3), clock).subscribe(flowing)
    clock.run_until_idle()
    clock = VirtualScheduler()
    observed: TestObserver[Any] = TestObserver()
    TIMED[name](Observable.of(1, 2, 3), clock).subscribe(observed)
    clock.run_until_idle()
    observed.assert_result(*flowing.values)


def test_what_an_observable_s_operator_drops_is_told_as_well(clock: VirtualScheduler) -> None:
    dropped: list[int] = []
    got: TestObserver[Any] = TestObserver()
    Observable.of(1, 2, 3).debounce(1.0, scheduler=clock, on_drop=dropped.append).subscribe(got)
    got.assert_result(3)
    assert dropped == [1, 2]


REFUSED: dict[str, Callable[[Any], object]] = {
    "debounce(-1)": lambda s: s.debounce(-1),
    "debounce('1')": lambda s: s.debounce("1"),
    "debounce()": lambda s: s.debounce(),
    "debounce both": lambda s: s.debounce(1.0, selector=Flowable.just),
    "debounce selector": lambda s: s.debounce(selector=Flowable.of(1)),
    "debounce on_drop": lambda s: s.debounce(1.0, on_drop=1),
    "sample(0)": lambda s: s.sample(0),
    "sample()": lambda s: s.sample(),
    "sample both": lambda s: s.sample(1.0, sampler=Flowable.of(1)),
    "sample sampler": lambda s: s.sample(sampler=[1]),
    "throttle_first(nan)": lambda s: s.throttle_first(float("nan")),
    "throttle_latest(0)": lambda s: s.throttle_latest(0),
    "delay_subscription()": lambda s: s.delay_subscription(),
    "delay_subscription both": lambda s: s.delay_subscription(1.0, until=Flowable.of(1)),
    "delay_subscription until": lambda s: s.delay_subscription(until=5),
}


@pytest.mark.parametrize("call", REFUSED)
def test_bad_arguments_are_refused_when_the_pipeline_is_built(call: str) -> None:
    for flow in (Flowable.of(1), Observable.of(1)):
        with pytest.raises((TypeError, ValueError), match=call.split("(")[0].split()[0]):
            REFUSED[call](flow)


def test_sources_of_any_kind_may_be_a_sampler(clock: VirtualScheduler) -> None:
    samplers: list[Publisher[Any]] = [ManualPublisher(), Flowable.never(), Flowable.interval(0.5, scheduler=clock)]
    for sampler in samplers:
        made = Stage(clock, lambda s, sampler=sampler: s.sample(sampler=sampler, emit_last=True))  # type: ignore[misc]  # bound now
        made.source.next(1)
        made.source.complete()
        made.got.assert_result(1)
