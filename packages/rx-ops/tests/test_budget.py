"""retry and retry_backoff with a RetryBudget."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rx_ops import Completable, Flowable, Maybe, Observable, RetryBudget, Single
from rx_testing import TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")
#: For arguments that a type checker refuses.
ANY: Any = RetryBudget


def failing(clock: VirtualScheduler, budget: RetryBudget, calls: list[float]) -> TestSubscriber[int]:
    def call() -> Flowable[int]:
        calls.append(clock.now())
        return Flowable.error(OOPS)

    subscriber = TestSubscriber[int]()
    flow = Flowable.defer(call).retry_backoff(3, 0.1, factor=1, jitter=0, budget=budget, scheduler=clock)
    flow.subscribe(subscriber)
    return subscriber


def test_all_that_share_it_try_again_no_more_than_their_share() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0.2, per_second=0, scheduler=clock)
    calls: list[float] = []
    subscribers = [failing(clock, budget, calls) for _ in range(50)]
    clock.advance_by(5.0)
    assert len(calls) == 60  # without a budget 200
    assert all(subscriber.error is OOPS for subscriber in subscribers)


def test_the_error_says_that_the_budget_is_used_up_once() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0, per_second=0, scheduler=clock)
    error = ValueError("mine")
    for _ in range(2):
        Flowable.error(error).retry_backoff(3, 0.1, budget=budget, scheduler=clock).subscribe(TestSubscriber[int]())
    (note,) = [note for note in error.__notes__ if "RetryBudget" in note]
    assert note == "retry_backoff(): not tried again, nothing is left of RetryBudget(0, per_second=0, seconds=10.0)"


def test_a_client_that_calls_seldom_may_try_again() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0, per_second=0.2, seconds=10.0, scheduler=clock)
    calls: list[float] = []
    failing(clock, budget, calls)
    clock.advance_by(5.0)
    assert calls == pytest.approx([0, 0.1, 0.2])


def test_what_was_begun_and_withdrawn_is_forgotten_after_the_window() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0.5, per_second=0, seconds=10.0, scheduler=clock)
    for _ in range(4):
        budget.deposit()
    assert budget.balance == 2
    clock.advance_by(5.0)
    assert budget.withdraw()
    assert budget.balance == 1
    clock.advance_by(5.0)
    assert budget.balance == 0
    assert not budget.withdraw()
    for _ in range(4):
        budget.deposit()
    assert budget.balance == 1  # the retry of five seconds ago still counts
    clock.advance_by(5.0)
    assert budget.balance == 2


def test_a_tenth_of_ten_is_one() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0.1, per_second=0, scheduler=clock)
    for _ in range(10):
        budget.deposit()
    assert [budget.withdraw(), budget.withdraw()] == [True, False]


def test_a_subscription_that_needs_no_retry_pays_in() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0.5, per_second=0, scheduler=clock)
    for _ in range(4):
        assert Flowable.of(1).retry_backoff(3, 0.1, budget=budget, scheduler=clock).blocking_list() == [1]
    assert budget.balance == 2


def test_what_is_not_tried_again_anyway_takes_nothing_out() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0, per_second=1, scheduler=clock)
    Flowable.error(OOPS).retry_backoff(0, 0.1, budget=budget, scheduler=clock).subscribe(TestSubscriber[int]())
    flow = Flowable.error(OOPS).retry_backoff(3, 0.1, when=lambda _error: False, budget=budget, scheduler=clock)
    flow.subscribe(TestSubscriber[int]())
    assert budget.balance == 10


def test_without_pauses_a_budget_bounds_what_is_tried_again_for_ever() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0.2, per_second=0, scheduler=clock)
    calls: list[int] = []

    def call() -> Flowable[int]:
        calls.append(1)
        return Flowable.error(OOPS)

    for _ in range(50):
        subscriber = TestSubscriber[int]()
        Flowable.defer(call).retry(budget=budget).subscribe(subscriber)
        assert subscriber.error is OOPS
    assert len(calls) == 60


def test_retry_asks_when_and_times_before_it_spends_anything() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0, per_second=1, scheduler=clock)
    error = ValueError("mine")
    failing: Flowable[int] = Flowable.error(error)
    failing.retry(0, budget=budget).subscribe(TestSubscriber[int]())
    failing.retry(when=lambda _error: False, budget=budget).subscribe(TestSubscriber[int]())
    assert budget.balance == 10
    assert not hasattr(error, "__notes__")
    failing.retry(3, budget=budget).subscribe(TestSubscriber[int]())
    assert budget.balance == 7
    failing.retry(budget=budget).subscribe(TestSubscriber[int]())
    (note,) = [note for note in error.__notes__ if "RetryBudget" in note]
    assert note == "retry(): not tried again, nothing is left of RetryBudget(0, per_second=1, seconds=10.0)"


def test_an_attempt_that_succeeds_pays_in_once_and_goes_on_with_what_is_left_of_demand() -> None:
    clock = VirtualScheduler()
    budget = RetryBudget(0, per_second=0.1, scheduler=clock)
    left = [OOPS]

    def call() -> Flowable[int]:
        return Flowable.of(1, 2).concat_with(Flowable.error(left.pop()) if left else Flowable.empty())

    subscriber = TestSubscriber[int](request=3)
    Flowable.defer(call).retry(budget=budget).subscribe(subscriber)
    assert subscriber.values == [1, 2, 1]
    subscriber.request(1)
    subscriber.assert_result(1, 2, 1, 2)
    assert budget.balance == 0


@pytest.mark.parametrize("face", [Single, Maybe, Completable, Observable])
def test_retry_of_the_other_types_has_a_budget(face: Any) -> None:
    budget = RetryBudget(0, per_second=0.3, scheduler=VirtualScheduler())
    calls: list[int] = []

    def call() -> Any:
        calls.append(1)
        return face.error(OOPS)

    errors: list[Exception] = []
    face.defer(call).retry(budget=budget).subscribe(on_error=errors.append)
    assert (len(calls), errors) == (4, [OOPS])


@pytest.mark.parametrize("face", [Single, Maybe, Completable, Observable])
def test_the_other_types_have_budget_and_jitter(face: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda _low, high: high)
    clock = VirtualScheduler()
    budget = RetryBudget(0, per_second=0.2, scheduler=clock)
    calls: list[float] = []

    def call() -> Any:
        calls.append(clock.now())
        return face.error(OOPS)

    errors: list[Exception] = []
    flow = face.defer(call).retry_backoff(5, 1.0, jitter=0.5, budget=budget, scheduler=clock)
    flow.subscribe(on_error=errors.append)
    clock.advance_by(60.0)
    assert calls == [0.0, 1.5, 4.5]
    assert errors == [OOPS]


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": -1},
        {"share": "1"},
        {"share": float("nan")},
        {"per_second": -1},
        {"per_second": True},
        {"seconds": 0},
        {"seconds": float("inf")},
    ],
    ids=repr,
)
def test_a_wrong_budget_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="RetryBudget"):
        ANY(**wrong)


@pytest.mark.parametrize("face", [Flowable, Observable, Single, Maybe, Completable])
def test_what_is_no_budget_is_refused_at_assembly(face: Any) -> None:
    with pytest.raises(TypeError, match=r"Right:  \.retry_backoff\(3, 0\.5, budget=RetryBudget\(0\.2\)\)"):
        face.never().retry_backoff(3, 0.5, budget=0.2)
    with pytest.raises(TypeError, match=r"Right:  \.retry\(3, budget=RetryBudget\(0\.2\)\)"):
        face.never().retry(3, budget=0.2)


@pytest.mark.stress
def test_many_threads_withdraw_no_more_than_there_is() -> None:
    clock = VirtualScheduler()
    for _ in range(20):
        budget = RetryBudget(0.5, per_second=0, scheduler=clock)
        start = threading.Barrier(4)
        taken: list[int] = []

        def work(budget: RetryBudget = budget, start: threading.Barrier = start, taken: list[int] = taken) -> None:
            start.wait(10)
            for _ in range(50):
                budget.deposit()
            taken.append(sum(budget.withdraw() for _ in range(50)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        while budget.withdraw():
            taken.append(1)
        assert sum(taken) == 100
