"""Sources that send while they are subscribed, behind observe_on: items come out on the worker meanwhile, and none is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import scheduler as named
from rx_ops import (
    BackpressureStrategy,
    BehaviorProcessor,
    Emitter,
    Flowable,
    Observable,
    PublishProcessor,
    ReplayProcessor,
    UnicastProcessor,
)
from rx_testing import TestSubscriber, VirtualScheduler

# -- on a worker -------------------------------------------------------------------------------------------------------------


class Conversation:
    """A source that goes on only when its last item has come out below."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.answers: list[bool] = []
        self.threads: dict[str, set[int]] = {"sends": set(), "maps": set(), "takes": set()}

    def talk(self, emitter: Any) -> None:
        for n in range(3):
            self.came.clear()
            self.threads["sends"].add(threading.get_ident())
            emitter.on_next(n)
            self.answers.append(self.came.wait(10.0))
        emitter.on_complete()

    def map(self, item: Any) -> Any:
        self.threads["maps"].add(threading.get_ident())
        return item

    def take(self, _item: Any) -> None:
        self.threads["takes"].add(threading.get_ident())
        self.came.set()


BEFORE: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda flow: flow,
    "hide": lambda flow: flow.hide(),
    "map": lambda flow: flow.map(lambda x: x),
    "on_backpressure_buffer": lambda flow: flow.on_backpressure_buffer(),
    "on_backpressure_drop": lambda flow: flow.on_backpressure_drop(),
    "on_backpressure_latest": lambda flow: flow.on_backpressure_latest(),
    "throttle_first": lambda flow: flow.throttle_first(1e-9),
    "throttle_latest": lambda flow: flow.throttle_latest(1e-3),
    "debounce": lambda flow: flow.debounce(1e-3),
    "sample": lambda flow: flow.sample(1e-3),
    "delay": lambda flow: flow.delay(1e-3),
    "timeout": lambda flow: flow.timeout(100.0),
    "hidden debounce": lambda flow: flow.debounce(1e-3).hide(),
    "merge": lambda flow: flow.merge_with(type(flow).empty()),
    "concat, second": lambda flow: type(flow).empty().concat_with(flow),
    "concat_map, inner": lambda flow: type(flow).just(0).concat_map(lambda _x: flow),
    "hidden concat_map, inner": lambda flow: type(flow).just(0).concat_map(lambda _x: flow).hide(),
    "window": lambda flow: flow.window(1).flat_map(lambda window: window),
    "group_by": lambda flow: flow.group_by(lambda x: x).flat_map(lambda group: group),
    "publish": lambda flow: flow.publish(lambda shared: shared),
}


TALKS = [(Flowable, name) for name in BEFORE] + [(Observable, name) for name in BEFORE if "backpressure" not in name]


@pytest.mark.parametrize(("face", "before"), TALKS)
def test_items_come_out_on_the_worker_while_the_source_is_still_sending(face: Any, before: str) -> None:
    conversation = Conversation()
    if face is Flowable:
        source: Any = Flowable.create(conversation.talk, BackpressureStrategy.BUFFER)
    else:
        source = Observable.create(conversation.talk)
    over = threading.Event()
    flow = BEFORE[before](source).observe_on(named("single")).map(conversation.map)
    flow.subscribe(conversation.take, on_complete=over.set)
    assert over.wait(10.0)
    assert conversation.answers == [True, True, True]
    assert conversation.threads["maps"] == conversation.threads["takes"]
    assert threading.get_ident() not in conversation.threads["takes"]
    if "second" not in before and "inner" not in before:  # those are subscribed where the one before ends: on the worker
        assert conversation.threads["sends"] == {threading.get_ident()}


def test_a_subscriber_on_a_worker_stops_a_source_that_is_still_sending() -> None:
    three = threading.Event()
    stopped = threading.Event()

    def emit(emitter: Emitter[int]) -> None:
        emitter.set_cancellable(stopped.set)
        for n in range(3):
            emitter.on_next(n)
        assert three.wait(10.0)
        assert stopped.wait(10.0)

    got: list[int] = []
    flow: Flowable[int] = Flowable.create(emit, BackpressureStrategy.BUFFER)
    flow.observe_on(named("single")).take(3).subscribe(got.append, on_complete=three.set)
    assert got == [0, 1, 2]


# -- asked for before the worker's first turn --------------------------------------------------------------------------------


def _ticks(clock: VirtualScheduler) -> Flowable[int]:
    return Flowable.interval(1.0, scheduler=clock)


EARLY: dict[str, Callable[[VirtualScheduler], Flowable[int]]] = {
    "interval": _ticks,
    "interval of another kind": lambda clock: _ticks(clock).merge_with(Flowable.never()),
    "timed stages": lambda clock: _ticks(clock).map(lambda x: x).filter(lambda _x: True),
    "debounce": lambda clock: _ticks(clock).on_backpressure_buffer().debounce(0.1, scheduler=clock),
    "sample": lambda clock: _ticks(clock).on_backpressure_buffer().sample(1.0, scheduler=clock),
    "on_backpressure_drop": lambda clock: _ticks(clock).on_backpressure_drop(),
    "on_backpressure_latest": lambda clock: _ticks(clock).on_backpressure_latest(),
    "delay": lambda clock: _ticks(clock).delay(0.0, scheduler=clock),
}


WALLS: dict[str, Callable[[Flowable[int]], Flowable[int]]] = {
    "open": lambda flow: flow,
    "hide": lambda flow: flow.hide(),
    "hide, map": lambda flow: flow.hide().map(lambda x: x),
    "map, hide, filter, hide": lambda flow: flow.map(lambda x: x).hide().filter(lambda _x: True).hide(),
}


COMBINED = [(kind, wall) for kind in EARLY for wall in WALLS]


@pytest.mark.parametrize(("kind", "wall"), COMBINED)
def test_what_comes_by_itself_may_come_before_the_workers_first_turn(kind: str, wall: str) -> None:
    clock, worker = VirtualScheduler(), VirtualScheduler()
    subscriber = TestSubscriber[int]()
    WALLS[wall](EARLY[kind](clock)).observe_on(worker).subscribe(subscriber)
    clock.advance_by(3.5)
    subscriber.assert_values()
    worker.run_due()
    assert len(subscriber.values) >= 2, subscriber
    subscriber.assert_values(*range(len(subscriber.values))).assert_not_terminated()
    clock.advance_by(200.0)
    worker.run_due()
    subscriber.cancel()


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("processor", [PublishProcessor, BehaviorProcessor, ReplayProcessor, UnicastProcessor])
def test_a_processor_may_be_fed_before_the_workers_first_turn(processor: Any, wall: str) -> None:
    worker = VirtualScheduler()
    subscriber = TestSubscriber[int]()
    source = processor()
    WALLS[wall](source).observe_on(worker).subscribe(subscriber)
    for n in range(3):
        source.on_next(n)
    source.on_complete()
    worker.run_due()
    subscriber.assert_result(0, 1, 2)


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("strategy", BackpressureStrategy)
def test_a_created_source_may_send_before_the_workers_first_turn(strategy: BackpressureStrategy, wall: str) -> None:
    def emit(emitter: Emitter[int]) -> None:
        for n in range(3):
            emitter.on_next(n)
        emitter.on_complete()

    worker = VirtualScheduler()
    subscriber = TestSubscriber[int]()
    WALLS[wall](Flowable.create(emit, strategy)).observe_on(worker).subscribe(subscriber)
    worker.run_due()
    subscriber.assert_result(0, 1, 2)


@pytest.mark.parametrize("wall", [name for name in WALLS if "hide" in name])  # else it is one run, which everything is wanted of
def test_more_than_a_boundary_asks_for_is_still_too_much(wall: str) -> None:
    clock, worker = VirtualScheduler(), VirtualScheduler()
    subscriber = TestSubscriber[int]()
    WALLS[wall](_ticks(clock).on_backpressure_drop()).observe_on(worker, prefetch=2).subscribe(subscriber)
    clock.advance_by(4.5)
    worker.run_due()
    subscriber.assert_values(0, 1)
    subscriber.cancel()


@pytest.mark.parametrize("wall", [name for name in WALLS if "hide" in name])
def test_what_is_computed_on_request_is_computed_on_the_worker(wall: str) -> None:
    worker = VirtualScheduler()
    subscriber = TestSubscriber[int]()
    computed: list[int] = []
    source = Flowable.range(3).do_on_next(computed.append)
    WALLS[wall](source).observe_on(worker).subscribe(subscriber)
    assert computed == []
    worker.run_due()
    assert computed == [0, 1, 2]
    subscriber.assert_result(0, 1, 2)


BY_THEMSELVES: dict[str, Callable[[VirtualScheduler], Flowable[Any]]] = {
    **EARLY,
    "timer": lambda clock: Flowable.timer(1.0, scheduler=clock),
    "throttle_first": lambda clock: _ticks(clock).throttle_first(0.5, scheduler=clock),
    "throttle_latest": lambda clock: _ticks(clock).throttle_latest(0.5, scheduler=clock),
    "buffer_time": lambda clock: _ticks(clock).buffer(seconds=2.0, scheduler=clock),
    "timeout": lambda clock: _ticks(clock).timeout(5.0, scheduler=clock),
    "concat": lambda clock: Flowable.concat(Flowable.empty(), _ticks(clock)),
    "do_finally": lambda clock: _ticks(clock).do_finally(lambda: None),
    "take_until": lambda clock: _ticks(clock).take_until(Flowable.never()),
}


@pytest.mark.parametrize("kind", BY_THEMSELVES)
def test_what_comes_by_itself_waits_at_a_boundary_that_asked_for_it(kind: str) -> None:
    seen: list[list[Any]] = []
    for wall in WALLS.values():
        clock, worker = VirtualScheduler(), VirtualScheduler()
        subscriber = TestSubscriber[Any](request=0)
        wall(BY_THEMSELVES[kind](clock)).observe_on(worker).subscribe(subscriber)
        worker.run_due()
        for _ in range(10):
            clock.advance_by(0.5)
            worker.run_due()
        subscriber.request(10)
        worker.run_due()
        assert subscriber.error is None
        seen.append(list(subscriber.values))
    assert seen[0], "nothing came"
    assert all(each == seen[0] for each in seen), seen
