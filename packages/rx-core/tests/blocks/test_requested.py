"""Counting demand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rx_core import UNBOUNDED
from rx_core.blocks import CANCELLED, Requested, RequestInbox, request_error

from .racing import caught, every_round, interrupted, race, rounds


def test_requests_add_up_and_are_capped() -> None:
    requested = Requested()
    assert requested.add(5) == 0
    assert requested.add(2) == 5
    assert requested.produced(3) == 4
    assert requested.add(UNBOUNDED - 2) == 4
    assert requested.get() == UNBOUNDED


def test_unbounded_stays_unbounded() -> None:
    requested = Requested(UNBOUNDED)
    assert requested.produced(1_000) == UNBOUNDED
    assert requested.add(1) == UNBOUNDED
    assert requested.get() == UNBOUNDED


def test_the_cancelled_mark_stays() -> None:
    requested = Requested(3)
    assert requested.cancel()
    assert not requested.cancel()
    assert requested.is_cancelled
    assert requested.add(5) == CANCELLED
    assert requested.produced(5) == CANCELLED
    assert requested.get() == CANCELLED


def test_producing_more_than_was_wanted_is_reported(reported: list[Exception]) -> None:
    requested = Requested(2)
    assert requested.produced(3) == 0
    assert [str(error) for error in reported] == ["RS 1.1: 3 items were produced, 2 were requested"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "1", None])
def test_a_wrong_request_has_its_error(wrong: object) -> None:
    assert "§3.9" in str(request_error(wrong))


def test_a_right_request_has_none() -> None:
    assert request_error(1) is None
    assert request_error(UNBOUNDED) is None


def test_an_inbox_is_counted_by_its_owner(reported: list[Exception]) -> None:
    inbox = RequestInbox()
    inbox.add(3)
    inbox.add(4)
    assert (inbox.demand, inbox.outstanding) == (0, 7)
    assert inbox.collect() == 7
    inbox.spend(2)
    assert (inbox.demand, inbox.outstanding) == (5, 5)
    inbox.add(UNBOUNDED)
    assert inbox.collect() == UNBOUNDED
    inbox.spend()
    assert inbox.demand == UNBOUNDED
    assert not reported


def test_an_inbox_keeps_the_first_wrong_request(reported: list[Exception]) -> None:
    inbox = RequestInbox()
    inbox.add(1)
    inbox.add(0)
    inbox.add(-7)
    assert inbox.collect() == 1
    assert "request(0)" in str(inbox.error)
    inbox.spend(2)
    assert inbox.demand == 0
    assert len(reported) == 1


class Racy:
    """The control: reads, then writes."""

    def __init__(self, initial: int) -> None:
        self.value = initial

    def add(self, n: int) -> None:
        value = self.value
        for _ in range(2):
            pass
        self.value = value + n

    def produced(self, n: int) -> None:
        self.add(-n)

    def get(self) -> int:
        return self.value


def account_together(make: Callable[[int], Requested | Racy]) -> None:
    requested = make(1_000)

    def ask() -> None:
        for n in range(20):
            requested.add(n)

    def deliver() -> None:
        for n in range(10):
            requested.produced(n)

    race(ask, ask, deliver, deliver)
    assert requested.get() == 1_000 + 2 * sum(range(20)) - 2 * sum(range(10))


@pytest.mark.stress
def test_no_request_is_lost() -> None:
    for _ in rounds():
        account_together(Requested)


@pytest.mark.stress
def test_the_control_loses_requests() -> None:
    assert caught(lambda _: account_together(Racy))


@pytest.mark.stress
def test_cancelling_wins_over_whatever_else_happens() -> None:
    def once(number: int) -> None:
        requested = Requested(100)
        cancelled: list[bool] = []
        race(
            *[lambda: requested.add(5)] * (1 + number % 3),
            lambda: requested.produced(7),
            *[lambda: cancelled.append(requested.cancel())] * 2,
        )
        assert sorted(cancelled) == [False, True]
        assert requested.get() == CANCELLED

    every_round(once)


@pytest.mark.stress
def test_an_inbox_misses_nothing_and_never_says_less_than_the_truth() -> None:
    def once(_: int) -> None:
        inbox = RequestInbox()
        seen: list[int] = []

        def ask() -> None:
            for _ in range(25):
                inbox.add(2)

        def collect() -> None:
            for _ in range(25):
                inbox.collect()

        def look() -> None:
            for _ in range(25):
                seen.append(inbox.outstanding)

        race(ask, ask, ask, collect, look)
        assert inbox.collect() == 150
        assert all(0 <= n <= 300 for n in seen)

    every_round(once)


def test_an_inbox_never_says_less_than_the_truth_while_requests_are_collected() -> None:
    """``collect`` runs before each instruction of ``outstanding`` in turn."""
    at, more = 0, True
    while more:
        inbox = RequestInbox()
        inbox.add(2)
        seen: list[int] = []

        def look(inbox: RequestInbox = inbox, seen: list[int] = seen) -> None:
            seen.append(inbox.outstanding)

        more = interrupted(look, (at, inbox.collect)) > at
        assert seen[0] >= 2, f"collected before instruction {at}"
        at += 1
    assert at > 10
