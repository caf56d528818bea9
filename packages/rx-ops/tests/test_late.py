"""Items that wait for another source, and time-outs that another source decides; both for streams and for one item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler, cold, expect_marbles

Build = Callable[[Flowable[Any], VirtualScheduler], Flowable[Any]]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


class Boom(Exception):
    pass


def after(clock: VirtualScheduler) -> Callable[[int], Flowable[int]]:
    """A source that signals as many seconds later as the item says."""
    return lambda seconds: Flowable.timer(seconds, scheduler=clock)


@pytest.mark.parametrize(
    ("source", "build", "expected"),
    [
        ("-2-1---|", lambda s, c: s.delay(selector=after(c)), "---2(1)|"),
        ("-5-1-|", lambda s, c: s.delay(selector=after(c)), "----1-(5|)"),
        ("-5-1-#", lambda s, c: s.delay(selector=after(c)), "----1#"),
        ("-1-1-|", lambda s, c: s.delay(selector=after(c), subscription=Flowable.timer(3, scheduler=c)), "-----1-1|"),
        ("-1-1-|", lambda s, c: s.delay(selector=lambda _x: cold(c, "--#")), "---#"),
        ("-1-1-|", lambda s, c: s.delay(selector=lambda _x: Flowable.empty()), "-1-1-|"),
        ("-3-1--5-|", lambda s, c: s.timeout(selector=after(c)), "-3-1#"),
        ("-3--3--5-|", lambda s, c: s.timeout(selector=after(c)), "-3--3--5-|"),
        ("----1|", lambda s, c: s.timeout(selector=after(c), first=Flowable.timer(2, scheduler=c)), "--#"),
        ("----1|", lambda s, c: s.timeout(selector=after(c), first=Flowable.timer(5, scheduler=c)), "----1|"),
        ("----1|", lambda s, c: s.timeout(selector=after(c), first=cold(c, "-#")), "-#"),
        ("----1|", lambda s, c: s.timeout(selector=after(c), first=cold(c, "-|"), fallback=cold(c, "-7|")), "--7|"),
        ("-1|", lambda s, c: s.timeout(selector=lambda _x: Flowable.just(1), fallback=cold(c, "-7|")), "-17|"),
    ],
)
def test_at_exact_instants(source: str, build: Build, expected: str, clock: VirtualScheduler) -> None:
    expect_marbles(build(Flowable.wrap(cold(clock, source)), clock), expected + "------", clock=clock)
    assert clock.pending == 0


def test_a_delayed_item_is_asked_for_before_it_is_released(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.wrap(source).delay(selector=after(clock)).subscribe(got)
    assert source.requested == 128
    source.next(2, 1)
    clock.advance_by(1.0)
    got.assert_values(1)
    clock.advance_by(1.0)
    source.complete()
    got.assert_values(1).assert_not_terminated()
    got.request(1)
    got.assert_result(1, 2)


def test_a_cancelled_delay_cancels_what_it_waits_for() -> None:
    waited: list[ManualPublisher[int]] = []

    def select(_item: int) -> ManualPublisher[int]:
        waited.append(ManualPublisher())
        return waited[-1]

    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(source).delay(selector=select).subscribe(got)
    source.next(1, 2)
    got.cancel()
    assert source.cancelled
    assert [each.cancelled for each in waited] == [True, True]


@pytest.mark.parametrize(("name", "given"), [("delay", []), ("timeout", [1])])  # timeout asks when the item has been given
def test_what_selects_no_source_is_refused_with_the_operator_named(name: str, given: list[int]) -> None:
    bad: Any = lambda _x: 5  # noqa: E731
    got: TestSubscriber[int] = TestSubscriber()
    getattr(Flowable.just(1), name)(selector=bad).subscribe(got)
    got.assert_failure(TypeError, *given)
    assert f"{name}() expected a function returning a publisher" in str(got.error)


def test_each_item_has_a_time_out_of_its_own_and_the_one_before_is_cancelled() -> None:
    limits: list[ManualPublisher[int]] = []

    def select(_item: int) -> ManualPublisher[int]:
        limits.append(ManualPublisher())
        return limits[-1]

    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.wrap(source).timeout(selector=select, fallback=Flowable.of(8, 9)).subscribe(got)
    source.next(1)
    source.next(2)
    assert [each.cancelled for each in limits] == [True, False]
    limits[1].next(0)
    got.assert_result(1, 2, 8, 9)
    assert source.cancelled
    assert limits[1].cancelled


def test_a_time_out_needs_no_demand_and_the_fallback_gets_what_is_left(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=2)
    limited = Flowable.wrap(source).timeout(selector=after(clock), fallback=Flowable.of(7, 8, 9))
    limited.subscribe(got)
    source.next(3)
    clock.advance_by(2.0)
    got.assert_values(3)
    clock.advance_by(1.0)
    got.assert_values(3, 7).assert_not_terminated()
    got.request(3)
    got.assert_result(3, 7, 8, 9)


def test_a_source_that_ends_leaves_no_time_out_behind(clock: VirtualScheduler) -> None:
    got: TestSubscriber[int] = TestSubscriber()
    Flowable.of(3, 4).timeout(selector=after(clock)).subscribe(got)
    got.assert_result(3, 4)
    assert clock.pending == 0


# -- at most one item ---------------------------------------------------------------------------------------------------


def outcome(made: Any, clock: VirtualScheduler) -> tuple[float, Any]:
    """When a Single, Maybe or Completable ended, and how."""
    came: list[tuple[float, Any]] = []
    note: Callable[[Any], object] = lambda value: came.append((clock.now(), value))  # noqa: E731
    made.materialize().subscribe(note)
    clock.run_until_idle()
    (only,) = came
    return only[0], getattr(only[1], "item", None) or type(getattr(only[1], "error", None)).__name__


def of(kind: Any, seconds: float, clock: VirtualScheduler) -> Any:
    """Something of that kind that has 5 after so many seconds."""
    plain = Flowable.just(5).delay_subscription(seconds, scheduler=clock)
    return (
        plain.ignore_elements() if kind is Completable else kind.wrap(plain.first() if kind is Single else plain.first_element())
    )


@pytest.mark.parametrize("kind", [Single, Maybe, Completable])
def test_one_item_later(kind: Any, clock: VirtualScheduler) -> None:
    result = "NoneType" if kind is Completable else 5
    assert outcome(of(kind, 2.0, clock).delay(3.0, scheduler=clock), clock) == (5.0, result)
    failed = kind.error(Boom())
    assert outcome(failed.delay(3.0, scheduler=clock), clock) == (5.0, "Boom")
    assert outcome(failed.delay(3.0, scheduler=clock, delay_error=True), clock) == (8.0, "Boom")


@pytest.mark.parametrize("kind", [Single, Maybe])
def test_one_item_when_another_source_signals(kind: Any, clock: VirtualScheduler) -> None:
    assert outcome(kind.just(5).delay(selector=after(clock)), clock) == (5.0, 5)
    assert outcome(kind.just(5).delay(selector=lambda _x: Completable.complete()), clock) == (5.0, 5)


@pytest.mark.parametrize("kind", [Single, Maybe, Completable])
def test_one_item_does_not_come_in_time(kind: Any, clock: VirtualScheduler) -> None:
    result = "NoneType" if kind is Completable else 5
    late = of(kind, 5.0, clock)
    assert outcome(late.timeout(3.0, scheduler=clock), clock) == (3.0, "TimeoutError")
    clock.advance_to(10.0)
    assert outcome(late.timeout(6.0, scheduler=clock), clock) == (15.0, result)
    clock.advance_to(20.0)
    fallback = kind.complete() if kind is Completable else kind.just(5)
    assert outcome(late.timeout(3.0, fallback=fallback, scheduler=clock), clock) == (23.0, result)
    clock.advance_to(30.0)
    assert outcome(late.timeout(first=Flowable.timer(2.0, scheduler=clock)), clock) == (32.0, "TimeoutError")


def test_items_that_nobody_looks_at_do_not_keep_a_completable_from_timing_out(clock: VirtualScheduler) -> None:
    busy = Flowable.interval(1.0, scheduler=clock).take(10).ignore_elements()
    assert outcome(busy.timeout(3.5, scheduler=clock), clock) == (3.5, "TimeoutError")


@pytest.mark.parametrize("kind", [Single, Maybe, Completable])
def test_one_item_again_until_told_to_stop(kind: Any) -> None:
    answers = iter([False, False, True])
    tries: list[int] = []

    def fail() -> Exception:
        tries.append(1)
        return Boom()

    made = kind.error(fail).retry_until(lambda: next(answers))
    with pytest.raises(Boom):
        made.blocking_await() if kind is Completable else made.blocking_get()
    assert len(tries) == 3


def test_an_item_becomes_another_type() -> None:
    done: list[int] = []
    for kind in (Single, Maybe):
        item: Any = kind.just(5)
        item.flat_map_completable(lambda x: Completable.from_action(lambda: done.append(x))).blocking_await()
        assert item.flat_map_observable(lambda x: Observable.of(x, x)).blocking_list() == [5, 5]
    assert done == [5, 5]
    assert Single.just(5).flat_map_maybe(lambda x: Maybe.just(x + 1)).blocking_get() == 6
    assert Single.just(5).flat_map_maybe(lambda _x: Maybe.empty()).blocking_get() is None
    assert Maybe.just(5).flat_map_single(lambda x: Single.just(x + 1)).blocking_get() == 6
    empty: Maybe[int] = Maybe.empty()
    assert empty.flat_map_single(lambda x: Single.just(x + 1)).blocking_get() is None
    empty.flat_map_completable(lambda _x: Completable.error(Boom())).blocking_await()
    with pytest.raises(Boom):
        Single.just(5).flat_map_completable(lambda _x: Completable.error(Boom())).blocking_await()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.delay(1.0, selector=lambda _x: Flowable.empty()),
        lambda s: s.delay(),
        lambda s: s.delay(-1),
        lambda s: s.delay(selector=1),
        lambda s: s.timeout(),
        lambda s: s.timeout(1.0, fallback=1),
        lambda s: s.retry_until(1),
    ],
)
def test_bad_arguments_are_refused_when_the_pipeline_is_built(call: Callable[[Any], object]) -> None:
    for source in (Flowable.of(1), Observable.of(1), Single.just(1), Maybe.just(1)):
        with pytest.raises((TypeError, ValueError)):
            call(source)


def test_forms_do_not_mix() -> None:
    flow = Flowable.of(1)
    never: Flowable[int] = Flowable.never()
    calls: list[Callable[[], object]] = [
        lambda: flow.delay(subscription=never),  # type: ignore[call-overload]  # what is refused
        lambda: flow.timeout(first=never),  # type: ignore[call-overload]  # what is refused
        lambda: flow.timeout(1.0, selector=lambda _x: never),  # type: ignore[call-overload]  # what is refused
        lambda: Single.just(1).timeout(1.0, first=never),  # type: ignore[call-overload]  # what is refused
    ]
    for call in calls:
        with pytest.raises(TypeError, match="takes"):
            call()


def test_flat_map_ends_with_an_item_that_had_to_wait_for_a_request(clock: VirtualScheduler) -> None:
    """The source of sources ended while the item waited: that is not forgotten."""
    outer: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.wrap(outer).flat_map(after(clock)).subscribe(got)
    outer.next(1, 2)
    clock.advance_by(2.0)
    got.assert_values(0)
    outer.complete()
    got.request(1)
    got.assert_result(0, 0)


# -- the worker of delay ----------------------------------------


def test_a_scheduler_that_is_shut_down_while_items_wait_ends_a_delay_with_an_error(clock: VirtualScheduler) -> None:
    for end in (False, True):
        clock = VirtualScheduler()
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[int] = TestSubscriber()
        Flowable.wrap(source).delay(1.0, scheduler=clock).subscribe(got)
        source.next(1)
        clock.shutdown()
        if end:
            source.complete()
        else:
            source.next(2)
            assert source.cancelled
        got.assert_failure(RuntimeError, match="shut down")


def test_what_the_subscriber_of_a_delay_raises_goes_to_the_error_hook(clock: VirtualScheduler) -> None:
    class Failing(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            super().on_next(item)
            raise OSError

    source: ManualPublisher[int] = ManualPublisher()
    got = Failing()
    Flowable.wrap(source).delay(1.0, scheduler=clock).subscribe(got)
    source.next(1, 2)
    with errors_of_the_hook() as errors:
        clock.advance_by(1.0)
    assert [type(error) for error in errors] == [OSError]
    assert got.values == [1]
    assert source.cancelled
