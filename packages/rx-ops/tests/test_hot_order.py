"""Hot sources with several subscribers: in which order each of them gets what is sent from inside an ``on_next``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_ops import BehaviorProcessor, PublishProcessor, PublishSubject, ReplayProcessor
from rx_testing import TestSubscriber

HOT = pytest.mark.parametrize("made", [PublishProcessor, PublishSubject, BehaviorProcessor, ReplayProcessor])
PUBLISH = pytest.mark.parametrize("made", [PublishProcessor, PublishSubject])


class Told:
    """Writes down what it gets, together with its name, and reacts to some of it."""

    def __init__(self, name: str, log: list[str], react: dict[Any, Callable[[], object]] | None = None) -> None:
        self.name = name
        self.log = log
        self.react = react or {}
        self.handle: Any = None

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        if hasattr(handle, "request"):
            handle.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        self.log.append(f"{self.name}{item}")
        action = self.react.pop(item, None)
        if action is not None:
            action()
            self.log.append(f"{self.name}'")

    def on_error(self, error: Exception, /) -> None:
        self.log.append(f"{self.name}!")

    def on_complete(self) -> None:
        self.log.append(f"{self.name}|")


def of(name: str, log: list[str]) -> list[str]:
    return [entry for entry in log if entry[0] == name]


@HOT
def test_what_one_sends_from_its_on_next_comes_after_the_item_for_everybody(made: Any) -> None:
    source, log = made(), list[str]()
    source.subscribe(Told("a", log, {1: lambda: source.on_next(2)}))
    source.subscribe(Told("b", log))
    source.subscribe(Told("c", log))
    source.on_next(1)
    source.on_next(3)
    # the one that sends is busy until it returns; the others get both meanwhile
    assert log == ["a1", "b1", "b2", "c1", "c2", "a'", "a2", "a3", "b3", "c3"]


@HOT
def test_sending_from_inside_what_was_sent_from_inside_keeps_the_order(made: Any) -> None:
    source, log = made(), list[str]()
    source.subscribe(Told("a", log, {1: lambda: source.on_next(2)}))
    source.subscribe(Told("b", log, {1: lambda: source.on_next(3)}))
    source.subscribe(Told("c", log))
    source.on_next(1)
    assert of("c", log) == ["c1", "c2", "c3"]
    assert of("b", log) == ["b1", "b'", "b2", "b3"]
    assert of("a", log) == ["a1", "a'", "a2", "a3"]


@HOT
def test_an_end_from_inside_on_next_comes_after_the_item_for_everybody(made: Any) -> None:
    source, log = made(), list[str]()
    source.subscribe(Told("a", log, {1: source.on_complete}))
    source.subscribe(Told("b", log))
    source.on_next(1)
    assert log == ["a1", "b1", "b|", "a'", "a|"]


@PUBLISH
def test_who_subscribes_inside_an_on_next_gets_the_next_item_and_who_leaves_none(made: Any) -> None:
    source, log = made(), list[str]()
    late, leaving = Told("l", log), Told("b", log)

    def turn_over() -> None:
        source.subscribe(late)
        leaving.handle.dispose()
        source.on_next(2)

    source.subscribe(Told("a", log, {1: turn_over}))
    source.subscribe(leaving)
    source.subscribe(Told("c", log))
    source.on_next(1)
    source.on_next(3)
    assert log == ["a1", "c1", "c2", "l2", "a'", "a2", "a3", "c3", "l3"]


@PUBLISH
def test_the_only_one_left_is_still_in_order(made: Any) -> None:
    source, log = made(), list[str]()
    leaving = Told("b", log)

    def send_two() -> None:
        leaving.handle.dispose()
        source.on_next(2)
        source.on_next(3)

    source.subscribe(Told("a", log, {1: send_two}))
    source.subscribe(leaving)
    source.on_next(1)
    source.on_next(4)
    assert log == ["a1", "a'", "a2", "a3", "a4"]


@pytest.mark.parametrize("made", [PublishProcessor, BehaviorProcessor])
def test_offer_from_inside_on_next_sees_that_another_has_not_got_the_item_yet(made: Any) -> None:
    source, log = made(), list[str]()
    answers: list[bool] = []
    source.subscribe(Told("a", log, {1: lambda: answers.append(source.offer(2))}))
    other: TestSubscriber[int] = TestSubscriber(request=1)
    source.subscribe(other)
    source.on_next(1)
    assert answers == [False]
    other.assert_values(1).assert_not_terminated()


@HOT
def test_a_subscriber_that_raises_keeps_nothing_from_the_others(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from rx_core import hooks

    reported: list[BaseException] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: reported.append(error))
    source, log = made(), list[str]()

    def fail() -> None:
        raise ValueError("oops")

    source.subscribe(Told("a", log, {1: fail}))
    source.subscribe(Told("b", log))
    source.on_next(1)
    source.on_next(2)
    assert log == ["a1", "b1", "b2"]
    assert [str(error) for error in reported] == ["oops"]


@HOT
def test_an_interrupt_in_one_subscriber_does_not_lose_the_item_for_the_others(made: Any) -> None:
    source, log = made(), list[str]()

    def interrupt() -> None:
        raise KeyboardInterrupt

    source.subscribe(Told("a", log, {1: interrupt}))
    source.subscribe(Told("b", log))
    with pytest.raises(KeyboardInterrupt):
        source.on_next(1)
    source.on_next(2)
    assert log == ["a1", "b1", "b2"]


def test_the_only_subscriber_without_demand_gets_an_error_and_its_requests_count() -> None:
    source = PublishProcessor[int]()
    end: TestSubscriber[int] = TestSubscriber(request=2)
    source.subscribe(end)
    source.on_next(1)
    end.request(1)
    source.on_next(2)
    source.on_next(3)
    end.assert_values(1, 2, 3).assert_not_terminated()
    source.on_next(4)
    end.assert_values(1, 2, 3).assert_error(MissingBackpressureError)
    assert not source.has_subscribers


@PUBLISH
def test_a_subclass_may_have_an_entry_of_its_own(made: Any) -> None:
    class Doubling(made):  # type: ignore[misc]  # one of two classes
        def on_next(self, item: int, /) -> None:
            super().on_next(item * 2)

    source, log = Doubling(), list[str]()
    source.subscribe(Told("a", log))
    source.on_next(1)
    with pytest.raises(TypeError, match="on_next"):
        made().on_next(None)
    assert log == ["a2"]
