"""Sources, operators over several streams, and those that make one value of a stream. Type-checked only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Never, assert_type

from rx_core import Publisher, Scheduler
from rx_ops import BackpressureStrategy, Completable, Emitter, Flowable, GenerateEmitter, Maybe, Single

numbers = Flowable.range(10)
words = Flowable.of("one", "two", "three")
flags = Flowable.of(True, False)
halves = Flowable.of(0.5)
pairs = Flowable.from_iterable({1: "a"}.items())


@dataclass
class Plain:
    name: str


plain = Flowable.of(Plain("a"))

# sources
assert_type(Flowable.just("a"), Flowable[str])
assert_type(Flowable.of(1, 2.5), Flowable[int | float])
assert_type(Flowable.from_iterable({"a": 1}.items()), Flowable[tuple[str, int]])
assert_type(Flowable.from_callable(lambda: [1]), Flowable[list[int]])
assert_type(Flowable.defer(lambda: Flowable.of("a")), Flowable[str])
assert_type(Flowable.interval(1.0, initial=0), Flowable[int])
assert_type(Flowable.empty(), Flowable[Never])


def listen(emitter: Emitter[str]) -> None:
    emitter.on_next("a")


def step(state: int, emitter: GenerateEmitter[str]) -> int:
    emitter.on_next(str(state))
    return state + 1


assert_type(Flowable.create(listen, BackpressureStrategy.LATEST), Flowable[str])
assert_type(Flowable.generate(lambda: 0, step), Flowable[str])


# zip
assert_type(Flowable.zip(numbers, words), Flowable[tuple[int, str]])
assert_type(Flowable.zip(numbers, words, halves), Flowable[tuple[int, str, float]])
assert_type(Flowable.zip(numbers, words, halves, flags), Flowable[tuple[int, str, float, bool]])
assert_type(Flowable.zip(numbers, words, combiner=lambda n, word: word * n), Flowable[str])
assert_type(Flowable.zip(numbers, words, halves, combiner=lambda n, word, half: n * half), Flowable[float])
assert_type(Flowable.zip(numbers, words, halves, flags, combiner=lambda n, w, h, flag: flag), Flowable[bool])
assert_type(Flowable.zip(numbers, words, delay_error=True), Flowable[tuple[int, str]])
assert_type(numbers.zip_with(words, lambda n, word: word * n, delay_error=True), Flowable[str])
assert_type(numbers.zip_with(words), Flowable[tuple[int, str]])
assert_type(numbers.zip_with(words, lambda n, word: word * n), Flowable[str])

# merge, concat, start_with
assert_type(Flowable.merge(numbers, numbers), Flowable[int])
assert_type(Flowable.concat(words, words.map(str.upper)), Flowable[str])
assert_type(Flowable.concat(words, words, delay_error=True), Flowable[str])
assert_type(Flowable.concat_eager(words, words, max_concurrency=2, prefetch=8), Flowable[str])
assert_type(Single.concat(Single.just("a"), Single.just("b")), Flowable[str])
assert_type(Single.concat_eager(Single.just(1), Single.just(2), delay_error=True), Flowable[int])
assert_type(Maybe.merge(Maybe.just(1), Maybe.just(2)), Flowable[int])
assert_type(Completable.merge(Completable.complete(), Completable.never(), delay_error=True), Completable)
assert_type(Completable.concat(Completable.complete()), Completable)
assert_type(Flowable.merge_ordered(numbers, numbers, reverse=True), Flowable[int])
assert_type(Flowable.merge_ordered(plain, plain, key=lambda each: each.name), Flowable[Plain])
assert_type(Flowable.merge_priority(words, words, key=len, prefetch=8), Flowable[str])


def lifetime(_item: object) -> Flowable[int]:
    return Flowable.just(0)


assert_type(numbers.join(words, lifetime, lambda word: Flowable.just(word)), Flowable[tuple[int, str]])
assert_type(numbers.join(words, lifetime, lifetime, lambda n, word: word * n), Flowable[str])
assert_type(numbers.group_join(words, lifetime, lifetime, lambda n, window: window.map(len)), Flowable[Flowable[int]])
assert_type(numbers.start_with(1, 2).concat_with(numbers).merge_with(numbers), Flowable[int])

# errors
assert_type(numbers.on_error_return(lambda error: len(error.args)), Flowable[int])
assert_type(words.on_error_resume_next(lambda error: Flowable.of(str(error))), Flowable[str])
assert_type(numbers.retry(3, when=lambda error: isinstance(error, OSError)), Flowable[int])

# reduce
assert_type(numbers.reduce(lambda a, b: a + b), Maybe[int])
assert_type(words.reduce(lambda total, word: total + len(word), 0), Single[int])

# collect
assert_type(numbers.collect(list), Single[list[int]])
assert_type(numbers.collect(set), Single[set[int]])
assert_type(pairs.collect(dict), Single[dict[int, str]])
assert_type(words.collect(", ".join), Single[str])
assert_type(numbers.collect(lambda items: sorted(items)[0]), Single[int])


def fill(made: list[str], item: int) -> None:
    made.append(str(item))


assert_type(numbers.collect(lambda: list[str](), fill), Single[list[str]])

# to_list, to_dict
assert_type(words.to_list(), Single[list[str]])
assert_type(pairs.to_dict(), Single[dict[int, str]])
assert_type(words.to_dict(len), Single[dict[int, str]])
assert_type(words.to_dict(len, lambda word: word[0]), Single[dict[int, str]])
assert_type(words.to_dict(lambda word: word[0], len), Single[dict[str, int]])

# count, sum, min, max, first, element_at
assert_type(words.count(), Single[int])
assert_type(numbers.sum(), Single[int])
assert_type(halves.sum(0.5), Single[float])
assert_type(flags.sum(), Single[int])
assert_type(words.min(), Maybe[str])
assert_type(words.max(len), Maybe[str])
assert_type(plain.min(lambda each: each.name), Maybe[Plain])
assert_type(words.first(), Single[str])
assert_type(words.sorted(), Flowable[str])
assert_type(numbers.sorted(reverse=True).take(3), Flowable[int])
assert_type(plain.sorted(lambda each: each.name), Flowable[Plain])
assert_type(words.first("none").map(len), Single[int])
assert_type(words.first_element(), Maybe[str])
assert_type(words.element_at(3), Maybe[str])


# threads, backpressure, conversions
def threads(scheduler: Scheduler, foreign: Publisher[bytes]) -> None:
    assert_type(numbers.subscribe_on(scheduler).observe_on(scheduler, prefetch=8), Flowable[int])
    assert_type(numbers.timeout(1.0, fallback=numbers).delay(0.5, scheduler=scheduler), Flowable[int])
    assert_type(Flowable.wrap(foreign).map(bytes.decode), Flowable[str])


def dropped(item: int, /) -> None: ...


assert_type(numbers.on_backpressure_buffer(8, on_drop=dropped).on_backpressure_drop(dropped), Flowable[int])
assert_type(numbers.on_backpressure_latest(), Flowable[int])
assert_type(numbers.ignore_elements(), Completable)
