"""The newest of several sources, rounds, resources and notifications. Type-checked only."""

from __future__ import annotations

from typing import assert_type

from rx_ops import (
    CircuitBreaker,
    Completable,
    Flowable,
    Maybe,
    Notification,
    Observable,
    OnComplete,
    OnError,
    OnNext,
    RetryBudget,
    Single,
)

numbers = Flowable.range(10)
words = Flowable.of("one", "two", "three")
flags = Flowable.of(True, False)

# switch_map
assert_type(numbers.switch_map(lambda n: Flowable.of(str(n))), Flowable[str])
assert_type(numbers.switch_map(lambda n: words.map(lambda word: (n, word)), delay_error=True), Flowable[tuple[int, str]])

# exhaust_map, switch_on_first
assert_type(numbers.exhaust_map(lambda n: Flowable.of(str(n)), delay_error=True), Flowable[str])


def chosen(first: Notification[int], whole: Flowable[int]) -> Flowable[str]:
    return whole.map(str) if isinstance(first, OnNext) and first.item else Flowable.of("none")


assert_type(numbers.switch_on_first(chosen), Flowable[str])
assert_type(numbers.switch_on_first(lambda first, whole: whole.count()), Flowable[int])
assert_type(numbers.to_observable().switch_on_first(lambda first, whole: whole.map(str)), Observable[str])

# zip_latest, fork_join
assert_type(Flowable.zip_latest(numbers, words), Flowable[tuple[int, str]])
assert_type(Flowable.zip_latest(numbers, words, flags, combiner=lambda n, word, flag: word), Flowable[str])
assert_type(Flowable.fork_join(numbers, words, flags), Maybe[tuple[int, str, bool]])
assert_type(Flowable.fork_join(numbers, words, combiner=lambda n, word: word * n), Maybe[str])

# combine_latest
assert_type(Flowable.combine_latest(numbers, words), Flowable[tuple[int, str]])
assert_type(Flowable.combine_latest(numbers, words, flags), Flowable[tuple[int, str, bool]])
assert_type(Flowable.combine_latest(numbers, words, combiner=lambda n, word: word * n), Flowable[str])
assert_type(
    Flowable.combine_latest(numbers, words, flags, numbers, combiner=lambda n, w, f, m: n + m if f else len(w)), Flowable[int]
)
assert_type(Observable.combine_latest(Observable.of(1), Observable.of("a")), Observable[tuple[int, str]])

# with_latest_from
assert_type(numbers.with_latest_from(words), Flowable[tuple[int, str]])
assert_type(numbers.with_latest_from(words, combiner=lambda n, word: word[n:]), Flowable[str])
assert_type(numbers.with_latest_from(words, flags, combiner=lambda n, word, flag: len(word) + n if flag else 0), Flowable[int])
assert_type(numbers.with_latest_from(words, flags, numbers), Flowable[tuple[int, str, bool, int]])

# until, first, instead
assert_type(numbers.take_until(words), Flowable[int])
assert_type(numbers.skip_until(words), Flowable[int])
assert_type(Flowable.amb(numbers, numbers), Flowable[int])
assert_type(numbers.amb_with(Flowable.of(1)), Flowable[int])
assert_type(numbers.switch_if_empty(Flowable.of(1)), Flowable[int])
assert_type(numbers.default_if_empty(1), Flowable[int])
assert_type(Single.just(1).take_until(words), Single[int])
assert_type(Single.amb(Single.just(1), Single.just(2)), Single[int])
assert_type(Maybe.just(1).switch_if_empty(Single.just(2)), Single[int])

# rounds
assert_type(numbers.repeat(2), Flowable[int])
assert_type(numbers.repeat_when(lambda ends: ends.take(2)), Flowable[int])
assert_type(numbers.retry_when(lambda errors: errors.map(lambda error: error.args)), Flowable[int])
assert_type(numbers.retry_backoff(3, 0.5, longest=2.0), Flowable[int])
assert_type(Observable.of(1).retry_backoff(3, 0.5, budget=RetryBudget(0.2)), Observable[int])
assert_type(Observable.of(1).retry(3, budget=RetryBudget(0.2)), Observable[int])
assert_type(words.map(int).on_error_continue(lambda error, item: print(error.args, item)), Flowable[int])
assert_type(Observable.of("1").map(int).on_error_continue(print, when=lambda error: not error.args), Observable[int])
breaker = CircuitBreaker(5, 10, when=lambda error: isinstance(error, OSError))
assert_type(numbers.circuit_breaker(breaker), Flowable[int])
assert_type(Single.just("a").circuit_breaker(breaker).retry_backoff(3, 0.5), Single[str])
assert_type(Completable.complete().circuit_breaker(breaker), Completable)
assert_type(Single.just("a").repeat(), Flowable[str])
assert_type(Single.just("a").retry_when(lambda errors: errors), Single[str])
assert_type(Completable.complete().repeat(3), Completable)
assert_type(Observable.of(1).repeat_when(lambda ends: ends.map(str)), Observable[int])

# using
assert_type(Flowable.using(lambda: 1, lambda one: Flowable.of(one, one), lambda one: one.bit_length()), Flowable[int])
# where mypy cannot see through a generic call in a lambda, the function itself does it
assert_type(Flowable.using(lambda: ["a"], Flowable.from_iterable, lambda names: names.clear()), Flowable[str])
assert_type(Single.using(lambda: 1, lambda one: Single.just([one]), lambda one: one.bit_length()), Single[list[int]])

# resources that come and go asynchronously
opening = Single.just(["a"])
assert_type(
    Flowable.using_when(opening, lambda names: Flowable.from_iterable(names), lambda names: Completable.from_action(names.clear)),
    Flowable[str],
)
assert_type(Observable.using_when(Observable.of(1), lambda n: Observable.of(n), lambda n: Observable.of(n)), Observable[int])
assert_type(
    Single.using_when(
        opening,
        lambda names: Single.just(names[0]),
        lambda names: Completable.from_action(names.clear),
        on_error=lambda names, error: Single.just(error.args),
        on_cancel=lambda names: Flowable.of(len(names)),
    ),
    Single[str],
)
assert_type(Maybe.using_when(numbers, lambda n: Maybe.just(n), lambda n: Maybe.just(n)), Maybe[int])
assert_type(Completable.using_when(numbers, lambda n: Completable.complete(), lambda n: Completable.complete()), Completable)

# notifications
assert_type(numbers.materialize().dematerialize(), Flowable[int])
assert_type(words.dematerialize(OnNext), Flowable[str])
assert_type(Single.just(1).materialize().dematerialize(), Maybe[int])


def text(signal: Notification[int]) -> str:
    match signal:
        case OnNext(item):
            assert_type(item, int)
            return str(item)
        case OnError(error):
            assert_type(error, Exception)
            return str(error)
        case OnComplete():
            return "end"


assert_type(numbers.materialize().map(text), Flowable[str])
