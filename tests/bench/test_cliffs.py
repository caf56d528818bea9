"""The cliffs add up the right parts and run the right combinations; what these cost is not a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bench.__main__ import main
from bench._cliff_parts import BASES, CALLBACKS, ENDINGS, MIDDLES, NOTHING, SOURCES, Ending, Kind, Made, Middle, Source, fits
from bench._cliff_report import cliffs_json, cliffs_text
from bench._cliffs import Cliffs, Combination, Cost, Dearer, Measuring, alone, combinations, measure_cliffs
from rx_ops import Flowable

RANGE, HIDDEN = BASES[Kind.PULLED], BASES[Kind.PUSHING]


def middle(name: str) -> Middle:
    return next(each for each in MIDDLES if each.name == name)


def ending(name: str) -> Ending:
    return next(each for each in ENDINGS if each.name == name)


def source(name: str) -> Source:
    return next(each for each in SOURCES if each.name == name)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_each_source_works_with_each_part(source: Source) -> None:
    """Not every three together: the command checks that before it times anything."""
    for each in combinations(sources=[source], endings=[CALLBACKS]):
        each.check(20)
    for each in combinations(sources=[source], middles=[NOTHING]):
        each.check(20)


@pytest.mark.parametrize("source", [each for each in SOURCES if each.hot], ids=lambda source: source.name)
def test_hot_sources_get_through_what_asks_for_some_items_at_a_time(source: Source) -> None:
    for each in combinations(sources=[source], middles=[NOTHING]):
        each.check(300)


def test_there_are_enough_combinations_and_each_has_a_name_of_its_own() -> None:
    assert len(SOURCES) >= 20
    assert len(MIDDLES) >= 10
    assert len(ENDINGS) >= 17
    names = [each.name for each in combinations()]
    assert len(names) == len(set(names)) >= 3_400


def test_what_cannot_work_together_is_left_out() -> None:
    processor, subject = source("processor"), source("subject")
    threads, blocking = middle("observe_on"), ending("for")
    assert not fits(subject, NOTHING, blocking)  # nothing would ever be pushed
    assert fits(subject, threads, CALLBACKS)
    assert not fits(processor, threads, CALLBACKS)  # it does not wait for the thread
    assert fits(source("create"), threads, blocking)


def test_the_bases_are_pulled_and_pushing() -> None:
    assert RANGE.kind is Kind.PULLED
    assert HIDDEN.kind is Kind.PUSHING
    assert HIDDEN.name == "hidden"


def test_the_sum_is_the_source_and_what_the_parts_add_behind_a_base_of_its_kind() -> None:
    combination = Combination(source("create"), middle("map"), ending("for"))
    cost = {
        alone(source("create")): 1_000.0,
        alone(HIDDEN): 100.0,
        Combination(HIDDEN, middle("map"), CALLBACKS): 130.0,
        Combination(HIDDEN, NOTHING, ending("for")): 107.0,
    }
    assert set(combination.parts) == cost.keys()
    assert combination.expected(cost) == 1_037.0
    assert Cost(combination, 3_111.0, 1_037.0).times == 3.0


def test_behind_a_coordinating_operator_an_ending_is_expected_to_cost_what_it_does_behind_a_source_that_pushes() -> None:
    combination = Combination(source("from_iterable"), middle("merge_with"), ending("retry"))
    cost = {
        alone(source("from_iterable")): 50.0,
        alone(RANGE): 40.0,
        Combination(RANGE, middle("merge_with"), CALLBACKS): 340.0,
        alone(HIDDEN): 100.0,
        Combination(HIDDEN, NOTHING, ending("retry")): 1_100.0,
    }
    assert set(combination.parts) == cost.keys()
    assert combination.expected(cost) == 50.0 + 300.0 + 1_000.0


def test_a_part_that_makes_the_base_cheaper_counts_as_nothing() -> None:
    combination = Combination(source("from_iterable"), NOTHING, ending("buffer(10)"))
    cost = {alone(source("from_iterable")): 50.0, alone(RANGE): 40.0, Combination(RANGE, NOTHING, ending("buffer(10)")): 30.0}
    assert combination.expected(cost) == 50.0


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda flow: flow.take(5), "AssertionError: 5 items arrived instead of 20, or others"),
        (lambda flow: flow.map(str), "AssertionError: 20 items arrived instead of 20, or others"),
        (lambda flow: flow.concat_with(Flowable.error(ValueError("boom"))), "ValueError: boom"),
    ],
    ids=["too few", "others", "an error"],
)
def test_a_combination_that_fails_is_named_and_not_timed(broken: Callable[[Flowable[int]], Any], reason: str) -> None:
    runs: list[Flowable[int]] = []

    def apply(flow: Flowable[int]) -> Any:
        runs.append(flow)
        return broken(flow)

    combination = Combination(RANGE, Middle("broken", apply), CALLBACKS)
    found = measure_cliffs([combination], 20, 1)
    assert found.failed == {"range → broken → callbacks": reason, "hidden → broken → callbacks": reason}
    assert found.costs == []
    assert len(runs) == 2  # once behind each base


def test_combinations_are_warm_before_they_are_timed_and_the_fastest_round_counts() -> None:
    sizes: list[int] = []

    def made(size: int) -> Made:
        sizes.append(size)
        return RANGE.make(size)

    measuring = Measuring(30)
    combination = alone(Source("counted", made))
    [cost] = measuring.in_turns([combination], 4).values()
    assert cost > 0
    assert sizes == [20] * 9 + [30] * (1 + 4)
    measuring.in_turns([combination], 1)
    assert sizes[14:] == [30]


def test_what_looks_dear_is_timed_again_with_its_parts() -> None:
    """The ending computes a lot for every item, but only behind create: no part shows it."""
    create = source("create")

    def run(flow: Flowable[int], feed: Callable[[], None]) -> list[Any]:
        got = CALLBACKS.run(flow, feed)
        if "create" in repr(flow):
            sum(range(len(got) * 20_000))
        return got

    dear = Combination(create, NOTHING, Ending("dear", run))
    found = measure_cliffs([dear, alone(create)], 20, 1)
    assert [cost.combination for cost in found.over] == [dear]
    assert found.sources.keys() == {"create", "range", "hidden"}
    assert [part.part for part in found.parts] == ["dear, ending"]


def given() -> Cliffs:
    cheap = Cost(Combination(RANGE, NOTHING, ending("for")), 50.0, 40.0)
    edge = Cost(Combination(RANGE, middle("map"), ending("for")), 120.0, 40.0)
    cliff = Cost(Combination(HIDDEN, middle("map"), ending("retry")), 4_000.0, 1_000.0)
    parts = [
        Dearer("retry, ending", 100.0, 700.0),
        Dearer("map, in the middle", 40.0, 540.0),
        Dearer("for, ending", -600.0, 90.0),
    ]
    sources = {"range": 40.0, "edge": 1_000.0, "hidden": 1_001.0}
    return Cliffs(1_000, 3, [cheap, edge, cliff], sources, parts, {"range → bad": "ValueError: boom"})


def test_only_what_is_beyond_a_limit_is_a_cliff() -> None:
    cliffs = given()
    assert [cost.times for cost in cliffs.worst] == [4.0, 3.0, 1.25]
    assert [cost.combination.name for cost in cliffs.over] == ["hidden → map → retry"]
    assert [part.part for part in cliffs.dearer] == ["retry, ending"]
    assert cliffs.slow == {"hidden": 1_001.0}


def test_the_report_names_the_worst() -> None:
    text = cliffs_text(given(), show=1)
    assert "| combinations over 3 times the sum of their parts | 1 | **missed** |" in text
    assert "| hidden → map → retry | 4,000 | 1,000 | 4.0 |" in text
    assert "range → map → for" not in text
    assert "| retry, ending | 100 | 700 |" in text
    assert "| hidden | 1,001 |" in text
    assert "- range → bad: ValueError: boom" in text
    clean = Cliffs(1_000, 3, given().costs[:1], {"range": 40.0}, [])
    assert "| combinations over 3 times the sum of their parts | 0 | met |" in cliffs_text(clean, show=0)


def test_json_has_everything() -> None:
    figures = cliffs_json(given())
    assert figures["size"] == 1_000
    cliffs = figures["cliffs"]
    assert (cliffs["over_three_times"], cliffs["dearer_parts"], cliffs["slow_sources"]) == (1, 1, 1)
    assert cliffs["failed"] == {"range → bad": "ValueError: boom"}
    assert cliffs["combinations"]["range → for"] == {"cost": 50.0, "parts": 40.0}
    assert cliffs["parts"]["retry, ending"] == {"pulled": 100.0, "pushing": 700.0}


def test_the_command_times_the_combinations_that_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["cliffs", "--size", "405", "--rounds", "1", "--only", "generate → map → re"]
    assert main([*options, "--show", "1"]) == 0
    out = capsys.readouterr().out
    assert "3 combinations of a source, an operator and an ending, 400 items each" in out
    assert out.count("| generate → map → re") == 1
    assert main([*options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["cliffs"]["combinations"].keys() == {
        "generate → map → request(128)",
        "generate → map → reduce.blocking_get",
        "generate → map → retry",
    }
    assert main([*options, "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
