"""Sources that send while they are being subscribed: slowly, or without end.

Who subscribes is busy as long as such a source sends. What is downstream must go on meanwhile, on the worker where there is one
and between two items where there is none, and a stream that has enough must stop its source.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import UNBOUNDED, BufferWatch, Disposable, FlowableBase, ObservableBase, Observer, Subscriber
from rx_ops import (
    BackpressureStrategy,
    Emitter,
    Flowable,
    Observable,
)
from rx_testing import TestSubscriber, VirtualScheduler

#: So many items are as good as endless: a source that was not stopped says so by having sent them all.
ENDLESS = 20_000


#: A source that has sent more than this was not stopped when it could have been.
SOON = 1000


class Counted:
    """What the sources below have in common: how much they have sent."""

    def __init__(self) -> None:
        self.sent = 0


class Stop(Disposable):
    def __init__(self) -> None:
        self.is_stopped = False

    def dispose(self) -> None:
        self.is_stopped = True

    @property
    def is_disposed(self) -> bool:
        return self.is_stopped


class PushingObservable(ObservableBase[int], Counted):
    """Somebody else's: sends all it has at once, and looks between two items whether it is wanted."""

    def subscribe_actual(self, observer: Observer[int], /) -> None:
        stop = Stop()
        observer.on_subscribe(stop)
        while not stop.is_stopped and self.sent < ENDLESS:
            self.sent += 1
            observer.on_next(self.sent)
        if not stop.is_stopped:
            observer.on_complete()


class AnsweringFlowable(FlowableBase[int], Counted):
    """Somebody else's: answers a request with as many items, inside the call."""

    def subscribe_actual(self, subscriber: Subscriber[int], /) -> None:
        subscriber.on_subscribe(_Answers(self, subscriber))


class _Answers:
    def __init__(self, source: AnsweringFlowable, down: Subscriber[int]) -> None:
        self.source, self.down = source, down
        self.wanted = 0
        self.cancelled = self.busy = False

    def request(self, n: int, /) -> None:
        self.wanted += n
        if self.busy:
            return
        self.busy = True
        while self.wanted and not self.cancelled and self.source.sent < ENDLESS:
            self.wanted -= 1
            self.source.sent += 1
            self.down.on_next(self.source.sent)
        self.busy = False
        if self.source.sent == ENDLESS and not self.cancelled:
            self.cancelled = True
            self.down.on_complete()

    def cancel(self) -> None:
        self.cancelled = True


def _emitting(count: Counted) -> Callable[[Emitter[int]], None]:
    def emit(emitter: Emitter[int]) -> None:
        while not emitter.is_cancelled and count.sent < ENDLESS:
            count.sent += 1
            emitter.on_next(count.sent)
        emitter.on_complete()

    return emit


def _pushing() -> tuple[Counted, Any]:
    source = PushingObservable()
    return source, Observable.wrap(source)


def _answering() -> tuple[Counted, Any]:
    source = AnsweringFlowable()
    return source, Flowable.wrap(source)


def _created_flowable() -> tuple[Counted, Any]:
    count = Counted()
    return count, Flowable.create(_emitting(count), BackpressureStrategy.BUFFER)


def _created_observable() -> tuple[Counted, Any]:
    count = Counted()
    return count, Observable.create(_emitting(count))


def _hidden_created() -> tuple[Counted, Any]:
    count, flow = _created_flowable()
    return count, flow.map(lambda x: x).hide()


SOURCES = {
    "observable": _pushing,
    "flowable": _answering,
    "Flowable.create": _created_flowable,
    "Observable.create": _created_observable,
    "Flowable.create hidden": _hidden_created,
}


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "nothing": lambda flow, _face: flow,
    "hide": lambda flow, _face: flow.hide(),
    "map": lambda flow, _face: flow.map(lambda x: x),
    "merge": lambda flow, face: face.merge(flow, face.never()),
    "merge, second": lambda flow, face: face.merge(face.never(), flow),
    "flat_map": lambda flow, face: flow.flat_map(face.just),
    "flat_map to hidden ones": lambda flow, face: flow.flat_map(lambda x: face.just(x).hide()),
    "flat_map, inner": lambda flow, face: face.just(0).flat_map(lambda _x: flow),
    "flat_map, inner, hidden": lambda flow, face: face.just(0).flat_map(lambda _x: flow).hide(),
    "concat": lambda flow, face: face.concat(face.empty(), flow),
    "concat, hidden ones first": lambda flow, face: face.concat(face.empty().hide(), face.empty().hide(), flow),
    "concat_map, inner": lambda flow, face: face.just(0).concat_map(lambda _x: flow),
    "concat_map to hidden ones": lambda flow, face: flow.concat_map(lambda x: face.just(x).hide()),
    "switch_map, inner": lambda flow, face: face.just(0).switch_map(lambda _x: flow),
    "zip with itself hidden": lambda flow, face: face.zip(face.range(10**6).hide(), flow, combiner=lambda _a, b: b),
    "with_latest_from": lambda flow, face: flow.with_latest_from(face.just(0), combiner=lambda a, _b: a),
    "with_latest_from a created one": lambda flow, face: flow.with_latest_from(face.just(0).hide(), combiner=lambda a, _b: a),
    "take_until": lambda flow, face: flow.take_until(face.never()),
    "amb": lambda flow, face: face.amb(flow, face.never()),
    "first_with_value": lambda flow, face: face.first_with_value(flow, face.never()),
    "retry": lambda flow, _face: flow.retry(2),
    "repeat": lambda flow, _face: flow.repeat(2),
    "timeout": lambda flow, _face: flow.timeout(100.0, scheduler=VirtualScheduler()),
    "group_by": lambda flow, _face: flow.group_by(lambda _x: 0).flat_map(lambda group: group),
    "window": lambda flow, _face: flow.window(2).flat_map(lambda window: window),
    "buffer": lambda flow, _face: flow.flat_map_iterable(lambda x: (x,)),
}


def _run_for_subscriber(flow: Any) -> list[int]:
    if isinstance(flow, Observable):
        got: list[int] = []
        flow.subscribe(got.append)
        return got
    subscriber = TestSubscriber[int]()
    flow.subscribe(subscriber)
    return list(subscriber.values)


ENDS: dict[str, Callable[[Any], list[int]]] = {
    "blocking_list": lambda flow: flow.take(3).blocking_list(),
    "a subscriber": lambda flow: _run_for_subscriber(flow.take(3)),
    "blocking_first": lambda flow: [flow.blocking_first(), 2, 3],
    "first": lambda flow: [flow.first().blocking_get(), 2, 3],
    "blocking_get with a time": lambda flow: flow.take(3).to_list().blocking_get(seconds=100.0),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", SOURCES)
def test_an_endless_source_is_stopped_when_the_stream_has_enough(kind: str, operator: str, end: str) -> None:
    count, flow = SOURCES[kind]()
    face = Observable if isinstance(flow, Observable) else Flowable
    with BufferWatch() as watch:
        assert ENDS[end](OPERATORS[operator](flow, face)) == [1, 2, 3]
    assert count.sent < SOON, f"{kind} was not stopped"
    assert watch.peak < SOON


@pytest.mark.parametrize("operator", OPERATORS)
def test_leaving_a_loop_stops_a_source_that_answers_requests(operator: str) -> None:
    count, flow = _answering()
    got = []
    for item in OPERATORS[operator](flow, Flowable):
        got.append(item)
        if len(got) == 3:
            break
    assert got == [1, 2, 3]
    assert count.sent < SOON


@pytest.mark.parametrize("kind", SOURCES)
def test_all_items_come_when_the_source_has_an_end(kind: str) -> None:
    _, flow = SOURCES[kind]()
    assert flow.merge_with(type(flow).empty()).blocking_list() == list(range(1, ENDLESS + 1))


def test_an_error_behind_a_sending_source_stops_it_and_is_raised_where_somebody_waits() -> None:
    count, flow = _pushing()
    with pytest.raises(ZeroDivisionError):
        flow.merge_with(Observable.never()).map(lambda x: 1 // (3 - x)).blocking_list()
    assert count.sent == 3


def test_a_time_limit_holds_for_a_source_that_sends_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ENDLESS", 10**9)  # 20,000 may be sent before the clock's thread gets its turn
    count, flow = _pushing()
    with pytest.raises(TimeoutError):
        flow.filter(lambda _x: False).first().blocking_get(seconds=0.001)
    assert count.sent < ENDLESS


#: Streams that are busy for ever without giving anything.
BUSY: dict[str, Callable[[], Any]] = {
    "iterated": lambda: Flowable.from_iterable(itertools.count()).filter(lambda _x: False),
    "iterated, hidden": lambda: Flowable.from_iterable(itertools.count()).hide().filter(lambda _x: False),
    "iterated in concat_map": lambda: Flowable.just(0).concat_map(
        lambda _x: Flowable.from_iterable(itertools.count()).filter(lambda _x: False)
    ),
    "answering, in flat_map": lambda: Flowable.range(10**9).hide().flat_map(lambda _x: Flowable.empty()),
}


@pytest.mark.parametrize("kind", BUSY)
def test_a_time_limit_holds_for_a_stream_that_is_busy_without_giving_anything(kind: str) -> None:
    with pytest.raises(TimeoutError):
        BUSY[kind]().first().blocking_get(seconds=0.01)


def test_a_source_asked_for_everything_later_on_is_stopped_too() -> None:
    count, flow = _answering()
    subscriber = TestSubscriber[int](request=0)
    flow.retry(2).take(3).subscribe(subscriber)
    assert count.sent == 0
    subscriber.request(1)
    assert count.sent == 1
    subscriber.request(UNBOUNDED)
    subscriber.assert_result(1, 2, 3)
    assert count.sent == 3


def test_mapped_sources_that_push_are_made_as_they_are_needed() -> None:
    made: list[int] = []

    def inner(x: int) -> Observable[int]:
        def emit(emitter: Emitter[int]) -> None:
            emitter.on_next(x)
            emitter.on_complete()

        made.append(x)
        return Observable.create(emit)

    assert Observable.range(1000).flat_map(inner).take(3).blocking_list() == [0, 1, 2]
    assert len(made) <= 8
