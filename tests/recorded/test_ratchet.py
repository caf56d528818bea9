"""The ratchet itself: a new difference fails, a listed one that agrees by now fails too, and the command mends the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rx_core.queue_fusion import fusion_enabled
from tests.recorded.__main__ import main
from tests.recorded.cases import Answer, Spec, Trace, traces
from tests.recorded.ratchet import MODES, UNFUSED, differing, judge, read, switched, write
from tests.recorded.running import FAILED, Endless, answer, time_limit


def trace(id: int, source: Spec, *operators: Spec, expected: Answer) -> Trace:
    """A pipeline with one subscriber, as if it had been recorded."""
    return replace(traces()[0], id=id, source=source, operators=operators, expected=expected)


JUST: Final[Spec] = {"s": "just", "v": 7}
#: As RxJava answers: one trace that the library answers in the same way, and one for which another answer is claimed.
RIGHT: Final[Answer] = {"d0": [[0, "next 7"], [0, "complete"]]}
WRONG: Final[Answer] = {"d0": [[0, "next 8"], [0, "complete"]]}


@pytest.fixture
def agreeing() -> Trace:
    return trace(1, JUST, expected=RIGHT)


@pytest.fixture
def other() -> Trace:
    return trace(2, JUST, expected=WRONG)


def lists(folder: Path, *ids: int) -> None:
    for mode in MODES:
        write(mode, ids, folder)


def said(part: Sequence[Trace], *listed: int) -> str:
    return judge(part, differing(part, UNFUSED), listed, UNFUSED).text(part)


# What a test says


def test_nothing_is_said_when_exactly_what_is_listed_differs(agreeing: Trace, other: Trace) -> None:
    assert said([agreeing, other], 2) == ""


def test_a_difference_that_is_not_listed_is_shown_with_both_answers(agreeing: Trace, other: Trace) -> None:
    text = said([agreeing, other])
    assert "next 8" in text
    assert "next 7" in text
    assert "--mode unfused --only ID" in text


def test_a_listed_trace_that_agrees_is_named_with_the_command_that_takes_it_off(agreeing: Trace, other: Trace) -> None:
    text = said([agreeing, other], 1, 2)
    assert "and agree by now:\n  1\n" in text
    assert "python -m tests.recorded --update" in text


def test_a_listed_trace_of_another_part_is_not_missed(agreeing: Trace) -> None:
    assert said([agreeing], 2) == ""


# The command


def test_update_takes_off_what_agrees_by_now(agreeing: Trace, other: Trace, tmp_path: Path) -> None:
    lists(tmp_path, 1, 2)
    assert main(["--update", "--mode", UNFUSED], [agreeing, other], tmp_path) == 0
    assert read(UNFUSED, tmp_path) == {2}


def test_update_refuses_new_differences_unless_it_is_told_to_add_them(
    agreeing: Trace, other: Trace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists(tmp_path)
    command = ["--update", "--mode", UNFUSED]
    assert main(command, [agreeing, other], tmp_path) == 1
    assert "1 differ anew and are not listed: 2" in capsys.readouterr().out
    assert read(UNFUSED, tmp_path) == set()
    assert main([*command, "--add"], [agreeing, other], tmp_path) == 0
    assert read(UNFUSED, tmp_path) == {2}


def test_update_rewrites_the_lists_of_all_modes_that_are_possible(agreeing: Trace, tmp_path: Path) -> None:
    lists(tmp_path, 1)
    assert main(["--update"], [agreeing], tmp_path) == 0
    left = [read(mode, tmp_path) for mode in MODES]
    assert left == ([set(), set()] if fusion_enabled() else [{1}, set()])


def test_update_needs_all_traces(agreeing: Trace, tmp_path: Path) -> None:
    assert main(["--update", "--count", "1"], [agreeing], tmp_path) == 2


@pytest.mark.parametrize(
    ("arguments", "line", "code"),
    [
        ([], "2 of 3 differ", 1),
        (["--first", "1"], "2 of 2 differ", 1),
        (["--first", "1", "--count", "1"], "1 of 1 differ", 1),
        (["--count", "1", "--repeat", "3"], "0 of 1 differ", 0),
        (["--only", "1"], "0 of 1 differ", 0),
        (["--unlisted"], "1 of 3 differ", 1),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_the_command_counts_what_differs(
    arguments: list[str],
    line: str,
    code: int,
    agreeing: Trace,
    other: Trace,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lists(tmp_path, 2)
    third = replace(other, id=3)
    assert main([*arguments, "--mode", UNFUSED], [agreeing, other, third], tmp_path) == code
    assert capsys.readouterr().out.splitlines()[-1] == line


def test_one_trace_is_shown_as_the_recording_and_as_the_library_write_it(
    agreeing: Trace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists(tmp_path)
    main(["--only", "1"], [agreeing], tmp_path)
    out = capsys.readouterr().out
    assert '{"s": "just", "v": 7}' in out
    assert "just(7)" in out
    assert "RxJava" in out


# Runs that go wrong


def test_a_pipeline_that_gives_more_and_more_is_stopped_and_differs() -> None:
    endless = trace(1, JUST, {"o": "repeat_when", "h": "just", "n": 0, "ms": 0}, {"o": "repeat_until", "n": 10**9}, expected={})
    with switched(UNFUSED):
        got = answer(endless)
    assert FAILED in got


def test_a_call_that_raises_is_part_of_the_answer() -> None:
    got = answer(trace(1, {"s": "fail"}, expected={}))
    assert got == {FAILED: [[0, "raised App:sel"]]}


def test_a_pipeline_that_is_busy_for_ever_is_stopped() -> None:
    def busy() -> None:
        while True:
            pass

    with pytest.raises(Endless), time_limit(0.05):
        busy()
