"""Elements after the last one."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_core.blocks import MultiPostComplete, SinglePostComplete

from .racing import Probe, Upstream, caught, every_round, race, rounds


class EndWith(SinglePostComplete[Any, Any]):
    def on_complete(self) -> None:
        self.complete("end")


class Twice(MultiPostComplete[Any, Any]):
    """Everything once more at the end."""

    def __init__(self, down: Any) -> None:
        super().__init__(down)
        self.seen: list[Any] = []

    def on_next(self, item: Any, /) -> None:
        self.seen.append(item)
        super().on_next(item)

    def on_complete(self) -> None:
        self.complete(self.seen)


def subscribed(kind: Any, request: int) -> tuple[Any, Probe, Upstream]:
    end, upstream = Probe(request), Upstream()
    operator = kind(end)
    operator.on_subscribe(upstream)
    return operator, end, upstream


def feed(operator: Any, *items: object) -> None:
    for item in items:
        operator.on_next(item)
    operator.on_complete()


def test_the_last_element_comes_at_once_when_it_is_wanted() -> None:
    operator, end, upstream = subscribed(EndWith, 3)
    feed(operator, 1, 2)
    assert (end.values, end.completions, upstream.requests) == ([1, 2, "end"], 1, [3])


def test_the_last_element_waits_for_a_request() -> None:
    operator, end, _upstream = subscribed(EndWith, 2)
    feed(operator, 1, 2)
    assert (end.values, end.completions) == ([1, 2], 0)
    operator.request(1)
    operator.request(1)
    assert (end.values, end.completions) == ([1, 2, "end"], 1)
    end.assert_serial()


@pytest.mark.parametrize("kind", [EndWith, Twice])
def test_unbounded(kind: Any) -> None:
    operator, end, upstream = subscribed(kind, UNBOUNDED)
    feed(operator, 1)
    assert (len(end.values), end.completions, upstream.requests) == (2, 1, [UNBOUNDED])


def test_the_rest_comes_as_it_is_requested() -> None:
    operator, end, _upstream = subscribed(Twice, 4)
    feed(operator, 1, 2, 3)
    assert end.values == [1, 2, 3, 1]
    operator.request(1)
    assert (end.values, end.completions) == ([1, 2, 3, 1, 2], 0)
    operator.request(1)
    assert (end.values, end.completions) == ([1, 2, 3, 1, 2, 3], 1)


def test_no_rest_needs_no_demand() -> None:
    operator, end, _ = subscribed(MultiPostComplete, 0)
    operator.on_complete()
    assert end.completions == 1
    single, end, _ = subscribed(SinglePostComplete, 0)
    single.on_complete()
    assert end.completions == 1


@pytest.mark.parametrize("kind", [EndWith, Twice])
def test_an_error_passes(kind: Any) -> None:
    operator, end, _ = subscribed(kind, 5)
    operator.on_next(1)
    error = ValueError("a")
    operator.on_error(error)
    assert (end.values, end.errors) == ([1], [error])


@pytest.mark.parametrize("kind", [EndWith, Twice])
def test_a_wrong_request_is_answered_by_upstream_or_when_it_is_over_here(kind: Any) -> None:
    operator, end, upstream = subscribed(kind, 1)
    operator.request(0)
    assert (upstream.requests, end.errors) == ([1, 0], [])
    feed(operator, 1)
    operator.request(-1)
    operator.request(1)
    assert end.values == [1]
    assert "§3.9" in str(end.errors[0])
    end.assert_serial()


@pytest.mark.parametrize("kind", [EndWith, Twice])
def test_cancelled_while_the_rest_waits(kind: Any) -> None:
    operator, end, upstream = subscribed(kind, 1)
    feed(operator, 1)
    operator.cancel()
    operator.request(5)
    assert (end.values, end.completions) == ([1], 0)
    assert (upstream.requests, upstream.cancels) == ([1], 0)


def test_a_cancel_lets_go_of_the_rest() -> None:
    operator, _end, _ = subscribed(MultiPostComplete, 0)
    rest = [Probe(), Probe()]
    watches = [weakref.ref(each) for each in rest]
    operator.complete(rest)
    operator.cancel()
    rest.clear()
    gc.collect()
    assert [watch() for watch in watches] == [None, None]


def test_cancelled_between_two_elements_of_the_rest() -> None:
    operator, end, _ = subscribed(MultiPostComplete, UNBOUNDED)
    end.on_value = lambda item: item == 2 and operator.cancel()
    operator.complete([1, 2, 3])
    assert (end.values, end.completions) == ([1, 2], 0)


def test_a_long_rest_requested_one_by_one_does_not_deepen_the_stack() -> None:
    operator, end, _ = subscribed(MultiPostComplete, 1)
    end.on_value = lambda item: operator.request(1)
    operator.complete(range(20_000))
    assert (len(end.values), end.completions) == (20_000, 1)


@pytest.mark.parametrize("kind", [EndWith, Twice])
def test_a_subscriber_that_raises_in_the_rest(kind: Any) -> None:
    operator, end, _upstream = subscribed(kind, 1)
    feed(operator, 1)
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError):
        operator.request(1)
    operator.request(1)
    assert (len(end.values), end.completions) == (2, 0)


class RacyEndWith:
    """The control: looks at the demand, then leaves the element for a request."""

    def __init__(self, down: Any) -> None:
        self.down = down
        self.demand = 0
        self.waiting = False

    def on_subscribe(self, upstream: Any) -> None:
        self.upstream = upstream
        self.down.on_subscribe(self)

    def on_next(self, item: object) -> None:
        self.demand = self.demand - 1
        self.down.on_next(item)

    def request(self, n: int) -> None:
        if self.waiting:
            self.waiting = False
            self.emit()
            return
        demand = self.demand
        for _ in range(10):
            pass
        self.demand = demand + n
        self.upstream.request(n)

    def on_complete(self) -> None:
        if self.demand > 0:
            self.emit()
        else:
            for _ in range(10):
                pass
            self.waiting = True

    def emit(self) -> None:
        self.down.on_next("end")
        self.down.on_complete()


def ends_once(kind: Any, expected: list[object]) -> None:
    operator, end, upstream = subscribed(kind, 0)

    def emit() -> None:
        sent = 0
        while sent < 3:
            if sent < upstream.total:
                operator.on_next(sent)
                sent += 1
        operator.on_complete()

    def ask() -> None:
        for _ in range(len(expected)):
            operator.request(1)

    race(emit, ask)
    end.assert_serial()
    assert end.values == expected
    assert end.completions == 1


@pytest.mark.stress
@pytest.mark.parametrize(("kind", "expected"), [(EndWith, [0, 1, 2, "end"]), (Twice, [0, 1, 2, 0, 1, 2])])
def test_requests_race_with_the_end(kind: Any, expected: list[object]) -> None:
    for _ in rounds():
        ends_once(kind, expected)


@pytest.mark.stress
def test_the_control_fails() -> None:
    assert caught(lambda _: ends_once(RacyEndWith, [0, 1, 2, "end"]), 400)


@pytest.mark.stress
@pytest.mark.parametrize("kind", [EndWith, Twice])
def test_several_threads_request_while_it_ends(kind: Any) -> None:
    def once(_: int) -> None:
        operator, end, _upstream = subscribed(kind, 2)

        def finish(operator: Any = operator) -> None:
            operator.on_next(1)
            operator.on_next(2)
            operator.on_complete()

        race(finish, *[lambda operator=operator: operator.request(1)] * 3)
        end.assert_serial()
        assert end.completions == 1
        assert len(end.values) == (3 if kind is EndWith else 4)

    every_round(once)
