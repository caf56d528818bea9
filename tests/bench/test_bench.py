"""The benchmarks compute what they claim to; how fast is not a test."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from bench.__main__ import main
from bench._cases import cases
from bench._measure import Case, measure


@pytest.mark.parametrize("case", list(cases(2_000)), ids=lambda case: case.name)
def test_all_ways_of_a_case_compute_the_same(case: Case) -> None:
    figures = measure(case, rounds=1)
    assert [figure.way for figure in figures] == list(case.ways)
    assert figures[0].ratio == 1.0


def test_a_way_that_computes_something_else_is_refused() -> None:
    ways: dict[str, Callable[[], object]] = {"right": lambda: 1, "wrong": lambda: 2}
    with pytest.raises(AssertionError, match="wrong computes 2, not 1"):
        measure(Case("two answers", 1, ways), rounds=1)


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["bench"])
    options = ["--size", "400", "--rounds", "1", "--only", "for x in flow"]
    assert main(options) == 0
    assert "| for x in flow | loop by hand | 1.00 |" in capsys.readouterr().out
    assert main([*options, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert {figure["way"] for figure in figures} == {"loop by hand", "rx"}
