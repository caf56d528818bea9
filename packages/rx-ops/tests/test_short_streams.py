"""Streams of at most one item take the shortest way there is; nothing about them may differ for it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CallbackObserver, Disposable, hooks
from rx_ops import Flowable, Maybe, Observable, Single
from rx_testing import TestSubscriber


class Doubling:
    def __call__(self, n: int) -> int:
        return n * 2


def listen(flow: Flowable[Any] | Observable[Any] | Maybe[Any], got: list[Any]) -> Disposable:
    return flow.subscribe(got.append, on_error=lambda error: got.append(repr(error)), on_complete=lambda: got.append("end"))


@pytest.mark.parametrize("kind", [Flowable, Observable, Maybe])
def test_callbacks_get_the_item_and_the_end_and_nothing_is_left_to_dispose(kind: Any) -> None:
    for made, expected in (
        (kind.just(1), [1, "end"]),
        (kind.just(1).map(str).filter(bool), ["1", "end"]),
        (kind.just(1).filter(lambda n: n > 1), ["end"]),
        (kind.empty().map(str), ["end"]),
        (kind.just(0).map(lambda n: 1 // n), ["ZeroDivisionError('integer division or modulo by zero')"]),
    ):
        got: list[Any] = []
        handle = listen(made, got)
        assert got == expected
        assert handle.is_disposed
        handle.dispose()
        assert got == expected


@pytest.mark.parametrize("items", [(None,), [None]], ids=["tuple", "list"])
def test_none_is_an_error_where_it_is_the_only_item(items: Any) -> None:
    got: list[Any] = []
    listen(Flowable.from_iterable(items), got)
    (error,) = got
    assert "from_iterable produced None" in error
    subscriber: TestSubscriber[Any] = TestSubscriber()
    Flowable.from_iterable(items).subscribe(subscriber)
    subscriber.assert_failure(TypeError, match="from_iterable produced None")


def test_a_callback_that_raises_cancels_and_its_error_goes_to_on_error() -> None:
    got: list[Any] = []
    handle = Flowable.just(0).subscribe(lambda n: 1 // n, on_error=got.append, on_complete=lambda: got.append("end"))
    assert [type(each) for each in got] == [ZeroDivisionError]
    assert handle.is_disposed


def test_an_error_without_on_error_reaches_the_hook_with_its_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    told: list[tuple[Exception, object]] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, origin, _late: told.append((error, origin)))
    flow = Flowable.just(0).map(lambda n: 1 // n)
    flow.subscribe(print)
    ((error, origin),) = told
    assert isinstance(error, ZeroDivisionError)
    assert origin is flow


def test_who_gets_hold_of_the_handle_can_dispose_before_and_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    held: list[CallbackObserver[Any]] = []

    def hook(_source: object, subscriber: object) -> object:
        if isinstance(subscriber, CallbackObserver):  # without fusion there are others between
            held.append(subscriber)
            if dispose_at_once:
                subscriber.dispose()
        return subscriber

    def dispose(n: int) -> int:
        held[-1].dispose()
        return n

    def called(n: int) -> int:
        got.append("called")
        return n

    monkeypatch.setattr(hooks, "on_subscribe", hook)
    dispose_at_once = False
    got: list[Any] = []
    listen(Flowable.just(1).map(dispose), got)
    listen(Flowable.just(1).do_on_next(dispose).map(str), got)
    dispose_at_once = True
    listen(Flowable.just(1).map(called), got)
    assert got == []
    assert len(held) == 3


def test_an_observer_that_is_used_twice_gets_one_stream() -> None:
    got: list[int] = []
    observer: CallbackObserver[int] = CallbackObserver("test", got.append, None, None)
    Flowable.just(1).subscribe(observer)
    Flowable.just(2).subscribe(observer)
    assert got == [1]


def test_who_waits_is_told_of_an_exit_on_another_thread() -> None:
    got: list[Any] = []

    def leave(_n: int) -> int:
        raise SystemExit(3)

    def run() -> None:
        with pytest.raises(SystemExit):
            listen(Flowable.just(1).map(leave), got)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert got == ["WorkerInterruptedError('SystemExit ended the stream: 3')"]


def double(n: int) -> int:
    return n * 2


FUNCTIONS: dict[str, Callable[[int], int]] = {
    "function": double,
    "lambda": lambda n: n * 2,
    "builtin": (2).__mul__,
    "method": Doubling().__call__,
    "partial": functools.partial(max, 2),
    "class": float,  # type: ignore[dict-item]  # a float is as good here
    "object": Doubling(),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_whatever_can_be_called_makes_a_step(function: Callable[[int], int]) -> None:
    expected = function(1)
    assert Flowable.just(1).map(function).blocking_first() == expected
    assert Single.just(1).map(function).blocking_get() == expected
    assert Single.just(1).filter(function).blocking_get() == 1
    assert Observable.just(1).map(function).filter(function).blocking_first() == expected


WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "map": (lambda x: Flowable.just(1).map(x), "mapper"),
    "filter": (lambda x: Flowable.just(1).filter(x), "predicate"),
    "take_while": (lambda x: Flowable.just(1).take_while(x), "predicate"),
    "skip_while": (lambda x: Flowable.just(1).skip_while(x), "predicate"),
    "starmap": (lambda x: Flowable.just((1,)).starmap(x), "mapper"),
    "flat_map_iterable": (lambda x: Flowable.just(1).flat_map_iterable(x), "mapper"),
    "do_on_next": (lambda x: Flowable.just(1).do_on_next(x), "action"),
    "do_on_complete": (lambda x: Flowable.just(1).do_on_complete(x), "action"),
    "reduce": (lambda x: Flowable.just(1).reduce(x), "reducer"),
}


@pytest.mark.parametrize("operator", list(WRONG))
def test_what_cannot_be_called_is_refused_with_the_name_of_operator_and_argument(operator: str) -> None:
    build, argument = WRONG[operator]
    with pytest.raises(TypeError, match=rf"^{operator}\(\) expected a function.*\b{argument}\b"):
        build(5)
    with pytest.raises(TypeError, match=rf"^{operator}\(\)"):
        build(None)
