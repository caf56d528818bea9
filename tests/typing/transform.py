"""Operators that change, choose or watch items: what an application infers, and what is refused. Type-checked only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, assert_type

from rx_core import Publisher, Run, Source, Subscriber
from rx_core.streams import OneAtATime
from rx_fusion import op, operator
from rx_ops import (
    Flowable,
    GroupedFlowable,
    HandleEmitter,
    Maybe,
    Observable,
    Row,
    Single,
    Timed,
    aggregates,
    it,
    row_class,
    stage,
)

T = TypeVar("T")
R = TypeVar("R")

numbers = Flowable.range(10)
words = Flowable.of("one", "two", "three")
pairs = Flowable.of((1, "a"), (2, "b"))
mixed: Flowable[int | str] = Flowable.of(1, "a")


@dataclass
class Order:
    customer: str
    amount: float


orders = Flowable.from_iterable([Order("a", 1.0)])


def add(a: float, b: float) -> float:
    return a + b


# map
assert_type(numbers.map(lambda n: n + 1), Flowable[int])
assert_type(numbers.map(str).map(len).map(lambda n: n / 2), Flowable[float])
assert_type(words.map(str.upper), Flowable[str])
assert_type(orders.map(lambda order: (order.customer, order.amount)), Flowable[tuple[str, float]])

# starmap
assert_type(pairs.starmap(lambda n, s: s * n), Flowable[str])
assert_type(pairs.starmap(lambda n, s: n).map(lambda n: n + 1), Flowable[int])

# by index, by neighbour, and what may be nothing
assert_type(words.enumerate(), Flowable[tuple[int, str]])
assert_type(words.map_indexed(lambda word, at: len(word) / (at + 1)), Flowable[float])
assert_type(words.filter_indexed(lambda word, at: at > 1).slice(1, None, 2), Flowable[str])
assert_type(words.pairwise().starmap(lambda a, b: len(a + b)), Flowable[int])
assert_type(words.map_optional(lambda word: len(word) or None), Flowable[int])
assert_type(Single.just(1).map_optional(lambda n: "a" if n else None), Maybe[str])
assert_type(words.scan_with(lambda: 0, lambda total, word: total + len(word)), Flowable[int])


def longer(word: str, emitter: HandleEmitter[int]) -> None:
    if len(word) > 3:
        emitter.on_next(len(word))


assert_type(words.handle(longer), Flowable[int])
assert_type(Maybe.just("a").handle(longer), Maybe[int])

# flat_map, concat_map: a stream, a Single or a Maybe
assert_type(words.flat_map(lambda word: Flowable.of(len(word))), Flowable[int])
assert_type(words.flat_map(lambda word: Single.just(len(word))), Flowable[int])
assert_type(words.flat_map(lambda word: Maybe.just(len(word)), max_concurrency=2), Flowable[int])
assert_type(words.flat_map(lambda word: Flowable.range(len(word)).map(lambda n: word[n])), Flowable[str])
assert_type(words.concat_map(lambda word: Flowable.of(word, word)), Flowable[str])
assert_type(words.concat_map_eager(lambda word: Flowable.of(len(word)), max_concurrency=2), Flowable[int])
assert_type(words.concat_map_eager(lambda word: Maybe.just(word)), Flowable[str])
assert_type(words.concat_map(lambda word: Single.just(word).map(len)), Flowable[int])

# flat_map_iterable
assert_type(words.flat_map_iterable(lambda word: [len(word)]), Flowable[int])
assert_type(words.flat_map_iterable(list), Flowable[str])
assert_type(words.flat_map_iterable(lambda word: ((word, n) for n in range(3))), Flowable[tuple[str, int]])

# scan
assert_type(numbers.scan(lambda total, n: total + n), Flowable[int])
assert_type(words.scan(lambda total, word: total + len(word), 0), Flowable[int])
assert_type(numbers.scan(lambda line, n: f"{line} {n}", ""), Flowable[str])

# group_by
by_length = words.group_by(len)
assert_type(by_length, Flowable[GroupedFlowable[int, str]])
assert_type(words.group_by(lambda word: word[0], lambda word: len(word)), Flowable[GroupedFlowable[str, int]])
assert_type(by_length.flat_map(lambda group: group.count().map(lambda n: (group.key, n))), Flowable[tuple[int, int]])
assert_type(orders.group_reduce(lambda o: o.customer, lambda o: o.amount, add), Flowable[tuple[str, float]])
assert_type(orders.group_aggregate(lambda o: o.customer, n=aggregates.count()), Flowable[Row])
assert_type(orders.group_aggregate(it.customer, total=it.amount.sum(), n=it.of(Order).amount.count()), Flowable[Row])
assert_type(orders.group_aggregate((it.customer, it.amount), top=aggregates.max(lambda o: o.amount)).map(lambda row: row[0:1]),
            Flowable[tuple[Any, ...]])  # fmt: skip
assert_type(numbers.to_observable().group_aggregate(it % 2, low=it.min()), Observable[Row])
assert_type(Row(city="Ulm").city, Any)
assert_type(row_class(("city", "total"))("Ulm", 3), Row)
assert_type(aggregates.sum(it.amount), aggregates.Aggregate)

# buffer
assert_type(numbers.buffer(3), Flowable[list[int]])
assert_type(words.buffer(3, 1).map(lambda some: some[0]), Flowable[str])
assert_type(words.buffer(seconds=0.5), Flowable[list[str]])
assert_type(words.buffer(seconds=0.5, count=3).map(lambda some: some[0]), Flowable[str])
assert_type(words.buffer(boundary=numbers), Flowable[list[str]])

# window
assert_type(words.window(3), Flowable[Flowable[str]])
assert_type(words.window(3, 1).flat_map(lambda some: some.map(len)), Flowable[int])
assert_type(words.window(seconds=0.5, count=3).flat_map(lambda some: some.to_list()), Flowable[list[str]])
assert_type(words.window(boundary=numbers), Flowable[Flowable[str]])

# time
assert_type(words.debounce(0.5), Flowable[str])
assert_type(words.debounce(selector=lambda word: Flowable.timer(len(word))), Flowable[str])
assert_type(words.debounce(0.5, on_drop=lambda word: print(word.upper())), Flowable[str])
assert_type(words.sample(0.5, emit_last=True), Flowable[str])
assert_type(words.sample(sampler=numbers), Flowable[str])
assert_type(words.throttle_first(0.5), Flowable[str])
assert_type(words.throttle_latest(0.5), Flowable[str])
assert_type(words.delay_subscription(0.5), Flowable[str])
assert_type(words.delay_subscription(until=numbers), Flowable[str])
assert_type(words.timestamp(), Flowable[Timed[str]])
assert_type(words.time_interval().map(lambda each: each.value), Flowable[str])
assert_type(words.time_interval().map(lambda each: each.seconds), Flowable[float])
assert_type(Single.just(1).timestamp(), Single[Timed[int]])
assert_type(Maybe.just(1).time_interval(), Maybe[Timed[int]])
assert_type(Single.just(1).delay_subscription(until=numbers), Single[int])

# cast and of_type
assert_type(mixed.cast(int), Flowable[int])
assert_type(mixed.of_type(str).map(str.upper), Flowable[str])

# what lets some items through keeps their type
assert_type(numbers.filter(lambda n: n % 2), Flowable[int])
assert_type(numbers.take(3).skip(1).take_while(lambda n: n < 3).skip_while(lambda n: n < 2), Flowable[int])
assert_type(words.distinct().distinct_until_changed(len), Flowable[str])

# what looks on
assert_type(numbers.do_on_next(print).do_on_complete(lambda: None).do_finally(lambda: None), Flowable[int])
assert_type(numbers.do_on_error(lambda error: print(error.args)), Flowable[int])


# pipe: somebody's function, its arguments checked as in a call
def top(flow: Flowable[int], count: int, *, least: int = 0) -> Flowable[int]:
    return flow.filter(lambda n: n >= least).take(count)


def lengths(flow: Flowable[str]) -> Flowable[int]:
    return flow.map(len)


assert_type(numbers.pipe(top, 3), Flowable[int])
assert_type(words.pipe(lengths).pipe(top, 3, least=2), Flowable[int])
assert_type(numbers.pipe(lambda flow: flow.to_list()), Single[list[int]])
assert_type(words.compose(lengths), Flowable[int])


# stage: somebody's stage
@stage
def repeated(source: Iterable[str], times: int, glue: str = "") -> Iterator[str]:
    for item in source:
        yield glue.join([item] * times)


assert_type(words.stage(repeated, 2).stage(repeated, times=3, glue="-"), Flowable[str])


# through: somebody's coordinating operator
@operator
def beside(run: Run, source: Source[T], other: Publisher[R], times: int = 1) -> Iterator[tuple[T, R] | None]:
    for item in source:
        for _ in range(times):
            for each in run.open(other):
                yield None if item is None or each is None else (item, each)


assert_type(words.through(beside, numbers), Flowable[tuple[str, int]])
assert_type(words.through(beside, other=words, times=2).starmap(max), Flowable[str])


@op("lengths_beside")
class LengthsBeside(OneAtATime[int]):
    def __init__(self, down: Subscriber[int], source: Publisher[str], other: Publisher[object]) -> None:
        super().__init__(down)
        self.sources = (source, other)


assert_type(words.through(LengthsBeside, numbers), Flowable[int])
assert_type(words.to_observable().through(LengthsBeside, numbers), Observable[int])

# covariance: a stream of ints is a stream of objects
objects: Flowable[object] = numbers
mapper: Callable[[Any], str] = str
assert_type(numbers.map(mapper), Flowable[str])

# a misspelt operator
