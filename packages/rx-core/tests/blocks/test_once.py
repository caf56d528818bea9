"""Once guards."""

from __future__ import annotations

import pytest

from rx_core.blocks import Once, OnceObserver

from .racing import Probe, caught, every_round, race, rounds


class RacyOnce:
    """The control: looks, then sets."""

    def __init__(self) -> None:
        self.claimed = False

    def claim(self) -> bool:
        if self.claimed:
            return False
        for _ in range(2):
            pass
        self.claimed = True
        return True


def claims(once: Once | RacyOnce, threads: int) -> int:
    won: list[bool] = []
    race(*[lambda: won.append(once.claim())] * threads)
    return sum(won)


def test_the_first_claim_wins() -> None:
    once = Once()
    assert repr(once) == "<Once free>"
    assert (once.is_claimed, once.claim(), once.claim(), once.is_claimed) == (False, True, False, True)
    assert repr(once) == "<Once claimed>"


@pytest.mark.stress
def test_one_thread_wins() -> None:
    for number in rounds():
        assert claims(Once(), 2 + number % 7) == 1


@pytest.mark.stress
def test_the_control_lets_several_win() -> None:
    def check(_: int) -> None:
        guards = [RacyOnce() for _ in range(200)]
        won: list[bool] = []
        race(*[lambda: won.extend([guard.claim() for guard in guards])] * 4)
        assert sum(won) == len(guards)

    assert caught(check)


def test_the_first_signal_is_relayed_and_late_errors_are_reported(reported: list[Exception]) -> None:
    end = Probe()
    observer = OnceObserver[int](end)  # type: ignore[arg-type]  # a Probe takes every kind of signal
    assert observer.on_success(1)
    late = ValueError("late")
    assert not observer.on_success(2)
    assert not observer.on_complete()
    assert not observer.on_error(late)
    assert observer.is_claimed
    assert (end.values, end.errors, end.completions, reported) == ([1], [], 1, [late])


@pytest.mark.stress
def test_one_signal_of_many_is_relayed(reported: list[Exception]) -> None:
    def once(_: int) -> None:
        reported.clear()
        end = Probe()
        observer = OnceObserver[int](end)  # type: ignore[arg-type]  # a Probe takes every kind of signal
        errors = [ValueError(n) for n in range(2)]
        race(
            lambda: observer.on_success(1),
            observer.on_complete,
            lambda: observer.on_error(errors[0]),
            lambda: observer.on_error(errors[1]),
        )
        end.assert_serial()
        assert len(end.errors) + end.completions == 1
        assert len(end.errors) + len(reported) == 2

    every_round(once)
