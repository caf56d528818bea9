"""Subscription arbitration."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_core.blocks import SubscriptionArbiter

from .racing import Upstream, caught, every_round, race, repeat, rounds


def test_what_one_left_is_asked_of_the_next() -> None:
    arbiter, first, second, third = SubscriptionArbiter(), Upstream(), Upstream(), Upstream()
    arbiter.request(10)
    arbiter.set_subscription(first)
    arbiter.request(2)
    arbiter.produced(7)
    arbiter.set_subscription(second)
    arbiter.produced()
    arbiter.produced(4)
    arbiter.set_subscription(third)
    assert (first.requests, second.requests, third.requests) == ([10, 2], [5], [])
    arbiter.request(1)
    assert (second.requests, third.requests) == ([5], [1])
    assert (first.cancels, second.cancels, third.cancels) == (0, 0, 0)


def test_requests_that_come_together_are_asked_for_together() -> None:
    arbiter = SubscriptionArbiter()

    def answer(n: int) -> None:
        if n == 1:
            arbiter.request(2)
            arbiter.request(3)

    upstream = Upstream(answer)
    arbiter.set_subscription(upstream)
    arbiter.request(1)
    assert upstream.requests == [1, 5]


def test_unbounded_is_not_counted() -> None:
    arbiter, first, second = SubscriptionArbiter(), Upstream(), Upstream()
    arbiter.set_subscription(first)
    before = arbiter.is_unbounded
    arbiter.request(5)
    arbiter.request(UNBOUNDED)
    arbiter.request(5)
    assert (before, arbiter.is_unbounded) == (False, True)
    arbiter.produced(1_000)
    arbiter.set_subscription(second)
    assert (first.requests, second.requests) == ([5, UNBOUNDED], [UNBOUNDED])


def test_replacing_may_cancel() -> None:
    arbiter, first, second = SubscriptionArbiter(cancel_on_replace=True), Upstream(), Upstream()
    arbiter.set_subscription(first)
    arbiter.set_subscription(second)
    assert (first.cancels, second.cancels) == (1, 0)


def test_cancel_reaches_the_current_one_and_those_that_come() -> None:
    arbiter, first, second = SubscriptionArbiter(), Upstream(), Upstream()
    arbiter.set_subscription(first)
    arbiter.cancel()
    arbiter.cancel()
    arbiter.request(5)
    arbiter.set_subscription(second)
    assert arbiter.is_cancelled
    assert (first.cancels, second.cancels, first.requests, second.requests) == (1, 1, [], [])


def test_a_wrong_request_is_left_to_the_publisher_that_is_there_or_comes() -> None:
    arbiter, first = SubscriptionArbiter(), Upstream()
    arbiter.request(0)
    arbiter.set_subscription(first)
    arbiter.request(-1)
    assert first.requests == [0, -1]


def test_producing_too_much_is_reported(reported: list[Exception]) -> None:
    arbiter = SubscriptionArbiter()
    arbiter.request(1)
    arbiter.produced(2)
    assert "RS 1.1" in str(reported[0])


def test_a_chain_of_sources_that_answer_at_once_does_not_deepen_the_stack() -> None:
    """100,000 sources of one element: each emits and completes inside request, and is followed by the next."""
    arbiter = SubscriptionArbiter()
    left, got, deepest = [100_000], [0], [0]

    def subscribe_next() -> None:
        if left[0]:
            left[0] = left[0] - 1
            arbiter.set_subscription(Upstream(answer))

    def answer(_n: int) -> None:
        got[0] = got[0] + 1
        depth, frame = 0, sys._getframe()
        while frame.f_back is not None and depth < 500:
            depth, frame = depth + 1, frame.f_back
        deepest[0] = max(deepest[0], depth)
        arbiter.produced(1)
        subscribe_next()

    arbiter.request(100_000)
    subscribe_next()
    assert got == [100_000]
    assert deepest[0] < 150


class Source:
    """Delivers what it is asked for, up to ``size``; then it is over and ``next_one`` is called."""

    def __init__(self, arbiter: Any, size: int, got: list[int], next_one: Any) -> None:
        self.arbiter, self.size, self.got, self.next_one = arbiter, size, got, next_one
        self.wanted = 0
        self.overlaps = 0
        self.inside = False

    def request(self, n: int) -> None:
        if self.inside:
            self.overlaps = 1
        self.inside = True
        self.wanted = self.wanted + n
        taken = min(self.wanted, self.size)
        if taken:
            self.wanted, self.size = self.wanted - taken, self.size - taken
            self.got.append(taken)
            self.arbiter.produced(taken)
        self.inside = False
        if not self.size and self.next_one is not None:
            next_one, self.next_one = self.next_one, None
            if next_one is not None:
                next_one()

    def cancel(self) -> None:
        pass


class RacyArbiter:
    """The control: the same without the queue."""

    def __init__(self) -> None:
        self.demand = 0
        self.current: Source | None = None

    def request(self, n: int) -> None:
        demand = self.demand
        for _ in range(2):
            pass
        self.demand = demand + n
        if self.current is not None:
            self.current.request(n)

    def produced(self, n: int) -> None:
        demand = self.demand
        for _ in range(2):
            pass
        self.demand = demand - n

    def set_subscription(self, source: Source) -> None:
        self.current = source
        if self.demand:
            source.request(self.demand)


def exactly_what_was_requested(arbiter: Any) -> None:
    got: list[int] = []
    sources: list[Source] = []

    def subscribe_next() -> None:
        source = Source(arbiter, 7, got, subscribe_next)
        sources.append(source)
        arbiter.set_subscription(source)

    def ask() -> None:
        for n in range(1, 6):
            arbiter.request(n)

    race(subscribe_next, ask, ask, ask)
    assert sum(got) == 3 * sum(range(1, 6))
    assert not any(source.overlaps for source in sources), "RS 2.7"


@pytest.mark.stress
def test_exactly_what_was_requested_is_asked_for() -> None:
    for _ in rounds():
        exactly_what_was_requested(SubscriptionArbiter())


@pytest.mark.stress
def test_the_control_miscounts() -> None:
    assert caught(lambda _: exactly_what_was_requested(RacyArbiter()))


@pytest.mark.stress
def test_a_cancel_in_between_reaches_all() -> None:
    def once(_: int) -> None:
        arbiter = SubscriptionArbiter()
        subscriptions = [Upstream() for _ in range(20)]

        def switch() -> None:
            for each in subscriptions:
                arbiter.set_subscription(each)

        race(arbiter.cancel, switch, repeat(10, arbiter.request, 3))
        after = subscriptions[-1]
        assert after.cancels == 1
        assert arbiter.is_cancelled

    every_round(once)
