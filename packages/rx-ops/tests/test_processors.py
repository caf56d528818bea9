"""What each processor and subject sends, to whom, and when."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from ops_parties import errors_of_the_hook, feed, watch

from rx_ops import (
    AsyncProcessor,
    AsyncSubject,
    BehaviorProcessor,
    BehaviorSubject,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
    UnicastProcessor,
    UnicastSubject,
)
from rx_testing import VirtualScheduler

OOPS = ValueError("oops")


# -- what each of them sends -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [PublishProcessor, PublishSubject])
def test_publish_sends_what_comes_while_one_is_subscribed(made: Any) -> None:
    source = made()
    feed(source, 1)
    first = watch(source)
    feed(source, 2)
    second = watch(source)
    feed(source, 3)
    source.on_complete()
    first.assert_values(2, 3).assert_complete()
    second.assert_values(3).assert_complete()
    watch(source).assert_no_values().assert_complete()


@pytest.mark.parametrize("made", [BehaviorProcessor, BehaviorSubject])
def test_behavior_starts_with_the_newest_and_keeps_nothing_after_the_end(made: Any) -> None:
    source = made()
    empty = watch(source)
    empty.assert_no_values()
    assert (source.value,) == (None,)
    feed(source, 1, 2)
    assert source.value == 2
    late = watch(source)
    feed(source, 3)
    empty.assert_values(1, 2, 3)
    late.assert_values(2, 3)
    source.on_complete()
    assert source.value is None
    watch(source).assert_no_values().assert_complete()
    watch(made(7)).assert_values(7).assert_not_terminated()


@pytest.mark.parametrize("made", [ReplayProcessor, ReplaySubject])
def test_replay_gives_late_ones_what_was_before_and_the_end(made: Any) -> None:
    source = made()
    feed(source, 1, 2)
    first = watch(source)
    feed(source, 3)
    source.on_error(OOPS)
    for each in (first, watch(source)):
        each.assert_values(1, 2, 3).assert_error(ValueError)
    assert source.values == [1, 2, 3]


@pytest.mark.parametrize("made", [ReplayProcessor, ReplaySubject])
def test_replay_with_a_size_keeps_that_many(made: Any) -> None:
    source = made(2)
    early = watch(source)
    feed(source, 1, 2, 3)
    watch(source).assert_values(2, 3)
    source.on_complete()
    watch(source).assert_values(2, 3).assert_complete()
    early.assert_values(1, 2, 3).assert_complete()


@pytest.mark.parametrize("made", [ReplayProcessor, ReplaySubject])
def test_replay_with_seconds_keeps_what_is_younger_at_the_exact_instant(made: Any) -> None:
    clock = VirtualScheduler()
    source = made(seconds=2.0, scheduler=clock)
    feed(source, 1)
    clock.advance_by(1.0)
    feed(source, 2)
    clock.advance_by(0.999)
    assert source.values == [1, 2]
    clock.advance_by(0.001)
    assert source.values == [2]
    watch(source).assert_values(2)
    feed(source, 3)
    source.on_complete()
    clock.advance_by(1.0)
    watch(source).assert_values(3).assert_complete()
    clock.advance_by(1.0)
    watch(source).assert_no_values().assert_complete()


def test_replay_with_both_bounds_keeps_what_fits_both() -> None:
    clock = VirtualScheduler()
    source = ReplayProcessor[int](2, 1.0, scheduler=clock)
    feed(source, 1, 2, 3)
    assert source.values == [2, 3]
    clock.advance_by(1.0)
    assert source.values == []


def test_replay_keeps_for_a_slow_subscriber_what_the_bounds_do_not() -> None:
    source = ReplayProcessor[int](1)
    slow = watch(source, request=1)
    feed(source, *range(5))
    slow.assert_values(0)
    slow.request(10).assert_values(0, 1, 2, 3, 4)


@pytest.mark.parametrize("made", [AsyncProcessor, AsyncSubject])
def test_async_sends_the_last_at_the_end(made: Any) -> None:
    source = made()
    first = watch(source)
    feed(source, 1, 2)
    first.assert_no_values()
    assert source.value is None
    source.on_complete()
    for each in (first, watch(source)):
        each.assert_values(2).assert_complete()
    assert source.value == 2


@pytest.mark.parametrize("made", [AsyncProcessor, AsyncSubject])
def test_async_sends_no_item_before_an_error_or_without_one(made: Any) -> None:
    failed, empty = made(), made()
    feed(failed, 1)
    failed.on_error(OOPS)
    watch(failed).assert_no_values().assert_error(ValueError)
    empty.on_complete()
    watch(empty).assert_no_values().assert_complete()


def test_async_keeps_the_item_until_it_is_requested() -> None:
    source = AsyncProcessor[int]()
    got = watch(source, request=0)
    feed(source, 1)
    source.on_complete()
    got.assert_no_values().assert_not_terminated()
    got.request(1).assert_values(1).assert_complete()


@pytest.mark.parametrize("made", [UnicastProcessor, UnicastSubject])
def test_unicast_keeps_everything_for_its_only_subscriber(made: Any) -> None:
    source = made()
    feed(source, 1, 2)
    first = watch(source)
    feed(source, 3)
    source.on_complete()
    first.assert_values(1, 2, 3).assert_complete()
    watch(source).assert_no_values().assert_error(RuntimeError)


@pytest.mark.parametrize("made", [UnicastProcessor, UnicastSubject])
@pytest.mark.parametrize("how", ["complete", "error", "cancel"])
def test_unicast_says_once_that_it_is_over(made: Any, how: str) -> None:
    calls: list[int] = []
    source = made(on_terminate=lambda: calls.append(1))
    got = watch(source)
    if how == "complete":
        source.on_complete()
    elif how == "error":
        source.on_error(OOPS)
    else:
        got.cancel()
    got.cancel()
    source.on_complete()
    assert calls == [1]


def test_unicast_drops_what_nobody_will_take() -> None:
    source = UnicastProcessor[Any]()

    class Item: ...

    item = Item()
    seen = weakref.ref(item)
    got = watch(source, request=0)
    source.on_next(item)
    del item
    assert seen() is not None
    got.cancel()
    gc.collect()
    assert seen() is None
    with errors_of_the_hook() as dropped:
        source.on_error(OOPS)
    assert dropped == [OOPS]
