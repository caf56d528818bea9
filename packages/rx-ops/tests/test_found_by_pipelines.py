"""What random pipelines found to answer otherwise than RxJava: the smallest programs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_core import MissingBackpressureError
from rx_fusion import fusion_enabled, fusion_off
from rx_ops import BackpressureStrategy, Emitter, Flowable, Observable, PublishProcessor, PublishSubject, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

Flow = Flowable[Any]
BOTH_FORMS = pytest.mark.parametrize("forms", [nullcontext, fusion_off], ids=["fused", "without fusion"])


@BOTH_FORMS
@pytest.mark.parametrize(
    "gathered",
    [
        lambda flow: flow.to_list(),
        lambda flow: flow.reduce(max),
        lambda flow: flow.count(),
        lambda flow: flow.map(str).collect(list, lambda made, item: made.append(item)),
    ],
    ids=["to_list", "reduce", "count", "collect"],
)
@pytest.mark.parametrize(
    "dropping",
    [
        lambda flow: flow.filter(lambda item: item > 2),
        lambda flow: flow.map_optional(lambda item: item if item > 2 else None),
        lambda flow: flow.map(abs).distinct().skip_while(lambda item: item < 3),
    ],
    ids=["filter", "map_optional", "skip_while"],
)
def test_what_is_dropped_in_front_of_take_and_a_reduction_is_asked_for_again(
    dropping: Callable[[Flow], Flow], gathered: Callable[[Flow], Any], forms: Callable[[], Any]
) -> None:
    with forms():
        got: list[Any] = []
        requests: list[int] = []
        source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
        gathered(dropping(Flowable.wrap(source).hide()).take(2)).subscribe(got.append, on_error=got.append)
        for item in range(1, 5):
            source.next(item)
        assert len(got) == 1
        assert not isinstance(got[0], Exception)
        assert requests == [2, 1, 1]


@BOTH_FORMS
def test_a_timer_is_not_overrun_behind_a_filter_in_front_of_take_and_a_list(forms: Callable[[], Any]) -> None:
    with forms():
        clock = VirtualScheduler()
        got: list[Any] = []
        ticks = Flowable.interval(1, scheduler=clock)
        ticks.filter(lambda tick: tick > 1).take(1).to_list().subscribe(got.append, on_error=got.append)
        clock.advance_by(10)
        assert got == [[2]]


@BOTH_FORMS
def test_no_function_is_called_for_the_end_of_a_window_that_is_not_wanted(forms: Callable[[], Any]) -> None:
    def never_ends(item: int) -> Flow:
        called.append(item)
        return Flowable.never()

    with forms():
        called: list[int] = []
        subscriber = TestSubscriber[Any](1)
        Flowable.never().window(opening=Flowable.of(1, 2, 3), closing=never_ends).map(
            lambda window: window.subscribe(lambda _item: None)
        ).subscribe(subscriber)
        subscriber.assert_error(MissingBackpressureError)
        assert called == [1]


@BOTH_FORMS
@pytest.mark.parametrize("kind", [Flowable, Observable])
def test_an_answer_that_comes_with_the_handlers_end_starts_no_further_round(kind: Any, forms: Callable[[], Any]) -> None:
    with forms():
        got: list[int] = []
        kind.just(1).repeat_when(lambda completions: completions.take(2)).subscribe(got.append)
        assert got == [1, 1]


@BOTH_FORMS
@pytest.mark.parametrize("kind", [Flowable, Observable])
def test_an_error_that_comes_with_the_last_answer_is_the_end(kind: Any, forms: Callable[[], Any]) -> None:
    with forms():
        got: list[Any] = []
        failing = kind.just(1).repeat_when(lambda completions: completions.take(2).concat_with(kind.error(KeyError("no more"))))
        failing.subscribe(got.append, on_error=lambda error: got.append(repr(error)))
        assert got == [1, 1, "KeyError('no more')"]


@BOTH_FORMS
def test_any_number_of_items_of_an_observable_wait_for_their_selectors(forms: Callable[[], Any]) -> None:
    with forms():
        clock = VirtualScheduler()
        got: list[Any] = []
        ticks = Observable.interval(1, scheduler=clock)
        delayed = ticks.delay(selector=lambda _tick: Observable.timer(500, scheduler=clock))
        handle = delayed.subscribe(got.append, on_error=got.append)
        clock.advance_by(700)
        handle.dispose()
        assert got == list(range(200))


@BOTH_FORMS
def test_skip_last_of_an_observable_looks_at_the_clock_with_items_only(forms: Callable[[], Any]) -> None:
    with forms():
        clock = VirtualScheduler()
        got: list[Any] = []
        subject = PublishSubject[int]()
        kept = subject.skip_last(seconds=1, scheduler=clock)
        kept.delay(selector=lambda _item: Observable.timer(5, scheduler=clock)).subscribe(got.append)
        subject.on_next(1)
        clock.advance_by(2)
        subject.on_next(2)
        clock.advance_by(20)
        assert got == [1]


@BOTH_FORMS
def test_the_end_of_the_last_window_comes_when_the_source_is_free(forms: Callable[[], Any]) -> None:
    with forms():
        clock = VirtualScheduler()
        log: list[str] = []
        source = Flowable.never().do_on_cancel(lambda: log.append("cancelled"))
        windows = source.window(seconds=1, every=3, scheduler=clock).take(1)
        windows.flat_map(lambda window: window).subscribe(log.append, on_complete=lambda: log.append("complete"))
        clock.advance_by(2)
        assert log == ["cancelled", "complete"]


@BOTH_FORMS
@pytest.mark.parametrize(
    "joined",
    [
        lambda first, then: Flowable.concat(first, then),
        lambda first, then: Flowable.of(first, then).concat_map(lambda source: source),
        lambda first, then: Flowable.of(first, then).hide().concat_map(lambda source: source),
    ],
    ids=["concat", "concat_map", "concat_map behind a wall"],
)
@pytest.mark.parametrize(
    "first",
    [
        lambda: Flowable.from_iterable([1, 2]),
        lambda: Flowable.range(1, 3).map(int),
        lambda: Flowable.range(1, 9).take(2),
        lambda: Flowable.of(1, 2).hide(),
    ],
    ids=["list", "stages", "take", "hidden"],
)
def test_the_next_source_begins_with_the_last_item_of_one_whose_end_is_known(
    first: Callable[[], Flow], joined: Callable[[Flow, Flow], Flow], forms: Callable[[], Any]
) -> None:
    with forms():
        begun: list[int] = []

        def last() -> Flowable[int]:
            begun.append(1)
            return Flowable.just(3)

        then = Flowable.defer(last)
        subscriber = TestSubscriber[int](1)
        joined(first(), then).subscribe(subscriber)
        assert not begun
        subscriber.request(1)
        assert begun
        subscriber.request(1)
        subscriber.assert_result(1, 2, 3)


@BOTH_FORMS
def test_an_observable_of_sources_fails_while_the_first_of_many_runs(forms: Callable[[], Any]) -> None:
    with forms():
        got: list[Any] = []
        subject = PublishSubject[int]()
        sources = Observable.concat(Observable.empty(), subject)
        flat = sources.concat_map(lambda _item: Observable.never()).concat_with(Observable.empty())
        flat.subscribe(got.append, on_error=lambda error: got.append(type(error)))
        for item in range(5):
            subject.on_next(item)
        subject.on_error(KeyError("over"))
        assert got == [KeyError]


@BOTH_FORMS
@pytest.mark.parametrize(
    "left", [lambda flow: flow.take(1), lambda flow: flow.take_until(predicate=bool)], ids=["take", "take_until"]
)
@pytest.mark.parametrize(
    "flat",
    [
        lambda windows: windows.flat_map(lambda window: window.count()),
        lambda windows: windows.flat_map(lambda window: window),
        lambda windows: windows.concat_map(lambda window: window.to_list()),
        lambda windows: windows.switch_map(lambda window: window),
    ],
    ids=["count", "flat_map", "concat_map", "switch_map"],
)
@pytest.mark.parametrize(
    "cut",
    [
        lambda flow, cue: flow.window(boundary=cue),
        lambda flow, cue: flow.window(closing=lambda: cue),
        lambda flow, cue: flow.window(1),
        lambda flow, cue: flow.window(1, 2),
        lambda flow, cue: flow.group_by(lambda item: item),
    ],
    ids=["boundary", "closing", "count", "gaps", "group_by"],
)
def test_a_cancel_from_inside_an_item_of_a_window_reaches_the_source_before_the_end_is_signalled(
    cut: Callable[[Flow, Flow], Flow], flat: Callable[[Flow], Flow], left: Callable[[Flow], Flow], forms: Callable[[], Any]
) -> None:
    with forms():
        log: list[str] = []
        items, cues = PublishProcessor[int](), PublishProcessor[int]()
        source = items.do_on_cancel(lambda: log.append("cancelled"))
        left(flat(cut(source, cues))).subscribe(lambda _item: None, on_complete=lambda: log.append("complete"))
        items.on_next(3)
        cues.on_next(0)
        items.on_next(4)
        items.on_complete()
        assert "cancelled" not in log or log == ["cancelled", "complete"]


@BOTH_FORMS
def test_where_few_inner_sources_may_run_each_that_is_over_at_once_makes_room_for_the_next(forms: Callable[[], Any]) -> None:
    with forms():
        requests: list[int] = []
        source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
        Flowable.wrap(source).flat_map(lambda _item: Flowable.empty(), max_concurrency=3).subscribe(lambda _item: None)
        assert requests == [3]
        source.next(1)
        assert requests == [3, 1]
        source.next(2)
        assert requests == [3, 1, 1]


@BOTH_FORMS
def test_the_items_of_a_completable_are_not_asked_for_one_by_one_in_front_of_observe_on(forms: Callable[[], Any]) -> None:
    def send(emitter: Emitter[int]) -> None:
        emitter.on_next(1)
        emitter.on_next(2)
        emitter.on_complete()

    with forms():
        clock = VirtualScheduler()
        ends: list[str] = []
        ended = Flowable.create(send, BackpressureStrategy.ERROR).ignore_elements().observe_on(clock)
        ended.subscribe(lambda: ends.append("complete"), on_error=lambda error: ends.append(repr(error)))
        clock.advance_by(1)
        assert ends == ["complete"]


@BOTH_FORMS
@pytest.mark.parametrize("walled", [lambda flow: flow, lambda flow: flow.hide()], ids=["", "walled"])
@pytest.mark.parametrize(
    ("build", "first", "second"),
    [
        (lambda flow: flow.buffer(3, 2), 5, 2),
        (lambda flow: flow.buffer(3, 1), 4, 1),
        (lambda flow: flow.take(6).buffer(3, 2), 5, 1),
        (lambda flow: flow.buffer(2, 3), 5, 3),
    ],
)
def test_lists_that_overlap_ask_for_the_items_of_all_that_are_wanted(
    build: Callable[[Flow], Flow], first: int, second: int, walled: Callable[[Flow], Flow], forms: Callable[[], Any]
) -> None:
    with forms():
        requests: list[int] = []
        source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
        subscriber = TestSubscriber[Any](request=2)
        build(walled(Flowable.wrap(source))).subscribe(subscriber)
        assert requests == [first]
        source.next(*range(first))
        assert len(subscriber.values) == 2
        subscriber.request(1)
        assert requests == [first, second]


@BOTH_FORMS
@pytest.mark.parametrize(
    "scanned", [lambda flow, add: flow.scan(add, 0), lambda flow, add: flow.scan_with(int, add)], ids=["scan", "scan_with"]
)
def test_what_scan_makes_of_an_item_that_came_waits_and_a_failure_does_not(
    scanned: Callable[[Flow, Callable[[int, int], int]], Flow], forms: Callable[[], Any]
) -> None:
    def add(total: int, item: int) -> int:
        if item > 2:
            raise KeyError("too much")
        return total + item

    with forms():
        source = PublishProcessor[int]()
        subscriber = TestSubscriber[int](request=2)
        scanned(source, add).subscribe(subscriber)
        source.on_next(1)
        source.on_next(2)
        assert subscriber.values == [0, 1]
        subscriber.request(1)
        assert subscriber.values == [0, 1, 3]
        source.on_next(1)
        source.on_next(3)
        subscriber.assert_failure(KeyError, 0, 1, 3)


@BOTH_FORMS
def test_what_waits_behind_scan_counts_in_the_window_of_its_source(forms: Callable[[], Any]) -> None:
    with forms():
        requests: list[int] = []
        source: ManualPublisher[int] = ManualPublisher(on_request=lambda _subscription, n: requests.append(n))
        subscriber = TestSubscriber[int](request=0)
        Flowable.wrap(source).scan(lambda total, item: total + item, 0).filter(lambda total: total != 3).subscribe(subscriber)
        source.next(*range(127))
        assert requests == [127]
        subscriber.request(200)
        assert subscriber.values[:3] == [0, 0, 1]
        assert len(requests) == 2


@BOTH_FORMS
def test_an_answer_that_is_known_early_frees_the_source_also_in_a_list(forms: Callable[[], Any]) -> None:
    with forms():
        source: ManualPublisher[int] = ManualPublisher()
        subscriber = TestSubscriber[Any](request=1)
        answer = Flowable.wrap(source).any(lambda item: item > 1).to_flowable()
        answer.to_list().to_flowable().subscribe(subscriber)
        source.next(1, 2)
        subscriber.assert_result([True])
        assert source.cancelled


@BOTH_FORMS
def test_a_seed_comes_before_the_sources_of_the_source_are_subscribed(forms: Callable[[], Any]) -> None:
    with forms():
        log: list[str] = []
        source = Flowable.never().do_on_subscribe(lambda _subscription: log.append("subscribed"))
        Flowable.merge(source, Flowable.of(4)).scan(max, 2).subscribe(lambda total: log.append(str(total)))
        assert log == ["2", "subscribed", "4"]


def test_a_failure_behind_a_concat_that_had_to_wait_keeps_its_type() -> None:
    """What was left of its sources has no length, and the note on the error was about to ask for one."""

    def bad(_item: int) -> int:
        raise LookupError("bad")

    flow = Flowable.defer(lambda: Flowable.range(0)).scan_with(lambda: 0, lambda seen, _item: seen).start_with().map(bad)
    with pytest.raises(LookupError, match="bad"):
        flow.blocking_list()


@BOTH_FORMS
@pytest.mark.parametrize(
    "several",
    [
        lambda flow: flow.flat_map(Flowable.just),
        lambda flow: flow.flat_map(lambda item: Flowable.of(item, item)).map(abs),
        lambda flow: flow.group_by(lambda item: item % 2).flat_map(lambda group: group.map(abs)),
        lambda flow: flow.concat_map_eager(Flowable.just),
    ],
    ids=["flat_map", "flat_map and stages", "groups", "concat_map_eager"],
)
@pytest.mark.parametrize(
    "slow",
    [
        lambda flow, mapper: flow.concat_map(mapper),
        lambda flow, mapper: flow.flat_map(mapper, max_concurrency=1),
    ],
    ids=["concat_map", "flat_map"],
)
def test_an_operator_that_runs_several_sources_reads_on_behind_a_slow_one(
    forms: Callable[[], Any], several: Callable[[Flow], Flow], slow: Callable[[Flow, Any], Flow]
) -> None:
    """For callbacks the two are one loop, which was asked for two items at a time once an inner source had to be waited for."""
    with forms():
        clock = VirtualScheduler()
        read: list[int] = []

        class Numbers:
            def __iter__(self) -> Any:
                for number in range(5):
                    read.append(number)
                    yield number
                raise KeyError(5)

        def ten_seconds(item: int) -> Flow:
            return Single.timer(10, scheduler=clock).map(lambda _: item).to_flowable()

        got: list[Any] = []
        errors: list[Exception] = []
        slow(several(Flowable.from_iterable(Numbers())), ten_seconds).subscribe(got.append, errors.append)
        clock.advance_by(1)
        assert (got, read) == ([], [0, 1, 2, 3, 4])
        assert [type(error) for error in errors] == [KeyError]


@BOTH_FORMS
def test_what_was_read_on_is_given_in_order(forms: Callable[[], Any]) -> None:
    with forms():
        clock = VirtualScheduler()
        got: list[Any] = []
        flow = Flowable.range(300).flat_map(Flowable.just)
        flow.concat_map(lambda item: Single.timer(1, scheduler=clock).map(lambda _: item)).subscribe(
            got.append, on_complete=lambda: got.append("the end")
        )
        clock.advance_by(1000)
        assert got == [*range(300), "the end"]


@BOTH_FORMS
@pytest.mark.parametrize(
    "behind",
    [
        lambda flow: flow.count().to_flowable().buffer(2),
        lambda flow: flow.buffer(2).buffer(2),
        lambda flow: flow.filter(lambda item: item > 5).default_if_empty(0).buffer(2),
        lambda flow: flow.take_last(1).buffer(2),
    ],
    ids=["count", "buffer", "default_if_empty", "take_last"],
)
@pytest.mark.parametrize("ended", ["handle", "take_while", "take"])
def test_a_source_is_left_when_a_stage_has_ended_and_not_when_all_behind_it_are_given(
    forms: Callable[[], Any], ended: str, behind: Callable[[Flow], Flow]
) -> None:
    def only_zero(item: int, emitter: Any) -> None:
        emitter.on_next(item)
        emitter.on_complete()

    ends: dict[str, Callable[[Flow], Flow]] = {
        "handle": lambda flow: flow.handle(only_zero),
        "take_while": lambda flow: flow.take_while(lambda item: item < 1),
        "take": lambda flow: flow.take(1),
    }
    with forms():
        source: ManualPublisher[int] = ManualPublisher()
        subscriber = TestSubscriber[Any](request=0)
        behind(ends[ended](Flowable.wrap(source))).subscribe(subscriber)
        subscriber.request(1)
        source.next(0)
        if not source.cancelled:
            source.next(1)
        assert source.cancelled
        assert len(subscriber.values) == 1
        subscriber.assert_complete()


LEFT_IN_THE_MIDDLE: dict[str, Callable[[Flow], Flow]] = {
    "map": lambda flow: flow.map(str),
    "take": lambda flow: flow.take(4),
    "scan": lambda flow: flow.scan(max),
    "buffer": lambda flow: flow.buffer(2),
    "flat_map_iterable": lambda flow: flow.flat_map_iterable(lambda item: [item] * 2),
}
NOT_LEFT: dict[str, Callable[[Flow], Flow]] = {
    "handle": lambda flow: flow.handle(lambda item, emitter: emitter.on_next(item)),
    "slice": lambda flow: flow.slice(0, 9),
    "scan with a seed": lambda flow: flow.scan(max, 0),
    "scan_with": lambda flow: flow.scan_with(lambda: 0, max),
    "buffer whose lists overlap": lambda flow: flow.buffer(2, 1),
    "chunk_by_weight": lambda flow: flow.chunk_by_weight(2, lambda _item: 1),
}


@pytest.mark.skipif(not fusion_enabled(), reason="without fusion nothing is looped")
@pytest.mark.parametrize("name", LEFT_IN_THE_MIDDLE | NOT_LEFT)
def test_a_for_loop_asks_concat_map_for_one_source_unless_a_stage_cannot_be_left_in_the_middle(name: str) -> None:
    """The stages that the guide of backpressure names."""
    mapped: list[int] = []

    def mapper(item: int) -> Flowable[int]:
        mapped.append(item)
        return Flowable.range(2)

    next(iter((LEFT_IN_THE_MIDDLE | NOT_LEFT)[name](Flowable.range(6).concat_map(mapper))))
    assert (len(mapped) == 1) == (name in LEFT_IN_THE_MIDDLE)


@BOTH_FORMS
@pytest.mark.parametrize(
    ("between", "starts"),
    [
        (lambda flow: flow.map(str), True),
        (lambda flow: flow.flat_map(Flowable.just), False),
        (lambda flow: flow.merge_with(Flowable.never()), False),
        (lambda flow: flow.on_error_complete(), False),
    ],
    ids=["map", "flat_map", "merge_with", "on_error_complete"],
)
def test_a_subscriber_that_leaves_with_its_subscription_starts_nothing_behind_an_operator(
    between: Callable[[Flow], Flow], starts: bool, forms: Callable[[], Any]
) -> None:
    source: ManualPublisher[int] = ManualPublisher()

    def refuse(_subscription: object) -> None:
        raise ValueError("mine")

    with forms():
        subscriber: TestSubscriber[Any] = TestSubscriber()
        between(Flowable.wrap(source).cache()).do_on_subscribe(refuse).subscribe(subscriber)
    assert [str(error) for error in subscriber.errors] == ["mine"]
    assert len(source.subscriptions) == starts


@BOTH_FORMS
@pytest.mark.parametrize("gather", ["to_dict", "to_multimap"])
def test_the_key_of_an_item_is_asked_for_before_its_value(gather: str, forms: Callable[[], Any]) -> None:
    asked: list[str] = []

    def asking(name: str) -> Callable[[int], int]:
        def ask(item: int) -> int:
            asked.append(f"{name} {item}")
            return item

        return ask

    with forms():
        getattr(Flowable.of(1, 2), gather)(asking("key"), asking("value")).blocking_get()
    assert asked == ["key 1", "value 1", "key 2", "value 2"]


COUNTING: dict[str, Callable[[Flow], Flow]] = {
    "skip": lambda flow: flow.skip(1),
    "skip further": lambda flow: flow.skip(4),
    "take": lambda flow: flow.take(7),
    "slice": lambda flow: flow.slice(1, 30, 3),
    "buffer": lambda flow: flow.buffer(2),
    "buffer with gaps": lambda flow: flow.buffer(2, 5),
    "buffer that overlaps": lambda flow: flow.buffer(5, 2),
}


@BOTH_FORMS
@pytest.mark.parametrize("stages", COUNTING.values(), ids=COUNTING)
@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.timeout(20)
def test_what_counts_items_asks_for_what_is_left_when_a_loop_has_begun_it(
    stages: Callable[[Flow], Flow], first: int, forms: Callable[[], Any]
) -> None:
    with forms():
        items = Flowable.range(first, 400).hide().start_with(*range(first))
        wanted = stages(Flowable.range(400)).concat_map(Flowable.just).blocking_list()
        assert list(stages(items).concat_map(Flowable.just)) == wanted
        assert list(stages(items).hide().rebatch_requests(1)) == wanted
