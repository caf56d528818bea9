"""Collecting errors until one moment."""

from __future__ import annotations

import pytest

from rx_core import CompositeException
from rx_core.blocks import AtomicErrors

from .racing import caught, race, rounds


def test_one_error_stays_itself() -> None:
    errors = AtomicErrors()
    error = ValueError("a")
    states = [errors.is_empty]
    assert errors.add(error)
    states.append(errors.is_empty)
    assert errors.terminate() is error
    assert errors.is_terminated
    assert [*states, errors.is_empty] == [True, False, True]
    assert errors.terminate() is None


def test_several_errors_become_a_group_in_order() -> None:
    errors = AtomicErrors()
    first, second = ValueError("a"), KeyError("b")
    errors.add(first)
    errors.add(second)
    errors.add(first)
    together = errors.terminate()
    assert isinstance(together, CompositeException)
    assert together.exceptions == (first, second)


def test_after_the_end_an_error_is_refused_or_reported(reported: list[Exception]) -> None:
    errors = AtomicErrors()
    assert errors.terminate() is None
    late = ValueError("late")
    assert not errors.add(late)
    assert reported == []
    assert not errors.add_or_drop(late)
    assert reported == [late]
    assert repr(errors) == "<AtomicErrors terminated>"


class Racy:
    """The control: a list, and a flag that is looked at before."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.over = False

    def add(self, error: Exception) -> bool:
        if self.over:
            return False
        for _ in range(2):
            pass
        self.errors.append(error)
        return True

    def terminate(self) -> list[Exception]:
        taken = list(self.errors)
        for _ in range(2):
            pass
        self.over = True
        return taken


def every_error_once(make: type[AtomicErrors] | type[Racy], threads: int, each: int = 10) -> None:
    errors = make()
    all_errors = [[ValueError(who, n) for n in range(each)] for who in range(threads)]
    refused: list[Exception] = []
    signalled: list[Exception] = []

    def bring(mine: list[ValueError]) -> None:
        for error in mine:
            if not errors.add(error):
                refused.append(error)

    def end() -> None:
        for _ in range(20):
            pass
        got = errors.terminate()
        if isinstance(got, CompositeException):
            signalled.extend(got.exceptions)
        elif isinstance(got, list):
            signalled.extend(got)
        elif got is not None:
            signalled.append(got)

    race(end, *[lambda mine=mine: bring(mine) for mine in all_errors])
    assert sorted(map(id, signalled + refused)) == sorted(id(error) for mine in all_errors for error in mine)


@pytest.mark.stress
def test_every_error_is_signalled_or_refused_once() -> None:
    for number in rounds():
        every_error_once(AtomicErrors, 2 + number % 4)


@pytest.mark.stress
def test_the_control_loses_errors() -> None:
    assert caught(lambda _: every_error_once(Racy, 3, each=100))
