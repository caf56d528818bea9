"""replay and cache: who comes late gets what was before."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_ops import Completable, Flowable, Maybe, Single
from rx_testing import ManualPublisher, TestMaybeObserver, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")


def watch(flow: Flowable[Any], request: int = UNBOUNDED, **options: Any) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    flow.subscribe(got)
    return got


def manual(**options: Any) -> tuple[ManualPublisher[int], Flowable[int]]:
    source: ManualPublisher[int] = ManualPublisher(**options)
    return source, Flowable.wrap(source)


def cancelled(source: ManualPublisher[Any], at: int) -> bool:
    return source.subscriptions[at].cancelled


def test_replay_gives_late_ones_everything_at_their_own_pace() -> None:
    shared = Flowable.range(5).replay()
    first = watch(shared, 2)
    shared.connect()
    first.assert_values(0, 1)
    second = watch(shared, 1)
    second.assert_values(0)
    second.request(10)
    second.assert_values(*range(5)).assert_complete()
    first.assert_values(0, 1)
    first.request(10)
    first.assert_values(*range(5)).assert_complete()


def test_replay_asks_for_what_the_one_that_wants_most_has_requested_in_all() -> None:
    source, flow = manual()
    shared = flow.replay()
    first, second = watch(shared, 3), watch(shared, 5)
    shared.connect()
    assert source.subscriptions[0].requests == [5]
    first.request(1)
    assert source.requested == 5
    first.request(3)
    assert source.requested == 7
    second.request(1)
    assert source.requested == 7
    source.next(*range(7))
    late = watch(shared, 8)
    assert source.requested == 8
    late.assert_values(*range(7))
    watch(shared)
    assert source.requested == UNBOUNDED


def test_with_a_size_a_late_subscriber_wants_from_where_it_starts() -> None:
    source, flow = manual()
    shared = flow.replay(2)
    watch(shared, 5)
    shared.connect()
    source.next(*range(5))
    late = watch(shared, 3)
    late.assert_values(3, 4)
    assert source.requested == 6


def test_replay_keeps_what_fits_its_bounds() -> None:
    clock = VirtualScheduler()
    source, flow = manual()
    shared = flow.replay(2, 1.0, scheduler=clock)
    watch(shared)
    shared.connect()
    source.next(1, 2, 3)
    watch(shared).assert_values(2, 3)
    clock.advance_by(0.999)
    watch(shared).assert_values(2, 3)
    clock.advance_by(0.001)
    watch(shared).assert_no_values()
    source.next(4)
    source.complete()
    watch(shared).assert_values(4).assert_complete()


def test_replay_keeps_its_items_until_reset_and_then_frees_them() -> None:
    class Item: ...

    item = Item()
    seen = weakref.ref(item)
    source: ManualPublisher[Item] = ManualPublisher()
    shared = Flowable.wrap(source).replay()
    shared.connect()
    shared.subscribe(lambda _item: None)
    source.next(item)
    source.complete()
    del item
    watch(shared).assert_value_count(1).assert_complete()
    gc.collect()
    assert seen() is not None
    shared.reset()
    source.subscriptions.clear()
    gc.collect()
    assert seen() is None
    watch(shared).assert_not_terminated()


def test_replay_inside_ref_count_gives_latecomers_the_history() -> None:
    source, flow = manual()
    shared = flow.replay().ref_count()
    first = watch(shared)
    source.next(1, 2)
    second = watch(shared)
    second.assert_values(1, 2)
    first.cancel()
    second.cancel()
    assert cancelled(source, 0)
    watch(shared).assert_no_values()


def test_cache_runs_once_to_the_end_whoever_leaves() -> None:
    source, flow = manual()
    cached = flow.cache()
    assert not source.subscriptions
    first = watch(cached, 1)
    assert source.requested == UNBOUNDED
    source.next(1, 2)
    first.assert_values(1)
    first.cancel()
    assert not cancelled(source, 0)
    source.next(3)
    source.complete()
    late = watch(cached, 2)
    late.assert_values(1, 2).assert_not_terminated()
    late.request(1)
    late.assert_values(1, 2, 3).assert_complete()
    assert len(source.subscriptions) == 1


def test_cache_keeps_an_error_too() -> None:
    calls: list[int] = []

    def failing() -> Flowable[int]:
        calls.append(1)
        return Flowable.of(1).concat_with(Flowable.error(OOPS))

    cached = Flowable.defer(failing).cache()
    for _ in range(2):
        watch(cached).assert_values(1).assert_error(OOPS)
    assert calls == [1]


def test_a_subscriber_that_asks_one_by_one_gets_a_long_replay_without_recursion() -> None:
    shared = Flowable.range(20_000).replay()
    got = watch(shared, 1, request_in_on_next=1)
    shared.connect()
    got.assert_value_count(20_000).assert_complete()


def test_a_none_of_a_foreign_source_ends_a_replay() -> None:
    source, flow = manual(unchecked=True)
    shared = flow.hide().replay()
    got = watch(shared)
    shared.connect()
    with pytest.raises(TypeError):
        source.next(None)  # type: ignore[arg-type]  # the mistake
    got.assert_error(TypeError)


@pytest.mark.parametrize("kind", [Single, Maybe])
def test_a_single_is_cached_with_its_item_or_its_error(kind: Any) -> None:
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        if len(calls) == 2:
            raise OOPS
        return 7

    for _ in range(2):
        cached = kind.from_callable(compute).cache()
        for _ in range(3):
            got: TestMaybeObserver[int] = TestMaybeObserver()
            cached.subscribe(got)
            if len(calls) == 1:
                got.assert_result(7)
                assert cached.map(str).blocking_get() == "7"
            else:
                got.assert_error(OOPS)
    assert calls == [1, 1]


def test_a_completable_is_cached() -> None:
    calls: list[int] = []
    cached = Completable.from_action(lambda: calls.append(1)).cache()
    for _ in range(2):
        cached.blocking_await()
    assert calls == [1]


def test_a_subscriber_that_leaves_at_what_is_kept_has_the_source_asked_for_nothing() -> None:
    requests: list[int] = []
    source, flow = manual(on_request=lambda _subscription, n: requests.append(n))
    shared = flow.replay().auto_connect()
    watch(shared, 1)
    source.next(1)
    assert not shared.is_empty().blocking_get()
    assert requests == [1]
    watch(shared).assert_values(1)
    assert sum(requests) >= UNBOUNDED
