"""Processors, connectables, and sources that are called back. Type-checked only."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

from rx_core import Disposable, Processor, Publisher, Subscriber
from rx_ops import (
    AsyncProcessor,
    BatchEmitter,
    BehaviorProcessor,
    BehaviorSubject,
    ConnectableFlowable,
    ConnectableObservable,
    Flowable,
    FlowableProcessor,
    Maybe,
    Observable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    Single,
    Subject,
    UnicastProcessor,
)

numbers = Flowable.range(10)
words = Flowable.of("one", "two")

# connectables
assert_type(numbers.publish(), ConnectableFlowable[int])
assert_type(numbers.publish(prefetch=4).ref_count(2, 1.5), Flowable[int])
assert_type(numbers.replay(3).auto_connect(), Flowable[int])
assert_type(numbers.replay(seconds=1.0).connect(), Disposable)
assert_type(numbers.publish().map(lambda n: str(n + 1)), Flowable[str])
assert_type(numbers.publish(lambda shared: shared.map(str)), Flowable[str])
assert_type(numbers.publish(lambda shared: Flowable.zip(shared, shared.skip(1))), Flowable[tuple[int, int]])
assert_type(words.replay(2, selector=lambda shared: shared.map(len)), Flowable[int])
assert_type(words.share(), Flowable[str])
assert_type(words.cache(), Flowable[str])
assert_type(words.to_observable().publish(), ConnectableObservable[str])
assert_type(words.to_observable().publish(lambda shared: shared.map(len)), Observable[int])
assert_type(words.to_observable().share(), Observable[str])
assert_type(Single.just(1).cache(), Single[int])
assert_type(Single.just(1).cache_ttl(5.0, errors=True), Single[int])
assert_type(words.cache_ttl(5.0), Flowable[str])
assert_type(words.cache_ttl(lambda word: len(word) / 2, errors=lambda error: len(error.args), empty=1.0), Flowable[str])
assert_type(Single.just(1).cache_ttl(lambda n: n * 2.0, errors=lambda error: 5.0), Single[int])
assert_type(Maybe.just(1).cache_ttl(lambda n: n * 2.0, empty=lambda: 5.0), Maybe[int])
assert_type(Maybe.just("a").cache(), Maybe[str])

# processors
clicks = PublishProcessor[int]()
assert_type(clicks.map(lambda n: str(n + 1)).filter(lambda text: len(text) > 1), Flowable[str])
assert_type(clicks.to_serialized(), FlowableProcessor[int])
assert_type(clicks.offer(1), bool)
assert_type(BehaviorProcessor(1).value, int | None)
assert_type(BehaviorSubject("a").map(len), Observable[int])
assert_type(ReplayProcessor[str](10).values, list[str])
assert_type(AsyncProcessor[int]().value, int | None)
assert_type(UnicastProcessor[str]().take(1), Flowable[str])
assert_type(PublishSubject[int]().to_serialized(), Subject[int])
processor: Processor[int, int] = clicks
subscriber: Subscriber[int] = clicks
publisher: Publisher[int] = clicks
numbers.subscribe(clicks)
words.to_observable().subscribe(BehaviorSubject("a"))


# sources that are called back
def add(handler: Callable[[int], None]) -> None:
    handler(1)


def remove(handler: Callable[[int], None]) -> None: ...


def add_any(handler: Callable[..., None]) -> None:
    handler("anything")


def read() -> float:
    return 0.5


def call(state: str, wanted: int, emitter: BatchEmitter[int, str]) -> None:
    emitter.on_batch([wanted], state)


assert_type(Flowable.from_listener(add, remove), Flowable[int])
assert_type(Observable.from_listener(add, remove), Observable[int])
assert_type(Flowable.from_value(read, add_any, add_any), Flowable[float])
assert_type(Flowable.generate_async(lambda: "start", call), Flowable[int])


def line(who: str, what: str) -> tuple[str, str]:
    return who, what


def size(*what: object) -> int:
    return len(what)


assert_type(Flowable.from_listener(add_any, add_any, mapper=line), Flowable[tuple[str, str]])
assert_type(Observable.from_listener(add_any, add_any, mapper=size), Observable[int])
