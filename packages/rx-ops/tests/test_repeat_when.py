"""Subscribing again when another stream says so, or after a pause that grows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_fusion import fusion_off
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")


def _failing_times(failures: int, make: Callable[[], Exception]) -> Flowable[int]:
    left = iter(range(failures))

    def call() -> int:
        if next(left, None) is not None:
            raise make()
        return 7

    return Flowable.from_callable(call)


# -- repeat_when and retry_when ----------------------------------------------------------------------------------------------


def test_completions_are_told_by_number_and_one_answer_is_asked_for_each() -> None:
    told: list[int] = []
    answers = ManualPublisher[str]()
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int]()

    def handler(ends: Flowable[int]) -> Any:
        ends.subscribe(told.append)
        return answers

    Flowable.wrap(source).repeat_when(handler).subscribe(subscriber)
    assert answers.requested == 0
    source.next(1)
    source.complete()
    assert (told, answers.requested, len(source.subscriptions)) == ([1], 1, 1)
    answers.next("go on")
    assert (answers.requested, len(source.subscriptions)) == (1, 2)
    source.complete()
    assert (told, answers.requested) == ([1, 2], 2)
    answers.complete()
    subscriber.assert_result(1)


@pytest.mark.parametrize(("requests", "rounds"), [([], 2), ([1] * 20, 2), ([2] * 10, 2), ([3] * 10, 2), ([100], 3)])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: Flowable.of(1, 2, 3),
        lambda: Flowable.from_iterable([1, 2, 3]).map(lambda item: item),
        lambda: Flowable.range(1, 4),
        lambda: Flowable.of(1, 2, 3).hide(),
    ],
    ids=["of", "mapped", "range", "hidden"],
)
def test_a_last_answer_counts_when_no_subscribe_of_a_round_is_on_the_stack(
    make: Callable[[], Flowable[int]], fused: bool, requests: list[int], rounds: int
) -> None:
    """As in RxJava, where the last answer comes together with the end of the answers: the round that it starts has no demand, or
    it is given inside of the subscribe of the round before and comes too late; a round that is run inside of a request is given.
    """
    subscriber = TestSubscriber[int](request=0) if requests else TestSubscriber[int]()
    with nullcontext() if fused else fusion_off():
        make().repeat_when(lambda ends: ends.take(2)).subscribe(subscriber)
    for count in requests:
        subscriber.request(count)
    subscriber.assert_result(*[1, 2, 3] * rounds)


@pytest.mark.parametrize("error", [None, OOPS])
def test_the_end_of_the_answers_ends_a_running_source(error: Exception | None) -> None:
    answers, source = ManualPublisher[str](), ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=0)
    Flowable.wrap(source).repeat_when(lambda _ends: answers).subscribe(subscriber)
    answers.complete() if error is None else answers.error(error)
    assert source.cancelled
    assert (subscriber.completions, subscriber.errors) == ((1, []) if error is None else (0, [error]))


@pytest.mark.parametrize("mode", ["fused", "hidden", "off"])
def test_an_end_that_comes_with_an_answer_counts_before_it(mode: str) -> None:
    def handler(ends: Flowable[int]) -> Flowable[int]:
        return ends.take(2).hide() if mode == "hidden" else ends.take(2)

    def listed() -> list[int]:
        return subscribed.repeat_when(handler).blocking_list()

    rounds: list[int] = []

    def make() -> Flowable[int]:
        rounds.append(1)
        return Flowable.of(1, 2)

    subscribed = Flowable.defer(make)
    if mode == "off":
        with fusion_off():
            assert listed() == [1, 2, 1, 2]
    else:
        assert listed() == [1, 2, 1, 2]
    assert len(rounds) == 2


def test_answers_may_come_later_and_on_another_worker() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int]()
    Flowable.of(1).repeat_when(lambda ends: ends.delay(2.0, scheduler=clock).take(1)).subscribe(subscriber)
    subscriber.assert_values(1)
    clock.advance_by(1.999)
    subscriber.assert_values(1)
    clock.advance_by(0.001)
    subscriber.assert_result(1, 1)


def test_retry_when_gets_the_errors_and_may_give_up_with_one() -> None:
    errors: list[Exception] = []

    def handler(failures: Flowable[Exception]) -> Flowable[int]:
        counted = Flowable.zip(failures.do_on_next(errors.append), Flowable.range(1, 4))
        return counted.flat_map(lambda pair: Flowable.just(1) if pair[1] < 3 else Flowable.error(pair[0]))

    subscriber = TestSubscriber[int]()
    Flowable.of(1).concat_with(Flowable.error(OOPS)).retry_when(handler).subscribe(subscriber)
    subscriber.assert_failure(OOPS, 1, 1, 1)
    assert errors == [OOPS, OOPS, OOPS]


def test_cancelling_lets_go_of_the_answers_too() -> None:
    answers, source = ManualPublisher[str](), ManualPublisher[int]()
    for request in (0, 1):
        subscriber = TestSubscriber[int](request=request)
        Flowable.wrap(source).repeat_when(lambda _ends: answers).subscribe(subscriber)
        subscriber.cancel()
        assert source.cancelled
        assert answers.cancelled


def test_a_second_subscriber_of_the_errors_is_refused() -> None:
    second: TestSubscriber[Exception] = TestSubscriber()

    def handler(errors: Flowable[Exception]) -> Flowable[Exception]:
        errors.subscribe(lambda _error: None)
        errors.subscribe(second)
        return errors

    Flowable.error(OOPS).retry_when(handler).subscribe(TestSubscriber[int]())
    second.assert_error(RuntimeError, match="one subscriber")


def test_a_handler_that_makes_no_stream_is_told_what_to_return() -> None:
    flow: Flowable[int] = Flowable.just(1)
    with pytest.raises(TypeError, match=r"retry_when\(\) expected a function returning a stream"):
        flow.retry_when(lambda _errors: 5).blocking_list()  # type: ignore[arg-type,return-value]  # the mistake


# -- retry_backoff -----------------------------------------------------------------------------------------------------------


def test_pauses_grow_up_to_the_longest() -> None:
    clock = VirtualScheduler()
    started: list[float] = []

    def make() -> Flowable[int]:
        started.append(clock.now())
        return Flowable.error(OOPS)

    subscriber = TestSubscriber[int](request=0)
    Flowable.defer(make).retry_backoff(5, 0.1, factor=3, longest=1.0, jitter=0, scheduler=clock).subscribe(subscriber)
    clock.run_until_idle()
    assert started == pytest.approx([0, 0.1, 0.4, 1.3, 2.3, 3.3])
    subscriber.assert_failure(OOPS)


def test_jitter_spreads_pauses_and_none_is_longer_than_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float]] = []

    def highest(low: float, high: float) -> float:
        asked.append((low, high))
        return high

    monkeypatch.setattr("random.uniform", highest)
    clock = VirtualScheduler()
    Flowable.error(OOPS).retry_backoff(3, 1.0, longest=3.0, jitter=0.5, scheduler=clock).subscribe(TestSubscriber[int]())
    clock.run_until_idle()
    assert asked == [(0.5, 1.5), (1.0, 3.0), (1.5, 4.5)]
    assert clock.now() == 1.5 + 3.0 + 3.0


def test_backoff_gives_up_where_the_predicate_says_so() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int]()
    flow = _failing_times(9, lambda: OOPS)
    flow.retry_backoff(None, 1.0, when=lambda _error: clock.now() < 2, jitter=0, scheduler=clock).subscribe(subscriber)
    clock.run_until_idle()
    subscriber.assert_failure(OOPS)
    assert clock.now() == 3.0


def test_cancelled_in_a_pause_nothing_is_left_on_the_clock() -> None:
    clock = VirtualScheduler()
    subscriber = TestSubscriber[int]()
    Flowable.error(OOPS).retry_backoff(None, 1.0, scheduler=clock).subscribe(subscriber)
    subscriber.cancel()
    assert clock.pending == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"first": -1.0},
        {"first": "1"},
        {"first": float("inf")},
        {"times": -1},
        {"factor": 0.5},
        {"jitter": 2},
        {"longest": 0.5},
        {"when": 5},
    ],
    ids=repr,
)
def test_a_wrong_schedule_is_refused_at_assembly(wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"times": 3, "first": 1.0, **wrong}
    with pytest.raises((TypeError, ValueError), match="retry_backoff"):
        Flowable.never().retry_backoff(given.pop("times"), given.pop("first"), **given)
