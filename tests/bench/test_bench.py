"""The benchmarks compute what they claim to; how fast is not a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import _weight
from bench.__main__ import main
from bench._cases import cases
from bench._measure import Case, Goal, Run, Way, absent, at_most, below, faster, judge, measure


@pytest.mark.parametrize("case", list(cases(2_000)), ids=lambda case: case.name)
def test_all_ways_of_a_case_compute_the_same(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_weight, "PROCESSES", 1)  # for a figure it takes several, for its way one
    figures = measure(case, rounds=1)
    assert [figure.way for figure in figures] == list(case.ways)
    first = next(figure for figure in figures if figure.missing is None)
    assert first.ratio == 1.0


@pytest.mark.parametrize("case", list(cases(2_000)), ids=lambda case: case.name)
def test_the_goals_of_a_case_name_its_ways(case: Case) -> None:
    for goal in case.goals:
        assert goal.way in case.ways
        assert goal.against is None or goal.against in case.ways


def test_a_way_that_computes_something_else_is_refused() -> None:
    ways: dict[str, Callable[[], object]] = {"right": lambda: 1, "wrong": lambda: 2}
    with pytest.raises(AssertionError, match="wrong computes 2, not 1"):
        measure(Case("two answers", 1, ways), rounds=1)


def test_a_way_that_does_only_a_part_is_held_to_what_it_has_to_give() -> None:
    ways: dict[str, Run | Way] = {"all": lambda: 10, "half": Way(lambda: 4, elements=5, expected=5)}
    with pytest.raises(AssertionError, match="half computes 4, not 5"):
        measure(Case("a part", 10, ways), rounds=1)


def test_a_peer_that_is_missing_stays_in_the_table_and_has_no_goal() -> None:
    case = Case("alone", 1, {"rx": lambda: 1, "other": absent("other")}, [faster("rx", 2, than="other")])
    figures = measure(case, rounds=1)
    assert [figure.missing for figure in figures] == [None, "other is not installed"]
    assert judge(case, figures) == []


@pytest.mark.parametrize(
    ("goal", "met", "stretch_met", "missed_by"),
    [
        (at_most("rx", 2.0, 1.0), True, False, 0.0),
        (at_most("rx", 1.6, 1.0), False, False, 0.25),
        (faster("base", 2.0, 2.0, than="rx"), True, True, 0.0),
        (faster("base", 3.0, 4.0, than="rx"), False, False, 0.5),
        (below("rx", 4.0, 3.0), True, False, 0.0),
    ],
)
def test_a_goal_is_met_or_missed_by_so_much(goal: Goal, met: bool, stretch_met: bool, missed_by: float) -> None:
    case = Case("figures that are given", 1, {"base": lambda: 2.0, "rx": lambda: 4.0}, [goal], unit="KB")
    [verdict] = judge(case, measure(case, rounds=1))
    assert (verdict.met, verdict.stretch_met, verdict.missed_by) == (met, stretch_met, missed_by)


def test_a_case_may_count_the_fastest_round() -> None:
    figures = iter([1.0, 9.0, 4.0, 8.0, 2.0])  # the first is that of the warm-up
    ways: dict[str, Run | Way] = {"rx": lambda: next(figures)}
    [median] = measure(Case("of four rounds", 1, ways, unit="ms"), rounds=4)
    assert median.seconds == 6.0
    figures = iter([1.0, 9.0, 4.0, 8.0, 2.0])
    [fastest] = measure(Case("of four rounds", 1, ways, unit="ms", fastest=True), rounds=4)
    assert fastest.seconds == 2.0


def test_a_slow_way_runs_every_round_where_the_fastest_counts() -> None:
    runs: list[int] = []
    ways: dict[str, Run | Way] = {"slow": Way(lambda: runs.append(1), slow=True)}
    measure(Case("slow", 1, ways), rounds=5)
    assert len(runs) == 1 + 3
    measure(Case("slow", 1, ways, fastest=True), rounds=5)
    assert len(runs) == 1 + 3 + 1 + 5


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--size", "400", "--rounds", "1", "--only", "for x in flow"]) == 0
    out = capsys.readouterr().out
    assert "| for x in flow | loop by hand | 1.00 |" in out
    assert "≤ 1.25 (1.1) × loop by hand" in out


def test_the_command_prints_json_of_a_stable_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--size", "400", "--rounds", "1", "--only", "for x in flow", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == {"schema", "python", "implementation", "build", "cores", "size", "rounds", "cases"}
    assert (printed["schema"], printed["size"], printed["rounds"]) == (1, 400, 1)
    [case] = printed["cases"]
    assert case.keys() == {"name", "unit", "note", "figure", "ways", "goals"}
    assert case["figure"] == "median"
    assert [way["way"] for way in case["ways"]][:2] == ["loop by hand", "rx"]
    assert all(way.keys() == {"way", "missing", "elements", "value", "spread", "ratio", "ns_per_element"} for way in case["ways"])
    [goal] = case["goals"]
    assert {key: goal[key] for key in ("way", "kind", "against", "target", "stretch", "unit")} == {
        "way": "rx",
        "kind": "at_most",
        "against": "loop by hand",
        "target": 1.25,
        "stretch": 1.1,
        "unit": "×",
    }
    assert goal["met"] == (goal["measured"] <= 1.25)


def test_the_command_writes_json_beside_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert main(["--size", "400", "--rounds", "1", "--only", "for x in flow", "--json", str(file)]) == 0
    assert "| for x in flow | loop by hand | 1.00 |" in capsys.readouterr().out
    assert json.loads(file.read_text(encoding="utf-8"))["cases"][0]["name"] == "for x in flow"


def test_a_peer_that_takes_long_is_run_only_when_asked_for() -> None:
    [usual] = [case for case in cases(400_000) if "Scrabble" in case.name]
    [asked] = [case for case in cases(400_000, slow=True) if "Scrabble" in case.name]
    usual_way, asked_way = usual.ways["reactivex"], asked.ways["reactivex"]
    assert isinstance(usual_way, Way)
    assert isinstance(asked_way, Way)
    assert usual_way.missing
    assert asked_way.missing in (None, "reactivex is not installed")


def test_the_command_lists_its_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--size", "400", "--list"]) == 0
    assert "for x in flow" in capsys.readouterr().out.splitlines()


def test_names_of_cases_are_unique() -> None:
    names = [case.name for case in cases(2_000)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("what", ["table", "growth", "cliffs"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "nonsense"], "no name contains 'nonsense'"),
        (["--only", "nonsense", "--list"], "no name contains 'nonsense'"),
        (["--size", "0"], "--size: 0 is less than 400"),
        (["--rounds", "0"], "--rounds: 0 is less than 1"),
        (["--rounds", "many"], "--rounds: invalid"),
        (["--json", "no/such/folder/figures.json"], "no folder"),
        (["--against", "no/such/figures.json"], "no file no/such/figures.json"),
    ],
    ids=str,
)
def test_what_cannot_be_run_is_said_at_once(what: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([what, *options])
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
