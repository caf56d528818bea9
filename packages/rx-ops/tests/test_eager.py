"""concat_map_eager and concat_eager: inner sources run at once, their items come in order, and what is early waits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED, CompositeException
from rx_fusion import fusion_off
from rx_ops import Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")

Source = ManualPublisher[Any]


def raising(item: Any) -> Any:
    if isinstance(item, Exception):
        raise item
    return item


def eager(request: int = UNBOUNDED, **options: Any) -> tuple[Source, list[Source], TestSubscriber[Any]]:
    outer: Source = ManualPublisher()
    inners: list[Source] = [ManualPublisher() for _ in range(5)]
    subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
    Flowable.wrap(outer).concat_map_eager(lambda x: inners[x], **options).subscribe(subscriber)
    return outer, inners, subscriber


def test_what_comes_early_waits_for_its_turn() -> None:
    outer, inners, subscriber = eager()
    outer.next(0, 1)
    inners[1].next("b")
    subscriber.assert_empty()
    inners[0].next("a")
    subscriber.assert_values("a")
    inners[0].complete()
    subscriber.assert_values("a", "b")
    inners[1].next("c")
    outer.complete()
    subscriber.assert_values("a", "b", "c").assert_not_terminated()
    inners[1].complete()
    subscriber.assert_result("a", "b", "c")


def test_as_many_sources_run_as_the_limit_says() -> None:
    outer, inners, _ = eager(max_concurrency=2)
    assert outer.requested == 2
    outer.next(0, 1)
    inners[1].complete()
    assert outer.requested == 2  # it is over, but what it had may wait
    inners[0].complete()
    assert outer.requested == 4


def test_a_source_that_waits_is_asked_for_its_window_and_no_more() -> None:
    outer, inners, subscriber = eager(request=3, max_concurrency=3, prefetch=4)
    outer.next(0, 1, 2)
    assert [inner.subscriptions[0].requests for inner in inners[:3]] == [[4], [4], [4]]
    inners[1].next(*"bcde")
    inners[0].next(*"aaaa")
    subscriber.assert_values("a", "a", "a")
    assert inners[0].subscriptions[0].requests == [4, 3]
    inners[0].complete()
    assert inners[1].subscriptions[0].requests == [4]
    subscriber.request(4)
    subscriber.assert_values(*"aaaabcd")
    assert inners[1].subscriptions[0].requests == [4, 3]


def test_an_error_of_a_source_that_waits_ends_the_stream_at_once() -> None:
    outer, inners, subscriber = eager()
    outer.next(0, 1, 2)
    inners[0].next("a")
    inners[2].error(OOPS)
    subscriber.assert_failure(ValueError, "a")
    assert (outer.cancelled, inners[0].cancelled, inners[1].cancelled) == (True, True, True)


@pytest.mark.parametrize("wall", [False, True])
def test_the_outer_source_is_asked_before_the_next_inner_source_gives_what_waits(wall: bool) -> None:
    inners: list[Source] = [ManualPublisher() for _ in range(2)]
    subscriber: TestSubscriber[Any] = TestSubscriber()
    outer = Flowable.of(0, 1, OOPS).map(raising)
    (outer.hide() if wall else outer).concat_map_eager(lambda at: inners[at], max_concurrency=2).subscribe(subscriber)
    inners[1].next("b")
    inners[0].next("a")
    inners[0].complete()
    subscriber.assert_values("a").assert_error(OOPS)


@pytest.mark.parametrize("inner", [Flowable.just, Flowable.of, lambda item: Flowable.of(item).hide()])
def test_an_error_at_the_boundary_lets_the_first_that_waits_go_out(inner: Any) -> None:
    outer: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber(request=1)
    Flowable.wrap(outer).concat_map_eager(inner, delay_error=True, till_the_end=False).subscribe(subscriber)
    outer.next(1, 2, 3)
    outer.error(OOPS)
    subscriber.assert_values(1)
    subscriber.request(5)
    subscriber.assert_failure(OOPS, 1, 2)


@pytest.mark.parametrize("wall", [False, True])
def test_what_waits_goes_on_when_the_outer_source_has_answered(wall: bool) -> None:
    inners: list[Any] = [ManualPublisher(), ManualPublisher(), Flowable.of("c", "d"), ManualPublisher()]
    subscriber: TestSubscriber[Any] = TestSubscriber()
    outer = Flowable.range(4)
    (outer.hide() if wall else outer).concat_map_eager(lambda at: inners[at], max_concurrency=2).subscribe(subscriber)
    inners[1].next("b")
    inners[1].complete()
    inners[0].next("a")
    subscriber.assert_values("a")
    inners[0].complete()
    inners[3].next("e")
    subscriber.assert_values("a", "b", "c", "d", "e")
    inners[3].complete()
    subscriber.assert_complete()


def test_a_delayed_error_lets_all_run_to_their_end() -> None:
    outer, inners, subscriber = eager(delay_error=True)
    outer.next(0, 1, 2)
    inners[1].next("b")
    inners[1].error(OOPS)
    inners[0].next("a")
    inners[0].error(KeyError("first in line, second to fail"))
    inners[2].next("c")
    outer.complete()
    inners[2].complete()
    subscriber.assert_values("a", "b", "c").assert_error(CompositeException)
    assert isinstance(subscriber.error, CompositeException)
    assert [type(error) for error in subscriber.error.exceptions] == [ValueError, KeyError]


def test_an_error_delayed_to_the_boundary_waits_for_the_source_whose_turn_it_is() -> None:
    outer, inners, subscriber = eager(delay_error=True, till_the_end=False)
    outer.next(0, 1, 2)
    inners[1].next("b")
    inners[1].error(OOPS)
    assert outer.cancelled
    inners[0].next("a")
    subscriber.assert_values("a").assert_not_terminated()
    inners[0].complete()
    subscriber.assert_failure(ValueError, "a")
    assert inners[2].cancelled


def test_the_error_of_the_outer_source_waits_for_the_boundary_too() -> None:
    outer, inners, subscriber = eager(delay_error=True, till_the_end=False)
    outer.next(0, 1)
    inners[0].next("a")
    outer.error(OOPS)
    inners[0].next("b")
    subscriber.assert_values("a", "b").assert_not_terminated()
    inners[0].complete()
    subscriber.assert_failure(ValueError, "a", "b")
    assert inners[1].cancelled


@pytest.mark.parametrize("options", [{}, {"delay_error": True}, {"delay_error": True, "till_the_end": False}])
def test_a_mapper_that_fails_is_an_error_of_the_outer_source(options: dict[str, bool]) -> None:
    outer: Source = ManualPublisher()
    inner: Source = ManualPublisher()
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(outer).concat_map_eager(lambda x: inner if x else 1 // x, **options).subscribe(subscriber)
    outer.next(1)
    inner.next("a")
    outer.next(0)
    assert outer.cancelled
    if options:
        inner.complete()
    subscriber.assert_failure(ZeroDivisionError, "a")
    assert subscriber.error is not None
    assert "in concat_map_eager(" in subscriber.error.__notes__[0]


def test_what_is_no_source_is_named_with_the_right_call() -> None:
    with pytest.raises(TypeError, match=r"concat_map_eager\(\) expected a function returning a publisher"):
        Flowable.of(1).concat_map_eager(lambda x: [x]).blocking_list()  # type: ignore[arg-type, return-value]


def test_leaving_in_the_middle_cancels_all_sources() -> None:
    outer, inners, subscriber = eager()
    outer.next(0, 1, 2)
    subscriber.cancel()
    assert all(source.cancelled for source in (outer, *inners[:3]))


def test_a_subscriber_that_leaves_with_an_item_gets_no_other() -> None:
    taken = Flowable.range(200).hide().concat_map_eager(Single.just).take(1)
    assert taken.blocking_list() == [0]


class Reading:
    """Which numbers were read from it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.read: list[int] = []

    def __iter__(self) -> Iterator[int]:
        for number in range(self.size):
            self.read.append(number)
            yield number


@pytest.mark.parametrize("wall", [False, True])
def test_a_synchronous_source_is_read_when_its_turn_has_come(wall: bool) -> None:
    first: Source = ManualPublisher()
    reading = Reading(5)
    later = Flowable.from_iterable(reading)
    subscriber: TestSubscriber[Any] = TestSubscriber(request=4)
    sources = Flowable.of(Flowable.wrap(first), later)
    (sources.hide() if wall else sources).concat_map_eager(lambda source: source).subscribe(subscriber)
    first.next("a", "b")
    assert reading.read == []
    first.complete()
    subscriber.assert_values("a", "b", 0, 1)
    assert reading.read == [0, 1]


def test_an_error_of_a_synchronous_source_comes_in_its_turn() -> None:
    first: Source = ManualPublisher()
    failing = Flowable.of(1, 0).map(lambda x: 1 // x)
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.concat_eager(first, failing).subscribe(subscriber)
    first.next("a")
    subscriber.assert_values("a").assert_not_terminated()
    first.complete()
    subscriber.assert_failure(ZeroDivisionError, "a", 1)


def test_one_item_that_has_to_be_computed_is_computed_at_once() -> None:
    first: Source = ManualPublisher()
    computed: list[int] = []

    def compute() -> int:
        computed.append(1)
        return 5

    later = Flowable.from_callable(compute)
    reduced = Flowable.range(3).do_on_next(computed.append).reduce(max).to_flowable()
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.concat_eager(first, later, reduced).subscribe(subscriber)
    assert computed == [1, 0, 1, 2]
    first.complete()
    subscriber.request(5)
    subscriber.assert_result(5, 2)


def test_its_error_does_not_wait_for_its_turn() -> None:
    subscriber: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.concat_eager(Flowable.never(), Flowable.from_callable(lambda: 1 // 0)).subscribe(subscriber)
    subscriber.assert_failure(ZeroDivisionError)


def test_the_source_of_a_pipeline_is_subscribed_at_once_although_it_begins_with_items() -> None:
    """A concat that begins with a range could be pulled up to the source that pushes, which would miss what comes before."""
    first: Source = ManualPublisher()
    second: Source = ManualPublisher()
    mixed = Flowable.concat(Flowable.of("m"), Flowable.wrap(second))
    Flowable.concat_eager(first, mixed).subscribe(TestSubscriber[Any]())
    assert second.subscriptions
    pushing = Observable.of(0, 1).hide()
    hot: Source = ManualPublisher()
    inner = [Flowable.never(), Flowable.concat(Flowable.of("m"), Flowable.wrap(hot))]
    pushing.concat_map_eager(lambda x: inner[x].to_observable(), max_concurrency=2).subscribe(print)
    assert hot.subscriptions


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("hidden", [True, False])
def test_many_sources_are_a_loop(fused: bool, hidden: bool) -> None:
    def inner(x: int) -> Flowable[int]:
        made = Flowable.just(x)
        return made.hide() if hidden else made

    def count() -> int:
        return Flowable.range(20_000).hide().concat_map_eager(inner, max_concurrency=3).count().blocking_get()

    if fused:
        assert count() == 20_000
    else:
        with fusion_off():
            assert count() == 20_000


def test_a_source_that_answers_from_inside_of_an_item_keeps_its_place() -> None:
    seen: list[str] = []
    sources = [ManualPublisher[str]() for _ in range(2)]

    def on_next(item: str) -> None:
        seen.append(item)
        if item == "a":
            sources[1].next("c")
            sources[0].next("b")
            sources[0].complete()

    Flowable.concat_eager(*sources).subscribe(on_next)
    sources[0].next("a")
    assert seen == ["a", "b", "c"]


def test_an_observable_that_cannot_wait_runs_as_many_as_the_limit_says() -> None:
    inners = [ManualPublisher[str]() for _ in range(3)]
    seen: list[str] = []
    sources = Observable.range(3).hide().concat_map_eager(lambda x: Flowable.wrap(inners[x]).to_observable(), max_concurrency=2)
    sources.subscribe(seen.append)
    assert [len(inner.subscriptions) for inner in inners] == [1, 1, 0]
    inners[1].next("b")
    inners[1].complete()
    assert [len(inner.subscriptions) for inner in inners] == [1, 1, 0]
    inners[0].next("a")
    inners[0].complete()
    assert [len(inner.subscriptions) for inner in inners] == [1, 1, 1]
    assert seen == ["a", "b"]


def test_concat_eager_subscribes_to_all_sources_in_order() -> None:
    sources = [ManualPublisher[str]() for _ in range(3)]
    subscriber: TestSubscriber[str] = TestSubscriber()
    Flowable.concat_eager(*sources).subscribe(subscriber)
    assert [len(source.subscriptions) for source in sources] == [1, 1, 1]
    sources[2].next("c")
    sources[2].complete()
    sources[1].complete()
    subscriber.assert_empty()
    sources[0].complete()
    subscriber.assert_result("c")


def test_singles_and_maybes_give_their_items_in_order() -> None:
    slow: ManualPublisher[int] = ManualPublisher()
    subscriber: TestSubscriber[int] = TestSubscriber(request=1)
    Single.concat_eager(Flowable.wrap(slow).first(), Single.just(2)).subscribe(subscriber)
    slow.next(1)
    subscriber.assert_values(1).assert_not_terminated()
    subscriber.request(1)
    subscriber.assert_result(1, 2)
    assert Maybe.concat_eager(Maybe.just(1), Maybe.empty(), Maybe.just(3)).blocking_list() == [1, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Flowable.of(1).concat_map_eager(3),  # type: ignore[arg-type]
        lambda: Flowable.concat_eager(Flowable.of(1), [1]),  # type: ignore[call-overload]
        lambda: Single.concat_eager(Single.just(1), 1),  # type: ignore[call-overload]
    ],
)
def test_a_wrong_argument_raises_where_it_is_written(call: Any) -> None:
    with pytest.raises(TypeError, match="concat"):
        call()


def test_a_wrong_limit_raises_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="max_concurrency"):
        Flowable.concat_eager(Flowable.of(1), max_concurrency=0)
    with pytest.raises(ValueError, match="prefetch"):
        Flowable.of(1).concat_map_eager(Flowable.just, prefetch=0)
