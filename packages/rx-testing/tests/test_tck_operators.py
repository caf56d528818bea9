"""The TCK for operators is verified itself: correct operators pass, and each faulty one breaks exactly its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import operator_parties as parties
import pytest
from operator_parties import Identity, Merge, Odd, Repeat, Take

from rx_core import UNBOUNDED
from rx_testing.tck import OperatorVerification, TwoSourceOperatorVerification, rule_tests, verify


class TestIdentity(OperatorVerification):
    def create_operator(self, source: Any, /) -> Any:
        return Identity(source)


class TestOdd(OperatorVerification):
    def create_operator(self, source: Any, /) -> Any:
        return Odd(source)


class TestTake(OperatorVerification):
    def create_operator(self, source: Any, /) -> Any:
        return Take(source)


class TestRepeat(OperatorVerification):
    resubscribes = True

    def create_operator(self, source: Any, /) -> Any:
        return Repeat(source)


class TestMerge(TwoSourceOperatorVerification):
    def create_operator(self, first: Any, second: Any, /) -> Any:
        return Merge(first, second)


class TestMergeWithAnInnerSource(OperatorVerification):
    """The second source is made by a function of the operator."""

    def create_operator(self, source: Any, /) -> Any:
        return Merge(source, self.inner([7, 8]))


def rules_broken(make: Callable[..., Any], *, sources: int = 1, **options: Any) -> set[str]:
    """The rules in the violations, and in the names of the tests that fail: the same."""

    class One(OperatorVerification):
        def create_operator(self, source: Any, /) -> Any:
            return make(source)

    class Two(TwoSourceOperatorVerification):
        def create_operator(self, first: Any, second: Any, /) -> Any:
            return make(first, second)

    kind: type[Any] = One if sources == 1 else Two
    for name, value in options.items():
        setattr(kind, name, value)
    found = {each.rule for each in kind().violations()}
    failed = set()
    for name in verify(kind).failed:
        digits = name.partition("spec")[2].partition("_")[0]
        whole, part = digits[0], digits[1:].lstrip("0")
        failed.add(f"{whole}.{part}")
    assert failed == found
    return found


FAULTY: list[tuple[Callable[..., Any], str]] = [
    (parties.SendsTwice, "1.1"),
    (parties.EndsTwice, "1.7"),
    (parties.SubscribeRaises, "1.9"),
    (parties.CancelsInOnComplete, "2.3"),
    (parties.CancelsInOnError, "2.3"),
    (parties.RequestsInOnError, "2.3"),
    (parties.PassesCallsInsideTheEnd, "2.3"),
    (Repeat, "2.3"),
    (parties.PassesCallsAfterTheEnd, "2.4"),
    (parties.UsesTheSecond, "2.5"),
    (parties.RequestsFromTheSecond, "2.5"),
    (parties.NeverCancels, "2.6"),
    (parties.EndsWithoutCancelling, "2.6"),
    (parties.RequestsFromTwoThreads, "2.7"),
    (parties.RaisesAfterCancel, "2.8"),
    (parties.SubscribesTwice, "2.12"),
    (parties.RaisesInOnNext, "2.13"),
    (parties.PassesWrongRequests, "3.9"),
    (parties.CancelRaises, "3.15"),
    (parties.RequestRaises, "3.16"),
    (parties.RequestsTooMuch, "3.17"),
]


@pytest.mark.parametrize(("faulty", "rule"), FAULTY, ids=lambda each: getattr(each, "__name__", each))
def test_a_faulty_operator_breaks_exactly_its_rule(faulty: Callable[..., Any], rule: str) -> None:
    assert rules_broken(faulty) == {rule}


@pytest.mark.parametrize(
    ("faulty", "rule"),
    [(parties.RequestsAfterTheEnd, "2.4"), (parties.CancelsOneOfTwo, "2.6")],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_faulty_operator_with_two_sources_breaks_exactly_its_rule(faulty: Callable[..., Any], rule: str) -> None:
    assert rules_broken(faulty, sources=2) == {rule}


def test_each_rule_that_is_tested_has_a_faulty_operator() -> None:
    tested = {name.partition("spec")[2].partition("_")[0] for name in rule_tests(TestIdentity)}
    assert tested == {rule[0] + rule[2:].rjust(2, "0") for _, rule in FAULTY}


def test_a_source_that_is_kept_on_purpose_is_no_violation() -> None:
    assert rules_broken(parties.NeverCancels, keeps_sources=True) == set()


def test_an_inner_source_is_judged() -> None:
    class Verification(OperatorVerification):
        def create_operator(self, source: Any, /) -> Any:
            return parties.CancelsOneOfTwo(source, self.inner([7, 8], ends=False))

    found = Verification().violations()
    assert {each.rule for each in found} == {"2.6"}
    assert all("an inner source" in each.text for each in found)


def test_an_ending_that_takes_everything_is_given_no_scripts_about_demand() -> None:
    class Hot(Identity):
        """Requests everything, whatever is requested of it."""

        def on_subscribe(self, up: Any) -> None:
            super().on_subscribe(up)
            if not self.over and self.up is up:
                self.up.request(UNBOUNDED)

        def ask(self, n: int) -> None:
            pass

    assert rules_broken(Hot) == {"1.1"}
    assert rules_broken(Hot, takes_demand=False) == set()


def test_a_violation_names_its_rule_its_call_and_its_script() -> None:
    class Verification(OperatorVerification):
        def create_operator(self, source: Any, /) -> Any:
            return parties.CancelsInOnComplete(source)

    first = Verification().violations()[0]
    assert str(first) == "§2.3: cancel() inside on_complete [4 then on_complete, at once; downstream: unbounded]"


def test_a_failing_test_shows_the_rule_and_the_scripts() -> None:
    class Verification(OperatorVerification):
        def create_operator(self, source: Any, /) -> Any:
            return parties.CancelsInOnComplete(source)

    error = str(next(iter(verify(Verification).failed.values())))
    assert error.startswith("§2.3: on_complete and on_error call no method of the subscription or of the publisher.")
    assert "cancel() inside on_complete [4 then on_complete, at once; downstream: unbounded]" in error
    assert "more" in error.splitlines()[-1]
