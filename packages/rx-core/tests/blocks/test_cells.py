"""Deferred cancellation and deferred requesting."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

from rx_core import UNBOUNDED, ProtocolViolationError
from rx_core.blocks import CANCELLED_SUBSCRIPTION, DeferredSubscription, SubscriptionCell

from .racing import Upstream, caught, race, rounds


def cancels(*subscriptions: Upstream) -> list[int]:
    return [each.cancels for each in subscriptions]


def test_set_cancels_the_one_before_and_replace_does_not() -> None:
    cell, a, b, c = SubscriptionCell(), Upstream(), Upstream(), Upstream()
    assert cell.get() is None
    assert cell.set(a)
    assert cell.set(b)
    assert cell.replace(c)
    assert cell.get() is c
    assert cancels(a, b, c) == [1, 0, 0]


def test_what_comes_after_cancel_is_cancelled() -> None:
    cell, a, b = SubscriptionCell(), Upstream(), Upstream()
    cell.set(a)
    before = cell.is_disposed
    assert cell.cancel()
    assert not cell.cancel()
    cell.dispose()
    assert (before, cell.is_disposed) == (False, True)
    assert not cell.set(b)
    assert not cell.replace(b)
    assert not cell.set_once(b)
    assert cancels(a, b) == [1, 3]
    assert cell.get() is CANCELLED_SUBSCRIPTION
    assert repr(cell) == "<SubscriptionCell CANCELLED_SUBSCRIPTION>"


def test_a_second_subscription_is_cancelled_and_reported(reported: list[Exception]) -> None:
    cell, a, b = SubscriptionCell(), Upstream(), Upstream()
    assert cell.set_once(a)
    assert not cell.set_once(b)
    assert cancels(a, b) == [0, 1]
    assert [type(error) for error in reported] == [ProtocolViolationError]
    assert cell.get() is a


def test_a_cancelled_cell_forgets() -> None:
    cell, a = SubscriptionCell(), Upstream()
    watch = weakref.ref(a)
    cell.set(a)
    cell.cancel()
    del a
    gc.collect()
    assert watch() is None


class RacyCell:
    """The control: looks, then sets."""

    def __init__(self) -> None:
        self.current: Upstream | None = None
        self.disposed = False

    def set(self, subscription: Upstream) -> None:
        if self.disposed:
            subscription.cancel()
            return
        before = self.current
        for _ in range(2):
            pass
        self.current = subscription
        if before is not None:
            before.cancel()

    def cancel(self) -> None:
        self.disposed = True
        if self.current is not None:
            self.current.cancel()


def everything_is_cancelled(cell: Any) -> None:
    all_of_them = [[Upstream() for _ in range(20)] for _ in range(3)]

    def put(mine: list[Upstream]) -> None:
        for each in mine:
            cell.set(each)

    race(cell.cancel, *[lambda mine=mine: put(mine) for mine in all_of_them])
    assert {each.cancels for mine in all_of_them for each in mine} == {1}


@pytest.mark.stress
def test_whatever_is_set_is_cancelled_once() -> None:
    for _ in rounds():
        everything_is_cancelled(SubscriptionCell())


@pytest.mark.stress
def test_the_control_forgets_to_cancel() -> None:
    assert caught(lambda _: everything_is_cancelled(RacyCell()))


# -- deferred requesting -------------------------------------------------------------------------------------------------


def test_requests_wait_for_the_subscription() -> None:
    deferred, upstream = DeferredSubscription(), Upstream()
    deferred.request(2)
    deferred.request(3)
    assert deferred.set_once(upstream)
    deferred.request(4)
    assert upstream.requests == [5, 4]


def test_waiting_requests_are_capped() -> None:
    deferred, upstream = DeferredSubscription(), Upstream()
    deferred.request(UNBOUNDED)
    deferred.request(3)
    deferred.set_once(upstream)
    assert upstream.requests == [UNBOUNDED]


def test_a_wrong_request_is_left_to_the_publisher() -> None:
    deferred, upstream = DeferredSubscription(), Upstream()
    for n in (1, 2, 0, 4):
        deferred.request(n)
    deferred.set_once(upstream)
    assert upstream.requests == [3, 0, 4]


def test_cancelled_before_it_came() -> None:
    deferred, upstream, second = DeferredSubscription(), Upstream(), Upstream()
    deferred.request(5)
    deferred.cancel()
    deferred.request(5)
    assert deferred.is_cancelled
    assert not deferred.set_once(upstream)
    assert not deferred.set_once(second)
    assert (upstream.requests, upstream.cancels, second.cancels) == ([], 1, 1)


def test_cancelled_later() -> None:
    deferred, upstream = DeferredSubscription(), Upstream()
    deferred.set_once(upstream)
    deferred.cancel()
    deferred.request(1)
    assert (upstream.requests, upstream.cancels) == ([], 1)


def test_a_request_that_raises_does_not_block_the_next() -> None:
    deferred = DeferredSubscription()
    failing = Upstream(lambda n: 1 // (n - 1))
    deferred.set_once(failing)
    with pytest.raises(ZeroDivisionError):
        deferred.request(1)
    deferred.request(2)
    assert failing.requests == [1, 2]


def test_requests_from_inside_a_request_do_not_deepen_the_stack() -> None:
    deferred = DeferredSubscription()
    left = [100_000]
    deepest = [0]

    def answer(_n: int) -> None:
        depth, frame = 0, sys._getframe()
        while frame.f_back is not None and depth < 200:
            depth, frame = depth + 1, frame.f_back
        deepest[0] = max(deepest[0], depth)
        left[0] = left[0] - 1
        if left[0]:
            deferred.request(1)

    base = [0]
    frame = sys._getframe()
    while frame.f_back is not None:
        base[0], frame = base[0] + 1, frame.f_back
    deferred.set_once(Upstream(answer))
    deferred.request(1)
    assert left == [0]
    assert deepest[0] < min(base[0] + 20, 199)


class RacyDeferred:
    """The control: requests what waits, then forgets it."""

    def __init__(self) -> None:
        self.waiting = 0
        self.upstream: Upstream | None = None

    def request(self, n: int) -> None:
        upstream = self.upstream
        if upstream is not None:
            upstream.request(n)
        else:
            waiting = self.waiting
            for _ in range(2):
                pass
            self.waiting = waiting + n

    def set_once(self, upstream: Upstream) -> None:
        self.upstream = upstream
        waiting, self.waiting = self.waiting, 0
        if waiting:
            upstream.request(waiting)


def all_requests_arrive(deferred: Any) -> None:
    upstream = Upstream()

    def ask() -> None:
        for n in range(1, 15):
            deferred.request(n)

    race(ask, ask, ask, lambda: deferred.set_once(upstream))
    assert upstream.total == 3 * sum(range(1, 15))
    assert not upstream.overlaps, "RS 2.7"


@pytest.mark.stress
def test_no_request_is_lost_and_none_made_twice() -> None:
    for _ in rounds():
        all_requests_arrive(DeferredSubscription())


@pytest.mark.stress
def test_the_control_loses_requests() -> None:
    assert caught(lambda _: all_requests_arrive(RacyDeferred()))
