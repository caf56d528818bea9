"""Stages in front of one that gives several items for one, behind a source that pushes: they need no queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core.queue_fusion import fusion_enabled
from rx_ops import Flowable, Observable, PublishSubject
from rx_testing import ManualPublisher, TestSubscriber

Flow = Flowable[Any]


def _same(items: list[int]) -> list[int]:
    return items


PIPELINES: dict[str, Callable[[Flow], Flow]] = {
    "buffer": lambda source: source.buffer(3).flat_map_iterable(_same),
    "filter": lambda source: source.filter(lambda item: item % 4 == 0).flat_map_iterable(lambda item: (item, -item)),
    "scan behind": lambda source: source.map(abs).scan(lambda one, other: one + other, 0),
    "take": lambda source: source.take(5).flat_map_iterable(lambda item: [item] * 2),
    "to_list": lambda source: source.to_list().to_flowable().flat_map_iterable(_same),
    "two": lambda source: source.map(abs).flat_map_iterable(lambda item: (item,)).buffer(2).flat_map_iterable(_same),
}


@pytest.mark.parametrize("request_each", [None, 1, 2, 5])
@pytest.mark.parametrize("build", PIPELINES.values(), ids=PIPELINES)
def test_they_give_what_they_give_of_a_source_that_is_iterated(build: Callable[[Flow], Flow], request_each: int | None) -> None:
    expected = build(Flowable.range(10)).blocking_list()
    subscriber = TestSubscriber[int]() if request_each is None else TestSubscriber[int](request=0)
    build(Flowable.range(10).hide()).subscribe(subscriber)
    while request_each is not None and not subscriber.is_terminated:
        subscriber.request(request_each)
        assert len(subscriber.values) <= subscriber.requested
    subscriber.assert_result(*expected)


@pytest.mark.skipif(not fusion_enabled(), reason="each operator stands alone")
def test_the_plan_tells_them_apart() -> None:
    source = Flowable.wrap(ManualPublisher[int]()).map(abs).buffer(2).flat_map_iterable(_same).map(str)
    assert "fused: 2 stages in one call per item, 2 in one loop behind a queue that is filled on demand" in source.explain()


def test_the_source_is_asked_for_a_window_and_again_for_what_they_drop() -> None:
    asked: list[int] = []
    source = ManualPublisher[int](on_request=lambda _subscription, count: asked.append(count))
    subscriber = TestSubscriber[int](request=1)
    Flowable.wrap(source).filter(lambda item: item % 100 == 0).flat_map_iterable(lambda item: (item,)).subscribe(subscriber)
    for number in range(300):
        source.next(number)
    assert (subscriber.values, asked[0]) == ([0], 128)
    subscriber.request(2)
    assert subscriber.values == [0, 100, 200]


def test_a_failing_function_names_the_whole_pipeline() -> None:
    flow = Flowable.range(3).hide().map(abs).flat_map_iterable(lambda item: (1 // item,))
    with pytest.raises(ZeroDivisionError) as caught:
        flow.blocking_list()
    assert "of range(3).hide().map(abs).flat_map_iterable" in caught.value.__notes__[0]


def test_an_observable_cannot_be_asked_and_all_it_sends_comes() -> None:
    source, got = PublishSubject[int](), list[int]()
    flow: Observable[int] = source.map(abs).flat_map_iterable(lambda item: (item, item))
    flow.subscribe(got.append)
    for number in range(300):
        source.on_next(number)
    assert got == [number for number in range(300) for _ in range(2)]


# What stands behind a seed, which waits for a request in front of it

SEEDED: dict[str, Callable[[Flow], Flow]] = {
    "scan": lambda source: source.scan(lambda one, other: one + other, 7),
    "scan_with": lambda source: source.scan_with(lambda: 7, lambda one, other: one + other),
    "start_with": lambda source: source.start_with(7),
}
seeded = pytest.mark.parametrize("seed", SEEDED.values(), ids=SEEDED)


@seeded
def test_stages_behind_a_seed_see_it_when_it_is_requested(seed: Callable[[Flow], Flow]) -> None:
    seen: list[int] = []
    subscriber = TestSubscriber[int](request=0)
    seed(Flowable.wrap(ManualPublisher[int]())).do_on_next(seen.append).subscribe(subscriber)
    assert not seen
    subscriber.request(1)
    assert (seen, subscriber.values) == ([7], [7])


def test_an_error_overtakes_a_seed_that_is_all_that_the_stages_behind_it_take() -> None:
    source = ManualPublisher[int]()
    oops = OSError("oops")
    subscriber = TestSubscriber[int](request=0)
    Flowable.wrap(source).scan(lambda one, other: one + other, 7).take(1).subscribe(subscriber)
    source.error(oops)
    subscriber.assert_failure(oops)


@seeded
@pytest.mark.parametrize("request_each", [None, 1, 2, 5])
@pytest.mark.parametrize("build", PIPELINES.values(), ids=PIPELINES)
def test_stages_around_a_seed_give_what_they_give_of_a_source_that_is_iterated(
    build: Callable[[Flow], Flow], request_each: int | None, seed: Callable[[Flow], Flow]
) -> None:
    expected = build(seed(Flowable.range(10).map(abs)).filter(bool)).blocking_list()
    subscriber = TestSubscriber[int]() if request_each is None else TestSubscriber[int](request=0)
    build(seed(Flowable.range(10).hide().map(abs)).filter(bool)).subscribe(subscriber)
    while request_each is not None and not subscriber.is_terminated:
        subscriber.request(request_each)
        assert len(subscriber.values) <= subscriber.requested
    subscriber.assert_result(*expected)


@pytest.mark.skipif(not fusion_enabled(), reason="each operator stands alone")
def test_the_plan_tells_what_is_behind_a_seed() -> None:
    source = Flowable.wrap(ManualPublisher[int]()).map(abs).scan(lambda one, other: one + other, 0).map(str).filter(bool)
    behind = "fused: 1 stage in one call per item, 1 in one loop behind a queue that is filled on demand, 2 behind that"
    assert behind in source.explain()
    assert "behind that" not in source.to_observable().explain()
