"""What operators ask of a foreign publisher: the numbers of the table of backpressure behaviours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import UNBOUNDED, BufferWatch
from rx_ops import BackpressureStrategy, Flowable, aggregates
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler
from tests.conformance.sources import Foreign

Source = ManualPublisher[Any]


def requests(source: Source, at: int = -1) -> list[int]:
    return source.subscriptions[at].requests


def over(build: Callable[[Flowable[Any]], Any], request: int = 0) -> tuple[Source, TestSubscriber[Any]]:
    source: Source = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=request)
    made = build(Flowable.wrap(source))
    made.subscribe(got)
    return source, got


PASSED_ON: dict[str, Callable[[Flowable[Any]], Any]] = {
    "wrap": lambda s: s,
    "hide": lambda s: s.hide(),
    "map": lambda s: s.map(str),
    "filter": lambda s: s.filter(bool),
    "take_while": lambda s: s.take_while(bool),
    "scan": lambda s: s.scan(lambda a, b: a + b),
    "do_on_next": lambda s: s.do_on_next(str),
    "distinct": lambda s: s.distinct(),
    "several": lambda s: s.map(str).do_on_next(str).map(int),
    "concat": lambda s: Flowable.concat(s, Flowable.just(1)),
    "retry": lambda s: s.retry(),
    "do_finally": lambda s: s.do_finally(list),
    "on_error_return": lambda s: s.on_error_return(repr),
    "defer": lambda s: Flowable.defer(lambda: s),
    "timeout": lambda s: s.timeout(1.0, scheduler=VirtualScheduler()),
}


@pytest.mark.parametrize("build", PASSED_ON.values(), ids=list(PASSED_ON))
def test_requests_pass_through_one_to_one(build: Callable[[Flowable[Any]], Any]) -> None:
    source, got = over(build)
    assert sum(requests(source)) == 0
    got.request(3)
    assert source.requested == 3
    source.next(1, 2, 3)
    got.request(2)
    assert source.requested == 5
    got.request(UNBOUNDED)
    assert source.requested == UNBOUNDED


DROPPING: dict[str, Callable[[Flowable[Any]], Any]] = {
    "filter": lambda s: s.filter(lambda x: x % 2),
    "of_type": lambda s: s.map(lambda x: x if x % 2 else str(x)).of_type(int),
    "distinct": lambda s: s.distinct(lambda x: x if x % 2 else 1),
    "skip_while": lambda s: s.skip_while(lambda x: x < 3),
}


@pytest.mark.parametrize("build", DROPPING.values(), ids=list(DROPPING))
def test_a_dropped_element_is_asked_for_again_one_by_one(build: Callable[[Flowable[Any]], Any]) -> None:
    source, got = over(build, 2)
    assert requests(source) == [2]
    source.next(1, 2)
    dropped = 2 - len(got.values)
    assert requests(source) == [2, *[1] * dropped]


def test_take_asks_for_no_more_than_it_takes() -> None:
    source, got = over(lambda s: s.take(3))
    got.request(2)
    got.request(UNBOUNDED)
    assert requests(source) == [2, 1]
    source.next(1, 2, 3)
    assert source.cancelled
    got.assert_result(1, 2, 3)


def test_take_0_asks_for_nothing() -> None:
    source, got = over(lambda s: s.take(0))
    assert requests(source) == []
    assert source.cancelled
    got.assert_result()


def test_skip_asks_for_what_it_skips_besides() -> None:
    source, got = over(lambda s: s.skip(3))
    got.request(2)
    got.request(2)
    assert requests(source) == [5, 2]


def test_buffer_asks_for_whole_lists() -> None:
    source, got = over(lambda s: s.buffer(3))
    got.request(2)
    assert requests(source) == [6]
    source.next(*range(6))
    got.assert_values([0, 1, 2], [3, 4, 5])


def test_buffer_with_gaps_asks_for_the_gaps_between_its_lists() -> None:
    source, got = over(lambda s: s.buffer(2, 3))
    got.request(2)
    assert requests(source) == [5]  # 0 1 . 3 4
    got.request(1)
    assert requests(source) == [5, 3]


def test_buffer_with_overlap_asks_for_no_more_than_its_lists_need() -> None:
    # Several lists may be left at the end, so it is pulled through a queue and asks step by step.
    source, got = over(lambda s: s.buffer(3, 1))
    got.request(2)
    for item in range(4):
        source.next(item)
    assert source.requested == 4
    got.assert_values([0, 1, 2], [1, 2, 3])


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda s: s.element_at(2).to_flowable(), 3),
        (lambda s: s.first_element().to_flowable(), 1),
        (lambda s: s.first().to_flowable(), 1),
        (lambda s: s.first(0).to_flowable(), 1),
    ],
)
def test_one_element_is_asked_for_exactly(build: Callable[[Flowable[Any]], Any], count: int) -> None:
    source, _ = over(build, UNBOUNDED)
    assert requests(source) == [count]
    source.next(*range(count))
    assert source.cancelled


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.reduce(max).to_flowable(),
        lambda s: s.reduce(max, 0).to_flowable(),
        lambda s: s.collect(list, list.append).to_flowable(),
        lambda s: s.to_list().to_flowable(),
        lambda s: s.to_dict(str).to_flowable(),
        lambda s: s.count().to_flowable(),
        lambda s: s.take_last(2),
        lambda s: s.map(str).take_last(2).map(int),
        lambda s: s.group_reduce(str, str, max),
        lambda s: s.group_aggregate(str, top=aggregates.max(str)),
        lambda s: s.flat_map_iterable(lambda x: (x, x)).sum().to_flowable(),
        lambda s: Flowable.concat(s, Flowable.just(1)).take_last(1),
        lambda s: s.sum().to_flowable(),
        lambda s: s.min().to_flowable(),
        lambda s: s.max().to_flowable(),
        lambda s: s.map(str).filter(bool).to_list().to_flowable(),
    ],
)
def test_a_fold_asks_for_everything_once(build: Callable[[Flowable[Any]], Any]) -> None:
    source, got = over(build)
    got.request(1)
    assert requests(source) == [UNBOUNDED]
    source.next(1)
    source.complete()
    assert len(got.values) == 1


@pytest.mark.parametrize("hidden", [False, True])
def test_what_is_given_at_the_end_is_kept_and_nothing_else(hidden: bool) -> None:
    source: Flowable[int] = Flowable.wrap(Foreign(range(100_000)))
    last = (source.hide() if hidden else source).take_last(3)
    got: TestSubscriber[int] = TestSubscriber(request=1)
    with BufferWatch() as watch:
        last.subscribe(got)
    got.assert_values(99_997).assert_not_terminated()
    assert watch.peak <= 1
    got.request(5)
    got.assert_result(99_997, 99_998, 99_999)


def test_a_fold_behind_what_has_enough_before_asks_for_no_more_than_that() -> None:
    source, got = over(lambda s: s.take(3).take_last(2))
    got.request(2)
    assert source.requested <= 3


@pytest.mark.parametrize("name", ["on_backpressure_buffer", "on_backpressure_drop", "on_backpressure_latest"])
def test_backpressure_operators_ask_for_everything_at_once(name: str) -> None:
    source, _ = over(lambda s: getattr(s, name)())
    assert requests(source) == [UNBOUNDED]


def test_observe_on_asks_for_its_window_and_then_for_three_quarters() -> None:
    clock = VirtualScheduler()
    source, got = over(lambda s: s.observe_on(clock), UNBOUNDED)
    clock.run_due()
    assert requests(source) == [128]
    source.next(*range(95))
    clock.run_due()
    assert requests(source) == [128]
    source.next(95)
    clock.run_due()
    assert requests(source) == [128, 96]
    got.assert_value_count(96)


def test_zip_asks_each_source_for_its_window() -> None:
    source, got = over(lambda s: s.zip_with(Flowable.range(1000)), UNBOUNDED)
    assert requests(source) == [128]
    source.next(*range(96))
    assert requests(source) == [128, 96]
    got.assert_value_count(96)


def test_merge_asks_each_source_for_its_window() -> None:
    source, _ = over(lambda s: s.merge_with(Flowable.never()), UNBOUNDED)
    assert requests(source) == [128]
    source.next(*range(96))
    assert requests(source) == [128, 96]


def test_flat_map_asks_for_as_many_sources_as_it_runs_and_for_one_more_per_finished_one() -> None:
    inners: list[Source] = []

    def inner(_x: object) -> Source:
        made: Source = ManualPublisher()
        inners.append(made)
        return made

    source, got = over(lambda s: s.flat_map(inner, max_concurrency=4), UNBOUNDED)
    assert requests(source) == [4]
    source.next(1, 2, 3, 4)
    assert [requests(each) for each in inners] == [[128]] * 4
    for each in inners[:3]:
        each.next(7)
        each.complete()
    assert source.requested == 4 + 3
    got.assert_values(7, 7, 7)


def test_concat_gives_the_next_source_the_demand_that_is_left() -> None:
    first: Source = ManualPublisher()
    second: Source = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=5)
    Flowable.concat(first, second).subscribe(got)
    assert requests(first) == [5]
    first.next(1, 2)
    assert not second.subscriptions
    first.complete()
    assert requests(second) == [3]


def test_retry_subscribes_again_with_the_demand_that_is_left() -> None:
    source, _ = over(lambda s: s.retry(), 5)
    source.next(1, 2)
    source.error(OSError())
    assert [each.requests for each in source.subscriptions] == [[5], [3]]


def test_concat_map_asks_for_two_sources_ahead() -> None:
    source, _ = over(lambda s: s.concat_map(lambda x: Flowable.never()), UNBOUNDED)
    assert requests(source) == [2]


def test_group_by_asks_for_its_buffer() -> None:
    source, _ = over(lambda s: s.group_by(lambda x: x), UNBOUNDED)
    assert requests(source) == [128]


@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_synchronous_source_is_never_read_ahead(n: int) -> None:
    read: list[int] = []

    def items() -> Any:
        for item in range(100):
            read.append(item)
            yield item

    got: TestSubscriber[Any] = TestSubscriber(request=n)
    Flowable.from_iterable(items()).map(str).filter(bool).subscribe(got)
    got.assert_value_count(n)
    assert len(read) == n


@pytest.mark.parametrize("strategy", [BackpressureStrategy.ERROR, BackpressureStrategy.DROP, BackpressureStrategy.LATEST])
@pytest.mark.parametrize("build", PASSED_ON.values(), ids=list(PASSED_ON))
def test_a_source_that_sends_while_it_is_subscribed_knows_what_is_wanted(
    build: Callable[[Flowable[Any]], Any], strategy: BackpressureStrategy
) -> None:
    def push(emitter: Any) -> None:
        for item in (1, 2, 3):
            emitter.on_next(item)
        emitter.on_complete()

    for flow in (Flowable.create(push, strategy), Flowable.create(push, strategy).hide()):
        got: TestSubscriber[Any] = TestSubscriber()
        build(flow).subscribe(got)
        got.assert_complete()
        expected: TestSubscriber[Any] = TestSubscriber()
        build(Flowable.of(1, 2, 3)).subscribe(expected)
        assert got.values == expected.values
