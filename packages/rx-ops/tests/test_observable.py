"""Observable: the operators of Flowable, for observers that cannot ask. One sample of each family, and what is its own."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from rx_core import UNBOUNDED, CompositeException, EmptyStreamError
from rx_fusion import fusion_off
from rx_ops import Completable, Emitter, Flowable, GroupedObservable, Maybe, Observable, Single, aggregates
from rx_testing import TestMaybeObserver, TestObserver, TestSubscriber, VirtualScheduler


@pytest.fixture(params=["fused", "plain"])
def fusion(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "fused":
        yield
        return
    with fusion_off():
        yield


class Naturals:
    def __iter__(self) -> Iterator[int]:
        return count()


NATURALS = Naturals()


def double(number: int) -> int:
    return 2 * number


def odd(number: int) -> bool:
    return number % 2 == 1


def failing(*items: int) -> Observable[int]:
    return Observable.concat(Observable.of(*items), Observable.error(ValueError("broken")))


SAMPLES: dict[str, tuple[Callable[[], Observable[Any]], list[Any]]] = {
    "create": (lambda: Observable.create(_send_three), [1, 2, 3]),
    "generate": (lambda: Observable.generate(lambda: 0, _step).take(3), [0, 1, 2]),
    "defer": (lambda: Observable.defer(lambda: Observable.of(1, 2)), [1, 2]),
    "map": (lambda: Observable.range(4).map(double), [0, 2, 4, 6]),
    "starmap": (lambda: Observable.of((1, 2), (3, 4)).starmap(lambda a, b: a + b), [3, 7]),
    "flat_map_iterable": (lambda: Observable.of(1, 2).flat_map_iterable(lambda x: [x] * x), [1, 2, 2]),
    "scan": (lambda: Observable.of(1, 2, 3).scan(lambda a, b: a + b, 10), [10, 11, 13, 16]),
    "buffer": (lambda: Observable.range(5).buffer(2), [[0, 1], [2, 3], [4]]),
    "filter": (lambda: Observable.range(6).filter(odd), [1, 3, 5]),
    "take": (lambda: Observable.from_iterable(NATURALS).take(3), [0, 1, 2]),
    "skip": (lambda: Observable.range(4).skip(2), [2, 3]),
    "take_while": (lambda: Observable.range(9).take_while(lambda x: x < 2), [0, 1]),
    "distinct": (lambda: Observable.of(1, 2, 1).distinct(), [1, 2]),
    "flat_map": (lambda: Observable.of(1, 2).flat_map(lambda x: Observable.of(x, -x)), [1, -1, 2, -2]),
    "concat_map": (lambda: Observable.of(1, 2).concat_map(lambda x: Observable.of(x, -x).hide()), [1, -1, 2, -2]),
    "group_by": (lambda: Observable.range(5).group_by(odd).flat_map(lambda g: g.count().map(lambda n: (g.key, n))),
                 [(False, 3), (True, 2)]),
    "group_reduce": (lambda: Observable.range(5).group_reduce(odd, double, lambda a, b: a + b), [(False, 12), (True, 8)]),
    "group_aggregate": (lambda: Observable.range(5).group_aggregate(odd, n=aggregates.count()), [(False, 3), (True, 2)]),
    "merge": (lambda: Observable.merge(Observable.of(1), Observable.of(2).hide()), [1, 2]),
    "concat": (lambda: Observable.of(1).concat_with(Observable.of(2)).start_with(0), [0, 1, 2]),
    "zip": (lambda: Observable.zip(Observable.of(1, 2), Observable.of("a", "b", "c")), [(1, "a"), (2, "b")]),
    "on_error_return": (lambda: failing(1).on_error_return(lambda _error: 0), [1, 0]),
    "on_error_resume_next": (lambda: failing(1).on_error_resume_next(lambda _error: Observable.of(7, 8)), [1, 7, 8]),
    "do_on_next": (lambda: Observable.of(1).do_on_next(lambda _x: None).do_finally(lambda: None), [1]),
    "hide": (lambda: Observable.range(3).map(double).hide().filter(lambda x: x > 0), [2, 4]),
    "compose": (lambda: Observable.of(1, 2).compose(lambda source: source.map(double)), [2, 4]),
    "lift": (lambda: Observable.of(1, 2).lift(_Negated), [-1, -2]),
}  # fmt: skip


def _send_three(emitter: Emitter[int]) -> None:
    for number in (1, 2, 3):
        emitter.on_next(number)
    emitter.on_complete()


def _step(state: int, emitter: Any) -> int:
    emitter.on_next(state)
    return state + 1


class _Negated:
    """Somebody's operator: an observer that negates."""

    def __init__(self, down: Any) -> None:
        self.on_subscribe, self.on_error, self.on_complete = down.on_subscribe, down.on_error, down.on_complete
        self._down = down

    def on_next(self, item: int, /) -> None:
        self._down.on_next(-item)


@pytest.mark.usefixtures("fusion")
@pytest.mark.parametrize("name", SAMPLES)
def test_an_operator_means_the_same_as_on_flowable(name: str) -> None:
    build, expected = SAMPLES[name]
    stream = build()
    for _again in range(2):
        observer = TestObserver[Any]()
        stream.subscribe(observer)
        observer.assert_result(*expected)
    assert stream.blocking_list() == expected


@pytest.mark.usefixtures("fusion")
@pytest.mark.parametrize("name", SAMPLES)
def test_dispose_in_the_middle_stops_and_nothing_follows(name: str) -> None:
    build, expected = SAMPLES[name]
    observer = TestObserver[Any](cancel_after=1)
    build().subscribe(observer)
    observer.assert_values(*expected[:1])
    assert not observer.completions
    observer.assert_no_error()


def test_one_value_of_a_whole_stream() -> None:
    numbers = Observable.of(3, 1, 2)
    assert numbers.sum().blocking_get() == 6
    assert numbers.min().blocking_get() == 1
    assert numbers.reduce(max).blocking_get() == 3
    assert numbers.to_list().blocking_get() == [3, 1, 2]
    assert numbers.first().blocking_get() == 3
    with pytest.raises(EmptyStreamError):
        Observable.empty().first().blocking_get()


def test_stages_and_heads_are_flowables_own() -> None:
    observable, flowable = Observable.range(3).map(double), Flowable.range(3).map(double)
    assert observable._shape is flowable._shape
    assert observable.explain() == flowable.explain()
    assert repr(observable) == repr(flowable)
    assert type(observable) is Observable
    assert pickle.loads(pickle.dumps(observable)).blocking_list() == [0, 2, 4]


def test_the_disposable_comes_first_and_tells_when_it_is_over() -> None:
    observer = TestObserver[int](on_value=lambda _x: seen.append(handle().is_disposed))
    seen: list[bool] = []

    def handle() -> Any:
        assert observer.disposable is not None
        return observer.disposable

    Observable.of(1, 2).subscribe(observer)
    observer.assert_result(1, 2)
    assert seen == [False, False]
    assert handle().is_disposed


def test_callbacks_get_a_handle_that_stops_the_stream() -> None:
    emitters: list[Emitter[int]] = []
    seen: list[int] = []
    handle = Observable.create(emitters.append).map(double).subscribe(seen.append)
    emitters[0].on_next(1)
    handle.dispose()
    emitters[0].on_next(2)
    assert seen == [2]
    assert emitters[0].is_cancelled


def test_an_emitter_sees_that_everything_is_wanted() -> None:
    wanted: list[int] = []
    Observable.create(lambda emitter: wanted.append(emitter.requested)).subscribe(TestObserver[Any]())
    assert wanted == [UNBOUNDED]


def test_a_mapper_that_raises_ends_the_stream_with_its_name_in_a_note() -> None:
    observer = TestObserver[float]()
    Observable.of(1, 0).map(lambda x: 1 / x).subscribe(observer)
    observer.assert_failure(ZeroDivisionError, 1.0)
    assert observer.error is not None
    assert any("map(" in note for note in observer.error.__notes__)


def test_a_none_is_an_error_that_names_the_source() -> None:
    observer = TestObserver[Any]()
    Observable.from_iterable([1, None]).subscribe(observer)
    observer.assert_failure(TypeError, 1)


def test_delayed_errors_arrive_together() -> None:
    observer = TestObserver[int]()
    Observable.merge(failing(1), failing(2), delay_error=True).subscribe(observer)
    observer.assert_failure(CompositeException, 1, 2)


def test_what_is_about_demand_is_not_there() -> None:
    stream = Observable.range(3)
    for name in ("on_backpressure_drop", "on_backpressure_buffer", "on_backpressure_latest", "to_observable"):
        with pytest.raises(AttributeError):
            getattr(stream, name)
    merge: Any = Observable.merge
    with pytest.raises(TypeError, match="prefetch"):
        merge(stream, prefetch=3)


def test_arguments_are_checked_with_the_right_name() -> None:
    merge: Any = Observable.merge
    with pytest.raises(TypeError, match=r"merge\(\.\.\., Observable\.from_iterable\(\[1\]\)\)"):
        merge([1])
    with pytest.raises(ValueError, match="take"):
        Observable.range(3).take(-1)


def test_groups_keep_their_key_and_nothing_is_too_much_for_them() -> None:
    keys: list[bool] = []

    def whole(group: GroupedObservable[bool, int]) -> Observable[int]:
        keys.append(group.key)
        return group.map(double)

    # One group after the other: what comes for the second meanwhile waits in it, however much it is.
    observer = TestObserver[int]()
    Observable.range(2_000).group_by(odd).concat_map(whole).subscribe(observer)
    observer.assert_value_count(2_000).assert_complete()
    assert keys == [False, True]


def test_flat_map_takes_every_inner_source_as_it_comes() -> None:
    emitters: list[Emitter[int]] = []
    observer = TestObserver[int]()
    Observable.range(300).flat_map(lambda _x: Observable.create(emitters.append)).subscribe(observer)
    assert len(emitters) == 300  # flowables: 128 at a time
    emitters[299].on_next(5)
    observer.assert_values(5)


def test_an_endless_source_behind_a_wall_can_be_left() -> None:
    endless = Observable.from_iterable(NATURALS).hide()
    observer = TestObserver[int]()
    endless.flat_map(lambda x: Observable.of(x).hide()).take(3).subscribe(observer)
    observer.assert_result(0, 1, 2)
    observer = TestObserver[int]()
    Observable.merge(endless, Observable.never()).take(3).subscribe(observer)
    observer.assert_result(0, 1, 2)
    observer = TestObserver[int]()
    Observable.concat(endless, Observable.of(1)).map(double).take(3).subscribe(observer)
    observer.assert_result(0, 2, 4)


@pytest.mark.usefixtures("fusion")
def test_a_long_chain_of_sources_needs_no_stack() -> None:
    for stream in (
        Observable.range(3_000).concat_map(lambda x: Observable.of(x).hide()),
        Observable.range(3_000).flat_map(lambda x: Observable.of(x).hide()),
    ):
        observer = TestObserver[int]()
        stream.subscribe(observer)
        observer.assert_value_count(3_000).assert_complete()
    subscriber = TestSubscriber[int]()
    Flowable.range(3_000).flat_map(lambda x: Flowable.of(x).on_backpressure_buffer()).subscribe(subscriber)
    subscriber.assert_value_count(3_000).assert_complete()


def test_threads_and_time(virtual_time: VirtualScheduler) -> None:
    ticks, moved, late = TestObserver[int](), TestObserver[int](), TestObserver[int]()
    Observable.interval(1.0, scheduler=virtual_time).take(3).subscribe(ticks)
    Observable.range(5).subscribe_on(virtual_time).observe_on(virtual_time).map(double).subscribe(moved)
    Observable.never().timeout(2.0, fallback=Observable.of(9), scheduler=virtual_time).subscribe(late)
    moved.assert_no_values()
    virtual_time.advance_by(1.0)
    ticks.assert_values(0)
    moved.assert_result(0, 2, 4, 6, 8)
    virtual_time.advance_by(2.0)
    ticks.assert_result(0, 1, 2)
    late.assert_result(9)


def test_ticks_are_never_too_many(virtual_time: VirtualScheduler) -> None:
    # A Flowable's interval fails when nobody asked for a tick; here nobody ever asks.
    observer = TestObserver[int]()
    ticks = Observable.interval(1.0, scheduler=virtual_time)
    Observable.merge(ticks.observe_on(virtual_time), ticks.subscribe_on(virtual_time).take(1)).subscribe(observer)
    virtual_time.advance_by(1_000.0)
    observer.assert_value_count(1_001).assert_not_terminated()
    observer.dispose()
    virtual_time.advance_by(10.0)
    observer.assert_value_count(1_001)


def test_single_maybe_and_completable_become_observables() -> None:
    assert Single.just(1).map(double).to_observable().blocking_list() == [2]
    assert Maybe.empty().to_observable().blocking_list() == []
    actions: list[str] = []
    stream = Completable.from_action(lambda: actions.append("done")).to_observable()
    observer = TestObserver[Any]()
    stream.subscribe(observer)
    observer.assert_result()
    assert actions == ["done"]
    failed = TestObserver[Any]()
    Single.error(ValueError("broken")).to_observable().subscribe(failed)
    failed.assert_failure(ValueError)


def test_only_the_end() -> None:
    end = TestMaybeObserver[Any]()
    Observable.range(3).ignore_elements().subscribe(end)
    end.assert_result()
