"""Lossy operators drop what their consumer did not request: its window is the bound of memory, not the demand behind it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trio

import rx_trio
from rx_core import MissingBackpressureError
from rx_ops import BackpressureStrategy, Emitter, Flowable, OverflowStrategy, PublishProcessor, PublishSubject, Single
from rx_testing import VirtualScheduler
from tests.defects.watching import An, watch

Flow = Flowable[Any]
Send = Callable[[Any], object]
Make = Callable[[], tuple[Flow, Send]]


class Item:
    """Can be asked whether it is still referred to."""


def _created(strategy: BackpressureStrategy) -> Make:
    def make() -> tuple[Flow, Send]:
        emitters: list[Emitter[Any]] = []
        return Flowable.create(emitters.append, strategy), lambda item: emitters[0].on_next(item)

    return make


def _processor(lossy: Callable[[PublishProcessor[Any]], Flow]) -> Make:
    def make() -> tuple[Flow, Send]:
        processor = PublishProcessor[Any]()
        return lossy(processor), processor.on_next

    return make


def _subject(strategy: BackpressureStrategy) -> Make:
    def make() -> tuple[Flow, Send]:
        subject = PublishSubject[Any]()
        return subject.to_flowable(strategy), subject.on_next

    return make


#: What a consumer takes that is never done with an item, and the most it may hold.
CONSUMERS: dict[str, tuple[Callable[[Flow], Flow], int]] = {
    "concat_map": (lambda flow: flow.concat_map(lambda _item: Flowable.never()), 2),
    "flat_map": (lambda flow: flow.flat_map(lambda _item: Flowable.never(), max_concurrency=4), 4),
    # It may be a concat_map, which requests one item ahead.
    "flat_map of one": (lambda flow: flow.flat_map(lambda _item: Single.never(), max_concurrency=1), 2),
    "zip": (lambda flow: Flowable.zip(flow, Flowable.never()), 128),
}
#: How many items more each of them keeps by itself.
BOUNDED: dict[str, tuple[Make, int]] = {
    "create DROP": (_created(BackpressureStrategy.DROP), 0),
    "create LATEST": (_created(BackpressureStrategy.LATEST), 1),
    "buffer of ten": (_processor(lambda flow: flow.on_backpressure_buffer(10, overflow=OverflowStrategy.DROP_OLDEST)), 10),
}
UNBOUNDED_FUSED: dict[str, tuple[Make, int]] = {
    "on_backpressure_drop": (_processor(lambda flow: flow.on_backpressure_drop()), 0),
    "on_backpressure_latest": (_processor(lambda flow: flow.on_backpressure_latest()), 1),
    "to_flowable LATEST": (_subject(BackpressureStrategy.LATEST), 1),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("lossy", BOUNDED)
def test_memory_is_bounded_by_the_window_of_the_consumer(lossy: str, consumer: str) -> None:
    check_memory(*BOUNDED[lossy], *CONSUMERS[consumer])


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("lossy", UNBOUNDED_FUSED)
def test_memory_of_an_operator_that_drops_is_bounded_by_the_window_of_its_consumer(lossy: str, consumer: str) -> None:
    check_memory(*UNBOUNDED_FUSED[lossy], *CONSUMERS[consumer])


def check_memory(make: Make, kept: int, consume: Callable[[Flow], Flow], window: int) -> None:
    flow, send = make()
    log = watch(consume(flow))
    items = list(_sent(send, 1_000))
    gc.collect()
    assert sum(item() is not None for item in items) <= kept + window
    assert log.signals == []


def _sent(send: Send, count: int) -> Iterator[weakref.ref[Item]]:
    for _ in range(count):
        item = Item()
        yield weakref.ref(item)
        send(item)


def test_what_is_dropped_in_front_of_flat_map_is_told() -> None:
    processor, dropped = PublishProcessor[int](), list[int]()
    flow = processor.on_backpressure_drop(dropped.append)
    watch(flow.flat_map(lambda _item: Single.never(), max_concurrency=1))
    for number in range(1_000):
        processor.on_next(number)
    assert len(dropped) >= 998
    assert dropped == list(range(1_000 - len(dropped), 1_000))


# Sources that fail where an item was not requested

FAILING: dict[str, Make] = {
    "create ERROR": _created(BackpressureStrategy.ERROR),
    "to_flowable ERROR": _subject(BackpressureStrategy.ERROR),
}


@pytest.mark.parametrize("consumer", ["concat_map", "flat_map", "flat_map of one"])
@pytest.mark.parametrize("source", FAILING)
def test_an_item_beyond_the_window_of_the_consumer_fails_the_stream(source: str, consumer: str) -> None:
    check_failure(FAILING[source], CONSUMERS[consumer][0])


@pytest.mark.parametrize("source", FAILING)
def test_an_item_beyond_the_window_of_zip_fails_the_stream(source: str) -> None:
    check_failure(FAILING[source], CONSUMERS["zip"][0])


@pytest.mark.parametrize("consumer", ["concat_map", "flat_map", "flat_map of one"])
def test_an_item_of_a_processor_beyond_the_window_of_the_consumer_fails_the_stream(consumer: str) -> None:
    check_failure(_processor(lambda flow: flow), CONSUMERS[consumer][0])


def check_failure(make: Make, consume: Callable[[Flow], Flow]) -> None:
    flow, send = make()
    log = watch(consume(flow))
    for number in range(1_000):
        send(number)
    assert log.signals == [An(MissingBackpressureError)]


def test_a_stalled_group_fails_a_hot_source_with_an_error_that_is_signalled_at_once() -> None:
    processor = PublishProcessor[int]()
    groups = processor.group_by(lambda number: number % 2)
    log = watch(groups.flat_map(lambda group: group.concat_map(lambda _item: Flowable.never()) if group.key else group))
    number = 0
    while processor.has_subscribers and number < 5_000:
        processor.on_next(number)
        number += 1
    assert log.signals[-1] == An(MissingBackpressureError)
    assert log.signals[:-1] == list(range(0, number - 1, 2))


# The latest at each turn, for a consumer that takes one item at a time


def test_observe_on_gives_the_latest_item_at_each_turn_of_its_worker(clock: VirtualScheduler) -> None:
    processor = PublishProcessor[int]()
    log = watch(processor.on_backpressure_latest().observe_on(clock, prefetch=1))
    for turn in range(1, 4):
        for number in range(10):
            processor.on_next(turn * 10 + number)
        clock.run_due()
        assert log.signals[-1] == turn * 10 + 9
        assert len(log.signals) <= 2 * turn  # what was requested before may have come first


class Feeding:
    """A source that sends ten items for each that a loop takes, of which the loop wants the latest."""

    def __init__(self) -> None:
        self.processor = PublishProcessor[int]()
        self.flow = self.processor.start_with(0).on_backpressure_latest()
        self.newest = [0]
        self.taken = list[int]()

    def turn(self, item: int) -> bool:
        """What the loop does with an item; False when it is to end."""
        self.taken.append(item)
        first = self.newest[-1] + 1
        for number in range(first, first + 10):
            self.processor.on_next(number)
        self.newest.append(number)
        return len(self.taken) < 8

    def check(self) -> None:
        """An item may have been requested a turn before it was taken, but not earlier."""
        assert len(self.taken) == 8
        for turn, item in enumerate(self.taken[2:], 2):
            assert item >= self.newest[turn - 1], self.taken


def test_a_loop_that_prefetches_one_item_gets_the_latest_at_each_turn() -> None:
    feeding = Feeding()
    for item in feeding.flow.blocking_iter(prefetch=1):
        if not feeding.turn(item):
            break
    feeding.check()


def test_a_loop_of_a_task_that_prefetches_one_item_gets_the_latest_at_each_turn() -> None:
    feeding = Feeding()

    async def main() -> None:
        async with rx_trio.stream(feeding.flow, prefetch=1) as items:
            async for item in items:
                if not feeding.turn(item):
                    break

    trio.run(main)
    feeding.check()
