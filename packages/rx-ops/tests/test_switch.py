"""switch_map: the newest inner source counts, and the one before it is let go of."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from ops_parties import Busy

from rx_core import UNBOUNDED, CompositeException, hooks
from rx_fusion import fusion_off
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")


Source = ManualPublisher[Any]


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Errors that reach the error hook."""
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    return errors


# -- switch_map --------------------------------------------------------------------------------------------------------------


def switching(request: int = UNBOUNDED, **options: Any) -> tuple[Source, list[Source], TestSubscriber[Any]]:
    outer: Source = ManualPublisher()
    inners: list[Source] = [ManualPublisher() for _ in range(4)]
    subscriber: TestSubscriber[Any] = TestSubscriber(request=request)
    Flowable.wrap(outer).switch_map(lambda x: inners[x], **options).subscribe(subscriber)
    return outer, inners, subscriber


def test_a_new_inner_source_cancels_the_one_before_it() -> None:
    outer, inners, subscriber = switching()
    outer.next(0)
    inners[0].next("a")
    outer.next(1)
    assert (inners[0].cancelled, inners[1].cancelled) == (True, False)
    inners[0].next("late")
    inners[1].next("b")
    outer.complete()
    subscriber.assert_values("a", "b").assert_not_terminated()
    inners[1].complete()
    subscriber.assert_result("a", "b")


def test_the_outer_source_is_asked_for_everything_with_the_subscription() -> None:
    outer, inners, _ = switching(request=0)
    assert outer.requested == UNBOUNDED
    outer.next(0)
    assert inners[0].requested == 128
    outer, inners, _ = switching(prefetch=4)
    outer.next(0)
    assert inners[0].requested == 4


def test_what_was_not_wanted_goes_with_its_source() -> None:
    outer, inners, subscriber = switching(request=1)
    outer.next(0)
    inners[0].next("a", "left")
    outer.next(1)
    inners[1].next("b")
    assert inners[0].cancelled
    subscriber.request(5)
    subscriber.assert_values("a", "b")


def test_without_demand_a_switch_happens_all_the_same() -> None:
    outer, inners, subscriber = switching(request=1)
    outer.next(0)
    inners[0].next("a")
    for at in (1, 2, 3):
        outer.next(at)
    assert [inner.cancelled for inner in inners] == [True, True, True, False]
    inners[3].complete()
    outer.complete()
    subscriber.assert_result("a")


@pytest.mark.parametrize("mode", ["fused", "hidden", "off"])
def test_a_synchronous_outer_source_waits_for_its_inner_sources(mode: str) -> None:
    def listed() -> list[int]:
        flow: Flowable[int] = Flowable.of(1, 2, 3)
        if mode == "hidden":
            return flow.hide().switch_map(lambda x: Flowable.of(x, -x).hide()).blocking_list()
        return flow.switch_map(lambda x: Flowable.of(x, -x)).blocking_list()

    if mode == "off":
        with fusion_off():
            assert listed() == [1, -1, 2, -2, 3, -3]
    else:
        assert listed() == [1, -1, 2, -2, 3, -3]


def test_of_inner_sources_that_wait_only_the_last_remains() -> None:
    inners: list[Source] = [ManualPublisher() for _ in range(3)]
    subscriber = TestSubscriber[str]()
    Flowable.range(3).switch_map(lambda x: inners[x]).subscribe(subscriber)
    assert [inner.cancelled for inner in inners] == [True, True, False]
    inners[2].next("x")
    inners[2].complete()
    subscriber.assert_result("x")


def test_an_outer_item_sent_from_inside_on_next_switches_at_once() -> None:
    got: list[str] = []

    def push(item: str) -> None:
        got.append(item)
        if item == "a":
            outer.next(1)

    outer: Source = ManualPublisher()
    Flowable.wrap(outer).switch_map(lambda x: [Flowable.of("a", "b", "c"), Flowable.of("x")][x]).subscribe(push)
    outer.next(0)
    assert got == ["a", "x"]


@pytest.mark.parametrize("hidden", [False, True])
def test_a_busy_inner_source_is_left_when_an_outer_item_comes_from_another_thread(hidden: bool) -> None:
    outer: Source = ManualPublisher()
    endless = Busy()
    started, switched = threading.Event(), threading.Event()

    def seen(item: int) -> None:
        (switched if item == 2 else started).set()

    inner: Flowable[int] = Flowable.from_iterable(endless)
    sources = [inner.hide() if hidden else inner, Flowable.just(2)]
    running = Flowable.wrap(outer).switch_map(lambda x: sources[x]).subscribe(seen)
    thread = threading.Thread(target=outer.next, args=(0,), daemon=True)
    thread.start()
    assert started.wait(5)
    assert not switched.wait(0.01)  # it would go on like this
    outer.next(1)
    assert switched.wait(5)
    assert endless.closed.wait(5)
    running.dispose()
    thread.join(5)
    assert not thread.is_alive()


def test_an_inner_loop_without_items_is_left_too() -> None:
    outer: Source = ManualPublisher()
    switched = threading.Event()
    rounds: list[int] = []

    def nothing() -> Flowable[int]:
        rounds.append(1)
        return Flowable.empty()

    spinning = Flowable.defer(nothing).repeat()
    sources = [spinning, Flowable.just(2)]
    Flowable.wrap(outer).switch_map(lambda x: sources[x]).subscribe(lambda _item: switched.set())
    thread = threading.Thread(target=outer.next, args=(0,), daemon=True)
    thread.start()
    while not rounds:
        time.sleep(0)
    outer.next(1)
    thread.join(5)
    assert not thread.is_alive()
    assert switched.is_set()


def test_an_outer_source_on_another_thread_ends_with_its_last_inner_source() -> None:
    for _ in range(50):
        outer: Source = ManualPublisher()
        subscriber = TestSubscriber[int]()
        Flowable.wrap(outer).switch_map(lambda x: Flowable.of(x, x + 1)).subscribe(subscriber)

        def send(outer: Source = outer) -> None:
            for item in range(0, 100, 10):
                outer.next(item)
            outer.complete()

        thread = threading.Thread(target=send)
        thread.start()
        thread.join(5)
        subscriber.await_terminal().assert_complete()
        assert subscriber.values[-2:] == [90, 91]


def test_cancel_reaches_both_sources() -> None:
    outer, inners, subscriber = switching()
    outer.next(0)
    subscriber.cancel()
    assert outer.cancelled
    assert inners[0].cancelled


def test_the_first_error_ends_a_switching_stream(lost: list[Exception]) -> None:
    outer, inners, subscriber = switching(request=0)
    subscriber.request(1)
    outer.next(0)
    inners[0].next("a")
    outer.error(OOPS)
    subscriber.assert_failure(OOPS, "a")
    assert inners[0].cancelled
    outer, inners, subscriber = switching()
    outer.next(0)
    inners[0].error(OOPS)
    subscriber.assert_failure(OOPS)
    assert outer.cancelled
    assert lost == []


def test_delayed_errors_come_at_the_end_together() -> None:
    outer, inners, subscriber = switching(delay_error=True)
    second = KeyError("outer")
    outer.next(0)
    inners[0].error(OOPS)
    outer.next(1)
    inners[1].next("b")
    outer.error(second)
    inners[1].next("c")
    subscriber.assert_values("b", "c").assert_not_terminated()
    inners[1].complete()
    error = subscriber.error
    assert isinstance(error, CompositeException)
    assert error.exceptions == (OOPS, second)


def test_a_mapper_that_fails_lets_go_of_the_source_before() -> None:
    outer: Source = ManualPublisher()
    inner: Source = ManualPublisher()
    subscriber = TestSubscriber[Any]()
    Flowable.wrap(outer).switch_map(lambda x: inner if x else 1 // x).subscribe(subscriber)
    outer.next(1, 0)
    subscriber.assert_error(ZeroDivisionError)
    assert inner.cancelled
    assert outer.cancelled


def test_what_belongs_to_an_inner_source_goes_with_it() -> None:
    clock = VirtualScheduler()
    over: list[int] = []
    outer: Source = ManualPublisher()
    subscriber = TestSubscriber[int]()

    def inner(x: int) -> Flowable[int]:
        return Flowable.interval(1.0, scheduler=clock).map(lambda tick: 10 * x + tick).do_finally(lambda: over.append(x))

    Flowable.wrap(outer).switch_map(inner).subscribe(subscriber)
    outer.next(1)
    clock.advance_by(2.0)
    outer.next(2)
    assert over == [1]
    assert clock.pending == 1
    clock.advance_by(1.0)
    subscriber.assert_values(10, 11, 20)
    subscriber.cancel()
    assert (over, clock.pending) == ([1, 2], 0)
