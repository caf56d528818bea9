"""Operators that may add a type, several lambdas that depend on each other, and streams of nothing. Type-checked only."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Never, TypeVar, assert_type

from rx_ops import Flowable, Maybe, Observable, Single

T = TypeVar("T")
R = TypeVar("R")

numbers = Flowable.range(10)
words = Flowable.of("one", "two")
number = Single.just(1)
word = Single.just("a")
some = Maybe.just(1)
text = Maybe.just("a")

# sources of different types give the union
assert_type(Flowable.of(1, 2), Flowable[int])
assert_type(Flowable.of(1, "a"), Flowable[int | str])
assert_type(Flowable.of(1, "a", b"b", 2.5), Flowable[int | str | bytes | float])
assert_type(Flowable.of(*[1, 2, 3]), Flowable[int])
assert_type(Flowable.of(1, 2, 3, 4, 5), Flowable[int])
assert_type(Flowable.merge(numbers, words), Flowable[int | str])
assert_type(Flowable.merge(numbers, words, Flowable.of(b"")), Flowable[int | str | bytes])
assert_type(Flowable.merge(numbers, numbers, delay_error=True, prefetch=4), Flowable[int])
assert_type(Flowable.merge(*[numbers, numbers]), Flowable[int])
assert_type(Flowable.concat(numbers, words), Flowable[int | str])
assert_type(Flowable.concat_eager(numbers, words, max_concurrency=2), Flowable[int | str])
assert_type(Flowable.amb(numbers, words), Flowable[int | str])
assert_type(Flowable.first_with_value(numbers, words), Flowable[int | str])
assert_type(Observable.merge(numbers.to_observable(), words.to_observable()), Observable[int | str])
assert_type(Single.merge(number, word), Flowable[int | str])
assert_type(Single.concat(number, word, number), Flowable[int | str])
assert_type(Single.amb(number, word), Single[int | str])
assert_type(Single.first_with_value(number, word), Single[int | str])
assert_type(Maybe.first_with_value(Maybe.just(1), Maybe.just("a")), Maybe[int | str])
assert_type(Maybe.merge(some, text), Flowable[int | str])

assert_type(Flowable.from_iterable(range(3)), Flowable[int])

# and so do operators that bring another source or item
assert_type(numbers.merge_with(words), Flowable[int | str])
assert_type(numbers.concat_with(words), Flowable[int | str])
assert_type(numbers.amb_with(words), Flowable[int | str])
assert_type(numbers.start_with("a"), Flowable[int | str])
assert_type(numbers.start_with(1), Flowable[int])
assert_type(numbers.on_error_return(lambda error: str(error)), Flowable[int | str])
assert_type(numbers.on_error_return(lambda error: 0), Flowable[int])
assert_type(numbers.on_error_resume_next(lambda error: words), Flowable[int | str])
assert_type(numbers.switch_if_empty(words), Flowable[int | str])
assert_type(numbers.default_if_empty("a"), Flowable[int | str])
assert_type(numbers.timeout(1.0, fallback=words), Flowable[int | str])
assert_type(numbers.timeout(1.0), Flowable[int])
assert_type(numbers.timeout(selector=lambda n: words, first=words, fallback=words), Flowable[int | str])
assert_type(number.on_error_return(lambda error: "a"), Single[int | str])
assert_type(number.on_error_resume_next(lambda error: word), Single[int | str])
assert_type(number.timeout(1.0, fallback=word), Single[int | str])
assert_type(some.switch_if_empty(text), Maybe[int | str])
assert_type(some.switch_if_empty(number), Single[int])
assert_type(some.switch_if_empty(word), Single[int | str])
assert_type(some.default_if_empty("a"), Single[int | str])

# nothing is of no type, and fits everywhere
assert_type(Flowable.empty(), Flowable[Never])
assert_type(Flowable.never(), Flowable[Never])
assert_type(Flowable.error(ValueError()), Flowable[Never])
assert_type(Single.error(ValueError()), Single[Never])
assert_type(Flowable.concat(numbers, Flowable.empty()), Flowable[int])
assert_type(numbers.flat_map(lambda n: Flowable.just(str(n)) if n else Flowable.empty()), Flowable[str])
assert_type(numbers.on_error_resume_next(lambda error: Flowable.error(ValueError())), Flowable[int])
no_numbers: Flowable[int] = Flowable.empty()

# lambdas that take what another lambda gives
assert_type(words.group_reduce(lambda word: word, lambda word: 1, lambda a, b: a + b), Flowable[tuple[str, int]])
assert_type(words.group_reduce(len, lambda word: [word], lambda a, b: a + b), Flowable[tuple[int, list[str]]])
assert_type(words.group_reduce(len, len, operator.add), Flowable[tuple[int, int]])
assert_type(words.group_reduce(key=len, value=len, reducer=max), Flowable[tuple[int, int]])
assert_type(numbers.reduce_with(lambda: [0], lambda total, n: [*total, n]), Single[list[int]])
assert_type(numbers.reduce_with(list[int], lambda total, n: [*total, n]), Single[list[int]])
assert_type(numbers.scan_with(lambda: "", lambda total, n: total + str(n)), Flowable[str])
assert_type(Flowable.using(lambda: ["a"], lambda held: Flowable.from_iterable(held), lambda held: held.clear()), Flowable[str])
assert_type(Single.using(lambda: [1], lambda held: Single.just(str(held)), lambda held: held.clear()), Single[str])

# functions of a stream and of more
assert_type(Flowable.zip(numbers, words, combiner=lambda n, word: (n, word)), Flowable[tuple[int, str]])
assert_type(Flowable.combine_latest(numbers, words, combiner=lambda n, word: word * n), Flowable[str])
assert_type(numbers.with_latest_from(words, combiner=lambda n, word: word * n), Flowable[str])
assert_type(Single.zip(number, word, combiner=lambda n, word: word * n), Single[str])
assert_type(Maybe.zip(some, text, combiner=lambda n, word: word * n), Maybe[str])
assert_type(numbers.publish(lambda shared: Flowable.merge(shared.map(str), shared)), Flowable[str | int])


def every(source: Flowable[T], mapper: Callable[[T], R], n: int) -> Flowable[R]:
    return source.map(mapper).take(n)


def half(n: int) -> float:
    return n / 2


assert_type(numbers.pipe(every, half, 4), Flowable[float])
