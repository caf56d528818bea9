"""buffer and window with pieces that begin and end by themselves: overlapping in time, closed and opened by other sources."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_core import MissingBackpressureError
from rx_ops import Flowable, Observable
from rx_schedulers import NewThreadScheduler
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler, cold, expect_marbles

Form = Callable[[VirtualScheduler], dict[str, Any]]


@pytest.fixture
def clock() -> VirtualScheduler:
    return VirtualScheduler()


class Boom(Exception):
    pass


def after(clock: VirtualScheduler) -> Callable[[int], Flowable[int]]:
    return lambda seconds: Flowable.timer(seconds, scheduler=clock)


def soon() -> Flowable[int]:
    return Flowable.timer(1.0)


def soon_after(_item: object) -> Flowable[int]:
    return soon()


CASES: list[tuple[str, Form, str, dict[str, list[int]]]] = [
    # pieces that overlap: 0 to 4, 2 to 6, 4 to 8, 6 to the end
    (
        "-1-2-3-|",
        lambda c: {"seconds": 4, "every": 2, "scheduler": c},
        "----a-b(cd|)",
        {"a": [1, 2], "b": [2, 3], "c": [3], "d": []},
    ),
    # with gaps: 0 to 2, 4 to 6
    ("-1-2-3-|", lambda c: {"seconds": 2, "every": 4, "scheduler": c}, "--a---b|", {"a": [1], "b": [3]}),
    ("-1-#", lambda c: {"seconds": 4, "every": 2, "scheduler": c}, "---#", {}),
    # full at 2, and the next one has its whole time from there on: 2 to 5, 5 to the end
    (
        "-12----3|",
        lambda c: {"seconds": 3, "count": 2, "restart": True, "scheduler": c},
        "--a--b--(c|)",
        {"a": [1, 2], "b": [], "c": [3]},
    ),
    ("-1-2-3-|", lambda c: {"closing": lambda: Flowable.timer(4, scheduler=c)}, "----a--(b|)", {"a": [1, 2], "b": [3]}),
    ("-1-2-3-|", lambda c: {"closing": lambda: cold(c, "----|")}, "----a--(b|)", {"a": [1, 2], "b": [3]}),
    ("-1-2-3-|", lambda c: {"closing": lambda: cold(c, "----#")}, "----#", {}),
    # opened at 2 for 4 seconds, at 4 for 1 second
    ("-1-2-3-4-|", lambda c: {"opening": cold(c, "--4-1----"), "closing": after(c)}, "-----ab--|", {"a": [3], "b": [2, 3]}),
    # nothing is open and nothing can be opened any more
    ("-1-2-3-|", lambda c: {"opening": cold(c, "--2|"), "closing": after(c)}, "----(a|)", {"a": [2]}),
    ("-1-2-3-|", lambda c: {"opening": cold(c, "|"), "closing": after(c)}, "|", {}),
    ("-1-2-3-|", lambda c: {"opening": cold(c, "--#"), "closing": after(c)}, "--#", {}),
]


@pytest.mark.parametrize(("source", "form", "expected", "values"), CASES)
def test_lists_at_exact_instants(
    source: str, form: Form, expected: str, values: dict[str, list[int]], clock: VirtualScheduler
) -> None:
    made = Flowable.wrap(cold(clock, source)).buffer(**form(clock))
    expect_marbles(made, expected + "-----", clock=clock, values=values)
    assert clock.pending == 0


@pytest.mark.parametrize(("source", "form", "expected", "values"), CASES)
def test_windows_have_the_same_items_and_end_at_the_same_instants(
    source: str, form: Form, expected: str, values: dict[str, list[int]], clock: VirtualScheduler
) -> None:
    made = Flowable.wrap(cold(clock, source)).window(**form(clock)).flat_map(lambda window: window.to_list())
    expect_marbles(made, expected + "-----", clock=clock, values=values)
    assert clock.pending == 0


def test_a_window_is_given_when_it_begins(clock: VirtualScheduler) -> None:
    windows = Flowable.wrap(cold(clock, "-1-2-3-|")).window(opening=cold(clock, "--2-2|"), closing=after(clock))
    # Nobody subscribes to them, so they are abandoned, and none is open when no further one can begin.
    expect_marbles(windows.map(lambda _w: 0), "--0-0|-", clock=clock)


@pytest.mark.parametrize(
    "form",
    [
        lambda c: {"seconds": 2, "every": 1, "scheduler": c},
        lambda c: {"closing": lambda: Flowable.timer(2.0, scheduler=c)},
        lambda c: {"opening": Flowable.interval(1.0, scheduler=c), "closing": after(c)},
        lambda c: {"seconds": 2, "count": 5, "restart": True, "scheduler": c},
    ],
)
def test_a_cancelled_run_gives_everything_back(form: Form, clock: VirtualScheduler) -> None:
    for name in ("buffer", "window"):
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[Any] = TestSubscriber()
        made = getattr(Flowable.wrap(source), name)(**form(clock))
        (made.flat_map(lambda window: window) if name == "window" else made).subscribe(got)
        assert source.requested == 2**63 - 1
        source.next(1)
        got.cancel()
        clock.run_due()
        assert source.cancelled
        assert clock.pending == 0


def test_a_list_that_nobody_requested_is_an_error(clock: VirtualScheduler) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    Flowable.wrap(source).buffer(closing=lambda: Flowable.timer(1.0, scheduler=clock)).subscribe(got)
    source.next(1)
    clock.advance_by(1.0)
    got.assert_values([1]).assert_not_terminated()
    clock.advance_by(1.0)
    got.assert_failure(MissingBackpressureError, [1])
    assert source.cancelled


def test_lists_that_other_sources_begin_and_end_wait_until_they_are_requested() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    opening: ManualPublisher[int] = ManualPublisher()
    closing: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.wrap(source).buffer(opening=opening, closing=lambda _item: closing).subscribe(got)
    opening.next(0, 1)
    source.next(5)
    closing.next(0)
    opening.next(2)
    source.complete()
    got.assert_values().assert_not_terminated()
    for count in (1, 2, 3):
        got.request(1)
        got.assert_value_count(count)
    got.assert_result([5], [5], [])


def test_an_error_does_not_wait_behind_lists() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    opening: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    Flowable.wrap(source).buffer(opening=opening, closing=lambda _item: Flowable.empty()).subscribe(got)
    opening.next(1)
    error = Boom()
    opening.error(error)
    got.assert_failure(error)
    assert source.cancelled


@pytest.mark.parametrize("name", ["buffer", "window"])
def test_a_scheduler_that_gives_no_worker_is_the_error_of_the_stream(name: str) -> None:
    clock = VirtualScheduler()
    clock.shutdown()
    for form in ({"seconds": 1.0}, {"seconds": 1.0, "every": 2.0}, {"seconds": 1.0, "count": 2, "restart": True}):
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[Any] = TestSubscriber()
        getattr(Flowable.wrap(source), name)(**form, scheduler=clock).subscribe(got)
        got.assert_failure(RuntimeError)
        assert not source.subscriptions


@pytest.mark.parametrize("name", ["buffer", "window"])
def test_what_a_subscriber_raises_on_a_worker_is_reported(name: str) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    cancelled, thrown = threading.Event(), LookupError("the subscriber's")
    source.on_cancel = lambda _subscription: cancelled.set()

    def throw(_list: object) -> None:
        raise thrown

    made: Flowable[Any] = Flowable.wrap(source)
    scheduler = NewThreadScheduler()
    if name == "buffer":
        flow: Flowable[Any] = made.buffer(seconds=0.01, scheduler=scheduler)
    else:
        flow = made.window(seconds=0.01, scheduler=scheduler).flat_map(lambda window: window.to_list())
    with errors_of_the_hook() as dropped:
        flow.subscribe(TestSubscriber(on_value=throw))
        assert cancelled.wait(20.0)
        assert scheduler.shutdown(20.0)  # the worker has done what it was at
    assert thrown in dropped


@pytest.mark.parametrize("name", ["buffer", "window"])
def test_what_the_functions_do_wrong_is_the_end_and_names_the_operator(name: str) -> None:
    def fail(*_args: object) -> Flowable[int]:
        raise Boom

    bad: Any = lambda *_args: 5  # noqa: E731
    for form, error in (
        ({"closing": fail}, Boom),
        ({"closing": bad}, TypeError),
        ({"opening": Flowable.just(1), "closing": fail}, Boom),
        ({"opening": Flowable.just(1), "closing": bad}, TypeError),
    ):
        source: ManualPublisher[int] = ManualPublisher()
        got: TestSubscriber[Any] = TestSubscriber()
        getattr(Flowable.wrap(source), name)(**form).ignore_elements().to_flowable().subscribe(got)
        got.assert_failure(error)
        assert source.cancelled
        assert any(f"in {name}(" in note for note in getattr(got.error, "__notes__", ())) or f"{name}()" in str(got.error)


def test_items_go_into_every_list_that_is_open() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    opening: ManualPublisher[str] = ManualPublisher()
    closings: dict[str, ManualPublisher[int]] = {"a": ManualPublisher(), "b": ManualPublisher()}
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.wrap(source).buffer(opening=opening, closing=closings.__getitem__).subscribe(got)
    source.next(0)
    opening.next("a")
    source.next(1)
    opening.next("b")
    source.next(2)
    closings["a"].next(7)
    source.next(3)
    got.assert_values([1, 2])
    assert closings["a"].cancelled
    source.complete()
    got.assert_result([1, 2], [2, 3])
    assert closings["b"].cancelled
    assert opening.cancelled


def test_observables_have_them_too(clock: VirtualScheduler) -> None:
    numbers = Observable.interval(1.0, initial=0.5, scheduler=clock).take(4)
    for made in (
        numbers.buffer(seconds=2.0, every=1.0, scheduler=clock),
        numbers.window(seconds=2.0, every=1.0, scheduler=clock).flat_map(lambda window: window.to_list()),
    ):
        values: list[Any] = []
        made.subscribe(values.append)
        clock.run_until_idle()
        assert values == [[0, 1], [1, 2], [2, 3], [3]]


@pytest.mark.parametrize("name", ["buffer", "window"])
def test_bad_arguments_are_refused_when_the_pipeline_is_built(name: str) -> None:
    never: Flowable[int] = Flowable.never()
    bad: list[dict[str, Any]] = [
        {"every": 1.0},
        {"seconds": 1.0, "every": 0},
        {"seconds": 1.0, "every": 1.0, "count": 2},
        {"seconds": 1.0, "restart": True},
        {"seconds": 1.0, "count": 0, "restart": True},
        {"opening": never},
        {"opening": 1, "closing": soon},
        {"closing": 1},
        {"closing": soon, "seconds": 1.0},
        {"closing": soon, "boundary": never},
    ]
    for form in bad:
        with pytest.raises((TypeError, ValueError)):
            getattr(Flowable.of(1), name)(**form)
    with pytest.raises(TypeError):
        getattr(Flowable.of(1), name)(2, closing=soon)


def test_descriptions_show_the_form_and_can_be_pickled() -> None:
    flow = Flowable.range(3)
    for made in (
        flow.buffer(seconds=2.0, every=1.0),
        flow.buffer(seconds=2.0, count=3, restart=True),
        flow.buffer(closing=soon),
        flow.window(opening=Flowable.empty(), closing=soon_after),
    ):
        assert repr(pickle.loads(pickle.dumps(made))) == repr(made)
    assert repr(flow.buffer(seconds=2.0, every=1.0)) == "range(3).buffer(seconds=2.0, every=1.0)"
    assert repr(flow.window(closing=soon)) == "range(3).window(closing=soon)"
