"""What micro-fusion promises beside the rules its verification checks: sources that are called, conditions, threads, switches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import FlowableBase, Subscriber
from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC
from rx_fusion import (
    Feed,
    IterableHead,
    OperatorHead,
    PlainFlow,
    PublisherHead,
    as_callable_source,
    as_scalar,
    fusion_enabled,
    fusion_off,
    operator,
    stage,
)
from rx_testing import ManualPublisher, TestSubscriber


@stage
def mapped(source: Any, function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        yield function(item)


@stage
def odd(source: Any) -> Iterator[Any]:
    for item in source:
        if item % 2:
            yield item


@stage
def first(source: Any, count: int) -> Iterator[Any]:
    left = count
    if not left:
        return
    for item in source:
        left -= 1
        yield item
        if not left:
            return


@stage
def pairs(source: Any) -> Iterator[Any]:
    half: list[Any] = []
    for item in source:
        half.append(item)
        if len(half) == 2:
            yield tuple(half)
            half = []
    if half:
        yield tuple(half)


@operator
def relayed(run: Any, source: Any) -> Iterator[Any]:
    yield from source


def of(*items: Any) -> PlainFlow[Any]:
    return PlainFlow(IterableHead("of", items, f"of{items}", feed=Feed.CLEAN))


def wrapped(publisher: Any) -> PlainFlow[Any]:
    return PlainFlow(PublisherHead("wrap", publisher, "wrap(...)"))


class Poller:
    """Asks for a mode when it is subscribed."""

    def __init__(self, mode: int) -> None:
        self.mode = mode
        self.granted = -1
        self.signals: list[Any] = []
        self.queue: Any = None

    def on_subscribe(self, subscription: Any, /) -> None:
        self.queue = subscription
        self.granted = subscription.request_fusion(self.mode) if hasattr(subscription, "request_fusion") else NONE

    def on_next(self, item: Any, /) -> None:
        self.signals.append(item)

    def on_error(self, error: Exception, /) -> None:
        self.signals.append(error)

    def on_complete(self) -> None:
        self.signals.append("|")


def polled(flow: FlowableBase[Any], mode: int = ANY) -> Poller:
    poller = Poller(mode)
    flow.subscribe(poller)
    return poller


class Called(FlowableBase[int]):
    """A source of one item that somebody else wrote."""

    calls = 0

    def rx_call(self) -> int | None:
        self.calls += 1
        return 7

    def subscribe_actual(self, subscriber: Subscriber[int], /) -> None:
        of(7).subscribe(subscriber)


class Known(Called):
    def __init__(self, item: int | None) -> None:
        self.item = item

    def rx_scalar(self) -> int | None:
        return self.item

    rx_call = rx_scalar


def test_without_fusion_no_source_of_one_item_is_called() -> None:
    source = Called()
    with fusion_off():
        assert list(PlainFlow(OperatorHead(relayed, (source,)))._iterate()) == [7]
        assert as_callable_source(source) is None
    assert source.calls == 0


def test_ours_can_be_asked_whether_they_are_constants() -> None:
    assert as_scalar(of(4)).rx_scalar() == 4  # type: ignore[union-attr]  # it is one
    assert as_scalar(of()).rx_scalar() is None  # type: ignore[union-attr]  # it is one
    assert as_scalar(of(1, 2)) is None
    assert as_scalar(of(4)._then(mapped, str)) is None
    known = Known(1)
    assert as_scalar(known) is known


def test_ours_can_be_called_when_they_give_at_most_one_item() -> None:
    seen: list[int] = []

    def tenfold(item: int) -> int:
        seen.append(item)
        return item * 10

    source = as_callable_source(of(4)._then(mapped, tenfold))
    assert source is not None
    assert seen == []
    assert source.rx_call() == 40
    assert seen == [4]
    assert as_callable_source(of(1, 2)) is None
    assert as_callable_source(of(4)._then(pairs)) is None
    assert as_callable_source(of(4)._then(odd)).rx_call() is None  # type: ignore[union-attr]  # it is one


class Choosy(TestSubscriber[Any]):
    """Takes what is large enough."""

    def __init__(self, initial: int, least: int) -> None:
        super().__init__(initial)
        self.least = least
        self.refused: list[Any] = []

    def try_on_next(self, item: Any, /) -> bool:
        if item < self.least:
            self.refused.append(item)
            return False
        self.on_next(item)
        return True


def test_what_a_conditional_subscriber_turns_down_does_not_count() -> None:
    subscriber = Choosy(2, 3)
    of(*range(9)).subscribe(subscriber)
    subscriber.assert_values(3, 4)
    assert subscriber.refused == [0, 1, 2]
    subscriber.request(1)
    subscriber.assert_values(3, 4, 5)


def test_a_conditional_subscriber_completes_with_the_last_item() -> None:
    subscriber = Choosy(9, 2)
    of(*range(4))._then(first, 3).subscribe(subscriber)
    subscriber.assert_result(2)
    assert subscriber.refused == [0, 1]


class Conditional:
    """A source of numbers that tries its subscriber, where that can be tried."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.requests: list[int] = []

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.requests.append(n)
        at = 0
        while n and at < self.count:
            n -= self.down.try_on_next(at)
            at += 1

    def cancel(self) -> None:
        pass


def test_fused_stages_tell_a_source_what_they_dropped() -> None:
    source = Conditional(10)
    subscriber: TestSubscriber[Any] = TestSubscriber(3)
    wrapped(source)._then(odd)._then(mapped, str).subscribe(subscriber)
    subscriber.assert_values("1", "3", "5")
    assert source.requests == [3]


def test_stages_with_a_conditional_subscriber_pass_its_answer_on() -> None:
    source = Conditional(10)
    subscriber = Choosy(2, 4)
    wrapped(source)._then(odd).subscribe(subscriber)
    subscriber.assert_values(5, 7)
    assert source.requests == [2]


def test_a_stage_that_stops_is_the_end_for_a_conditional_source() -> None:
    source = Conditional(10)
    subscriber: TestSubscriber[Any] = TestSubscriber(5)
    wrapped(source)._then(odd)._then(first, 2).subscribe(subscriber)
    subscriber.assert_result(1, 3)


def test_polling_stages_end_with_what_comes_behind_the_last_item() -> None:
    poller = polled(wrapped(of(1, 2, 3))._then(pairs), SYNC)
    assert poller.granted == SYNC
    assert [poller.queue.poll() for _ in range(4)] == [(1, 2), (3,), None, None]
    assert poller.signals == []


def test_stages_with_an_end_of_their_own_are_not_polled_asynchronously() -> None:
    hot: ManualPublisher[int] = ManualPublisher()
    for stages in (wrapped(hot)._then(pairs), wrapped(hot)._then(first, 2)):
        assert polled(stages, ASYNC).granted == NONE


def test_a_failing_stage_fails_the_poll_with_its_note() -> None:
    poller = polled(wrapped(of(1, 0))._then(mapped, lambda item: 1 // item), SYNC)
    assert poller.queue.poll() == 1
    with pytest.raises(ZeroDivisionError) as caught:
        poller.queue.poll()
    assert any("mapped" in note for note in caught.value.__notes__)
    assert poller.queue.poll() is None


def test_a_poll_on_another_thread_is_refused_where_functions_would_move() -> None:
    assert polled(of(1, 2), ANY | BOUNDARY).granted == SYNC
    assert polled(of(1, 2)._then(mapped, str), ANY | BOUNDARY).granted == NONE
    assert polled(wrapped(of(1, 2))._then(odd), ANY | BOUNDARY).granted == NONE
    assert polled(wrapped(of(1, 2)), ANY | BOUNDARY).granted == SYNC


def test_an_interrupted_poll_is_not_the_end() -> None:
    def interrupt(item: int) -> int:
        raise KeyboardInterrupt

    poller = polled(of(1, 2)._then(mapped, interrupt), SYNC)
    with pytest.raises(KeyboardInterrupt):
        poller.queue.poll()
    assert poller.queue.poll() is None
    assert poller.signals == []


def test_cancelling_closes_the_source_while_nobody_polls() -> None:
    closed = threading.Event()

    class Items:
        def __iter__(self) -> Iterator[int]:
            try:
                yield from range(9)
            finally:
                closed.set()

    poller = polled(PlainFlow(IterableHead("items", Items(), "items")), SYNC)
    assert poller.queue.poll() == 0
    poller.queue.cancel()
    assert closed.is_set()
    assert poller.queue.poll() is None


# -- the switch ------------------------------------------------------------------------------------------------------------


def test_blocks_without_fusion_may_end_in_any_order() -> None:
    """As those of two threads do: the switch is the process's."""
    first, second = fusion_off(), fusion_off()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not fusion_enabled()
    second.__exit__(None, None, None)
    assert fusion_enabled()
