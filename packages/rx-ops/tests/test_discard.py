"""do_on_discard: what is thrown away, place by place. All operators with many threads are in tests/storm/test_discarding.py."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pytest

import rx_schedulers
from rx_core import hookimpl, manager
from rx_fusion import StageError, fusion_off, stage
from rx_ops import BackpressureStrategy, Flowable, Observable
from rx_testing import ManualPublisher, TestObserver, TestSubscriber, VirtualScheduler

T = TypeVar("T")
Build = Callable[[Flowable[Any]], Flowable[Any]]


class Case:
    """An operator between a source that is told when to send, and a subscriber that asks for so many items."""

    def __init__(self, build: Build, request: int | None = None, *, unchecked: bool = False) -> None:
        self.gone: list[Any] = []
        self.source: ManualPublisher[Any] = ManualPublisher(unchecked=unchecked)
        self.got: TestSubscriber[Any] = TestSubscriber() if request is None else TestSubscriber(request=request)
        build(Flowable.wrap(self.source)).do_on_discard(self.gone.append).subscribe(self.got)


@pytest.fixture(params=["fused", "off"], autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "off":
        with fusion_off():
            yield
    else:
        yield


# -- what waits ----------------------------------------------------------------------------------------------------------------


def test_a_queue_that_is_left() -> None:
    case = Case(lambda source: source.on_backpressure_buffer(), request=1)
    case.source.next(1, 2, 3)
    case.got.cancel()
    assert (case.got.values, case.gone) == ([1], [2, 3])


def test_a_queue_that_an_error_overtakes() -> None:
    case = Case(lambda source: source.on_backpressure_buffer(), request=1)
    case.source.next(1, 2, 3)
    case.source.error(ValueError("now"))
    assert (case.got.values, case.gone) == ([1], [2, 3])
    case.got.assert_error(ValueError)


def test_the_other_side_of_a_thread() -> None:
    gone: list[int] = []
    stopped = threading.Event()

    def hear(item: int) -> None:
        gone.append(item)
        if item == 9:
            stopped.set()

    stream = Flowable.range(10).hide().observe_on(rx_schedulers.computation()).do_on_discard(hear)
    stream.subscribe(TestSubscriber(cancel_after=3))
    assert stopped.wait(20)
    assert gone == [3, 4, 5, 6, 7, 8, 9]


def test_items_whose_time_has_not_come() -> None:
    clock = VirtualScheduler()
    case = Case(lambda source: source.delay(1.0, scheduler=clock))
    case.source.next(1, 2)
    case.got.cancel()
    assert case.gone == [1, 2]


def test_the_last_items_by_the_clock() -> None:
    clock = VirtualScheduler()
    case = Case(lambda source: source.take_last(2, seconds=10.0, scheduler=clock))
    case.source.next(1, 2, 3)
    assert case.gone == [1]
    clock.advance_by(20.0)
    case.source.next(4)
    assert case.gone == [1, 2, 3]
    case.source.error(ValueError("end"))
    assert case.gone == [1, 2, 3, 4]


def test_half_rows() -> None:
    gone: list[Any] = []
    assert Flowable.zip(Flowable.of(1, 2, 3), Flowable.of(10)).do_on_discard(gone.append).blocking_list() == [(1, 10)]
    assert gone in ([2], [2, 3])  # without fusion a source is read ahead


def test_rows_that_were_never_full() -> None:
    left, right = ManualPublisher[Any](), ManualPublisher[Any]()
    gone: list[Any] = []
    stream: Flowable[Any] = Flowable.combine_latest(Flowable.wrap(left), Flowable.wrap(right))
    got: TestSubscriber[Any] = TestSubscriber()
    stream.do_on_discard(gone.append).subscribe(got)
    left.next("a", "b")
    assert gone == ["a"]
    right.next(1)
    left.next("c")  # both were in a row by now
    got.cancel()
    assert (got.values, gone) == ([("b", 1), ("c", 1)], ["a"])


def test_a_list_that_is_not_full() -> None:
    case = Case(lambda source: source.buffer(3))
    case.source.next(1, 2, 3, 4, 5)
    case.source.error(ValueError("end"))
    assert (case.got.values, case.gone) == ([[1, 2, 3]], [4, 5])


def test_a_list_that_is_not_full_at_a_cancel() -> None:
    case = Case(lambda source: source.buffer_until(lambda item: item == 3))
    case.source.next(1, 2, 3, 4, 5)
    case.got.cancel()
    assert (case.got.values, case.gone) == ([[1, 2, 3]], [4, 5])


def test_a_list_that_is_given_is_not_thrown_away() -> None:
    case = Case(lambda source: source.buffer(3))
    case.source.next(1, 2)
    case.source.complete()
    assert (case.got.values, case.gone) == ([[1, 2]], [])


def test_a_last_list_that_is_not_wanted_any_more_is_one_item() -> None:
    case = Case(lambda source: source.buffer(2), request=1)
    case.source.next(1, 2)
    assert case.got.values == [[1, 2]]
    case.got.request(1)
    case.source.next(3)
    case.source.complete()
    assert (case.got.values, case.gone) == ([[1, 2], [3]], [])


def test_lists_by_the_clock() -> None:
    clock = VirtualScheduler()
    case = Case(lambda source: source.buffer(seconds=1.0, scheduler=clock))
    case.source.next(1)
    clock.advance_by(1.0)
    case.source.next(2, 3)
    case.got.cancel()
    assert (case.got.values, case.gone) == ([[1]], [2, 3])


def test_what_skip_last_never_gives() -> None:
    gone: list[Any] = []
    assert Flowable.of(1, 2, 3, 4).skip_last(2).do_on_discard(gone.append).blocking_list() == [1, 2]
    assert gone == [3, 4]


def test_items_of_groups() -> None:
    gone: list[Any] = []
    source = ManualPublisher[int]()
    groups: list[TestSubscriber[int]] = []

    def listen(group: Flowable[int]) -> None:
        groups.append(TestSubscriber(request=1))
        group.subscribe(groups[-1])

    Flowable.wrap(source).group_by(lambda item: item % 2).do_on_discard(gone.append).subscribe(listen)
    source.next(1, 2, 3, 4, 5)
    groups[0].cancel()
    assert ([group.values for group in groups], gone) == ([[1], [2]], [3, 5])


def test_a_window_that_comes_too_late_has_its_items_thrown_away() -> None:
    case = Case(lambda source: source.window(2).delay(1.0, scheduler=VirtualScheduler()))
    case.source.next(1)
    case.got.cancel()
    assert case.gone == [1]


def test_what_create_was_sent() -> None:
    gone: list[int] = []
    got: TestSubscriber[int] = TestSubscriber(request=2)
    emitters: list[Any] = []
    Flowable.create(emitters.append).do_on_discard(gone.append).subscribe(got)
    for item in (1, 2, 3, 4):
        emitters[0].on_next(item)
    got.cancel()
    emitters[0].on_next(5)
    assert (got.values, gone) == ([1, 2], [3, 4, 5])


# -- what comes too late -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        lambda source: source,
        lambda source: source.map(lambda item: item),
        lambda source: source.filter(bool),
        lambda source: source.merge_with(Flowable.never()),
        lambda source: source.on_backpressure_buffer(),
        lambda source: source.do_finally(lambda: None),
        lambda source: source.retry(3),
        lambda source: source.take_until(Flowable.never()),
        lambda source: source.concat_map(Flowable.just),
        lambda source: source.flat_map(Flowable.just),
        lambda source: source.group_by(lambda item: item).flat_map(lambda group: group),
        lambda source: source.buffer(2),
        lambda source: source.timeout(60.0),
    ],
)
def test_an_item_after_a_cancel(build: Build) -> None:
    case = Case(build, unchecked=True)
    case.got.cancel()
    case.source.next(1)
    assert case.gone == [1]


def test_an_item_after_the_last_one() -> None:
    case = Case(lambda source: source.take(1), unchecked=True)
    case.source.next(1, 2)
    assert (case.got.values, case.gone) == ([1], [2])


def test_callbacks_that_were_disposed() -> None:
    gone: list[int] = []
    took: list[int] = []
    source = ManualPublisher[int](unchecked=True)
    handle = Flowable.wrap(source).do_on_discard(gone.append).subscribe(took.append)
    source.next(1)
    handle.dispose()
    source.next(2)
    assert (took, gone) == ([1], [2])


def test_what_a_callback_raises_is_its_error() -> None:
    errors: list[Exception] = []

    def fail(_item: int) -> None:
        raise ValueError("mine")

    Flowable.of(1, 2).do_on_discard(repr).subscribe(fail, on_error=errors.append)
    assert [str(error) for error in errors] == ["mine"]


def test_who_leaves_a_loop_has_not_taken_what_was_read_ahead() -> None:
    gone: list[int] = []
    for item in Flowable.range(5).hide().do_on_discard(gone.append).blocking_iter(prefetch=4):
        assert item == 0
        break
    assert gone == [1, 2, 3]


def test_observables() -> None:
    gone: list[int] = []
    clock = VirtualScheduler()
    got: TestObserver[int] = TestObserver()
    Observable.of(1, 2, 3).delay(1.0, scheduler=clock).filter(bool).do_on_discard(gone.append).subscribe(got)
    got.cancel()
    assert gone == [1, 2, 3]


# -- what is left out ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "given", "gone"),
    [
        (lambda s: s.filter(lambda item: item % 2), [1, 3], [2, 4]),
        (lambda s: s.skip(1).distinct(key=lambda item: item % 2), [2, 3], [1, 4]),
        (lambda s: s.take_while(lambda item: item < 3), [1, 2], [3]),
        (lambda s: s.skip_while(lambda item: item < 3), [3, 4], [1, 2]),
        (lambda s: s.of_type(str), [], [1, 2, 3, 4]),
        (lambda s: s.skip_until(Flowable.never()), [], [1, 2, 3, 4]),
        (lambda s: s.filter(lambda item: item % 2).filter(lambda item: item > 2).take(1), [3], [1, 2]),
    ],
)
def test_what_is_left_out(build: Build, given: list[int], gone: list[int]) -> None:
    heard: list[int] = []
    assert build(Flowable.of(1, 2, 3, 4)).do_on_discard(heard.append).blocking_list() == given
    assert heard == gone


def test_an_item_for_which_a_predicate_fails() -> None:
    case = Case(lambda source: source.filter(lambda item: 1 / item))
    case.source.next(1, 0)
    assert (case.got.values, case.gone) == ([1], [0])
    case.got.assert_error(ZeroDivisionError)


def test_an_item_of_which_a_function_makes_something_is_its_own() -> None:
    case = Case(lambda source: source.map(lambda item: 1 / item).scan(lambda total, item: total + item))
    case.source.next(1, 2, 0)
    assert (case.got.values, case.gone) == ([1.0, 1.5], [])


def test_on_drop_hears_of_it_instead() -> None:
    dropped: list[int] = []
    told = Case(lambda source: source.on_backpressure_drop(on_drop=dropped.append), request=1)
    told.source.next(1, 2, 3)
    silent = Case(lambda source: source.on_backpressure_drop(), request=1)
    silent.source.next(1, 2, 3)
    assert (dropped, told.gone, silent.gone) == ([2, 3], [], [2, 3])


# -- the function ----------------------------------------------------------------------------------------------------------------


class Hook:
    def __init__(self) -> None:
        self.told: list[str] = []

    @hookimpl
    def rx_on_error(self, error: Exception) -> None:
        self.told.append(str(error))


def test_what_it_raises_goes_to_the_hook_and_the_stream_goes_on() -> None:
    hook = Hook()

    def fail(item: int) -> None:
        raise ValueError(f"cannot release {item}")

    with manager().enable(hook):
        assert Flowable.of(1, 2, 3, 4).filter(lambda item: item % 2 == 0).do_on_discard(fail).blocking_list() == [2, 4]
    assert hook.told == ["cannot release 1", "cannot release 3"]


def test_it_may_use_the_stream_that_it_is_told_of() -> None:
    gone: list[int] = []
    got: TestSubscriber[int] = TestSubscriber(request=1)

    def leave(item: int) -> None:
        gone.append(item)
        got.cancel()
        got.request(1)

    Flowable.of(1, 2, 3, 4).filter(lambda item: item > 2).do_on_discard(leave).subscribe(got)
    assert (got.values, gone) == ([], [1])


def test_of_several_each_hears_of_what_is_in_front_of_it() -> None:
    first: list[int] = []
    second: list[int] = []
    stream = Flowable.of(1, 2, 3, 4).filter(lambda item: item > 1).do_on_discard(first.append)
    assert stream.filter(lambda item: item > 2).do_on_discard(second.append).blocking_list() == [3, 4]
    assert (first, second) == ([1], [2])


# -- how far it reaches ----------------------------------------------------------------------------------------------------------


def test_the_plan_says_how_far_it_reaches() -> None:
    stream = Flowable.of(1, 2).filter(bool).hide().map(abs).merge_with(Flowable.of(3)).do_on_discard(repr)
    told = [line.strip(" │") for line in stream.explain().splitlines() if "throws away" in line]
    assert told == ["· what it throws away: do_on_discard(repr)"] * 2  # merge and map; one item that is known is not thrown away
    assert repr(stream).endswith(".do_on_discard(repr)")


@pytest.mark.parametrize(
    "build",
    [
        lambda source: source.hide(),
        lambda source: source.publish().auto_connect(),
        lambda source: source.share(),
        lambda source: source.count().to_flowable(),
    ],
)
def test_it_ends_at_a_wall_at_what_is_shared_and_at_one_item(build: Build) -> None:
    gone: list[int] = []
    build(Flowable.of(1, 2, 3).filter(lambda item: item > 1)).do_on_discard(gone.append).blocking_list()
    assert gone == []


@pytest.mark.parametrize(
    ("build", "operator"),
    [
        (lambda source: source.sorted(), "sorted"),
        (lambda source: source.map(abs).take_last(2).filter(bool), "take_last(2)"),
        (lambda source: source.buffer(3, skip=2), "buffer(3, 2)"),
        (lambda source: source.with_latest_from(Flowable.never()), "with_latest_from()"),
        (lambda source: Flowable.merge(source, source.pairwise()), "pairwise()"),
        (lambda source: source.observe_on(rx_schedulers.io(), latest=True), "observe_on"),
    ],
)
def test_what_could_not_tell_is_refused(build: Build, operator: str) -> None:
    with pytest.raises(TypeError, match="does not tell what it throws away") as refused:
        build(Flowable.of(1, 2)).do_on_discard(repr)
    assert operator in str(refused.value)


def test_a_stream_that_is_no_function() -> None:
    with pytest.raises(TypeError, match=r"do_on_discard\(\)"):
        Flowable.of(1).do_on_discard(3)  # type: ignore[arg-type]


def test_it_travels() -> None:
    stream = pickle.loads(pickle.dumps(Flowable.of(0, 1).filter(bool).observe_on(rx_schedulers.trampoline()).do_on_discard(abs)))
    assert "what it throws away: do_on_discard(abs)" in stream.explain()
    assert stream.blocking_list() == [1]


def test_the_same_stream_without_it_is_as_it_was() -> None:
    stream = Flowable.of(1, 2).filter(bool).map(abs)
    before = stream.explain()
    stream.do_on_discard(repr)
    assert stream.explain() == before


# -- stages of a user ------------------------------------------------------------------------------------------------------------


@stage(keeps=("held",))
def in_pairs(source: Iterable[T]) -> Iterator[tuple[T, T]]:
    held: list[T] = []
    for item in source:
        held.append(item)
        if len(held) == 2:
            pair = (held[0], held[1])
            held = []
            yield pair


@stage
def in_pairs_silently(source: Iterable[T]) -> Iterator[tuple[T, T]]:
    held: list[T] = []
    for item in source:
        held.append(item)
        if len(held) == 2:
            pair = (held[0], held[1])
            held = []
            yield pair


@stage
def every_other(source: Iterable[T]) -> Iterator[T]:
    odd = False
    for item in source:
        odd = not odd
        if odd:
            yield item


def test_a_stage_that_says_what_it_keeps() -> None:
    gone: list[int] = []
    assert Flowable.of(1, 2, 3).stage(in_pairs).do_on_discard(gone.append).blocking_list() == [(1, 2)]
    assert gone == [3]


def test_a_stage_that_gives_what_came_or_nothing_need_not_say() -> None:
    gone: list[int] = []
    assert Flowable.of(1, 2, 3).stage(every_other).do_on_discard(gone.append).blocking_list() == [1, 3]
    assert gone == [2]


def test_a_stage_that_does_not_say_it_is_refused() -> None:
    with pytest.raises(TypeError, match="in_pairs_silently"):
        Flowable.of(1, 2, 3).stage(in_pairs_silently).do_on_discard(repr)


def test_a_stage_that_keeps_items_in_no_variable_of_its_own() -> None:
    def wrong(source: Iterable[T]) -> Iterator[T]:
        for item in source:  # noqa: UP028  # the compiler reads it
            yield item

    with pytest.raises(StageError, match="has no variable kept"):
        stage(keeps=("kept",))(wrong)


def test_a_strategy_that_is_no_queue() -> None:
    gone: list[int] = []
    emitters: list[Any] = []
    source = Flowable.create(emitters.append, BackpressureStrategy.MISSING)
    got: TestSubscriber[int] = TestSubscriber()
    source.do_on_discard(gone.append).subscribe(got)
    emitters[0].on_next(1)
    got.cancel()
    emitters[0].on_next(2)
    assert (got.values, gone) == ([1], [2])
