"""Drains with a queue between upstream's demand and downstream's."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from time import sleep
from typing import Any

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError
from rx_core.blocks import EmittedRequestDrain, ErrorMode, RequestDrain, StableRequestDrain

from .racing import Probe, Upstream, caught, every_round, race, repeat, rounds

BOTH = [StableRequestDrain, EmittedRequestDrain]
Kind = type[StableRequestDrain[Any, Any]] | type[EmittedRequestDrain[Any, Any]]


def subscribed(kind: Kind, end: Probe, prefetch: int = 4, errors: ErrorMode = "eager") -> tuple[RequestDrain[Any, Any], Upstream]:
    drain, upstream = kind(end, prefetch, errors=errors), Upstream()
    drain.on_subscribe(upstream)
    return drain, upstream


def push(drain: RequestDrain[Any, Any], *items: object) -> None:
    for item in items:
        drain.on_next(item)


def test_stable_requests_do_not_depend_on_downstream() -> None:
    end = Probe(request=1)
    drain, upstream = subscribed(StableRequestDrain, end, 8)
    assert upstream.requests == [8]
    push(drain, *range(8))
    assert (end.values, upstream.requests) == ([0], [8])
    drain.request(4)
    assert upstream.requests == [8]
    drain.request(1)
    assert upstream.requests == [8, 6]
    drain.request(UNBOUNDED)
    push(drain, *range(8, 14))
    assert (end.values, upstream.requests) == (list(range(14)), [8, 6, 6])


def test_what_was_emitted_is_requested() -> None:
    end = Probe(request=1)
    drain, upstream = subscribed(EmittedRequestDrain, end, 8)
    push(drain, *range(8))
    assert (end.values, upstream.requests) == ([0], [8, 1])
    drain.request(3)
    drain.request(1)
    assert upstream.requests == [8, 1, 3, 1]


@pytest.mark.parametrize("kind", BOTH)
def test_unbounded_prefetch_is_requested_once(kind: Kind) -> None:
    end = Probe()
    drain, upstream = subscribed(kind, end, UNBOUNDED)
    push(drain, *range(1_000))
    drain.on_complete()
    assert (len(end.values), end.completions, upstream.requests) == (1_000, 1, [UNBOUNDED])


@pytest.mark.parametrize("kind", BOTH)
def test_the_end_waits_for_the_elements_and_needs_no_demand_itself(kind: Kind) -> None:
    end = Probe(request=1)
    drain, _ = subscribed(kind, end)
    push(drain, 1, 2)
    drain.on_complete()
    assert end.completions == 0
    drain.request(1)
    assert (end.values, end.completions) == ([1, 2], 1)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("mode", "demand", "expected", "waits"),
    [("eager", 1, [0], False), ("boundary", 1, [0], True), ("delayed", 2, [0, 1], True)],
)
def test_when_an_error_is_signalled(kind: Kind, mode: ErrorMode, demand: int, expected: list[int], waits: bool) -> None:
    end = Probe(request=demand)
    drain, _ = subscribed(kind, end, errors=mode)
    push(drain, *range(4))
    error = ValueError("a")
    drain.on_error(error)
    assert end.values == expected
    boundary_now = mode == "boundary" and kind is EmittedRequestDrain  # it has paused, so a batch is complete
    assert end.errors == ([] if waits and not boundary_now else [error])
    drain.request(10)
    got = {"eager": [0], "boundary": [0] if boundary_now else [0, 1, 2], "delayed": [0, 1, 2, 3]}[mode]
    assert (end.values, end.errors) == (got, [error])


def test_a_boundary_of_ones_own() -> None:
    class Pairs(StableRequestDrain[int, int]):
        def at_boundary(self) -> bool:
            return len(end.values) % 2 == 0

    end = Probe(request=1)
    drain, upstream = Pairs(end, 8, errors="boundary"), Upstream()
    drain.on_subscribe(upstream)
    push(drain, 1, 2, 3)
    drain.on_error(ValueError("a"))
    assert (end.values, end.errors) == ([1], [])
    drain.request(5)
    assert end.values == [1, 2]
    assert len(end.errors) == 1


@pytest.mark.parametrize("kind", BOTH)
def test_a_source_that_sends_too_much_is_cut_off(kind: Kind) -> None:
    end = Probe(request=0)
    drain, upstream = subscribed(kind, end, 2)
    push(drain, 1, 2, 3, 4)
    assert (upstream.cancels, [type(error) for error in end.errors]) == (1, [MissingBackpressureError])


@pytest.mark.parametrize("kind", BOTH)
def test_none_is_refused(kind: Kind) -> None:
    end = Probe()
    drain, upstream = subscribed(kind, end)
    with pytest.raises(TypeError, match=r"RS 2\.13"):
        drain.on_next(None)
    assert (upstream.cancels, [type(error) for error in end.errors]) == (1, [TypeError])


@pytest.mark.parametrize("kind", BOTH)
def test_a_wrong_request_ends_the_stream(kind: Kind) -> None:
    end = Probe(request=0)
    drain, upstream = subscribed(kind, end)
    push(drain, 1)
    drain.request(0)
    drain.request(1)
    assert (end.values, upstream.cancels) == ([], 1)
    assert "§3.9" in str(end.errors[0])
    end.assert_serial()


@pytest.mark.parametrize("kind", BOTH)
def test_a_second_subscription_is_cancelled(kind: Kind, reported: list[Exception]) -> None:
    drain, upstream = subscribed(kind, Probe())
    drain.on_subscribe(second := Upstream())
    assert (upstream.cancels, second.cancels, len(reported)) == (0, 1, 1)


class Thing:
    pass


@pytest.mark.parametrize("kind", BOTH)
def test_a_cancel_clears(kind: Kind, reported: list[Exception]) -> None:
    end = Probe(request=0)
    drain, upstream = subscribed(kind, end)
    thing = Thing()
    watches: list[weakref.ref[Any]] = [weakref.ref(end), weakref.ref(thing)]
    drain.on_next(thing)
    drain.cancel()
    drain.cancel()
    late = ValueError("late")
    drain.on_error(late)
    assert (upstream.cancels, reported) == (1, [late])
    del end, thing
    gc.collect()
    assert [watch() for watch in watches] == [None, None]


@pytest.mark.parametrize("kind", BOTH)
def test_a_cancel_between_two_elements_stops(kind: Kind) -> None:
    end = Probe()
    drain, upstream = subscribed(kind, end)
    end.on_value = lambda item: drain.cancel()
    push(drain, 1, 2)
    assert (end.values, upstream.cancels) == ([1], 1)


@pytest.mark.parametrize("kind", BOTH)
def test_a_subscriber_that_raises_has_cancelled(kind: Kind) -> None:
    end = Probe()
    drain, upstream = subscribed(kind, end)
    end.on_value = lambda item: 1 // 0
    with pytest.raises(ZeroDivisionError):
        drain.on_next(1)
    push(drain, 2)
    drain.on_complete()
    assert (end.values, end.completions, upstream.cancels) == ([1], 0, 1)


@pytest.mark.parametrize("kind", BOTH)
def test_a_source_that_answers_inside_request_does_not_deepen_the_stack(kind: Kind) -> None:
    end = Probe(request=0)
    drain = kind(end, 1)
    sent = [0]

    def answer(n: int) -> None:
        for _ in range(n):
            if sent[0] < 20_000:
                sent[0] = sent[0] + 1
                drain.on_next(sent[0])

    end.on_value = lambda item: drain.request(1)
    drain.on_subscribe(Upstream(answer))
    drain.request(1)
    assert len(end.values) == 20_000


@pytest.mark.parametrize(("prefetch", "errors"), [(0, "eager"), (4, "soon")])
def test_wrong_arguments_are_refused(prefetch: int, errors: Any) -> None:
    with pytest.raises(ValueError, match="StableRequestDrain"):
        StableRequestDrain(Probe(), prefetch, errors=errors)


class Racy:
    """The control: a drain whose guard is a flag that is looked at before."""

    def __init__(self, down: Any, prefetch: int) -> None:
        self.down = down
        self.prefetch = prefetch
        self.queue: list[object] = []
        self.demand = 0
        self.busy = self.done = self.over = False

    def on_subscribe(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.down.on_subscribe(self)
        upstream.request(self.prefetch)

    def on_next(self, item: object) -> None:
        self.queue.append(item)
        self.drain()

    def on_complete(self) -> None:
        self.done = True
        self.drain()

    def request(self, n: int) -> None:
        demand = self.demand
        for _ in range(2):
            pass
        self.demand = demand + n
        self.drain()

    def drain(self) -> None:
        if self.busy:
            return
        self.busy = True
        while self.demand and self.queue:
            self.demand = self.demand - 1
            self.down.on_next(self.queue.pop(0))
            self.upstream.request(1)
        if self.done and not self.queue and not self.over:
            self.over = True
            self.down.on_complete()
        self.busy = False


def everything_in_order(make: Callable[[Probe, int], Any], total: int = 60) -> None:
    end = Probe(request=0)
    drain = make(end, 4)
    granted: list[int] = []
    upstream = Upstream(granted.append)
    drain.on_subscribe(upstream)
    stopped: list[int] = []

    def emit() -> None:
        sent = 0
        while sent < total and not stopped:
            if sent < sum(granted):
                drain.on_next(sent)
                sent += 1
        drain.on_complete()

    def ask() -> None:
        for _ in range(total // 3):
            drain.request(1)

    def guard() -> None:
        ask()
        for _ in range(2_000):
            if end.completions:
                break
            sleep(0.0005)
        stopped.append(1)

    race(emit, ask, ask, guard)
    end.assert_serial()
    assert end.values == list(range(total))
    assert end.completions == 1
    assert sum(granted) >= total


@pytest.mark.stress
@pytest.mark.parametrize("kind", BOTH)
def test_every_element_in_order_while_several_threads_request(kind: Kind) -> None:
    for _ in rounds():
        everything_in_order(kind, 15)


@pytest.mark.stress
def test_the_control_fails() -> None:
    def check(_: int) -> None:
        try:
            everything_in_order(Racy, 15)
        except IndexError as error:
            raise AssertionError("the queue was emptied by two threads") from error

    assert caught(check)


@pytest.mark.stress
@pytest.mark.parametrize("kind", BOTH)
def test_a_cancel_in_between_leaves_nothing_behind(kind: Kind, reported: list[Exception]) -> None:
    def once(_: int) -> None:
        reported.clear()
        end = Probe(request=0)
        drain, upstream = subscribed(kind, end, 16)
        things = [Thing() for _ in range(10)]
        error = ValueError("a")

        def emit(drain: RequestDrain[Any, Any] = drain, things: list[Thing] = things, error: Exception = error) -> None:
            for thing in things:
                drain.on_next(thing)
            drain.on_error(error)

        race(emit, drain.cancel, repeat(12, drain.request, 1))
        end.assert_serial()
        assert end.errors + reported == [error]
        assert upstream.cancels <= 1  # none if the source had ended before
        watches = [weakref.ref(thing) for thing in things]
        things.clear()
        end.values.clear()
        assert not [watch for watch in watches if watch() is not None]

    every_round(once)
