"""What all processors and subjects have in common, and what they do with demand."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import pytest
from ops_parties import errors_of_the_hook, feed, watch

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_fusion import fusion_enabled
from rx_ops import (
    AsyncProcessor,
    AsyncSubject,
    BehaviorProcessor,
    BehaviorSubject,
    Flowable,
    FlowableProcessor,
    Observable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
    Subject,
    UnicastProcessor,
    UnicastSubject,
)
from rx_testing import ManualPublisher, TestObserver, TestSubscriber

PROCESSORS: tuple[type[FlowableProcessor[int]], ...] = (
    PublishProcessor, BehaviorProcessor, ReplayProcessor, AsyncProcessor, UnicastProcessor,
)  # fmt: skip


SUBJECTS: tuple[type[Subject[int]], ...] = (PublishSubject, BehaviorSubject, ReplaySubject, AsyncSubject, UnicastSubject)


EVERY = pytest.mark.parametrize("made", [*PROCESSORS, *SUBJECTS], ids=lambda kind: kind.__name__)


EACH = pytest.mark.parametrize("made", PROCESSORS, ids=lambda kind: kind.__name__)


OOPS = ValueError("oops")


# -- what all have in common -------------------------------------------------------------------------------------------


@EVERY
def test_errors_reach_everybody_and_late_ones(made: Any) -> None:
    source = made()
    first = watch(source)
    source.on_error(OOPS)
    first.assert_error(ValueError)
    assert (source.has_failed, source.has_complete, source.failure) == (True, False, OOPS)
    if not made.__name__.startswith("Unicast"):
        watch(source).assert_error(ValueError)


@EVERY
def test_after_the_end_items_are_ignored_and_errors_go_to_the_hook(made: Any) -> None:
    source = made()
    got = watch(source)
    source.on_complete()
    feed(source, 1)
    source.on_complete()
    with errors_of_the_hook() as dropped:
        source.on_error(OOPS)
    assert dropped == [OOPS]
    got.assert_no_values().assert_complete()
    assert source.has_complete
    assert not source.has_failed


@EVERY
@pytest.mark.parametrize("serialized", [False, True])
def test_none_is_refused(made: Any, serialized: bool) -> None:
    source = made().to_serialized() if serialized else made()
    with pytest.raises(TypeError, match="None"):
        source.on_next(None)
    with pytest.raises(TypeError, match="None"):
        source.on_error(None)


@EVERY
def test_it_knows_whether_anybody_is_subscribed_and_frees_who_left(made: Any) -> None:
    source = made()
    assert not source.has_subscribers
    got = watch(source)
    assert source.has_subscribers
    seen = weakref.ref(got)
    subscription = got.subscription if isinstance(source, FlowableProcessor) else got.disposable
    got.cancel()
    assert not source.has_subscribers
    got.assert_valid()
    del got
    gc.collect()
    assert seen() is None
    del subscription  # it is held up to here: a Subscription must not hold its subscriber once it was cancelled (RS 3.13)


@EVERY
def test_it_takes_everything_of_a_source_it_is_subscribed_to(made: Any) -> None:
    source = made()
    got = watch(source)
    stream: Any = Flowable.range(3) if isinstance(source, FlowableProcessor) else Observable.range(3)
    stream.subscribe(source)
    got.assert_complete()
    assert got.values == ([2] if made in (AsyncProcessor, AsyncSubject) else [0, 1, 2])


@EACH
def test_after_the_end_it_cancels_a_source(made: Any) -> None:
    source = made()
    source.on_complete()
    upstream = ManualPublisher[int]()
    upstream.subscribe(source)
    assert upstream.subscriptions[0].cancelled


@EACH
@pytest.mark.parametrize("serialized", [False, True])
def test_a_second_source_is_cancelled_and_reported(made: Any, serialized: bool) -> None:
    source = made()
    upstream = ManualPublisher[int]()
    upstream.subscribe(source)
    with errors_of_the_hook() as dropped:
        upstream.subscribe(source.to_serialized() if serialized else source)
    assert [each.cancelled for each in upstream.subscriptions] == [False, True]
    assert upstream.subscriptions[1].requests == []
    assert len(dropped) == 1
    with pytest.raises(TypeError, match="None"):
        source.on_subscribe(None)


@EACH
@pytest.mark.parametrize("n", [0, -1, "1"])
def test_a_wrong_request_ends_that_subscriber_alone(made: Any, n: Any) -> None:
    source = made()
    if made is UnicastProcessor:
        got = watch(source, request=0)
        got.request(n)
    else:
        other = watch(source)
        got = watch(source, request=0)
        got.request(n)
        feed(source, 1)
        source.on_complete()
        other.assert_values(1).assert_complete()
    assert "3.9" in str(got.errors[0])
    got.assert_no_values()


@EVERY
def test_a_subscriber_that_raises_is_gone_and_the_others_go_on(made: Any) -> None:
    if made.__name__.startswith("Unicast"):
        pytest.skip("there are no others")
    source = made()

    def throw(_item: object) -> None:
        raise LookupError

    bad, good = watch(source, on_value=throw), watch(source)
    with errors_of_the_hook() as dropped:
        feed(source, 1, 2)
        source.on_complete()
    assert [type(error) for error in dropped] == [LookupError]
    assert len(bad.values) == 1
    assert not bad.errors
    good.assert_complete()


@EVERY
def test_operators_push_without_a_queue(made: Any) -> None:
    source = made()
    chain = source.map(lambda x: x * 10).filter(lambda x: x > 10)
    assert type(chain) in (Flowable, Observable)
    if fusion_enabled():
        assert "pushed through, no queue" in chain.explain()
    assert repr(source) == f"{made.__name__}()"
    end: Any = TestSubscriber() if isinstance(source, FlowableProcessor) else TestObserver()
    chain.subscribe(end)
    feed(source, 1, 2, 3)
    source.on_complete()
    end.assert_complete()
    assert end.values == ([30] if made in (AsyncProcessor, AsyncSubject) else [20, 30])


@EVERY
def test_it_works_inside_other_operators(made: Any) -> None:
    source = made()
    end: Any = TestSubscriber() if isinstance(source, FlowableProcessor) else TestObserver()
    source.concat_map(lambda x: type(source)._face.of(x, x)).subscribe(end)
    feed(source, 1, 2)
    source.on_complete()
    end.assert_complete()
    assert end.values == ([2, 2] if made in (AsyncProcessor, AsyncSubject) else [1, 1, 2, 2])


@EVERY
def test_it_cannot_be_pickled(made: Any) -> None:
    with pytest.raises(TypeError, match="live"):
        pickle.dumps(made())


@EVERY
def test_an_item_sent_from_inside_on_next_comes_after_it(made: Any) -> None:
    if made in (AsyncProcessor, AsyncSubject):
        pytest.skip("sends one item only")
    source = made()
    seen: list[object] = []

    def again(item: int) -> None:
        seen.append(("in", item))
        if item < 3:
            source.on_next(item + 1)
        seen.append(("out", item))

    watch(source, on_value=again)
    feed(source, 1)
    assert seen == [(way, item) for item in (1, 2, 3) for way in ("in", "out")]


def test_a_million_items_sent_from_inside_on_next_do_not_deepen_the_stack() -> None:
    source = PublishProcessor[int]()
    count = 0

    def again(item: int) -> None:
        nonlocal count
        count = item
        if item < 100_000:
            source.on_next(item + 1)

    source.subscribe(again)
    source.on_next(1)
    assert count == 100_000


@EVERY
def test_subscribing_and_leaving_while_an_item_is_sent(made: Any) -> None:
    if made in (AsyncProcessor, AsyncSubject, UnicastProcessor, UnicastSubject):
        pytest.skip("one item, or one subscriber")
    source = made()
    late: list[Any] = []

    def meet(item: int) -> None:
        if item == 1:
            third.cancel()
            late.append(watch(source))

    first = watch(source, on_value=meet)
    third = watch(source)
    feed(source, 1, 2)
    source.on_complete()
    first.assert_values(1, 2).assert_complete()
    third.assert_no_values().assert_not_terminated()
    late[0].assert_complete()
    assert late[0].values == ([2] if made.__name__.startswith("Publish") else [1, 2])


# -- demand ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [PublishProcessor, BehaviorProcessor])
def test_who_has_not_asked_gets_missing_backpressure_and_the_others_go_on(made: Any) -> None:
    source = made()
    slow, fast = watch(source, request=1), watch(source)
    feed(source, 1, 2, 3)
    slow.assert_values(1).assert_error(MissingBackpressureError)
    fast.assert_values(1, 2, 3).assert_not_terminated()
    assert "PublishProcessor()" in str(slow.errors[0]) or made is BehaviorProcessor


def test_the_first_item_of_behavior_needs_demand_too() -> None:
    watch(BehaviorProcessor(1), request=0).assert_error(MissingBackpressureError)


@pytest.mark.parametrize("made", [PublishProcessor, BehaviorProcessor])
def test_offer_sends_only_what_everybody_can_take(made: Any) -> None:
    source = made()
    assert source.offer(1)
    slow, fast = watch(source, request=2), watch(source)
    left = 2 - len(slow.values)
    assert [source.offer(item) for item in (2, 3, 4)] == [True] * left + [False] * (3 - left)
    slow.assert_not_terminated()
    assert fast.values == slow.values
    slow.request(1)
    assert source.offer(5)
    slow.cancel()
    assert source.offer(6)
    with pytest.raises(TypeError, match="None"):
        source.offer(None)


@pytest.mark.parametrize("made", [ReplayProcessor, UnicastProcessor])
def test_what_was_not_requested_waits(made: Any) -> None:
    source = made()
    got = watch(source, request=1)
    feed(source, 1, 2, 3)
    source.on_complete()
    got.assert_values(1).assert_not_terminated()
    got.request(1).assert_values(1, 2).assert_not_terminated()
    got.request(1).assert_values(1, 2, 3).assert_complete()


def test_a_strategy_after_publish_keeps_what_was_not_requested() -> None:
    source = PublishProcessor[int]()
    got = TestSubscriber[int](request=1)
    source.on_backpressure_latest().subscribe(got)
    feed(source, 1, 2, 3)
    got.request(1).assert_values(1, 3)


def test_what_was_sent_is_free_when_nobody_needs_it() -> None:
    class Item: ...

    source = PublishProcessor[Item]()
    source.subscribe(lambda _item: None)
    bounded = ReplayProcessor[Item](1)
    items = [Item() for _ in range(3)]
    seen = [weakref.ref(item) for item in items]
    for item in items:
        source.on_next(item)
        bounded.on_next(item)
    del item
    items.clear()
    gc.collect()
    assert [ref() is None for ref in seen] == [True, True, False]  # replay(1) holds one, publish none


def test_a_long_history_is_given_back_without_recursion() -> None:
    source = ReplayProcessor[int]()
    for item in range(300_000):
        source.on_next(item)
    del source
    gc.collect()


# -- the rest ----------------------------------------------------------------------------------------------------------


def test_serialized_is_the_same_stream() -> None:
    source = PublishProcessor[int]()
    serialized = source.to_serialized()
    assert serialized.to_serialized() is serialized
    inner, outer = watch(source), watch(serialized)
    assert serialized.has_subscribers
    serialized.on_next(1)
    serialized.on_error(OOPS)
    with errors_of_the_hook() as dropped:
        serialized.on_error(KeyError("second"))
    assert len(dropped) == 1
    for got in (inner, outer):
        got.assert_values(1).assert_error(ValueError)
    assert serialized.failure is OOPS


def test_requesting_everything_in_parts_is_capped() -> None:
    source = ReplayProcessor[int]()
    got = watch(source, request=UNBOUNDED)
    got.request(UNBOUNDED)
    feed(source, 1)
    got.assert_values(1)
