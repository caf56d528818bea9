"""Looking on, demand, and what becomes of single items. Type-checked only."""

from __future__ import annotations

from typing import assert_type

from rx_core import Disposable, Scheduler, Subscription
from rx_ops import Completable, Flowable, GroupedFlowable, Maybe, Notification, Observable, OverflowStrategy, RecentKeys, Single
from rx_testing import VirtualScheduler

numbers = Flowable.range(10)
words = Flowable.of("one", "two", "three")
clock: Scheduler = VirtualScheduler()


def signalled(notification: Notification[int]) -> None: ...
def subscribed(subscription: Subscription) -> None: ...
def left(disposable: Disposable) -> None: ...


# looking on
assert_type(numbers.do_on_each(signalled), Flowable[int])
assert_type(words.do_on_each(lambda each: print(each)), Flowable[str])
assert_type(numbers.do_on_terminate(lambda: 1).do_after_terminate(lambda: None), Flowable[int])
assert_type(numbers.do_on_lifecycle(on_subscribe=subscribed, on_request=lambda n: n + 1, on_cancel=lambda: None), Flowable[int])
assert_type(Observable.of(1).do_on_lifecycle(on_subscribe=left, on_dispose=lambda: None), Observable[int])
assert_type(Single.just(1).do_on_lifecycle(on_dispose=lambda: None), Single[int])
assert_type(Single.just("a").do_on_subscribe(left).do_on_dispose(lambda: None), Single[str])
assert_type(Maybe.just("a").do_on_success(len).do_after_success(len).do_on_complete(lambda: None), Maybe[str])
assert_type(Completable.complete().do_on_terminate(lambda: None).on_terminate_detach(), Completable)
assert_type(numbers.unsubscribe_on(clock).on_terminate_detach(), Flowable[int])
assert_type(Single.just(1).unsubscribe_on(clock), Single[int])

# demand
assert_type(numbers.rebatch_requests(8, refill=4), Flowable[int])
assert_type(numbers.rate_limit(10, 1.0, scheduler=clock), Flowable[int])
assert_type(Observable.of("a").rate_limit(10, 1.0), Observable[str])
assert_type(numbers.on_backpressure_reduce(lambda a, b: a + b), Flowable[int])
assert_type(words.on_backpressure_reduce(lambda total, word: total + len(word), supplier=int), Flowable[int])
assert_type(words.on_backpressure_timeout(1.0, capacity=3, on_drop=len), Flowable[str])
assert_type(words.on_backpressure_buffer(3, overflow=OverflowStrategy.DROP_INCOMING), Flowable[str])
assert_type(words.observe_on(clock, latest=True), Flowable[str])

# single items
assert_type(words.filter_when(lambda word: Single.just(len(word) > 3)), Flowable[str])
assert_type(Single.just(1).filter_when(lambda n: Flowable.of(n > 1)), Maybe[int])
assert_type(numbers.expand(lambda n: Flowable.range(n), depth_first=True), Flowable[int])
assert_type(Flowable.interval_range(0, 3, 1.0, initial=0.5), Flowable[int])
assert_type(words.distinct(len, store=lambda: RecentKeys(10)), Flowable[str])
assert_type(words.distinct(store=set[object]), Flowable[str])
assert_type(words.chunk_by_weight(10, len), Flowable[list[str]])
assert_type(words.sample_reservoir(2, seed=1), Single[list[str]])
assert_type(Single.just("a b").flat_map_iterable(str.split), Flowable[str])
assert_type(Maybe.just(3).flat_map_iterable(range), Flowable[int])
assert_type(words.window_until(lambda word: len(word) > 3, cut_before=True), Flowable[Flowable[str]])
assert_type(numbers.window_while(lambda n: n > 3).concat_map(lambda window: window), Flowable[int])
assert_type(Observable.of(1).window_until_changed(lambda n: n // 2), Observable[Observable[int]])
assert_type(words.group_by_until(len, lambda size: Flowable.timer(1.0)), Flowable[GroupedFlowable[int, str]])
assert_type(words.group_by_until(len, lambda size: Single.just(size), str.encode), Flowable[GroupedFlowable[int, bytes]])
