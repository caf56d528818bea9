"""The programs that are compared with reactivex compute the same; how fast they are is not a test."""

from __future__ import annotations

import json

import pytest

from bench.__main__ import main
from bench._by_hand import ByHand, EmitterByHand, SharedByHand, filtering, looking_on, mapping, scanning
from bench._common import operators, reactivex
from bench._measure import Case, Run, Way, measure
from bench._program_table import programs
from bench._programs import PREFIX, Program, case_of, created
from bench._report import Measured
from bench._standing import standing, standing_json, standing_text
from rx_ops import Flowable

needs_reactivex = pytest.mark.skipif(reactivex is None, reason="reactivex is not installed")


def given(name: str, ours: float, theirs: float, reason: str = "", by_hand: float | None = None) -> Measured:
    """A program whose figures are given instead of being measured."""
    ways: dict[str, Run | Way] = {"rx": lambda: ours, "reactivex": lambda: theirs}
    if by_hand is not None:
        ways["by hand"] = lambda: by_hand
    case = Case(PREFIX + name, 1, ways, unit="ns", note=reason)
    return Measured(case, measure(case, rounds=1))


@needs_reactivex
@pytest.mark.parametrize("program", list(programs()), ids=lambda program: program.name)
@pytest.mark.parametrize("size", [20, 130, 300])
def test_a_program_gives_the_same_in_both_libraries(program: Program, size: int) -> None:
    """Also with more items than the usual window of 128."""
    ours = program.ours(size)
    assert ours == program.theirs(size)
    assert ours


@pytest.mark.parametrize("program", [each for each in programs() if each.by_hand], ids=lambda program: program.name)
def test_a_program_gives_the_same_by_hand(program: Program) -> None:
    assert program.by_hand is not None
    assert program.by_hand(300) == program.ours(300)


def sent(make: ByHand, *items: object) -> list[object]:
    """What an emitter gives that is sent these items and then the end."""
    got: list[object] = []
    emitter = make(got.append, lambda error: got.append(type(error)), lambda: got.append("the end"))
    for item in items:
        emitter.on_next(item)
    emitter.on_complete()
    return got


@pytest.mark.parametrize(
    "make", [EmitterByHand, SharedByHand, mapping(str), filtering(str), scanning(max), looking_on(str, list)], ids=str
)
def test_by_hand_none_is_refused_and_is_the_end(make: ByHand) -> None:
    assert sent(make, None, 1) == [TypeError]


def invert(item: int) -> int:
    return 1 // item


@pytest.mark.parametrize("make", [mapping(invert), filtering(invert), looking_on(invert, list)], ids=str)
def test_by_hand_a_failure_is_signalled_and_is_the_end(make: ByHand) -> None:
    assert sent(make, 0, 1) == [ZeroDivisionError]


def test_by_hand_a_function_that_returns_none_fails() -> None:
    assert sent(mapping(list[int]().append), 0, 1) == [TypeError]


def test_there_are_forty_programs_and_each_has_a_name_of_its_own() -> None:
    names = [program.name for program in programs()]
    assert len(names) == len(set(names)) == 40


@needs_reactivex
def test_programs_that_compute_something_else_are_refused() -> None:
    wrong = created("wrong", lambda flow: flow.map(abs), lambda stream: stream.pipe(operators.map(str)))
    with pytest.raises(AssertionError, match="reactivex computes"):
        measure(case_of(wrong, 10), rounds=1)


def test_a_program_whose_stream_does_not_complete_is_refused() -> None:
    endless = created("endless", lambda flow: flow.concat_with(Flowable.never()), lambda stream: stream)
    with pytest.raises(AssertionError, match="did not complete"):
        endless.ours(10)


def test_the_standing_counts_what_is_slower_and_what_is_three_times_faster() -> None:
    stands = standing([given("slow", 2.0, 1.0), given("even", 1.0, 1.0), given("fast", 1.0, 3.0), given("slowest", 4.0, 1.0)])
    assert stands is not None
    assert stands.slower == ["slowest", "slow"]
    assert stands.below == ["slowest", "slow", "even"]
    text = standing_text(stands)
    assert "4 programs: 2 slower than reactivex (target: none), 1 at least 3 times faster" in text
    assert "- slowest, 0.25 times as fast" in text
    assert standing_json(stands) == {
        "programs": 4,
        "slower": 2,
        "at_least_three_times_faster": 1,
        "met": False,
        "times_faster": {"slow": 0.5, "even": 1.0, "fast": 3.0, "slowest": 0.25},
        "by_hand": {},
        "reasons": {},
    }


def test_what_is_not_three_times_faster_by_hand_is_out_of_reach() -> None:
    stands = standing([given("far", 2.0, 4.0, by_hand=1.6), given("near", 2.0, 4.0, by_hand=1.0), given("fast", 1.0, 3.0)])
    assert stands is not None
    assert stands.below == ["far", "near"]
    assert stands.out_of_reach == ["far"]
    text = standing_text(stands)
    assert "- far, 2.00 times as fast (by hand 2.50)" in text
    assert "- near, 2.00 times as fast (by hand 4.00)" in text
    assert text.endswith("Not 3 times as fast written by hand either: 1")


def test_at_most_five_programs_may_be_less_than_three_times_faster_and_only_with_a_reason() -> None:
    explained = [given(f"with a reason {at}", 1.0, 2.0, "the floor is there") for at in range(6)]
    fast = given("fast", 1.0, 9.0)

    def met(*measured: Measured) -> bool:
        stands = standing(measured)
        assert stands is not None
        return stands.met

    assert met(fast, *explained[:5])
    assert not met(fast, *explained)
    assert not met(fast, given("without a reason", 1.0, 2.0))
    assert not met(fast, given("slower, with a reason", 2.0, 1.0, "the floor is there"))


def test_what_is_no_program_has_no_standing() -> None:
    case = Case("for x in flow", 1, {"rx": lambda: 1.0, "reactivex": lambda: 2.0}, unit="ns")
    assert standing([Measured(case, measure(case, rounds=1))]) is None


@needs_reactivex
def test_the_command_says_how_the_library_stands(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--size", "4000", "--rounds", "1", "--only", "against reactivex: subject.map"]
    assert main(options) == 0
    assert "Against reactivex, 2 programs: " in capsys.readouterr().out
    assert main([*options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["against_reactivex"]["times_faster"].keys() == {"subject.map", "subject.map.filter.map"}
    assert [case["figure"] for case in printed["cases"]] == ["fastest round", "fastest round"]
