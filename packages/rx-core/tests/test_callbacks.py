"""Callbacks as a subscriber: once its source has ended, the observer leaves the source's subscription alone."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_core import CallbackObserver


class Upstream:
    """A subscription that records what it is sent."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def request(self, n: int, /) -> None:
        self.calls.append("request")

    def cancel(self) -> None:
        self.calls.append("cancel")


class Held:
    """What a Single, a Maybe or a Completable gives its observer."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def dispose(self) -> None:
        self.calls.append("dispose")


Observer = CallbackObserver[Any]
End = Callable[[Observer], object]

ENDS: Final[dict[str, End]] = {
    "on_complete": lambda observer: observer.on_complete(),
    "on_error": lambda observer: observer.on_error(ValueError("the end")),
    "on_success": lambda observer: observer.on_success(1),
}
ANY_END: Final = pytest.mark.parametrize("end", ENDS.values(), ids=list(ENDS))


def observing(callback: Callable[[], object] = lambda: None) -> Observer:
    """An observer that calls ``callback`` in each of its callbacks."""
    return CallbackObserver("test", lambda _item: callback(), lambda _error: callback(), callback)


@ANY_END
@pytest.mark.parametrize("make", [Upstream, Held])
def test_dispose_inside_the_end_does_not_call_the_subscription(make: type[Upstream | Held], end: End) -> None:
    observers: list[Observer] = []
    observer = observing(lambda: observers[0].dispose())
    observers.append(observer)
    upstream = make()
    observer.on_subscribe(upstream)  # type: ignore[arg-type]  # a Disposable has is_disposed as well, which nobody reads here
    upstream.calls.clear()
    end(observer)
    assert upstream.calls == []  # RS 2.3
    assert observer.is_disposed


@ANY_END
def test_dispose_after_the_end_does_not_call_the_subscription(end: End) -> None:
    observer, upstream = observing(), Upstream()
    observer.on_subscribe(upstream)
    end(observer)
    observer.dispose()
    observer.dispose()
    assert upstream.calls == ["request"]  # RS 2.4


@ANY_END
def test_the_subscription_is_released_at_the_end(end: End) -> None:
    observer, upstream = observing(), Upstream()
    observer.on_subscribe(upstream)
    reference = weakref.ref(upstream)
    end(observer)
    del upstream
    gc.collect()
    assert reference() is None


def test_the_subscription_is_released_before_the_callback_of_the_end_runs() -> None:
    references: list[weakref.ref[Upstream]] = []
    alive: list[bool] = []
    observer = observing(lambda: alive.append(references[0]() is not None))
    upstream = Upstream()
    references.append(weakref.ref(upstream))
    observer.on_subscribe(upstream)
    del upstream
    observer.on_complete()
    assert alive == [False]


def test_a_success_whose_callback_raises_does_not_dispose_the_source_that_has_ended() -> None:
    errors: list[Exception] = []
    observer: Observer = CallbackObserver("test", lambda _item: 1 // 0, errors.append, None)
    held = Held()
    observer.on_subscribe(held)  # type: ignore[arg-type]  # as above
    observer.on_success(1)
    assert held.calls == []
    assert [type(error) for error in errors] == [ZeroDivisionError]


def test_an_error_of_none_ends_the_stream_without_a_call_of_the_subscription() -> None:
    errors: list[Exception] = []
    observer: Observer = CallbackObserver("test", None, errors.append, None)
    upstream = Upstream()
    observer.on_subscribe(upstream)
    with pytest.raises(TypeError, match="on_error"):
        observer.on_error(None)  # type: ignore[arg-type]  # the mistake
    assert upstream.calls == ["request"]  # RS 2.3: on_error is the end, whatever it carries
    assert [type(error) for error in errors] == [TypeError]
    assert observer.is_disposed


def test_an_on_next_that_raises_cancels_the_source_that_goes_on() -> None:
    errors: list[Exception] = []
    observer: Observer = CallbackObserver("test", lambda _item: 1 // 0, errors.append, None)
    upstream = Upstream()
    observer.on_subscribe(upstream)
    observer.on_next(1)
    assert upstream.calls == ["request", "cancel"]  # RS 2.13
    assert len(errors) == 1


def test_a_subscription_that_comes_after_the_end_is_cancelled() -> None:
    observer, first, second = observing(), Upstream(), Upstream()
    observer.on_subscribe(first)
    observer.on_complete()
    observer.on_subscribe(second)
    assert first.calls == ["request"]
    assert second.calls == ["cancel"]  # RS 2.5
