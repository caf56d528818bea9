"""Callbacks at the protocol itself: when they are called, how often, and where their errors go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_core import UNBOUNDED, Subscription
from rx_ops import Flowable, Observable
from rx_testing import ManualPublisher, TestObserver, TestSubscriber


class Oops(Exception):
    """What a callback raises."""


def fail(*_args: object) -> None:
    raise Oops


def test_each_request_is_told_before_it_goes_on() -> None:
    source, seen = ManualPublisher[int](), list[Any]()
    got = TestSubscriber[int](request=2)
    flow = Flowable.wrap(source).do_on_request(lambda n: seen.append((n, source.requested)))
    flow.subscribe(got)
    got.request(3)
    assert seen == [(2, 0), (3, 2)]
    flow.subscribe(TestSubscriber[int]())
    assert seen[2][0] == UNBOUNDED


def test_the_number_is_what_the_operators_behind_ask_for() -> None:
    seen: list[int] = []
    got = TestSubscriber[Any](request=2)
    Flowable.range(100).do_on_request(seen.append).buffer(3).subscribe(got)
    assert seen == [6]
    assert got.values == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("method", ["do_on_request", "do_on_cancel"])
def test_what_such_a_callback_raises_is_reported_and_the_stream_goes_on(method: str) -> None:
    with errors_of_the_hook() as errors:
        assert getattr(Flowable.range(5), method)(fail).take(2).blocking_list() == [0, 1]
    assert {type(error) for error in errors} == {Oops}


def test_cancel_is_told_once_and_first() -> None:
    source, seen = ManualPublisher[int](), list[bool]()
    got = TestSubscriber[int](request=2)
    Flowable.wrap(source).do_on_cancel(lambda: seen.append(source.cancelled)).subscribe(got)
    got.cancel()
    got.cancel()
    assert seen == [False]
    assert source.cancelled


@pytest.mark.parametrize("flow", [Flowable.range(3), Flowable.range(3).concat_with(Flowable.error(Oops()))])
def test_an_end_is_no_cancel(flow: Flowable[int]) -> None:
    seen: list[str] = []
    got = TestSubscriber[int]()
    flow.do_on_cancel(lambda: seen.append("cancel")).subscribe(got)
    assert got.is_terminated
    got.cancel()
    assert seen == []


def test_of_several_threads_that_cancel_one_is_told() -> None:
    for _ in range(50):
        seen: list[int] = []
        got = TestSubscriber[int](request=0)
        never: Flowable[int] = Flowable.never()
        never.do_on_cancel(partial(seen.append, 1)).subscribe(got)
        together = threading.Barrier(3)

        def leave(together: threading.Barrier = together, got: TestSubscriber[int] = got) -> None:
            together.wait(10)
            got.cancel()

        threads = [threading.Thread(target=leave) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(10)
        assert seen == [1]


def test_a_subscription_is_told_before_downstream_has_it() -> None:
    order: list[str] = []

    def subscribed(subscription: Subscription) -> None:
        assert hasattr(subscription, "request")
        order.append("told")

    flow = Flowable.range(2).hide().do_on_subscribe(subscribed)
    got = TestSubscriber[int](request=1, on_value=lambda x: order.append(f"item {x}"))
    flow.subscribe(got)
    assert order.index("told") < order.index("item 0")
    flow.blocking_list()
    assert order.count("told") == 2


@pytest.mark.parametrize("make", [lambda: Flowable.range(3), lambda: Flowable.empty(), lambda: Flowable.error(ValueError())])
def test_a_callback_that_refuses_the_subscription_ends_the_stream(make: Callable[[], Flowable[int]]) -> None:
    got = TestSubscriber[int]()
    with errors_of_the_hook() as errors:
        make().do_on_subscribe(fail).subscribe(got)
    assert got.values == []
    assert [type(each) for each in got.errors] == [Oops]
    assert {type(error) for error in errors} <= {ValueError}


def test_the_source_of_a_refused_subscription_is_cancelled_and_never_asked() -> None:
    source, got = ManualPublisher[int](), TestSubscriber[int]()
    Flowable.wrap(source).do_on_subscribe(fail).subscribe(got)
    assert source.cancelled
    assert source.requested == 0
    assert [type(each) for each in got.errors] == [Oops]


def test_an_item_is_told_when_downstream_has_returned_and_needs_no_further_request() -> None:
    order: list[Any] = []
    got = TestSubscriber[int](request=1, on_value=lambda x: order.append(("taken", x)))
    Flowable.range(9).do_after_next(lambda x: order.append(("after", x))).subscribe(got)
    assert order == [("taken", 0), ("after", 0)]
    got.request(1)
    assert order[2:] == [("taken", 1), ("after", 1)]


def test_what_it_raises_ends_the_stream_behind_the_item() -> None:
    source, got = ManualPublisher[int](), TestSubscriber[int]()
    Flowable.wrap(source).do_after_next(fail).subscribe(got)
    source.next(1)
    assert got.values == [1]
    assert [type(each) for each in got.errors] == [Oops]
    assert source.cancelled


def test_who_has_left_is_told_nothing_of_it() -> None:
    got: TestSubscriber[int] = TestSubscriber(on_value=lambda _x: got.cancel())
    with errors_of_the_hook() as errors:
        Flowable.range(9).do_after_next(fail).subscribe(got)
    assert got.values == [0]
    assert got.errors == []
    assert [type(error) for error in errors] == [Oops]


def test_they_show_themselves_and_stand_between_stages() -> None:
    flow = Flowable.range(3).map(abs).do_on_cancel(fail).map(abs)
    assert repr(flow) == "range(3).map(abs).do_on_cancel(fail).map(abs)"
    assert "└─ do_on_cancel(fail)\n   └─ range(3) → map(abs)" in flow.explain()


def test_an_observable_tells_the_same() -> None:
    told: list[Any] = []
    source = Observable.range(9).do_on_subscribe(lambda each: told.append(hasattr(each, "dispose")))
    flow = source.do_on_dispose(lambda: told.append("left")).do_after_next(lambda x: told.append(("after", x)))
    got = TestObserver[int](on_value=lambda x: told.append(("taken", x)))
    flow.take(2).subscribe(got)
    assert told == [True, ("taken", 0), ("after", 0), "left", ("taken", 1), ("after", 1)]
    assert got.values == [0, 1]
    assert got.completions == 1


@pytest.mark.parametrize("method", ["do_on_subscribe", "do_after_next"])
@pytest.mark.parametrize("make", [Observable.range, lambda n: Observable.range(n).map(abs).hide()])
def test_an_observable_fails_the_same(method: str, make: Callable[[int], Observable[int]]) -> None:
    got, left = TestObserver[int](), list[int]()
    getattr(make(3).do_on_dispose(lambda: left.append(1)), method)(fail).subscribe(got)
    assert got.values == ([0] if method == "do_after_next" else [])
    assert [type(each) for each in got.errors] == [Oops]
    assert left == [1]


def test_a_disposed_observable_says_so() -> None:
    got = TestObserver[int]()
    left: list[int] = []
    Observable.never().do_on_dispose(lambda: left.append(1)).subscribe(got)
    got.dispose()
    got.dispose()
    assert left == [1]
