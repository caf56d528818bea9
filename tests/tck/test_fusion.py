"""Micro-fusion of the library under its TCK: what of ours can be polled, and what of ours polls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import rx_schedulers
from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC
from rx_fusion import fusion_off
from rx_ops import Flowable, Observable, UnicastProcessor
from rx_testing.tck import FusedConsumerVerification, FusedPublisherVerification, verify

Flow = Flowable[Any]


def unicast(count: int) -> Flow:
    made: UnicastProcessor[int] = UnicastProcessor()
    for item in range(count):
        made.on_next(item)
    made.on_complete()
    return made


class Foreign:
    """A publisher that is not ours, of one that can be polled."""

    def __init__(self, source: Flow) -> None:
        self.source = source

    def subscribe(self, subscriber: Any, /) -> None:
        self.source.subscribe(subscriber)


class Anew:
    """An iterable of somebody's."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


#: Sources, the mode they grant, and the longest stream they make.
SOURCES: dict[str, tuple[Callable[[int], Flow], int, int]] = {
    "range": (Flowable.range, SYNC, 1000),
    "from_iterable": (lambda count: Flowable.from_iterable(range(count)), SYNC, 1000),
    "from an iterable": (lambda count: Flowable.from_iterable(Anew(count)), SYNC, 1000),
    "of": (lambda count: Flowable.of(*range(count)), SYNC, 1000),
    "just": (lambda count: Flowable.just(0) if count else Flowable.empty(), SYNC, 1),
    "from_callable": (lambda count: Flowable.from_callable(lambda: 0) if count else Flowable.empty(), SYNC, 1),
    "generate": (lambda count: Flowable.generate(lambda: 0, lambda at, out: _one(at, count, out)), SYNC, 1000),
    "map.filter": (lambda count: Flowable.range(2 * count).filter(_even).map(_half), SYNC, 1000),
    "flat_map_iterable": (lambda count: Flowable.range(count).flat_map_iterable(lambda item: [item]), SYNC, 1000),
    "take": (lambda count: Flowable.range(2 * count).take(count), SYNC, 1000),
    "distinct.skip.scan": (lambda count: Flowable.range(-1, count).distinct().skip(1), SYNC, 1000),
    "unicast": (unicast, ASYNC, 1000),
    "unicast.map": (lambda count: unicast(count).map(lambda item: item), ASYNC, 1000),
    "unicast.filter": (lambda count: unicast(2 * count).filter(_even), ASYNC, 1000),
    "foreign.map": (lambda count: Flowable.wrap(Foreign(Flowable.range(count))).map(lambda item: item), SYNC, 1000),
    "foreign.filter.take": (
        lambda count: Flowable.wrap(Foreign(Flowable.range(3 * count))).filter(_even).take(count),
        SYNC,
        1000,
    ),
}


def _even(item: int) -> bool:
    return item % 2 == 0


def _half(item: int) -> int:
    return item // 2


def _one(at: int, count: int, out: Any) -> int:
    if at < count:
        out.on_next(at)
    else:
        out.on_complete()
    return at + 1


def _all(count: int, out: Any) -> None:
    for item in range(count):
        out.on_next(item)
    out.on_complete()


@pytest.mark.parametrize("name", SOURCES)
def test_what_can_be_polled_conforms(name: str) -> None:
    make, granted, most = SOURCES[name]

    class Verification(FusedPublisherVerification[Any]):
        synchronous = True
        mode = granted
        max_elements_from_publisher = most

        def create_publisher(self, elements: int) -> Any:
            return make(elements)

        def create_mapped_publisher(self, elements: int, function: Any) -> Any:
            return make(elements).map(function)

        def create_failed_publisher(self) -> Any:
            return make(1).map(lambda _: 1 // 0)

    verify(Verification).assert_passed()


class _Queue:
    """What an observer gets: the run as a queue under its Disposable."""

    def __init__(self, mode: int) -> None:
        self.mode = mode
        self.signals: list[object] = []

    def on_subscribe(self, disposable: Any, /) -> None:
        self.queue = disposable
        self.granted = disposable.request_fusion(self.mode)

    def on_next(self, item: object, /) -> None:
        self.signals.append(item)

    def on_error(self, error: Exception, /) -> None:
        self.signals.append(error)

    def on_complete(self) -> None:
        self.signals.append("|")


def test_an_observable_can_be_polled_through_its_disposable() -> None:
    observer = _Queue(ANY)
    Observable.range(3).map(_half).subscribe(observer)
    assert observer.granted == SYNC
    assert [observer.queue.poll() for _ in range(4)] == [0, 0, 1, None]
    assert observer.queue.is_empty()
    assert observer.signals == []


def test_a_disposed_observer_gets_nothing_from_its_queue() -> None:
    observer = _Queue(ANY)
    Observable.range(3).subscribe(observer)
    observer.queue.dispose()
    assert (observer.queue.poll(), observer.queue.poll_many(2), observer.queue.is_empty()) == (None, [], True)


@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_polled_when_fusion_is_off(name: str) -> None:
    make, _granted, _most = SOURCES[name]
    with fusion_off():
        probe = _Queue(ANY)
        flow = make(1)
        flow.subscribe(_Asking(probe))
    assert probe.granted == NONE


class _Asking(_Queue):
    """Asks where it can."""

    def __init__(self, probe: _Queue) -> None:
        super().__init__(ANY)
        self.probe = probe

    def on_subscribe(self, subscription: Any, /) -> None:
        self.probe.granted = subscription.request_fusion(ANY) if hasattr(subscription, "request_fusion") else NONE


@pytest.mark.parametrize(
    "flow",
    [
        Flowable.range(3).observe_on(rx_schedulers.single()),
        Flowable.range(3).hide(),
        Flowable.range(3).subscribe_on(rx_schedulers.single()),
    ],
    ids=repr,
)
def test_walls_and_threads_refuse(flow: Flow) -> None:
    probe = _Queue(ANY)
    asking = _Asking(probe)
    flow.subscribe(asking)
    assert probe.granted == NONE


@pytest.mark.parametrize("wall", [lambda flow: flow.hide(), lambda flow: flow.lift(lambda down: down)], ids=["hide", "lift"])
def test_nothing_is_polled_through_a_wall(wall: Callable[[Flow], Flow]) -> None:
    source = _Refusing()
    assert wall(Flowable.wrap(source)).concat_map(Flowable.just).blocking_list() == [1]
    assert source.asked == []


class _Refusing:
    """Has one element and notes who asks to poll it."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.down.on_next(1)
        self.down.on_complete()

    def cancel(self) -> None:
        pass

    def request_fusion(self, mode: int, /) -> int:
        self.asked.append(mode)
        return NONE


class Doubling:
    """Somebody's operator, written against the protocol: it hands its source's Subscription on as it is."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def subscribe(self, subscriber: Any, /) -> None:
        class Down:
            on_subscribe, on_error, on_complete = subscriber.on_subscribe, subscriber.on_error, subscriber.on_complete

            def on_next(self, item: int, /) -> None:
                subscriber.on_next(2 * item)

        self.source.subscribe(Down())


@pytest.mark.parametrize("name", SOURCES)
def test_an_operator_that_hands_a_subscription_on_is_not_skipped(name: str) -> None:
    make, _granted, _most = SOURCES[name]
    expected = [2 * item for item in make(3).blocking_list()]

    def doubled() -> Flow:
        return Flowable.wrap(Doubling(make(3)))

    assert doubled().blocking_list() == expected
    assert doubled().concat_map(Flowable.just).blocking_list() == expected
    assert doubled().observe_on(rx_schedulers.io()).blocking_list() == expected


def test_functions_stay_on_their_thread() -> None:
    for flow in (Flowable.range(3).map(_half), Flowable.from_iterable(Anew(3)), unicast(3).map(_half)):
        probe = _Queue(ANY)
        probe.mode = ANY | BOUNDARY
        flow.subscribe(probe)
        assert probe.granted == NONE, flow


#: Operators that poll their source where it is a queue, and give what it gives.
CONSUMERS: dict[str, Callable[[Any], Flow]] = {
    "observe_on": lambda source: Flowable.wrap(source).observe_on(rx_schedulers.io()),
    "observe_on late": lambda source: Flowable.wrap(source).observe_on(rx_schedulers.io(), prefetch=2, delay_error=True),
    "observe_on.map": lambda source: Flowable.wrap(source).observe_on(rx_schedulers.io(), prefetch=2).map(lambda item: item),
}


#: Those where an error overtakes the items that wait.
OVERTAKEN: Final = ("observe_on", "observe_on.map")


@pytest.mark.parametrize("name", CONSUMERS)
def test_what_polls_conforms(name: str) -> None:
    make = CONSUMERS[name]

    class Verification(FusedConsumerVerification):
        synchronous = "io()" not in make(Flowable.empty()).explain()
        errors_wait = name not in OVERTAKEN

        def create_operator(self, source: Any) -> Any:
            return make(source)

    result = verify(Verification)
    result.assert_passed()
    assert len(result.passed) > 10


def test_iteration_polls_its_source() -> None:
    assert list(Flowable.wrap(Foreign(Flowable.range(5))).buffer(2)) == [[0, 1], [2, 3], [4]]


def test_a_subject_is_polled_by_a_merge() -> None:
    hot = unicast(300)
    assert sorted(Flowable.merge(hot, Flowable.just(-1)).blocking_list()) == [-1, *range(300)]
