"""Questions about whole streams, their last and only items, and what is made of all of them. Type-checked only."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import assert_type

from rx_ops import Completable, Flowable, Maybe, Observable, Single, it

numbers = Flowable.range(10)
words = Flowable.of("one", "two")
rows = Flowable.of({"price": 3})

assert_type(numbers.any(), Single[bool])
assert_type(words.any(lambda word: word.isupper()), Single[bool])
assert_type(words.all(str.isupper), Single[bool])
assert_type(rows.all(it["price"] > 10), Single[bool])
assert_type(words.contains("one"), Single[bool])
assert_type(words.contains(3, lambda word, length: len(word) == length), Single[bool])
assert_type(words.is_empty(), Single[bool])
assert_type(words.find_index(lambda word: word.islower()), Single[int])
assert_type(Flowable.sequence_equal(words, words), Single[bool])
assert_type(Flowable.sequence_equal(words, words, words, comparer=lambda a, b: a.lower() == b.lower(), prefetch=8), Single[bool])
assert_type(Observable.sequence_equal(Observable.of(1), Observable.of(2)), Single[bool])

assert_type(words.last(), Single[str])
assert_type(words.last("none"), Single[str])
assert_type(words.last_element(), Maybe[str])
assert_type(words.single(), Single[str])
assert_type(words.single("none"), Single[str])
assert_type(words.single_element(), Maybe[str])

assert_type(numbers.average(), Single[float])
assert_type(words.average(len), Single[float])
assert_type(Flowable.of(Fraction(1), Fraction(2)).average(), Single[Fraction])
assert_type(Flowable.of(timedelta(1), timedelta(2)).average(), Single[timedelta])
assert_type(words.min_by(len), Single[list[str]])
assert_type(words.max_by(lambda word: word.upper()), Single[list[str]])
assert_type(words.to_multimap(len), Single[dict[int, list[str]]])
assert_type(words.to_multimap(len, str.encode), Single[dict[int, list[bytes]]])
assert_type(words.reduce_with(lambda: 0, lambda total, word: total + len(word)), Single[int])

assert_type(Single.just(1).contains(1), Single[bool])
assert_type(Maybe.just(1).contains("1", lambda number, text: str(number) == text), Single[bool])
assert_type(Maybe.just(1).is_empty(), Single[bool])
assert_type(Maybe.just(1).count(), Single[int])
assert_type(Single.sequence_equal(Single.just(1), Single.just(2)), Single[bool])
assert_type(Maybe.sequence_equal(Maybe.just(1), Maybe.just(2), comparer=lambda a, b: a > b), Single[bool])
assert_type(Completable.sequence_equal(Completable.complete(), Completable.complete()), Single[bool])
