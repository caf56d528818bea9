"""How the verdict is said, the command, and controls: a border that is weakened, and what has none, are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core.streams import Border
from rx_testing.tck import RULES, RuleViolation
from tests.conformance.table import TABLE
from tests.tck.upstream.__main__ import main
from tests.tck.upstream.endings import CALLBACKS
from tests.tck.upstream.scan import Scanned, callbacks_of, line
from tests.tck.upstream.verdict import UNFUSED, broken_by, said


def breaking(name: str, *rules: str) -> Scanned:
    return Scanned("operator", name, lambda: [RuleViolation(rule, f"a call against {rule}", "a script") for rule in rules])


GOOD, BAD = breaking("good"), breaking("bad", "2.4", "2.3", "2.4")


def text(scanned: Scanned) -> str:
    return said(scanned, UNFUSED, scanned.violations())


# What a test says


def test_nothing_is_said_when_no_rule_is_broken() -> None:
    assert text(GOOD) == ""


def test_a_rule_is_shown_with_its_calls_and_scripts_in_the_order_of_the_rules() -> None:
    assert text(BAD).splitlines() == [
        f"operator: bad breaks §2.3, unfused: {RULES['2.3']}.",
        "  a call against 2.3 [a script]",
        "operator: bad breaks §2.4, unfused: after on_complete or on_error the subscription counts as cancelled.",
        "  a call against 2.4 [a script]",
        "  a call against 2.4 [a script]",
    ]


def test_many_violations_are_cut_short_with_the_command_that_shows_them() -> None:
    many = breaking("many", *["2.6"] * 9)
    assert text(many).splitlines()[-1] == "  and 5 more:  python -m tests.tck.upstream --mode unfused --only 'operator: many'"


# The command


def test_it_says_what_the_test_says_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [GOOD]) == 0
    assert "unfused: 0 of 1 break a rule\n" in capsys.readouterr().out
    assert main([], [GOOD, BAD]) == 1
    shown = capsys.readouterr().out
    assert "operator: bad breaks §2.3, unfused" in shown
    assert "unfused: 1 of 2 break a rule: §2.3 1, §2.4 1" in shown


def test_only_shows_all_violations_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--mode", UNFUSED, "--only", "operator: bad"], [GOOD, BAD]) == 1
    assert capsys.readouterr().out.count("§2.4: a call against 2.4 [a script]") == 2


def test_a_wrong_command_is_refused() -> None:
    assert main(["--only", "no such operator"], [GOOD]) == 2


# Controls of the scan


def cancel_however_late(self: Any) -> None:
    self.up.cancel()


def request_beside_others(self: Any, n: int) -> None:
    self.up.request(n)


WEAKER: dict[str, tuple[str, Callable[..., None], str]] = {
    "a cancel that goes up after the end": ("cancel", cancel_however_late, "2.4"),
    "a request that goes up beside another one": ("ask", request_beside_others, "2.7"),
    "a wrong request that goes up": ("reject", request_beside_others, "3.9"),
}


@pytest.mark.parametrize("name", WEAKER)
def test_control_a_weaker_border_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method, weaker, rule = WEAKER[name]
    case = next(case for case in TABLE if case.name == "filter")
    assert broken_by(line(case), UNFUSED) == []
    monkeypatch.setattr(Border, method, weaker)
    assert rule in {each.rule for each in line(case).violations()}


def test_control_an_ending_without_a_border_is_found() -> None:
    class Bare:
        """Requests everything and cancels whenever it is told to."""

        is_disposed = False

        def __init__(self, told: Any) -> None:
            self.on_next, self.on_error, self.on_complete = told.on_next, told.on_error, told.on_complete

        def on_subscribe(self, subscription: Any) -> None:
            self.subscription = subscription
            subscription.request(2**63 - 1)

        def dispose(self) -> None:
            self.subscription.cancel()

    def subscribe(flow: Any, told: Any) -> Bare:
        subscriber = Bare(told)
        flow._head.publisher.subscribe(subscriber)  # the source itself
        return subscriber

    assert {each.rule for each in callbacks_of("control", subscribe).violations()} == {"2.3", "2.4", "2.5"}
    assert callbacks_of("Flowable", CALLBACKS["Flowable"]).violations() == []
