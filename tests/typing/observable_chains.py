"""What type checkers infer of Observable: only checked, never run. Each family, its lambdas, and what has to be refused."""

# Each ignore below is needed by both checkers, or the one that does not need it complains.
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

from rx_core import ObservableBase, ObservableSource, Observer
from rx_ops import (
    BackpressureStrategy,
    Completable,
    Emitter,
    Flowable,
    GroupedObservable,
    Maybe,
    Observable,
    Single,
)

numbers = Observable.range(10)
words = Observable.of("a", "bb")


class Foreign:
    def subscribe(self, observer: Observer[bytes], /) -> object: ...


# sources
assert_type(numbers, Observable[int])
assert_type(words, Observable[str])
assert_type(Observable.just(1.5), Observable[float])
assert_type(Observable.from_iterable({"a": 1}.items()), Observable[tuple[str, int]])
assert_type(Observable.defer(lambda: words), Observable[str])
assert_type(Observable.wrap(Foreign()), Observable[bytes])


def push(emitter: Emitter[int]) -> None:
    emitter.on_next(1)


assert_type(Observable.create(push), Observable[int])


def repeated(times: int, word: str) -> str:
    return times * word


# transform, filter
assert_type(numbers.map(lambda x: str(x)), Observable[str])
assert_type(numbers.map(lambda x: x / 2).filter(lambda x: x > 1), Observable[float])
assert_type(words.map(lambda s: (s, len(s))).starmap(lambda s, n: s * n), Observable[str])
assert_type(words.flat_map_iterable(lambda s: s.encode()), Observable[int])
assert_type(numbers.scan(lambda a, b: a + b), Observable[int])
assert_type(numbers.scan(lambda a, b: a + str(b), ""), Observable[str])
assert_type(numbers.buffer(3), Observable[list[int]])
assert_type(numbers.buffer(seconds=0.5), Observable[list[int]])
assert_type(numbers.window(3), Observable[Observable[int]])
assert_type(numbers.debounce(0.5, on_drop=print), Observable[int])
assert_type(numbers.flat_map(lambda x: Observable.of(str(x))), Observable[str])
assert_type(numbers.flat_map(lambda x: Single.just(x)), Observable[int])
assert_type(numbers.concat_map(lambda _x: Foreign()), Observable[bytes])
assert_type(numbers.group_by(lambda x: x % 2), Observable[GroupedObservable[int, int]])
assert_type(numbers.group_by(lambda x: x % 2, lambda x: str(x)), Observable[GroupedObservable[int, str]])
assert_type(numbers.group_by(lambda x: x > 1).flat_map(lambda g: g.map(lambda x: (g.key, x))), Observable[tuple[bool, int]])
assert_type(numbers.of_type(bool), Observable[bool])
assert_type(numbers.take(3).hide(), Observable[int])

# one value
assert_type(numbers.count(), Single[int])
assert_type(numbers.reduce(max), Maybe[int])
assert_type(words.collect(set), Single[set[str]])
assert_type(words.to_dict(len), Single[dict[int, str]])
assert_type(numbers.first(), Single[int])
assert_type(numbers.ignore_elements(), Completable)

# several streams
assert_type(Observable.merge(numbers, Observable.of(1)), Observable[int])
assert_type(Observable.zip(numbers, words), Observable[tuple[int, str]])
# Not with a lambda: mypy does not infer its parameters in a call on a generic class, and the result is Any. zip_with does.
assert_type(Observable.zip(numbers, words, combiner=repeated), Observable[str])
assert_type(numbers.zip_with(words, lambda n, s: s * n), Observable[str])
assert_type(words.on_error_resume_next(lambda error: Observable.of(str(error))), Observable[str])

# ends
assert_type(numbers.blocking_list(), list[int])
assert_type(iter(words), Iterator[str])


def every(source: Observable[int], step: int) -> Observable[int]:
    return source.filter(lambda x: x % step == 0)


assert_type(numbers.pipe(every, step=2), Observable[int])

# to the other types and back
assert_type(numbers.to_flowable(BackpressureStrategy.DROP), Flowable[int])
assert_type(numbers.to_flowable(BackpressureStrategy.BUFFER, capacity=9, on_drop=lambda x: x + 1), Flowable[int])
assert_type(Flowable.of("a").to_observable(), Observable[str])
assert_type(Single.just(1).to_observable(), Observable[int])
assert_type(Maybe.just("a").to_observable(), Observable[str])

# covariant, and what its base and its protocol promise
wide: Observable[object] = numbers
base: ObservableBase[int] = numbers
source: ObservableSource[int] = numbers

# refused
numbers.map(lambda x: x.upper())  # type: ignore[attr-defined]
numbers.mpa(str)  # type: ignore[attr-defined]
numbers.on_backpressure_drop()  # type: ignore[attr-defined]
numbers.observe_on(None)  # type: ignore[arg-type]
Observable.merge(numbers, prefetch=3)  # type: ignore[call-overload]
Observable.merge(Flowable.range(3))  # type: ignore[call-overload]
narrow: Observable[str] = numbers  # type: ignore[assignment]
numbers.to_flowable("buffer")  # type: ignore[arg-type]
numbers.pipe(every, stride=2)  # type: ignore[call-arg]
