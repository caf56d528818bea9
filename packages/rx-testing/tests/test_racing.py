"""The tools for races: calls that are interrupted before an instruction, and races that are checked."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from rx_testing.racing import caught, interrupted, race, rounds

_names = count()

SOURCE = """
def outer(log):
    log.append("outer begins")
    inner(log)
    log.append("outer ends")

def inner(log):
    log.append("inner")
    yield_all(log)

def steps():
    yield 1
    yield 2

def yield_all(log):
    for each in steps():
        log.append(each)
"""
LOGGED = ["outer begins", "inner", 1, 2, "outer ends"]


def fresh() -> tuple[str, Callable[[list[Any]], object]]:
    """A file and a function of it that has never been called."""
    name = f"/never/called/{next(_names)}.py"
    names: dict[str, Any] = {}
    exec(compile(SOURCE, name, "exec"), names)
    return name, names["outer"]


def test_a_function_is_interrupted_before_each_instruction_also_when_it_is_called_for_the_first_time() -> None:
    seen = []
    at, total = 0, 1
    while at < total:
        name, call = fresh()
        log: list[Any] = []
        total = interrupted(lambda log=log, call=call: call(log), (at, lambda log=log: log.append("!")), watch=[name])  # type: ignore[misc]  # mypy does not infer the defaults
        seen.append(log.index("!"))
        assert [each for each in log if each != "!"] == LOGGED
        at += 1
    assert total > 40
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2, 3, 4, 5}  # before, between and after all of them


def test_others_whose_instruction_is_not_reached_are_called_afterwards_in_order() -> None:
    name, call = fresh()
    log: list[Any] = []
    interrupted(lambda: call(log), (10_001, lambda: log.append("second")), (10_000, lambda: log.append("first")), watch=[name])
    assert log == [*LOGGED, "first", "second"]


def test_what_interrupts_is_not_interrupted_itself() -> None:
    name, call = fresh()
    log: list[Any] = []
    alone = interrupted(lambda: call([]), watch=[name])
    assert interrupted(lambda: call(log), (3, lambda: call(log)), watch=[name]) == alone
    assert len(log) == 2 * len(LOGGED)


def test_instructions_of_other_files_and_of_other_threads_are_not_counted() -> None:
    name, call = fresh()
    _, other = fresh()

    def on_a_thread() -> None:
        thread = threading.Thread(target=call, args=([],))
        thread.start()
        thread.join(20)

    assert interrupted(lambda: other([]), watch=[name]) == 0
    assert interrupted(on_a_thread, watch=[name]) == 0


def test_what_is_raised_comes_out_and_nothing_is_left_behind() -> None:
    name, call = fresh()
    before = sys.gettrace()

    def fail() -> None:
        raise LookupError("in between")

    with pytest.raises(LookupError, match="in between"):
        interrupted(lambda: call([]), (5, fail), watch=[name])
    assert sys.gettrace() is before
    if sys.version_info >= (3, 12):
        assert "rx_testing.racing" not in [sys.monitoring.get_tool(number) for number in range(6)]
    log: list[Any] = []
    call(log)
    assert log == LOGGED


def test_a_race_raises_what_one_of_its_workers_raises() -> None:
    def fail() -> None:
        raise LookupError("of a worker")

    with pytest.raises(LookupError, match="of a worker"):
        race(fail, lambda: None)


def test_a_race_that_does_not_end_fails() -> None:
    release = threading.Event()
    with pytest.raises(AssertionError, match="hangs"):
        race(lambda: release.wait(20), lambda: None, seconds=0.01)
    release.set()


def test_threads_of_a_race_stumble_in_the_watched_files_only() -> None:
    """A thread that stumbles takes long for a few steps: so another one that begins after the first of them comes in between."""
    name, call = fresh()

    def overtaken(_number: int) -> None:
        log: list[Any] = []

        def after_the_first() -> None:
            while not log:
                pass
            log.append("other")

        race(lambda: call(log), after_the_first, watch=[name], often=0.5)
        assert log[-1] == "other"

    assert caught(overtaken)


def test_the_switch_interval_is_restored() -> None:
    before = sys.getswitchinterval()
    assert list(rounds(3)) == [0, 1, 2]
    assert sys.getswitchinterval() == before
