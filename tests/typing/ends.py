"""Where streams end, and the types of at most one item. Type-checked only."""

from __future__ import annotations

from typing import assert_type

from rx_core import Handle, Subscription
from rx_ops import Completable, Flowable, Maybe, Single

numbers = Flowable.range(10)
words = Flowable.of("one", "two")
single = Single.just("a")
maybe = Maybe.just(1)
completable = Completable.complete()

# iteration and blocking
for number in numbers:
    assert_type(number, int)
assert_type([word.upper() for word in words], list[str])
assert_type(words.blocking_list(), list[str])
assert_type(words.blocking_first(), str)
assert_type(next(words.blocking_iter(prefetch=1)), str)
words.blocking_for_each(print)


# subscribe with callbacks
def on_text(text: str) -> None: ...
def on_error(error: Exception) -> None: ...


assert_type(words.subscribe(on_text, on_error=on_error, on_complete=lambda: print("done")), Handle)
words.subscribe(lambda word: print(word.upper())).dispose()
assert_type(words.subscribe(on_text, on_error, lambda: print("done")), Handle)
assert_type(words.subscribe(on_next=lambda word: print(word.upper()), on_complete=lambda: print("done")), Handle)
assert_type(words.subscribe(), Handle)


# subscribe with a Subscriber: any object with the methods
class Texts:
    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.request(1)

    def on_next(self, item: str, /) -> None: ...
    def on_error(self, error: Exception, /) -> None: ...
    def on_complete(self) -> None: ...


class Objects(Texts):
    def on_next(self, item: object, /) -> None: ...


words.subscribe(Texts())
numbers.subscribe(Objects())

# Single
assert_type(single.map(len), Single[int])
assert_type(single.flat_map(lambda text: Single.just(len(text))), Single[int])
assert_type(single.flat_map_publisher(lambda text: Flowable.from_iterable(text)), Flowable[str])
assert_type(single.filter(lambda text: text), Maybe[str])
assert_type(Single.zip(single, Single.just(1)), Single[tuple[str, int]])
assert_type(Single.zip(single, Single.just(2), lambda text, times: text * times), Single[str])
assert_type(Single.zip(single, Single.just(2), combiner=lambda text, times: text * times), Single[str])
assert_type(Single.zip(single, Single.just(2), Single.just(0.5)), Single[tuple[str, int, float]])
assert_type(Single.zip(single, Single.just(2), Single.just(0.5), lambda text, times, half: times * half), Single[float])
assert_type(Single.zip(single, single, Single.just(2), Single.just(0.5), combiner=lambda a, b, times, half: a + b), Single[str])
assert_type(single.zip_with(Single.just(2)), Single[tuple[str, int]])
assert_type(single.zip_with(Single.just(2)).starmap(lambda text, times: text * times), Single[str])
assert_type(Single.zip(single, Single.just(2), delay_error=True), Single[tuple[str, int]])
assert_type(Single.zip(single, Single.just(2), lambda text, times: text * times, delay_error=True), Single[str])
assert_type(Single.zip(single, Single.just(2), combiner=lambda text, times: times, delay_error=True), Single[int])
assert_type(single.zip_with(Single.just(2), lambda text, times: text * times, delay_error=True), Single[str])
assert_type(single.zip_with(Single.just(2), lambda text, times: text * times), Single[str])
assert_type(Single.timer(1.0), Single[int])
assert_type(Maybe.timer(1.0), Maybe[int])
assert_type(Completable.timer(1.0), Completable)
assert_type(single.zip_with(Single.just(2), lambda text, times: (times, text)), Single[tuple[int, str]])
assert_type(single.on_error_return(str), Single[str])
assert_type(single.on_error_resume_next(lambda error: Single.just(str(error))), Single[str])
assert_type(single.do_on_success(print).do_finally(lambda: None).retry(2), Single[str])
assert_type(single.to_flowable(), Flowable[str])
assert_type(single.to_maybe(), Maybe[str])
assert_type(single.ignore_element(), Completable)
assert_type(single.blocking_get(seconds=1), str)

# Maybe
assert_type(maybe.map(str).filter(lambda text: text), Maybe[str])
assert_type(maybe.flat_map(lambda n: Maybe.just(str(n))), Maybe[str])
assert_type(maybe.flat_map_publisher(lambda n: Flowable.range(n)), Flowable[int])
assert_type(maybe.default_if_empty(3), Single[int])
assert_type(Maybe.zip(maybe, Maybe.just("a")), Maybe[tuple[int, str]])
assert_type(Maybe.zip(maybe, Maybe.just("a"), maybe, combiner=lambda a, text, b: text * (a + b)), Maybe[str])
assert_type(maybe.zip_with(Maybe.just("a")), Maybe[tuple[int, str]])
assert_type(maybe.zip_with(Maybe.just("a")).starmap(lambda n, text: n), Maybe[int])
assert_type(Maybe.zip(maybe, Maybe.just("a"), delay_error=True), Maybe[tuple[int, str]])
assert_type(maybe.zip_with(Maybe.just("a"), delay_error=True), Maybe[tuple[int, str]])
assert_type(maybe.zip_with(Maybe.just("a"), lambda n, text: text * n), Maybe[str])
assert_type(Maybe.from_callable(lambda: {"a": 1}.get("b")), Maybe[int])
assert_type(maybe.to_single().map(str), Single[str])
assert_type(maybe.blocking_get(), int | None)

# Completable
assert_type(completable.and_then(single), Single[str])
assert_type(completable.and_then(maybe), Maybe[int])
assert_type(completable.and_then(numbers), Flowable[int])
assert_type(completable.and_then(completable), Completable)
assert_type(completable.to_single_default("done"), Single[str])
assert_type(Completable.from_action(lambda: print("a")).do_on_complete(lambda: None).blocking_await(), None)
