"""Things that can be stopped once, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from rx_core import (
    DISPOSED,
    ActionDisposable,
    BaseDisposable,
    CompositeDisposable,
    CompositeException,
    FlagDisposable,
    SerialDisposable,
    _disposables,
)
from rx_testing.racing import interrupted


def state(*disposables: BaseDisposable) -> list[bool]:
    return [each.is_disposed for each in disposables]


def together(count: int, work: Callable[[int], object]) -> None:
    """Run ``work`` on so many threads that start at the same moment."""
    start = threading.Barrier(count)

    def run(index: int) -> None:
        start.wait(20)
        work(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)


def test_disposed_is_disposed() -> None:
    DISPOSED.dispose()
    assert DISPOSED.is_disposed
    assert repr(DISPOSED) == "DISPOSED"


def test_an_action_runs_once() -> None:
    log: list[int] = []
    disposable = ActionDisposable(lambda: log.append(1))
    before = disposable.is_disposed
    disposable.dispose()
    disposable.dispose()
    assert (before, disposable.is_disposed, log) == (False, True, [1])


def test_an_action_runs_once_whoever_disposes() -> None:
    for _ in range(50):
        log: list[int] = []
        disposable = ActionDisposable(lambda log=log: log.append(1))  # type: ignore[misc]  # mypy does not infer the default
        together(4, lambda index, disposable=disposable: disposable.dispose())  # type: ignore[misc]  # the same
        assert log == [1]


def test_leaving_the_block_disposes() -> None:
    flag = FlagDisposable()
    with pytest.raises(ZeroDivisionError), flag:
        raise ZeroDivisionError
    assert flag.is_disposed


def test_a_serial_disposes_what_it_replaces() -> None:
    a, b, c = FlagDisposable(), FlagDisposable(), FlagDisposable()
    serial = SerialDisposable(a)
    serial.set(b)
    assert state(a, b, serial) == [True, False, False]
    serial.dispose()
    serial.dispose()
    serial.set(c)
    assert state(b, c, serial) == [True, True, True]


def test_a_serial_can_replace_without_disposing() -> None:
    a, b = FlagDisposable(), FlagDisposable()
    serial = SerialDisposable()
    serial.set(a)
    serial.replace(b)
    assert state(a, b) == [False, False]
    serial.dispose()
    assert state(a, b) == [False, True]


def test_a_serial_loses_nothing_in_a_race() -> None:
    for _ in range(50):
        flags = [FlagDisposable() for _ in range(7)]
        serial = SerialDisposable()

        def work(index: int, flags: list[FlagDisposable] = flags, serial: SerialDisposable = serial) -> None:
            if index == 7:
                serial.dispose()
            else:
                serial.set(flags[index])

        together(8, work)
        assert all(state(*flags))


def test_a_composite_disposes_its_members_together() -> None:
    a, b, c, late = (FlagDisposable() for _ in range(4))
    composite = CompositeDisposable(a, b)
    assert composite.add(c)
    assert len(composite) == 3
    assert composite.discard(b)
    assert not composite.discard(b)
    assert composite.remove(c)
    assert not composite.remove(c)
    assert state(a, b, c) == [False, False, True]
    composite.dispose()
    assert state(a, b, composite) == [True, False, True]
    assert not composite.add(late)
    assert late.is_disposed
    assert len(composite) == 0


def test_a_cleared_composite_stays_usable() -> None:
    a, b = FlagDisposable(), FlagDisposable()
    composite = CompositeDisposable(a)
    composite.clear()
    composite.add(b)
    assert state(a, b, composite) == [True, False, False]


def test_a_member_that_fails_does_not_keep_the_others() -> None:
    def fail(text: str) -> Callable[[], None]:
        def raise_() -> None:
            raise ValueError(text)

        return raise_

    flag = FlagDisposable()
    composite = CompositeDisposable(ActionDisposable(fail("one")), flag, ActionDisposable(fail("two")))
    with pytest.raises(CompositeException) as caught:
        composite.dispose()
    assert sorted(str(error) for error in caught.value.exceptions) == ["one", "two"]
    assert flag.is_disposed
    single = CompositeDisposable(ActionDisposable(fail("alone")))
    with pytest.raises(ValueError, match="alone"):
        single.dispose()


def test_a_composite_loses_nothing_in_a_race() -> None:
    for _ in range(50):
        flags = [FlagDisposable() for _ in range(7)]
        composite = CompositeDisposable()

        def work(index: int, flags: list[FlagDisposable] = flags, composite: CompositeDisposable = composite) -> None:
            if index == 7:
                composite.dispose()
            else:
                composite.add(flags[index])

        together(8, work)
        assert all(state(*flags))


def test_of_two_that_are_put_in_place_at_the_same_moment_and_the_one_before_one_is_left() -> None:
    """Another ``set`` runs completely before each instruction of the first one in turn."""
    watched = [_disposables.__file__]
    at, more = 0, True
    while more:
        before, one, other = FlagDisposable(), FlagDisposable(), FlagDisposable()
        serial = SerialDisposable(before)
        more = interrupted(partial(serial.set, one), (at, partial(serial.set, other)), watch=watched) > at
        assert sorted(state(before, one, other)) == [False, True, True], f"interrupted before instruction {at}"
        assert before.is_disposed
        serial.dispose()
        assert state(before, one, other) == [True, True, True]
        at += 1
    assert at > 10
