"""cache_ttl: a result for all until it is stale."""

from __future__ import annotations

import threading
from math import inf
from typing import Any

import pytest

from rx_core import UNBOUNDED, CompositeException
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")
#: For arguments that a type checker refuses.
ANY: Any = Flowable


class Source:
    """Takes two seconds for its result, which is how often it has run."""

    def __init__(self, *, fails: bool = False) -> None:
        self.clock = VirtualScheduler()
        self.runs = 0
        self.fails = fails

    def run(self) -> Single[int]:
        self.runs += 1
        number = self.runs
        if self.fails:
            return Single.timer(2.0, scheduler=self.clock).flat_map(lambda _tick: Single.error(OOPS))
        return Single.timer(2.0, scheduler=self.clock).map(lambda _tick: number)

    def cached(self, seconds: float = 10.0, *, errors: bool = False) -> Single[int]:
        return Single.defer(self.run).cache_ttl(seconds, errors=errors, scheduler=self.clock)


def asked(cached: Single[int]) -> list[Any]:
    answers: list[Any] = []
    cached.subscribe(answers.append, on_error=answers.append)
    return answers


def test_all_who_come_while_it_runs_share_the_run() -> None:
    source = Source()
    cached = source.cached()
    first = asked(cached)
    source.clock.advance_by(1.0)
    second = asked(cached)
    source.clock.advance_by(1.0)
    assert (first, second, source.runs) == ([1], [1], 1)


def test_the_result_is_kept_for_seconds_from_when_it_came() -> None:
    source = Source()
    cached = source.cached()
    asked(cached)
    source.clock.advance_by(11.9)
    assert asked(cached) == [1]
    source.clock.advance_by(0.1)
    late = asked(cached)
    assert late == []
    source.clock.advance_by(2.0)
    assert late == [2]
    assert asked(cached) == [2]
    assert source.runs == 2


def test_sums_of_floats_do_not_keep_a_result_longer() -> None:
    clock = VirtualScheduler()
    runs: list[int] = []
    cached = Single.timer(1.042, scheduler=clock).do_on_subscribe(lambda _up: runs.append(1)).cache_ttl(1.214, scheduler=clock)
    cached.subscribe()
    clock.advance_to(2.256)  # less than 1.042 + 1.214 is as floats
    cached.subscribe()
    assert len(runs) == 2


def test_sums_of_floats_do_not_keep_an_item_longer() -> None:
    clock = VirtualScheduler()
    replayed = Flowable.timer(0.1, scheduler=clock).concat_with(Flowable.never()).replay(seconds=0.2, scheduler=clock)
    replayed.subscribe(TestSubscriber[int]())
    replayed.connect()
    clock.advance_to(0.3)  # 0.3 - 0.2 is less than 0.1 as floats
    got = TestSubscriber[int]()
    replayed.subscribe(got)
    got.assert_values()


def test_a_run_that_takes_longer_than_the_seconds_is_not_begun_twice() -> None:
    source = Source()
    cached = source.cached(0.5)
    first = asked(cached)
    source.clock.advance_by(1.0)
    second = asked(cached)
    source.clock.advance_by(1.0)
    assert (first, second, source.runs) == ([1], [1], 1)


def test_with_no_seconds_only_those_who_wait_together_share() -> None:
    source = Source()
    cached = source.cached(0)
    answers = [asked(cached), asked(cached)]
    source.clock.advance_by(2.0)
    answers.append(asked(cached))
    source.clock.advance_by(2.0)
    assert answers == [[1], [1], [2]]


def test_an_error_is_told_to_those_who_are_there_and_not_kept() -> None:
    source = Source(fails=True)
    cached = source.cached()
    answers = [asked(cached), asked(cached)]
    source.clock.advance_by(2.0)
    assert (answers, source.runs) == ([[OOPS], [OOPS]], 1)
    source.fails = False
    later = asked(cached)
    source.clock.advance_by(2.0)
    assert later == [2]


def test_an_error_is_kept_where_that_is_asked_for() -> None:
    source = Source(fails=True)
    cached = source.cached(errors=True)
    asked(cached)
    source.clock.advance_by(11.9)
    assert (asked(cached), source.runs) == ([OOPS], 1)
    source.clock.advance_by(0.1)
    asked(cached)
    assert source.runs == 2


def test_a_retry_behind_it_starts_the_source_again() -> None:
    source = Source(fails=True)
    cached = source.cached()
    answers = asked(cached.retry(2))
    source.clock.advance_by(6.0)
    assert (answers, source.runs) == ([OOPS], 3)


def test_leaving_does_not_stop_the_run() -> None:
    source = Source()
    cached = source.cached()
    cached.subscribe().dispose()
    source.clock.advance_by(2.0)
    assert (asked(cached), source.runs) == ([1], 1)


def test_nothing_waits_on_the_clock_for_a_result_to_be_stale() -> None:
    source = Source()
    asked(source.cached())
    source.clock.advance_by(2.0)
    assert source.clock.pending == 0


def test_a_stream_gives_each_subscriber_its_own_pace() -> None:
    clock = VirtualScheduler()
    source = ManualPublisher[int]()
    cached = Flowable.wrap(source).cache_ttl(10.0, scheduler=clock)
    slow, fast = TestSubscriber[int](request=1), TestSubscriber[int]()
    cached.subscribe(slow)
    cached.subscribe(fast)
    assert source.requested == UNBOUNDED
    source.next(1, 2)
    source.complete()
    fast.assert_values(1, 2).assert_complete()
    slow.assert_values(1)
    clock.advance_by(20.0)
    slow.request(5)  # what is stale for those who come is not taken from one who reads it
    slow.assert_values(1, 2).assert_complete()


def test_a_stream_starts_again_when_it_is_stale() -> None:
    clock = VirtualScheduler()
    runs: list[float] = []

    def run() -> Flowable[float]:
        runs.append(clock.now())
        return Flowable.of(clock.now())

    cached = Flowable.defer(run).cache_ttl(10.0, scheduler=clock)
    assert cached.blocking_list() == cached.blocking_list() == [0.0]
    clock.advance_by(10.0)
    assert cached.blocking_list() == [10.0]
    assert runs == [0.0, 10.0]


def test_the_other_types() -> None:
    clock = VirtualScheduler()
    runs: list[str] = []
    none: Maybe[object] = Maybe.from_callable(lambda: runs.append("maybe")).cache_ttl(10.0, scheduler=clock)
    assert none.blocking_get() is none.blocking_get() is None
    action = Completable.from_action(lambda: runs.append("completable")).cache_ttl(10.0, scheduler=clock)
    action.blocking_await()
    action.blocking_await()
    hot = Observable.defer(lambda: Observable.of(len(runs))).cache_ttl(10.0, scheduler=clock)
    assert hot.blocking_list() == [2]
    assert runs == ["maybe", "completable"]
    clock.advance_by(10.0)
    action.blocking_await()
    assert runs == ["maybe", "completable", "completable"]


def test_wrong_arguments_are_refused_at_assembly() -> None:
    for wrong in (-1.0, "1", None, float("nan")):
        with pytest.raises((TypeError, ValueError), match="cache_ttl"):
            ANY.of(1).cache_ttl(wrong)
    with pytest.raises(TypeError, match="cache_ttl"):
        ANY.of(1).cache_ttl(1.0, scheduler="io")


# -- seconds that hang on the result -------------------------------------------------------------------------------------------


class Answers:
    """Gives one after the other; an exception is raised, None is no item."""

    def __init__(self, *answers: Any) -> None:
        self.clock = VirtualScheduler()
        self.left = list(answers)

    def single(self) -> Single[Any]:
        def call() -> Single[Any]:
            answer = self.left.pop(0)
            return Single.error(answer) if isinstance(answer, Exception) else Single.just(answer)

        return Single.defer(call)

    def maybe(self) -> Maybe[Any]:
        def call() -> Maybe[Any]:
            answer = self.left.pop(0)
            return Maybe.empty() if answer is None else Maybe.just(answer)

        return Maybe.defer(call)

    def got(self, cached: Any) -> Any:
        try:
            return cached.blocking_get()
        except Exception as error:
            return error


def test_an_item_says_for_how_long_it_is_kept() -> None:
    answers = Answers(3.0, 5.0, 7.0)
    cached = answers.single().cache_ttl(float, scheduler=answers.clock)
    seen = []
    for _ in range(9):
        seen.append(answers.got(cached))
        answers.clock.advance_by(1.0)
    assert seen == [3.0] * 3 + [5.0] * 5 + [7.0]


def test_an_error_says_for_how_long_it_is_kept() -> None:
    short, long = ValueError("short"), KeyError("long")
    answers = Answers(short, long, 1.0)
    cached = answers.single().cache_ttl(float, errors=lambda e: 2.0 if e is short else 4.0, scheduler=answers.clock)
    seen = []
    for _ in range(7):
        seen.append(answers.got(cached))
        answers.clock.advance_by(1.0)
    assert seen == [short] * 2 + [long] * 4 + [1.0]


@pytest.mark.parametrize(
    ("options", "kept"),
    [({}, 1), ({"empty": 3.0}, 3), ({"empty": lambda: 2.0}, 2)],
    ids=["not", "seconds", "function"],
)
def test_what_is_empty_is_kept_as_long_as_it_is_told(options: dict[str, Any], kept: int) -> None:
    answers = Answers(None, 9.0)
    cached = answers.maybe().cache_ttl(float, **options, scheduler=answers.clock)
    seen = []
    for _ in range(kept + 1):
        seen.append(answers.got(cached))
        answers.clock.advance_by(1.0)
    assert seen == [None] * kept + [9.0]


def test_what_is_empty_is_kept_as_a_result_is_where_seconds_is_a_number() -> None:
    answers = Answers(None, 9.0)
    cached = answers.maybe().cache_ttl(2.0, scheduler=answers.clock)
    seen = [answers.got(cached), answers.got(cached)]
    answers.clock.advance_by(2.0)
    assert [*seen, answers.got(cached)] == [None, None, 9.0]


def test_of_several_items_the_shortest_time_counts() -> None:
    clock = VirtualScheduler()
    runs: list[int] = []

    def run() -> Flowable[float]:
        runs.append(1)
        return Flowable.of(9.0, 2.0, 5.0)

    for face in (lambda flow: flow, Flowable.to_observable):
        runs.clear()
        cached = face(Flowable.defer(run)).cache_ttl(float, scheduler=clock)
        assert cached.blocking_list() == cached.blocking_list() == [9.0, 2.0, 5.0]
        clock.advance_by(1.9)
        cached.blocking_list()
        assert len(runs) == 1
        clock.advance_by(0.1)
        cached.blocking_list()
        assert len(runs) == 2


def test_what_the_function_raises_ends_the_run_in_place_of_the_item_and_is_not_kept() -> None:
    answers = Answers("no number", 4.0)
    cached = answers.single().cache_ttl(float, scheduler=answers.clock)
    first = answers.got(cached)
    assert isinstance(first, ValueError)
    assert any("cache_ttl" in note for note in first.__notes__)
    assert [answers.got(cached), answers.got(cached)] == [4.0, 4.0]


def test_a_run_is_cancelled_where_the_function_fails() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int]()
    Flowable.wrap(source).cache_ttl(lambda item: 6 // item, scheduler=VirtualScheduler()).subscribe(subscriber)
    source.next(1)
    source.next(0)
    subscriber.assert_values(1)
    assert isinstance(subscriber.error, ZeroDivisionError)
    assert source.cancelled


def test_when_the_function_of_an_error_fails_both_are_told() -> None:
    answers = Answers(OOPS, 4.0)
    cached = answers.single().cache_ttl(5.0, errors=lambda _error: 1 // 0, scheduler=answers.clock)
    both = answers.got(cached)
    assert isinstance(both, CompositeException)
    assert [type(error) for error in both.exceptions] == [ValueError, ZeroDivisionError]
    assert answers.got(cached) == 4.0


@pytest.mark.parametrize(("wrong", "kind"), [(None, TypeError), ("1", TypeError), (True, TypeError), (-1, ValueError)])
def test_what_is_no_number_of_seconds_is_an_error(wrong: Any, kind: type[Exception]) -> None:
    answers = Answers(1, 2)

    def lasts(_item: object) -> Any:
        return wrong

    cached = answers.single().cache_ttl(lasts, scheduler=answers.clock)
    error = answers.got(cached)
    assert type(error) is kind
    assert "lasts returned" in str(error)


def test_inf_is_for_ever() -> None:
    answers = Answers(1, 2)
    cached = answers.single().cache_ttl(lambda _item: inf, scheduler=answers.clock)
    answers.got(cached)
    answers.clock.advance_by(1e9)
    assert answers.got(cached) == 1


def test_the_end_of_a_completable_may_be_kept_by_its_error() -> None:
    clock = VirtualScheduler()
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise OOPS

    cached = Completable.from_action(call).cache_ttl(9.0, errors=lambda _error: 2.0, scheduler=clock)
    for _ in range(4):
        with pytest.raises(ValueError, match="oops"):
            cached.blocking_await()
        clock.advance_by(1.0)
    assert len(calls) == 2


def test_wrong_functions_are_refused_at_assembly() -> None:
    for face in (Flowable, Observable, Single, Maybe):
        with pytest.raises(TypeError, match=r"Right:  \.cache_ttl\(float, errors=lambda error: 5\.0\)"):
            face.never().cache_ttl(float, errors=True)
    for options in ({"errors": 5.0}, {"empty": -1}, {"empty": "1"}):
        with pytest.raises((TypeError, ValueError), match="cache_ttl"):
            ANY.of(1).cache_ttl(1.0, **options)


@pytest.mark.stress
def test_of_many_who_come_when_it_is_stale_one_starts_the_source() -> None:
    for _ in range(50):
        source = Source()
        cached = source.cached()
        asked(cached)
        source.clock.advance_by(12.0)
        start = threading.Barrier(4)

        def come(cached: Single[int] = cached, start: threading.Barrier = start) -> None:
            start.wait(10)
            asked(cached)

        threads = [threading.Thread(target=come) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert source.runs == 2
