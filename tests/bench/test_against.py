"""Comparing two recordings finds what has become slower, and is not misled by a slower machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench._against import Change, changes, changes_json, changes_text
from bench._measure import Case, Run, Way, absent, measure
from bench._report import Measured, as_json


def recorded(unit: str | None = None, **cases: Mapping[str, float]) -> dict[str, Any]:
    """A recording with these figures for each way of each case."""
    measured: list[Measured] = []
    for name, figures in cases.items():
        ways: dict[str, Run | Way] = {way: partial(float, figure) for way, figure in figures.items()}
        case = Case(name, 1, ways, unit=unit or "s")
        measured.append(Measured(case, measure(case, rounds=1)))
    return as_json(measured, size=1, rounds=1)


def test_a_way_is_related_to_what_is_not_of_this_library() -> None:
    before = recorded(loop={"by hand": 2.0, "rx": 3.0}, program={"rx": 1.0, "reactivex": 4.0})
    now = recorded(loop={"by hand": 4.0, "rx": 9.0}, program={"rx": 1.0, "reactivex": 2.0})
    assert changes(before, now) == [Change("program", "rx", 0.25, 0.5), Change("loop", "rx", 1.5, 2.25)]


def test_a_machine_that_is_slower_now_changes_nothing() -> None:
    before = recorded(loop={"by hand": 2.0, "rx": 3.0, "rx, windows": 5.0})
    now = recorded(loop={"by hand": 6.0, "rx": 9.0, "rx, windows": 15.0})
    assert [change.by for change in changes(before, now)] == [0.0, 0.0]


@pytest.mark.parametrize("unit", ["KB", "calls"])
def test_what_is_not_timed_is_compared_by_its_figure(unit: str) -> None:
    before, now = recorded(unit, memory={"other": 1.0, "rx": 4.0}), recorded(unit, memory={"other": 9.0, "rx": 5.0})
    assert changes(before, now) == [Change("memory", "rx", 4.0, 5.0)]


def test_ways_of_a_case_without_another_s_are_related_to_the_first() -> None:
    before, now = recorded(lock={"lock": 2.0, "token": 1.0}), recorded(lock={"lock": 1.0, "token": 2.0})
    assert changes(before, now) == [Change("lock", "token", 0.5, 2.0)]
    before, now = recorded(threads={"rx, one": 2.0, "rx, two": 1.0}), recorded(threads={"rx, one": 4.0, "rx, two": 1.0})
    assert changes(before, now) == [Change("threads", "rx, two", 0.5, 0.25)]


def test_only_what_both_have_is_compared() -> None:
    before = recorded("KB", old={"rx": 1.0}, both={"rx": 1.0, "rx, gone": 1.0})
    now = recorded("KB", new={"rx": 1.0}, both={"rx": 2.0, "rx, new": 1.0})
    assert changes(before, now) == [Change("both", "rx", 1.0, 2.0)]
    case = Case("both", 1, {"rx": absent("rx")}, unit="KB")
    assert changes(before, as_json([Measured(case, measure(case, rounds=1))], size=1, rounds=1)) == []


def test_only_changes_over_five_per_cent_are_told() -> None:
    found = [Change("work", "rx", 1.0, 1.06), Change("other", "rx", 1.0, 1.04), Change("third", "rx", 1.04, 1.0)]
    found += [Change("fourth", "rx", 1.06, 1.0)]
    text = changes_text(found, "old.json")
    assert "Beside old.json: of 4 ways 1 are over 5% slower and 1 as much faster." in text
    assert "| work | rx | 1 | 1.06 | **+6%** |" in text
    assert "| fourth | rx | 1.06 | 1 | -6% |" in text
    assert "other" not in text
    assert "third" not in text
    figures = changes_json(found)
    assert (figures["slower"], figures["faster"], len(figures["ways"])) == (1, 1, 4)
    assert changes_text(found[1:2], "old.json").count("\n") == 0


def test_small_and_large_figures_can_be_read() -> None:
    text = changes_text([Change("fast", "rx", 0.00421, 0.00534), Change("slow", "rx", 12_345.6, 23_456.7)], "old.json")
    assert "| fast | rx | 0.00421 | 0.00534 | **+27%** |" in text
    assert "| slow | rx | 12,346 | 23,457 | **+90%** |" in text


def test_the_command_compares_with_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "old.json")
    options = ["--size", "400", "--rounds", "1", "--only", "for x in flow"]
    assert main([*options, "--json", file]) == 0
    assert main([*options, "--against", file]) == 0
    assert f"Beside {file}: of 1 ways " in capsys.readouterr().out
    assert main([*options, "--against", file, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [way["way"] for way in printed["against"]["ways"]] == ["rx"]
