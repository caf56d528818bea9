"""What ``do_on_discard`` reaches: the table of what is thrown away, and that every operator in front of it does what it did."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.conformance.discards import DISCARDS, ENDS, HANDS_ON, KEEPS, LEAVES_OUT, OTHERWISE, REFUSED, SOURCE
from tests.conformance.each import each
from tests.conformance.harness import MAINLY, Case, Kit, bench, check_values
from tests.conformance.operators import OPERATORS
from tests.conformance.sources import Foreign, SourceError
from tests.conformance.table import TABLE

SAID: Final = "what it throws away: do_on_discard(repr)"


def operator_of(case: Case) -> str:
    return re.split(r"\W", case.name, maxsplit=1)[0]


def kind_of(case: Case) -> str:
    return OTHERWISE.get(case.name, DISCARDS[operator_of(case)])


def behind(case: Case, gone: list[Any] | None = None) -> Case:
    """The same with do_on_discard behind it."""
    action = repr if gone is None else gone.append
    return replace(case, build=lambda source, kit: case.build(source, kit).do_on_discard(action))


COVERED: Final = [case for case in TABLE if kind_of(case) != REFUSED]
ANY: Final = pytest.mark.parametrize("case", COVERED, ids=str)
PAIR = each(("kind", "mode"), MAINLY)


def test_every_operator_has_a_line() -> None:
    assert {each.name for each in OPERATORS if "F" in each.types and not each.has("ending")} == DISCARDS.keys()
    assert OTHERWISE.keys() <= {case.name for case in TABLE}


@pytest.mark.parametrize("case", [case for case in TABLE if kind_of(case) == REFUSED], ids=str)
def test_what_is_not_covered_is_refused_and_named(case: Case) -> None:
    stream = case.build(Flowable.wrap(Foreign(case.items)), Kit())
    with pytest.raises(TypeError) as refused:
        stream.do_on_discard(repr)
    operator = re.search(r"\A.*?: (.*) does not tell", str(refused.value))
    assert operator is not None
    assert f"  .do_on_discard(f).{operator[1]}\n" in str(refused.value)
    assert f".{operator[1]}.hide()" in str(refused.value)


@ANY
def test_it_reaches_as_far_as_the_plan_says(case: Case) -> None:
    plan = case.build(Flowable.wrap(Foreign(case.items)), Kit()).do_on_discard(repr).plan()
    reached = [SAID in part.notes for part in every_part(plan) if part.title == "wrap(Foreign)"]
    if kind_of(case) == ENDS and operator_of(case) not in ("compose", "pipe", "stage"):
        assert not any(reached)
    elif kind_of(case) != SOURCE and not case.has("source"):
        assert any(reached) or case.name in BEGUN


#: Their lines begin with a source of their own.
BEGUN: Final = {"retry", "repeat_until", "timeout fallback", "timeout selector fallback"}


def every_part(plan: Any) -> list[Any]:
    return [plan, *(part for child in plan.children for part in every_part(child))]


# -- what is thrown away -------------------------------------------------------------------------------------------------------


#: Their lines have another operator in front, or an item that is thrown away only in a race or in a test of its own.
APART: Final = {
    "buffer_until": "its line leaves no rest; test_discard.py",
    "never": "its line has a merge behind it",
    "stage": "what the user brings, which leaves something out in its line",
    "switch_if_empty": "its line has a filter in front",
}


def thrown_away(case: Case) -> list[list[Any]]:
    """In some runs: to the end, left when one item was requested, left inside of that, and failing."""
    runs: list[list[Any]] = []

    def run(subscriber: TestSubscriber[Any], error: Exception | None = None) -> None:
        gone: list[Any] = []
        made = bench(behind(case, gone), "manual", "fused", error=error)
        made.run(subscriber)
        subscriber.cancel()
        made.settle()
        runs.append(gone)

    run(TestSubscriber())
    run(TestSubscriber(request=1))
    run(TestSubscriber(cancel_after=1))
    run(TestSubscriber(), SourceError("end"))
    run(TestSubscriber(request=1), SourceError("end"))
    return runs


@pytest.mark.parametrize("operator", sorted({operator_of(case) for case in COVERED} - APART.keys()))
def test_an_operator_throws_away_what_its_line_says(operator: str) -> None:
    for kind in {kind_of(case) for case in COVERED if operator_of(case) == operator}:
        runs = [runs for case in COVERED if operator_of(case) == operator and kind_of(case) == kind for runs in thrown_away(case)]
        assert any(runs) == (kind in (KEEPS, LEAVES_OUT)), runs


# -- and everything else is as it was ------------------------------------------------------------------------------------------


@PAIR
@ANY
def test_the_values_are_those_of_the_reference(case: Case, mode: str, kind: str) -> None:
    made = bench(behind(case), kind, mode)
    got = made.run()
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))
    assert not made.source.active or not made.source.active()


@PAIR
@pytest.mark.parametrize("case", [case for case in COVERED if not (case.has("hot") or case.has("lossy"))], ids=str)
def test_one_by_one(case: Case, mode: str, kind: str) -> None:
    made = bench(behind(case), kind, mode)
    got = made.run(TestSubscriber(request=0))
    got.assert_no_values()
    made.by_ones(got)
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))


@PAIR
@pytest.mark.parametrize("case", [case for case in COVERED if not (case.has("recovers") or case.has("source"))], ids=str)
def test_an_error_of_the_source(case: Case, mode: str, kind: str) -> None:
    error = SourceError("end")
    with_it = bench(behind(case), kind, mode, error=error).run()
    without = bench(case, kind, mode, error=error).run()
    assert with_it.errors == without.errors
    check_values(case, with_it.values, without.values)


def test_the_kinds_are_used() -> None:
    assert {HANDS_ON, LEAVES_OUT, KEEPS, SOURCE, ENDS, REFUSED} == {*DISCARDS.values(), *OTHERWISE.values()}
