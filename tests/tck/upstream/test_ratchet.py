"""The ratchet: a rule that is broken anew fails, a listed one that is kept by now fails too, and the command mends the lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rx_core import UNBOUNDED, Subscription
from rx_core.queue_fusion import fusion_enabled
from rx_testing import TestSubscriber
from rx_testing.tck import RuleViolation
from tests.conformance.harness import Flow
from tests.conformance.table import TABLE
from tests.tck.upstream.__main__ import main
from tests.tck.upstream.endings import CALLBACKS
from tests.tck.upstream.ratchet import MODES, UNFUSED, read, said, write
from tests.tck.upstream.scan import Scanned, callbacks_of, line


def breaking(name: str, *rules: str) -> Scanned:
    return Scanned("operator", name, lambda: [RuleViolation(rule, f"a call against {rule}", "a script") for rule in rules])


GOOD, BAD = breaking("good"), breaking("bad", "2.4", "2.3", "2.4")


def text(scanned: Scanned, *listed: str) -> str:
    return said(scanned, UNFUSED, scanned.violations(), listed)


def lists(folder: Path, **broken: list[str]) -> None:
    for mode in MODES:
        write(mode, {f"operator: {name}": rules for name, rules in broken.items()}, folder)


# What a test says


def test_nothing_is_said_when_exactly_what_is_listed_is_broken() -> None:
    assert text(GOOD) == text(BAD, "2.3", "2.4") == ""


def test_a_rule_that_is_not_listed_is_shown_with_its_calls_and_scripts() -> None:
    assert text(BAD, "2.3").splitlines() == [
        "operator: bad breaks §2.4, unfused: after on_complete or on_error the subscription counts as cancelled.",
        "  a call against 2.4 [a script]",
        "  a call against 2.4 [a script]",
    ]


def test_many_violations_are_cut_short_with_the_command_that_shows_them() -> None:
    many = breaking("many", *["2.6"] * 9)
    assert text(many).splitlines()[-1] == "  and 5 more:  python -m tests.tck.upstream --mode unfused --only 'operator: many'"


def test_a_listed_rule_that_is_kept_by_now_is_named_with_the_command_that_takes_it_off() -> None:
    assert text(BAD, "2.3", "2.4", "2.6", "3.9").splitlines() == [
        "operator: bad is listed as breaking §2.6, §3.9, unfused, and keeps it by now.",
        "  To take it off the list:  python -m tests.tck.upstream --update --only 'operator: bad'",
    ]


# The lists


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(UNFUSED, {"two sources: zip": {"2.10", "2.3"}, "operator: map": ["3.9"], "operator: clean": []}, tmp_path)
    assert read(UNFUSED, tmp_path) == {"operator: map": ["3.9"], "two sources: zip": ["2.3", "2.10"]}


# The command


def test_update_takes_off_what_is_kept_by_now(tmp_path: Path) -> None:
    lists(tmp_path, good=["2.3"], bad=["2.3", "2.4", "2.6"], gone=["2.3"])
    assert main(["--update", "--mode", UNFUSED], [GOOD, BAD], tmp_path) == 0
    assert read(UNFUSED, tmp_path) == {"operator: bad": ["2.3", "2.4"]}


def test_update_of_one_leaves_the_others_alone(tmp_path: Path) -> None:
    lists(tmp_path, good=["2.3"], bad=["2.3", "2.4", "2.6"])
    assert main(["--update", "--mode", UNFUSED, "--only", "operator: good"], [GOOD, BAD], tmp_path) == 0
    assert read(UNFUSED, tmp_path) == {"operator: bad": ["2.3", "2.4", "2.6"]}


def test_update_refuses_what_is_broken_anew_unless_it_is_told_to_add_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists(tmp_path, bad=["2.3"])
    command = ["--update", "--mode", UNFUSED]
    assert main(command, [BAD], tmp_path) == 1
    assert "broken anew and not listed, unfused: operator: bad 2.4" in capsys.readouterr().out
    assert read(UNFUSED, tmp_path) == {"operator: bad": ["2.3"]}
    assert main([*command, "--add"], [BAD], tmp_path) == 0
    assert read(UNFUSED, tmp_path) == {"operator: bad": ["2.3", "2.4"]}


def test_without_update_it_says_what_the_test_says_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lists(tmp_path, bad=["2.3", "2.4"])
    assert main([], [GOOD, BAD], tmp_path) == 0
    assert "unfused: 1 of 2 break a rule: §2.3 1, §2.4 1" in capsys.readouterr().out
    lists(tmp_path)
    assert main([], [GOOD, BAD], tmp_path) == 1
    assert "operator: bad breaks §2.3, unfused" in capsys.readouterr().out


def test_only_shows_all_violations_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lists(tmp_path, bad=["2.3", "2.4"])
    assert main(["--mode", UNFUSED, "--only", "operator: bad"], [GOOD, BAD], tmp_path) == 0
    assert capsys.readouterr().out.count("§2.4: a call against 2.4 [a script]") == 2


@pytest.mark.parametrize("command", [["--only", "no such operator"], ["--add"]], ids=" ".join)
def test_a_wrong_command_is_refused(command: list[str], tmp_path: Path) -> None:
    assert main(command, [GOOD], tmp_path) == 2


def test_a_whole_update_covers_every_mode_that_is_possible(tmp_path: Path) -> None:
    lists(tmp_path, good=["2.3"])
    assert main(["--update"], [GOOD], tmp_path) == 0
    left = [read(mode, tmp_path) for mode in MODES]
    assert left == ([{}, {}] if fusion_enabled() else [{"operator: good": ["2.3"]}, {}])


# Controls of the scan


def test_the_line_that_is_left_out_would_be_found() -> None:
    case = next(case for case in TABLE if case.name == "lift")
    assert {each.rule for each in line(case).violations()} >= {"2.3", "2.4"}


class Disposing:
    """A subscriber that keeps its subscription when the source has ended, as a handle that can be disposed."""

    is_disposed = False

    def __init__(self, told: TestSubscriber[Any]) -> None:
        self.on_next, self.on_error, self.on_complete = told.on_next, told.on_error, told.on_complete

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self.subscription = subscription
        subscription.request(UNBOUNDED)

    def dispose(self) -> None:
        self.subscription.cancel()


def test_an_ending_that_keeps_its_subscription_is_found() -> None:
    def subscribe(flow: Flow, told: TestSubscriber[Any]) -> Disposing:
        subscriber = Disposing(told)
        flow.subscribe(subscriber)
        return subscriber

    assert {each.rule for each in callbacks_of("control", subscribe).violations()} == {"2.3", "2.4"}
    assert callbacks_of("Flowable", CALLBACKS["Flowable"]).violations() == []
