"""What the rows about two threads and about the calls of subscribe rest on."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bench import _parallel, _report
from bench._calls import _pipeline, calls, files
from bench._measure import measure
from bench._parallel import Foreign, _one_after_the_other, _side_by_side, _Threaded, parallel_cases, process_cases
from rx_core import Subscription
from rx_ops import Flowable


class Slow:
    """A subscriber that asks for two, and for two more with each second item."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.ended = threading.Event()
        self.subscription: Subscription | None = None

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self.subscription = subscription
        subscription.request(2)

    def on_next(self, item: int, /) -> None:
        self.got.append(item)
        if len(self.got) % 2 == 0:
            assert self.subscription is not None
            self.subscription.request(2)

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        self.ended.set()


@pytest.mark.parametrize("kind", [Foreign, _Threaded])
def test_a_foreign_source_gives_what_it_is_asked_for(kind: type[Foreign]) -> None:
    slow = Slow()
    kind(7, lambda item: item * 10).subscribe(slow)
    assert slow.ended.wait(10)
    assert slow.got == [0, 10, 20, 30, 40, 50, 60]


def test_a_foreign_source_stops_when_it_is_cancelled() -> None:
    assert Flowable.wrap(Foreign(1_000, abs)).take(3).blocking_list() == [0, 1, 2]


def test_pieces_run_on_threads_of_their_own() -> None:
    meeting = threading.Barrier(2, timeout=10)

    def piece() -> int:
        meeting.wait()  # passed only when two of them are here at a time
        return 1

    assert _side_by_side([piece, piece])() == 2
    assert _one_after_the_other([lambda: 1, lambda: 2])() == 3


def test_a_piece_that_fails_fails_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def broken() -> int:
        raise ValueError

    with pytest.raises(AssertionError, match="a thread failed"):
        _side_by_side([broken, lambda: 1])()


def test_two_threads_have_a_target_only_without_the_gil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_parallel, "has_gil", lambda: True)
    assert all(not case.goals and "the target is for free-threaded builds" in case.note for case in parallel_cases(2_000))
    monkeypatch.setattr(_parallel, "has_gil", lambda: False)
    assert [case.goals[0].target for case in parallel_cases(2_000)] == [1.6, 1.4, 1.4, 1.6]
    assert all("free-threaded" not in case.note or "CPython free-threaded" in case.note for case in parallel_cases(2_000))


def test_processes_have_a_target_on_every_build() -> None:
    [case] = process_cases(2_000)
    assert [goal.target for goal in case.goals] == [1.6, 1.6]
    assert len({way() for way in case.ways.values() if callable(way)}) == 1


@pytest.mark.parametrize(
    ("disabled", "enabled", "said"),
    [(0, True, "with the GIL"), (1, False, "free-threaded"), (1, True, "free-threaded, GIL switched on")],
)
def test_the_build_is_named(disabled: int, enabled: bool, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_config_var", lambda _name: disabled)
    monkeypatch.setattr("sys._is_gil_enabled", lambda: enabled, raising=False)
    assert _report.build() == said
    assert f"({said})" in _report.heading()


def test_calls_are_counted_from_subscribe_to_its_return() -> None:
    def mapper(item: int) -> int:
        return item

    def pipeline(_scheduler: Any) -> Flowable[int]:
        return Flowable.range(5).map(mapper)

    entered = calls(pipeline)
    assert entered[0][1] == "subscribe"
    assert [name for _, name in entered].count("mapper") == 5
    assert __file__ in files(entered)


def test_calls_are_the_same_each_time() -> None:
    for _ in range(10):  # a shape that runs often is compiled
        first = calls(_pipeline)
    again = [calls(_pipeline) for _ in range(3)]
    assert [sorted({*each} ^ {*first}) for each in again] == [[], [], []]
    assert again == [first] * 3
    assert len(files(first)) > 5


def test_the_rows_count_calls_and_files() -> None:
    from bench._calls import call_cases

    [count, places] = [measure(case, rounds=1)[0].seconds for case in call_cases()]
    assert count == len(calls(_pipeline))
    assert places == len(files(calls(_pipeline)))


def test_subscribing_keeps_to_the_calls_and_files_that_it_may_have() -> None:
    """They are counted and not timed, so that a test can hold them. In a program of its own, without hooks and context variables
    of other tests, which are called as well."""
    counted = "from bench._calls import *; [print(case.ways['rx'](), case.goals[0].target) for case in call_cases()]"
    told = subprocess.run(
        [sys.executable, "-c", counted], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True, timeout=60
    )
    pairs = [tuple(map(float, line.split())) for line in told.stdout.splitlines()]
    assert len(pairs) == 2
    assert [found for found, most in pairs if found > most] == []
