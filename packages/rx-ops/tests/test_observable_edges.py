"""Observable at its edges: foreign observables in and out, late signals, and the way to and from Flowable."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Flowable, Observable, PublishSubject
from rx_testing import ManualPublisher, TestObserver, TestSubscriber, VirtualScheduler

if TYPE_CHECKING:
    from rx_core import ObservableSource, Observer

T = TypeVar("T")


class Naturals:
    def __iter__(self) -> Iterator[int]:
        return count()


NATURALS = Naturals()


class Handle:
    def __init__(self) -> None:
        self.is_disposed = False

    def dispose(self) -> None:
        self.is_disposed = True


class ManualObservable(Generic[T]):
    """A foreign, hot observable: ``subscribe`` and nothing of ours. It goes on sending after it was disposed, as some do."""

    def __init__(self) -> None:
        self.observers: list[Observer[T]] = []
        self.handles: list[Handle] = []

    def subscribe(self, observer: Observer[T], /) -> None:
        self.observers.append(observer)
        self.handles.append(Handle())
        observer.on_subscribe(self.handles[-1])

    def next(self, *items: T) -> None:
        for item in items:
            for observer in self.observers:
                observer.on_next(item)

    def error(self, error: Exception) -> None:
        for observer in self.observers:
            observer.on_error(error)

    def complete(self) -> None:
        for observer in self.observers:
            observer.on_complete()


class Flood:
    """A foreign observable that sends all it has while it is being subscribed."""

    def __init__(self, size: int) -> None:
        self.size = size

    def subscribe(self, observer: Observer[int], /) -> None:
        observer.on_subscribe(Handle())
        for number in range(self.size):
            observer.on_next(number)
        observer.on_complete()


# -- foreign in and out ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fused", [True, False])
def test_a_foreign_observable_is_pushed_through_the_stages(fused: bool) -> None:
    source = ManualObservable[int]()
    observer = TestObserver[int]()
    stream = Observable.wrap(source).map(lambda x: x + 1).filter(lambda x: x != 2)
    if fused:
        stream.subscribe(observer)
    else:
        with fusion_off():
            stream.subscribe(observer)
    source.next(0)
    observer.assert_values(1)
    source.next(1, 2)
    source.complete()
    observer.assert_result(1, 3)


def test_wrap_keeps_ours_and_refuses_what_is_none() -> None:
    ours = Observable.range(3)
    assert Observable.wrap(ours) is ours
    wrap: Any = Observable.wrap
    with pytest.raises(TypeError, match="Observable"):
        wrap(3)


def test_ours_serves_a_foreign_observer() -> None:
    log: list[object] = []

    class Foreign:
        def on_subscribe(self, disposable: Any, /) -> None:
            log.append(disposable.is_disposed)

        def on_next(self, item: int, /) -> None:
            log.append(item)

        def on_error(self, error: Exception, /) -> None:
            log.append(error)

        def on_complete(self) -> None:
            log.append("end")

    Observable.range(2).subscribe(Foreign())
    assert log == [False, 0, 1, "end"]


@pytest.mark.parametrize("operator", ["merge", "concat", "flat_map", "concat_map"])
def test_a_flood_is_not_refused(operator: str) -> None:
    flood, wrapped = Flood(1_000), Observable.wrap(Flood(1_000))
    both: list[ObservableSource[int]] = [flood, wrapped]
    streams: dict[str, Observable[int]] = {
        "merge": Observable.merge(flood, wrapped),
        "concat": Observable.concat(flood, wrapped),
        "flat_map": Observable.from_iterable(both).flat_map(lambda source: source),
        "concat_map": Observable.from_iterable(both).concat_map(lambda source: source),
    }
    observer = TestObserver[int]()
    streams[operator].subscribe(observer)
    observer.assert_value_count(2_000).assert_complete()
    assert len(streams[operator].blocking_list()) == 2_000


def test_a_flood_waits_for_its_partner_in_zip() -> None:
    slow = ManualObservable[str]()
    observer = TestObserver[tuple[int, str]]()
    Observable.zip(Flood(1_000), slow).subscribe(observer)
    slow.next("a", "b")
    observer.assert_values((0, "a"), (1, "b"))
    slow.complete()
    observer.assert_complete()


def test_a_hot_source_reaches_all_its_observers_and_each_can_leave() -> None:
    source = ManualObservable[int]()
    stream = Observable.wrap(source)
    first, second = TestObserver[int](), TestObserver[int](cancel_after=2)
    stream.subscribe(first)
    source.next(1)
    stream.map(lambda x: -x).subscribe(second)
    source.next(2, 3, 4)
    source.complete()
    first.assert_result(1, 2, 3, 4)
    second.assert_values(-2, -3).assert_not_terminated()
    assert [handle.is_disposed for handle in source.handles] == [False, True]


def test_dispose_in_on_subscribe_gives_nothing() -> None:
    source = ManualObservable[int]()
    observer = TestObserver[int]()
    observer.dispose()
    Observable.wrap(source).map(lambda x: x).subscribe(observer)
    source.next(1)
    observer.assert_no_values().assert_not_terminated()
    assert source.handles[0].is_disposed


def test_take_disposes_the_foreign_source() -> None:
    source = ManualObservable[int]()
    observer = TestObserver[int]()
    Observable.merge(Observable.never(), source).take(1).subscribe(observer)
    source.next(1, 2)
    observer.assert_result(1)
    assert source.handles[0].is_disposed


@pytest.mark.parametrize("merged", [False, True])
def test_a_late_error_is_told_once(merged: bool, caplog: pytest.LogCaptureFixture) -> None:
    source = ManualObservable[int]()
    observer = TestObserver[int](cancel_after=1)
    stream = Observable.merge(source, Observable.never()) if merged else Observable.wrap(source)
    stream.subscribe(observer)
    source.next(1, 2)
    with caplog.at_level(logging.DEBUG, logger="rx.core"):
        source.error(ValueError("too late"))
    observer.assert_values(1).assert_not_terminated()
    (record,) = caplog.records
    assert "too late" in record.getMessage()


def test_a_foreign_none_ends_the_stream_and_disposes() -> None:
    source = ManualObservable[Any]()
    observer = TestObserver[Any]()
    Observable.wrap(source).map(str).subscribe(observer)
    with pytest.raises(TypeError):
        source.next(1, None, 2)
    observer.assert_failure(TypeError, "1")
    assert source.handles[0].is_disposed


def test_a_second_on_subscribe_is_disposed() -> None:
    source = ManualObservable[int]()
    Observable.merge(source, Observable.never()).subscribe(TestObserver[int]())
    Observable.wrap(source).subscribe(TestObserver[int]())
    for observer in source.observers:
        extra = Handle()
        observer.on_subscribe(extra)
        assert extra.is_disposed
    assert not any(handle.is_disposed for handle in source.handles)


def test_flowables_operators_take_observables_too() -> None:
    subscriber = TestSubscriber[int](request=5)
    merge: Any = Flowable.merge  # not what its types say: an observable that is merged waits in a queue of its own
    merge(Flood(1_000), Observable.range(3)).subscribe(subscriber)
    subscriber.assert_value_count(5).request(UNBOUNDED)
    subscriber.assert_value_count(1_003).assert_complete()


# -- from Flowable and to it -------------------------------------------------------------------------------------------


def test_a_flowable_as_observable_asks_for_everything() -> None:
    publisher = ManualPublisher[int]()
    observer = TestObserver[int]()
    Flowable.wrap(publisher).map(lambda x: x + 1).to_observable().filter(lambda x: x > 1).subscribe(observer)
    assert publisher.requested == UNBOUNDED
    publisher.next(0, 1)
    publisher.complete()
    observer.assert_result(2)


BUFFER, DROP, LATEST = BackpressureStrategy.BUFFER, BackpressureStrategy.DROP, BackpressureStrategy.LATEST
ERROR, MISSING = BackpressureStrategy.ERROR, BackpressureStrategy.MISSING


def requested(stream: Flowable[T], amount: int) -> TestSubscriber[T]:
    subscriber = TestSubscriber[T](request=amount)
    stream.subscribe(subscriber)
    return subscriber


def test_buffer_lets_a_hot_source_wait() -> None:
    source = ManualObservable[int]()
    subscriber = requested(Observable.wrap(source).to_flowable(BUFFER), 2)
    source.next(*range(1_000))
    source.complete()
    subscriber.assert_values(0, 1).assert_not_terminated()
    subscriber.request(3).assert_values(0, 1, 2, 3, 4)
    subscriber.request(UNBOUNDED).assert_value_count(1_000).assert_complete()


def test_buffer_has_a_bound_where_it_is_given_one() -> None:
    dropped: list[int] = []
    for stream in (Observable.range(10), Observable.range(10).hide(), Observable.wrap(Flood(10))):
        subscriber = requested(stream.to_flowable(BUFFER, capacity=3, on_drop=dropped.append), 2)
        subscriber.assert_failure(MissingBackpressureError, 0, 1)  # it overtakes what waits
    assert dropped == [5, 5, 5]


def test_buffer_pulls_a_synchronous_source_as_requested() -> None:
    pulled: list[int] = []
    endless = Observable.from_iterable(NATURALS).do_on_next(pulled.append).map(lambda x: x * x)
    subscriber = requested(endless.to_flowable(BUFFER), 3)
    subscriber.assert_values(0, 1, 4)
    assert pulled == [0, 1, 2]
    subscriber.request(1).assert_values(0, 1, 4, 9)
    subscriber.cancel()
    assert len(pulled) == 4


@pytest.mark.parametrize("fused", [True, False])
def test_drop_gives_what_is_wanted_when_it_comes(fused: bool) -> None:
    dropped: list[int] = []
    for stream in (Observable.range(1_000), Observable.range(1_000).hide(), Observable.wrap(Flood(1_000))):
        flow = stream.map(lambda x: x + 1).to_flowable(DROP, on_drop=dropped.append)
        if fused:
            subscriber = requested(flow, 3)
        else:
            with fusion_off():
                subscriber = requested(flow, 3)
        subscriber.assert_result(1, 2, 3)
        assert len(dropped) == 997
        dropped.clear()


def test_latest_keeps_the_newest() -> None:
    for stream in (Observable.range(1_000), Observable.wrap(Flood(1_000)).hide()):
        subscriber = requested(stream.to_flowable(LATEST), 2)
        subscriber.assert_values(0, 1).assert_not_terminated()
        subscriber.request(5).assert_result(0, 1, 999)


def test_drop_and_latest_follow_a_hot_source() -> None:
    source = ManualObservable[int]()
    drop = requested(Observable.wrap(source).to_flowable(DROP), 1)
    latest = requested(Observable.wrap(source).to_flowable(LATEST), 1)
    source.next(1, 2, 3)
    drop.request(1)
    latest.request(1)
    source.next(4)
    latest.request(1)
    drop.assert_values(1, 4)
    latest.assert_values(1, 3, 4)


def test_error_ends_the_stream_at_the_first_item_too_many() -> None:
    source = ManualObservable[int]()
    subscriber = requested(Observable.wrap(source).to_flowable(ERROR), 2)
    source.next(1, 2)
    subscriber.assert_values(1, 2).assert_not_terminated()
    source.next(3)
    subscriber.assert_failure(MissingBackpressureError, 1, 2)
    assert source.handles[0].is_disposed


def test_missing_leaves_it_to_what_follows() -> None:
    dropped: list[int] = []
    flow = Observable.range(10).to_flowable(MISSING)
    subscriber = requested(flow.on_backpressure_drop(dropped.append), 4)
    subscriber.assert_result(0, 1, 2, 3)
    assert dropped == [4, 5, 6, 7, 8, 9]
    careless: list[int] = []
    flow.subscribe(careless.append)
    assert careless == list(range(10))
    zero = TestSubscriber[int](request=0)
    Observable.never().to_flowable(MISSING).subscribe(zero)
    zero.request(0).assert_failure(ValueError, match=r"3\.9")


def test_an_endless_synchronous_source_can_be_left_under_every_strategy() -> None:
    endless = Observable.from_iterable(NATURALS)
    for strategy in (BUFFER, DROP, LATEST):
        subscriber = requested(endless.to_flowable(strategy).take(3), 10)
        subscriber.assert_result(0, 1, 2)


@pytest.mark.parametrize("strategy", list(BackpressureStrategy))
def test_cancel_reaches_the_source_under_every_strategy(strategy: BackpressureStrategy) -> None:
    source = ManualObservable[int]()
    subscriber = requested(Observable.wrap(source).map(lambda x: x).to_flowable(strategy), 5)
    source.next(1)
    subscriber.cancel()
    source.next(2)
    subscriber.assert_values(1).assert_not_terminated()
    assert source.handles[0].is_disposed


@pytest.mark.parametrize("strategy", list(BackpressureStrategy))
def test_an_error_passes_under_every_strategy(strategy: BackpressureStrategy) -> None:
    source = ManualObservable[int]()
    subscriber = requested(Observable.wrap(source).to_flowable(strategy), 5)
    source.next(1)
    source.error(ValueError("broken"))
    subscriber.assert_failure(ValueError, 1)


def test_to_flowable_says_what_it_needs() -> None:
    to_flowable: Any = Observable.range(3).to_flowable
    with pytest.raises(TypeError, match=r"BackpressureStrategy\.BUFFER"):
        to_flowable("buffer")
    with pytest.raises(ValueError, match="capacity"):
        to_flowable(BUFFER, capacity=0)
    with pytest.raises(TypeError, match="on_drop"):
        to_flowable(DROP, on_drop=3)


def test_a_conversion_is_part_of_the_description() -> None:
    stream = Observable.range(3).to_flowable(LATEST)
    assert repr(stream) == "range(3).to_flowable(LATEST)"
    assert "to_flowable(LATEST)" in stream.explain()


@pytest.mark.parametrize("delay_error", [False, True])
def test_flat_map_runs_no_more_inner_sources_than_it_may(delay_error: bool) -> None:
    outer: PublishSubject[int] = PublishSubject()
    inner: list[PublishSubject[int]] = [PublishSubject() for _ in range(4)]
    mapped: list[int] = []

    def mapper(number: int) -> Observable[int]:
        mapped.append(number)
        return inner[number]

    got: TestObserver[int] = TestObserver()
    outer.flat_map(mapper, max_concurrency=2, delay_error=delay_error).subscribe(got)
    for number in range(4):
        outer.on_next(number)
    assert mapped == [0, 1, 2, 3]  # at once, as in RxJava: it is the sources that wait
    assert [each.has_subscribers for each in inner] == [True, True, False, False]
    inner[1].on_complete()
    assert [each.has_subscribers for each in inner] == [True, False, True, False]
    inner[2].on_next(5)
    outer.on_complete()
    inner[0].on_complete()
    inner[2].on_complete()
    assert [each.has_subscribers for each in inner] == [False, False, False, True]
    inner[3].on_next(6)
    inner[3].on_complete()
    got.assert_result(5, 6)


def test_sources_that_are_computed_wait_for_their_turn_in_flat_map() -> None:
    outer: PublishSubject[int] = PublishSubject()
    first: PublishSubject[int] = PublishSubject()
    got: TestObserver[int] = TestObserver()
    outer.flat_map(lambda number: Observable.range(number) if number else first, max_concurrency=1).subscribe(got)
    for number in (0, 2, 3):
        outer.on_next(number)
    outer.on_complete()
    got.assert_empty()
    first.on_complete()
    got.assert_result(0, 1, 0, 1, 2)


def test_an_error_goes_past_sources_that_wait_in_flat_map() -> None:
    outer: PublishSubject[int] = PublishSubject()
    got: TestObserver[int] = TestObserver()
    outer.flat_map(lambda _number: Observable.never(), max_concurrency=1).subscribe(got)
    outer.on_next(0)
    outer.on_next(1)
    outer.on_error(ValueError("of the outer source"))
    got.assert_failure(ValueError)


@pytest.mark.parametrize("name", ["concat_map", "flat_map", "group_by", "switch_map"])
def test_a_stage_that_wants_nothing_behind_a_wall_disposes_the_source(name: str) -> None:
    signals: list[object] = []
    nothing: Observable[int] = Observable.empty()
    flow: Observable[object] = getattr(nothing.hide().take(0), name)(lambda item: nothing)
    flow.subscribe(signals.append, on_error=signals.append, on_complete=lambda: signals.append("complete"))
    assert signals == ["complete"]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(
    "end",
    [
        lambda flow: flow.take(1).to_list(),
        lambda flow: flow.first(9).map(lambda item: [item]),
        lambda flow: flow.first_element().map(lambda item: [item]),
        lambda flow: flow.take(1).flat_map(Observable.just).to_list(),
        lambda flow: flow.map(abs).take(1).flat_map_iterable(lambda item: (item,)).to_list(),
    ],
    ids=["take", "first", "first_element", "take, flat_map", "take, flat_map_iterable"],
)
def test_a_stage_that_needs_one_item_does_not_ask_an_observable_for_one(end: Any, fused: bool) -> None:
    """There is nothing to ask: the clock behind the delay ticks on, and what is not needed is dropped."""
    clock = VirtualScheduler()
    delayed = Observable.interval(1.0, initial=1.0, scheduler=clock).delay(2.5, scheduler=clock)
    got: list[object] = []
    with nullcontext() if fused else fusion_off():
        end(delayed).subscribe(got.append, on_error=got.append)
    clock.advance_by(10.0)
    assert got == [[0]]
