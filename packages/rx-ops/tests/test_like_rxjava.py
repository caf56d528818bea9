"""Details of asking and subscribing in which operators do as RxJava does, found in its recorded answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_fusion import fusion_off
from rx_ops import (
    BehaviorProcessor,
    Completable,
    Emitter,
    Flowable,
    Maybe,
    Observable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
    Single,
)
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Flow = Flowable[Any]


@pytest.mark.parametrize(
    "build",
    [
        lambda flow: flow.concat_map(Single.just),
        lambda flow: flow.concat_map(Maybe.just),
        lambda flow: flow.concat_map_completable(lambda _item: Completable.complete()).to_flowable(),
    ],
)
def test_concat_map_to_sources_of_one_item_asks_for_one_more_with_each(build: Callable[[Flow], Flow]) -> None:
    requests: list[int] = []
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
    build(Flowable.wrap(source)).subscribe(TestSubscriber[Any]())
    assert requests == [2]
    source.next(0)
    assert requests == [2, 1]
    source.next(1)
    assert requests == [2, 1, 1]


def test_half_of_a_larger_window_is_asked_for_again() -> None:
    requests: list[int] = []
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
    Flowable.wrap(source).concat_map(Single.just, prefetch=5).subscribe(lambda _item: None)
    for item in range(5):
        source.next(item)
    assert requests == [5, 3]


def test_concat_map_to_streams_asks_for_all_of_a_small_window_again() -> None:
    requests: list[int] = []
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
    Flowable.wrap(source).concat_map(Flowable.just).subscribe(lambda _item: None)
    for item in range(4):
        source.next(item)
    assert requests == [2, 2, 2]


@pytest.mark.parametrize(
    "reduced",
    [
        lambda flow, reducer: flow.reduce(reducer),
        lambda flow, reducer: flow.reduce(reducer, 0),
        lambda flow, reducer: flow.reduce_with(int, reducer),
    ],
)
def test_a_reducer_that_gives_none_ends_the_stream_there_and_then(reduced: Callable[[Any, Any], Any]) -> None:
    calls: list[int] = []

    def reducer(_total: int, item: int) -> int | None:
        calls.append(item)
        return None

    got: TestSubscriber[Any] = TestSubscriber()
    reduced(Flowable.range(1, 10), reducer).to_flowable().subscribe(got)
    got.assert_failure(TypeError)
    assert len(calls) == 1


def test_merge_of_one_stream_is_that_stream() -> None:
    flow = Flowable.range(3).hide()
    assert Flowable.merge(flow) is flow
    observable = flow.to_observable()
    assert Observable.merge(observable) is observable
    assert Flowable.merge(observable).blocking_list() == [0, 1, 2]  # type: ignore[call-overload]  # any source is taken


def _made_late() -> Flowable[int]:
    """What it will be is not known before it is subscribed."""
    return Flowable.defer(lambda: Flowable.range(3))


@pytest.mark.parametrize(
    "source",
    [
        Flowable.range(3),
        Flowable.range(3).hide(),
        Flowable.range(3).hide().map(int).hide(),
        Flowable.defer(lambda: Flowable.range(3)),
        Flowable.range(3).do_finally(lambda: None),
        Flowable.range(3).take_until(predicate=lambda item: item > 2),
        Flowable.range(3).time_interval().map(lambda timed: timed.value),
        *(_made_late().take_until(predicate=lambda _: False), _made_late().hide().on_error_return(lambda _: 7)),
        *(_made_late().timestamp().map(lambda timed: timed.value), _made_late().materialize().dematerialize()),
        _made_late().time_interval().take_until(predicate=lambda _: False).map(lambda timed: timed.value).hide(),
        _made_late().buffer(1).map(lambda each: each[0]),
        Flowable.using(int, lambda _: Flowable.range(3), lambda _: None, eager=False).take_until(predicate=lambda _: False),
    ],
    ids=repr,
)
def test_all_of_a_source_that_computes_its_items_comes_before_the_boundary_of_buffer(source: Flowable[int]) -> None:
    with fusion_off():
        assert source.buffer(boundary=Flowable.of(1, 2)).blocking_list() == [[0, 1, 2]]
    assert source.buffer(boundary=Flowable.of(1, 2)).blocking_list() == [[0, 1, 2]]


def test_the_boundary_of_buffer_is_subscribed_before_requests_are_rebatched_unless_the_source_is_pulled() -> None:
    boundary: Flowable[int] = Flowable.empty()
    assert Flowable.range(3).rebatch_requests(2).buffer(boundary=boundary).blocking_list() == [[0, 1, 2]]
    assert Flowable.range(3).hide().rebatch_requests(2).buffer(boundary=boundary).blocking_list() == [[]]
    with fusion_off():
        assert Flowable.range(3).rebatch_requests(2).buffer(boundary=boundary).blocking_list() == [[]]


def test_the_only_item_of_a_source_comes_before_the_boundary_of_buffer() -> None:
    assert Flowable.just(1).buffer(boundary=Flowable.empty()).blocking_list() == [[1]]


def _send_one(emitter: Emitter[int]) -> None:
    emitter.on_next(1)


@pytest.mark.parametrize(
    "source",
    [
        Observable.range(3),
        Flowable.create(_send_one),
        Flowable.range(3).flat_map(Flowable.just),
        Flowable.merge(Flowable.just(1), Flowable.just(2)),
        Flowable.merge(Flowable.just(1), Flowable.just(2)).hide(),
        Flowable.from_callable(lambda: 1),
        Flowable.range(3).to_list().to_flowable(),
        Flowable.range(3).hide().to_list().to_flowable(),
        Flowable.range(3).take_last(1),
        Flowable.range(3).default_if_empty(7),
        Completable.from_action(lambda: None).to_flowable(),
        Flowable.defer(lambda: Flowable.create(_send_one)).take_until(predicate=lambda _: False),
        Flowable.defer(lambda: Flowable.create(_send_one)).time_interval(),
        Flowable.defer(lambda: Flowable.create(_send_one)).on_error_return(lambda _: 7),
        Flowable.defer(lambda: Flowable.range(3).take_last(1)).timestamp(),
        Flowable.merge(Flowable.just(1), Flowable.just(2)).on_error_return(lambda _: 7),
        PublishProcessor(),
        BehaviorProcessor(1),
    ],
    ids=repr,
)
def test_the_boundary_of_buffer_is_subscribed_before_a_source_that_sends_once_it_is_subscribed(source: Any) -> None:
    assert source.buffer(boundary=Flowable.empty()).blocking_list() == [[]]


@pytest.mark.parametrize(
    "source",
    [
        *(Flowable.empty(), Flowable.of(), Flowable.range(0), Flowable.from_iterable([])),
        *(Flowable.empty().time_interval(), Flowable.empty().hide().timestamp()),
        *(Flowable.empty().take_until(predicate=bool), Flowable.defer(Flowable.empty).take_until(predicate=bool)),
        *(Flowable.empty().on_error_return(lambda _: 7), Flowable.defer(Flowable.empty).on_error_return(lambda _: 7)),
    ],
    ids=repr,
)
def test_the_boundary_of_buffer_is_subscribed_before_the_end_of_a_source_that_is_known_to_be_empty(source: Flowable[int]) -> None:
    assert source.buffer(boundary=Flowable.just(1)).blocking_list() == [[], []]


def test_what_is_replayed_comes_before_the_boundary_of_buffer() -> None:
    source = ReplayProcessor[int]()
    source.on_next(1)
    boundary: Flow = Flowable.empty()
    assert source.buffer(boundary=boundary).blocking_list() == [[1]]


def test_what_is_replayed_comes_before_the_subscriber_joins_those_that_came_while_it_got_it() -> None:
    source = ReplayProcessor[int]()
    source.on_next(5)
    got: list[int] = []
    source.flat_map(lambda _item: source).subscribe(got.append)
    assert got == [5]
    source.on_next(3)
    assert got == [5, 3, 5, 3]


@pytest.mark.parametrize("made", [PublishProcessor, PublishSubject, ReplayProcessor, ReplaySubject, BehaviorProcessor])
def test_a_subscriber_is_added_to_a_processor_behind_those_that_came_while_it_was_given_its_subscription(made: Any) -> None:
    """RxJava's processors add it when on_subscribe has returned."""
    source = made()
    got: list[list[int]] = []
    source.buffer(boundary=source.hide()).subscribe(got.append)
    source.on_next(1)
    source.on_next(2)
    assert got == [[], [1]]


def test_the_boundary_of_buffer_is_subscribed_before_a_source_that_sends_sends_its_items() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    boundary: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[list[int]] = TestSubscriber()
    Flowable.wrap(source).buffer(boundary=Flowable.wrap(boundary)).subscribe(got)
    source.next(1)
    boundary.next(0)
    source.next(2)
    source.complete()
    got.assert_result([1], [2])


def test_an_answer_of_repeat_when_starts_the_next_round_before_the_handlers_stream_goes_on() -> None:
    source = PublishProcessor[int]()
    got: TestSubscriber[int] = TestSubscriber()
    oops = OSError("oops")
    source.cache().repeat_when(lambda ends: ends.take(2).concat_with(Flowable.error(oops))).subscribe(got)
    source.on_next(1)
    source.on_complete()
    got.assert_failure(oops, 1, 1, 1)


def test_an_answer_that_comes_while_a_round_is_subscribed_waits_and_the_handlers_end_does_not() -> None:
    """In RxJava the first source ends inside of its subscribe, the second one does not."""
    once: Flow = Flowable.just(1).repeat_when(lambda _ends: Flowable.just(0))
    assert once.blocking_list() == [1]
    source = PublishProcessor[int]()
    got: TestSubscriber[int] = TestSubscriber()
    source.cache().repeat_when(lambda _ends: Flowable.just(0)).subscribe(got)
    source.on_next(1)
    source.on_complete()
    got.assert_result(1, 1)


def test_a_subscriber_that_comes_after_the_end_of_a_shared_run_within_its_grace_gets_that_end() -> None:
    runs: list[PublishProcessor[int]] = []

    def source() -> Flow:
        runs.append(PublishProcessor())
        return runs[-1]

    shared = Flowable.defer(source).publish().ref_count(seconds=10, scheduler=VirtualScheduler())
    shared.take(1).subscribe(TestSubscriber[int]())
    runs[0].on_next(1)  # the only subscriber leaves
    runs[0].on_complete()
    late, behind = TestSubscriber[int](), TestSubscriber[int]()
    shared.subscribe(late)
    late.assert_result()
    shared.subscribe(behind)
    behind.assert_not_terminated()
    assert len(runs) == 2


@pytest.mark.parametrize(
    ("build", "first"),
    [
        (lambda flow: flow.flat_map_iterable(lambda item: (item,)), 128),
        (lambda flow: flow.scan(lambda a, b: a + b, 0), 127),
        (lambda flow: flow.scan_with(lambda: 0, lambda a, b: a + b), 127),
    ],
)
def test_what_gives_more_than_it_gets_asks_a_source_that_pushes_for_a_window(build: Callable[[Flow], Flow], first: int) -> None:
    requests: list[int] = []
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
    got: TestSubscriber[int] = TestSubscriber(request=0)
    build(Flowable.wrap(source)).subscribe(got)
    assert requests == [first]
    source.next(*range(first))
    got.request(95)
    assert requests == [first]
    got.request(2)
    assert requests == [first, 96]
    oops = OSError("oops")
    source.error(oops)
    got.assert_failure(oops, *got.values)  # the error overtakes what waits
    observed = PublishSubject[int]()
    heard: list[int] = []
    build(observed).subscribe(heard.append)  # type: ignore[arg-type]  # it has the same methods
    for number in range(500):
        observed.on_next(number)
    assert len(heard) >= 500


def test_what_is_requested_from_inside_of_a_list_counts_for_the_next_one_at_once() -> None:
    clock, source = VirtualScheduler(), PublishProcessor[int]()
    got: TestSubscriber[list[int]] = TestSubscriber(request=1, request_in_on_next=1)
    source.buffer(seconds=3.0, every=1.0, scheduler=clock).subscribe(got)
    clock.advance_by(2.5)
    source.on_complete()
    got.assert_result([], [], [])


@pytest.mark.parametrize("made", [Single.from_callable, Maybe.from_callable, Flowable.from_callable])
def test_concat_map_goes_on_behind_the_only_item_of_a_source_without_demand(made: Callable[..., Any]) -> None:
    """So what follows hears the end; with fusion the source is pulled, and its end was not looked at."""
    ends: list[str] = []
    source = PublishProcessor[int]()
    got: TestSubscriber[int] = TestSubscriber(request=1)
    one_by_one = source.concat_map(lambda item: made(lambda: item))
    one_by_one.do_on_complete(lambda: ends.append("over")).subscribe(got)
    source.on_next(1)
    source.on_complete()
    assert ends == ["over"]
    got.assert_result(1)


@pytest.mark.parametrize("forms", [nullcontext, fusion_off])
def test_the_end_behind_the_only_item_of_a_reduction_needs_no_demand(forms: Callable[[], Any]) -> None:
    def unlike_others(item: int) -> bool:
        return item > 5

    with forms():
        for build in (
            lambda flow: flow.count().to_flowable(),
            lambda flow: flow.to_list().map(len).to_flowable(),
            lambda flow: flow.any(unlike_others).to_flowable(),
        ):
            got: TestSubscriber[Any] = TestSubscriber(request=1)
            build(Flowable.range(3)).subscribe(got)  # type: ignore[no-untyped-call]  # a lambda of a table
            got.assert_complete()


def test_a_delayed_reduction_is_delayed_once() -> None:
    clock = VirtualScheduler()
    came: list[float] = []
    Flowable.range(3).count().delay(1.0, scheduler=clock).observe_on(clock).subscribe(lambda _count: came.append(clock.now()))
    clock.advance_by(5.0)
    assert came == [1.0]


def test_concat_map_asks_for_more_when_it_has_made_a_source_of_an_item() -> None:
    happened: list[object] = []
    source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: happened.append(n))

    def mapper(item: int) -> Flow:
        happened.append("mapped")
        return Flowable.just(item)

    Flowable.wrap(source).concat_map(mapper).subscribe(TestSubscriber[Any]())
    source.next(0)
    source.next(1)
    assert happened == [2, "mapped", "mapped", 2]


@pytest.mark.parametrize("forms", [nullcontext, fusion_off])
@pytest.mark.parametrize("hidden", [False, True])
def test_the_end_behind_a_seed_and_the_last_item_needs_no_demand(forms: Callable[[], Any], hidden: bool) -> None:
    with forms():
        source = Flowable.of(1, 2)
        got: TestSubscriber[int] = TestSubscriber(request=3)
        (source.hide() if hidden else source).scan(lambda a, b: a + b, 0).subscribe(got)
        got.assert_result(0, 1, 3)


@pytest.mark.parametrize(
    "build",
    [
        lambda one: one.repeat(2),
        lambda one: one.map(str).repeat(2).map(int),
        lambda one: one.retry().repeat(2),
    ],
)
@pytest.mark.parametrize("made", [Single.from_callable, Maybe.from_callable])
def test_the_end_of_a_source_of_one_item_needs_no_demand(made: Callable[..., Any], build: Callable[[Any], Flow]) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=2)
    build(made(lambda: 7)).subscribe(got)
    got.assert_result(7, 7)
