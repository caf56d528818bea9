"""An input that emits past ``step`` calls a callback itself. What that raises closes the operator, as a cancel does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CallbackObserver
from rx_core.streams import NULL_SUBSCRIBER, GatedInput, MergedInput, Op, PublishHub, QueuedInput
from rx_testing import ManualPublisher, TestSubscriber

Make = Callable[[Op[Any]], QueuedInput[int]]


class Passing(Op[int]):
    """One source, whose items are passed on."""

    __slots__ = ("closed", "ended", "main", "ready", "source")

    def __init__(self, down: Any, make: Make, source: ManualPublisher[int]) -> None:
        super().__init__(down)
        self.source = source
        self.ready: deque[Any] = deque()
        self.ended: deque[Any] = deque()
        self.closed = 0
        self.main = make(self)

    def open(self) -> None:
        self.main.open(self.source)

    def step(self, demand: int) -> int:
        if isinstance(self.main, GatedInput):
            demand = self.main.take(demand)
            self.main.ask(demand)
        return demand

    def close(self) -> None:
        self.closed += 1
        self.main.close()


class Doubling(Passing):
    """It has an ``emit`` of its own."""

    __slots__ = ()

    def __init__(self, down: Any, make: Make, source: ManualPublisher[int]) -> None:
        super().__init__(down, make, source)
        self.emit = lambda item: down.on_next(2 * item)


@pytest.fixture(params=[lambda op: MergedInput(op, 128), GatedInput], ids=["merged", "gated"], name="make")
def _make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


@pytest.fixture
def source() -> ManualPublisher[int]:
    return ManualPublisher()


def told(on_next: Callable[[int], object]) -> tuple[CallbackObserver[int], list[Exception]]:
    errors: list[Exception] = []
    return CallbackObserver("a test", on_next, errors.append, None), errors


def refuse(_item: int) -> None:
    raise ValueError("no")


def test_a_callback_that_raises_closes_the_operator(make: Make, source: ManualPublisher[int]) -> None:
    down, errors = told(refuse)
    op = Passing(down, make, source)
    op.start()
    source.next(1)
    assert [str(error) for error in errors] == ["no"]
    assert (op.closed, op.down, op.token, op.dirty) == (1, NULL_SUBSCRIBER, [0], False)
    assert source.cancelled


def test_an_interrupt_in_it_is_raised_and_closes_the_operator(make: Make, source: ManualPublisher[int]) -> None:
    def interrupt(_item: int) -> None:
        raise KeyboardInterrupt

    down, errors = told(interrupt)
    op = Passing(down, make, source)
    op.start()
    with pytest.raises(KeyboardInterrupt):
        source.next(1)
    assert (errors, op.closed, op.down, op.token) == ([], 1, NULL_SUBSCRIBER, [0])
    assert source.cancelled


def test_another_subscriber_that_raises_is_raised_to_the_source(make: Make, source: ManualPublisher[int]) -> None:
    class Refusing(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            refuse(item)

    op = Passing(Refusing(), make, source)
    op.start()
    with pytest.raises(ValueError, match="no"):
        source.next(1)
    assert (op.closed, op.down, op.token) == (1, NULL_SUBSCRIBER, [0])


def test_an_operator_that_emits_in_a_way_of_its_own_is_not_passed_by(make: Make, source: ManualPublisher[int]) -> None:
    items: list[int] = []
    down, _ = told(items.append)
    Doubling(down, make, source).start()
    source.next(1, 2)
    assert items == [2, 4]


def test_a_hub_closes_the_subscription_of_a_callback_that_raises() -> None:
    hub: PublishHub[int] = PublishHub("a hub", asked=True)
    down, errors = told(refuse)
    hub.subscribe(down)
    hub.on_next(1)
    assert [str(error) for error in errors] == ["no"]
    assert not hub.has_subscribers
