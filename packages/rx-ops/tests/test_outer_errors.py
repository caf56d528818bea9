"""An error of the source of sources, while its inner sources run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException
from rx_fusion import fusion_enabled
from rx_ops import Emitter, Flowable, PublishProcessor
from rx_testing import ManualPublisher, TestSubscriber

OOPS = OSError("oops")

OUTER: dict[str, Callable[[Any], Flowable[Any]]] = {
    "as it is": Flowable.wrap,
    "through stages": lambda source: Flowable.wrap(source).map(int).filter(lambda item: item >= 0),
    "behind a wall": lambda source: Flowable.wrap(source).hide(),
}


@pytest.fixture(params=OUTER)
def outer(request: pytest.FixtureRequest) -> Callable[[Any], Flowable[Any]]:
    return OUTER[request.param]


class Inners:
    """A publisher for each outer item."""

    def __init__(self) -> None:
        self.made: list[ManualPublisher[Any]] = []

    def __call__(self, _item: object) -> Flowable[Any]:
        self.made.append(ManualPublisher())
        return Flowable.wrap(self.made[-1])


@pytest.mark.parametrize("request_", [5, 1, 0])
@pytest.mark.parametrize("queued", [0, 1])
def test_concat_map_cancels_the_inner_source_that_runs(outer: Any, request_: int, queued: int) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any](request=request_)
    outer(source).concat_map(inners).subscribe(got)
    for item in range(1 + queued):
        source.next(item)
    if request_:
        inners.made[0].next("a")
    source.error(OOPS)
    got.assert_failure(OOPS, *(["a"] if request_ else []))
    assert [inner.cancelled for inner in inners.made] == [True] * len(inners.made)
    assert len(inners.made) <= 1


def test_concat_map_ends_a_synchronous_inner_source_that_waits_for_demand(outer: Any) -> None:
    source = ManualPublisher[int]()
    computed: list[int] = []
    got = TestSubscriber[Any](request=2)
    outer(source).concat_map(lambda item: Flowable.range(9).do_on_next(computed.append)).subscribe(got)
    source.next(1)
    got.assert_values(0, 1)
    source.error(OOPS)
    got.assert_failure(OOPS, 0, 1)
    assert computed == [0, 1]  # nothing ahead of demand


@pytest.mark.parametrize("next_one", [Flowable.of("b"), Flowable.just("b"), Flowable.concat(Flowable.of("b"), Flowable.never())])
def test_concat_map_sees_an_error_that_came_as_it_asked_for_more(next_one: Flowable[str]) -> None:
    """On the way to the next inner source, which gives nothing then, as in RxJava: it is asked for more before that is run."""

    def emit(emitter: Emitter[int]) -> None:
        for item in range(3):
            emitter.on_next(item)
        emitter.on_error(OOPS)

    first = ManualPublisher[str]()
    got = TestSubscriber[str]()
    Flowable.create(emit).concat_map(lambda item: next_one if item else Flowable.wrap(first)).subscribe(got)
    first.next("a")
    first.complete()
    got.assert_failure(OOPS, "a")


def test_concat_map_at_the_boundary_lets_the_inner_source_end_and_no_other_begin(outer: Any) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any]()
    outer(source).concat_map(inners, delay_error=True, till_the_end=False).subscribe(got)
    source.next(1)
    source.next(2)
    source.error(OOPS)
    inners.made[0].next("a")
    got.assert_values("a").assert_not_terminated()
    inners.made[0].complete()
    got.assert_failure(OOPS, "a")
    assert len(inners.made) == 1


@pytest.mark.parametrize("till_the_end", [False, True])
def test_concat_map_tells_the_delayed_errors_in_the_order_in_which_they_came(outer: Any, till_the_end: bool) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any]()
    outer(source).concat_map(inners, delay_error=True, till_the_end=till_the_end).subscribe(got)
    source.next(1)
    source.error(OOPS)
    inner = LookupError("inner")
    inners.made[0].error(inner)
    got.assert_failure(CompositeException)
    assert isinstance(got.error, CompositeException)
    assert list(got.error.exceptions) == [OOPS, inner]


def test_concat_map_at_the_very_end_runs_them_all(outer: Any) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any]()
    outer(source).concat_map(inners, delay_error=True).subscribe(got)
    source.next(1)
    source.next(2)
    source.error(OOPS)
    inners.made[0].error(LookupError("inner"))
    inners.made[1].next("b")
    inners.made[1].complete()
    got.assert_failure(CompositeException, "b")


def test_items_that_came_before_the_error_are_not_lost_where_nothing_waits(outer: Any) -> None:
    class Sends:
        """Sends what it has and fails, before request() returns."""

        def subscribe(self, subscriber: Any, /) -> None:
            self.subscriber, self.sent = subscriber, False
            subscriber.on_subscribe(self)

        def request(self, n: int, /) -> None:
            if not self.sent:
                self.sent = True
                for item in range(min(n, 2)):
                    self.subscriber.on_next(item)
                self.subscriber.on_error(OOPS)

        def cancel(self) -> None:
            pass

    for request_ in (9, 1):
        got = TestSubscriber[Any](request=request_, request_in_on_next=1)
        outer(Sends()).concat_map(lambda item: Flowable.of(item, item)).subscribe(got)
        got.assert_failure(OOPS, 0, 0, 1, 1)
        got = TestSubscriber[Any](request=request_, request_in_on_next=1)
        outer(Sends()).flat_map(lambda item: Flowable.of(item, item)).subscribe(got)
        got.assert_failure(OOPS, 0, 0, 1, 1)


def test_a_source_that_had_its_last_item_does_not_fail_any_more() -> None:
    source, inners = ManualPublisher[int](unchecked=True), Inners()
    got = TestSubscriber[Any]()
    Flowable.wrap(source).take(1).concat_map(inners).subscribe(got)
    source.next(1)
    inners.made[0].next("a")
    if not source.cancelled:  # fusion on: it has not looked yet
        source.error(OOPS)
    inners.made[0].next("b")
    inners.made[0].complete()
    got.assert_result("a", "b")


@pytest.mark.parametrize("request_", [5, 1, 0])
def test_flat_map_ends_at_once_while_all_lanes_are_taken(outer: Any, request_: int) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any](request=request_)
    outer(source).flat_map(inners, max_concurrency=2).subscribe(got)
    source.next(1)
    source.next(2)
    if request_:
        inners.made[0].next("a")
    source.error(OOPS)
    got.assert_failure(OOPS, *(["a"] if request_ else []))
    assert all(inner.cancelled for inner in inners.made)


def test_flat_map_ends_at_once_while_items_wait(outer: Any) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any](request=1)
    outer(source).flat_map(inners, max_concurrency=2).subscribe(got)
    source.next(1)
    inners.made[0].next("a", "b", "c")
    got.assert_values("a")
    source.error(OOPS)
    got.assert_failure(OOPS, "a")


def test_flat_map_with_delayed_errors_lets_the_inner_sources_end(outer: Any) -> None:
    source, inners = ManualPublisher[int](), Inners()
    got = TestSubscriber[Any]()
    outer(source).flat_map(inners, max_concurrency=1, delay_error=True).subscribe(got)
    source.next(1)
    source.error(OOPS)
    inners.made[0].next("a")
    got.assert_values("a").assert_not_terminated()
    inners.made[0].complete()
    got.assert_failure(OOPS, "a")


def test_an_inner_error_is_seen_in_the_middle_of_anothers_turn() -> None:
    left, right = ManualPublisher[Any](), ManualPublisher[Any]()
    got = TestSubscriber[Any](request=1)
    Flowable.merge(Flowable.wrap(left), Flowable.wrap(right)).subscribe(got)
    left.next("a", "b", "c")
    got.assert_values("a")
    right.error(OOPS)
    got.assert_failure(OOPS, "a")


@pytest.mark.parametrize("of_two", [False, True])
def test_nothing_is_computed_ahead_of_demand_for_an_end_elsewhere(of_two: bool) -> None:
    if not fusion_enabled():
        pytest.skip("each inner source has a queue of its own then")
    hot: PublishProcessor[int] = PublishProcessor()
    ending = ManualPublisher[Any]()
    computed: list[int] = []
    made: Any = Flowable.range(200 if of_two else 9).do_on_next(computed.append)
    got = TestSubscriber[Any](request=2)
    hot.flat_map(lambda item: Flowable.wrap(ending) if item else made).subscribe(got)
    hot.on_next(1)
    hot.on_next(0)
    got.assert_values(0, 1)
    ending.complete()
    assert computed == [0, 1]
    got.assert_not_terminated()
    got.request(1)
    got.assert_values(0, 1, 2)
