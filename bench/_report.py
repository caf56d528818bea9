"""What was measured, as a Markdown table and as JSON."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench._measure import Case, Figure, Kind, Verdict, judge

#: Raised when the meaning of a key changes; keys may be added without.
SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """A case with its figures."""

    case: Case
    figures: Sequence[Figure]

    @property
    def verdicts(self) -> list[Verdict]:
        return judge(self.case, self.figures)


def build() -> str:
    """Which build of Python this is: whether it has a GIL decides what two threads can reach."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "with the GIL"
    return "free-threaded, GIL switched on" if has_gil() else "free-threaded"


def has_gil() -> bool:
    """Whether only one thread at a time runs Python code in this process."""
    enabled: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)  # CPython 3.13 and later
    return enabled()


def heading() -> str:
    python = f"{platform.python_implementation()} {platform.python_version()} ({build()})"
    return f"{python}, {os.cpu_count()} cores, medians (some cases: fastest rounds), ratios within one process"


def table(measured: Sequence[Measured]) -> str:
    """A Markdown table; the ratio is to the first way of each case, ± half the distance between the quartiles."""
    lines = [
        heading(),
        "",
        "| work | way | ratio | ± | ns per element | target (stretch) | |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for each in measured:
        goals: dict[str, list[Verdict]] = {}
        for verdict in each.verdicts:
            goals.setdefault(verdict.goal.way, []).append(verdict)
        name = each.case.name
        for figure in each.figures:
            wanted, result = _goals(goals.get(figure.way, []), each.case)
            lines.append(f"| {name} | {figure.way} | {_numbers(figure, each.case)} | {wanted} | {result} |")
            name = ""
    notes = [f"- {each.case.name}: {each.case.note}" for each in measured if each.case.note]
    return "\n".join([*lines, "", *notes] if notes else lines)


def _numbers(figure: Figure, case: Case) -> str:
    if figure.missing is not None:
        return f"{figure.missing} | | "
    own = f"{figure.nanoseconds_per_element:,.0f}" if case.unit is None else f"{_short(figure.seconds)} {case.unit}"
    return f"{figure.ratio:.2f} | {figure.spread / 2:.0%} | {own}"


def _goals(verdicts: Sequence[Verdict], case: Case) -> tuple[str, str]:
    return "; ".join(_wanted(verdict, case) for verdict in verdicts), "; ".join(_result(verdict) for verdict in verdicts)


def _wanted(verdict: Verdict, case: Case) -> str:
    goal = verdict.goal
    stretch = "" if goal.stretch is None else f" ({_short(goal.stretch)})"
    if goal.kind is Kind.ABSOLUTE:
        return f"≤ {_short(goal.target)}{stretch} {verdict.unit}"
    if goal.kind is Kind.TIMES_FASTER:
        return f"≥ {_short(goal.target)}{stretch} × faster than {goal.against}"
    base = next(iter(case.ways)) if goal.against is None else goal.against
    return f"≤ {_short(goal.target)}{stretch} × {base}"


def _result(verdict: Verdict) -> str:
    figure = _short(verdict.measured)
    if verdict.stretch_met:
        return f"{figure}: stretch met"
    if verdict.met:
        return f"{figure}: met"
    by = verdict.missed_by
    return f"**{figure}: missed by {by:.0%}**" if by >= 0.01 else f"**{figure}: missed by {by:.1%}**"


def _short(number: float) -> str:
    if number and abs(number) < 0.1:
        return f"{number:.3g}"
    return f"{number:,.2f}".rstrip("0").rstrip(".") if abs(number) < 100 else f"{number:,.0f}"


def head_json(*, size: int, rounds: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "build": build(),
        "cores": os.cpu_count(),
        "size": size,
        "rounds": rounds,
    }


def as_json(measured: Sequence[Measured], *, size: int, rounds: int) -> dict[str, Any]:
    """Everything the table says, in numbers. ``value`` is in ``unit`` (seconds where something was timed)."""
    return {**head_json(size=size, rounds=rounds), "cases": [_case(each) for each in measured]}


def _case(each: Measured) -> dict[str, Any]:
    case = each.case
    return {
        "name": case.name,
        "unit": case.unit or "s",
        "note": case.note,
        "figure": "fastest round" if case.fastest else "median",
        "ways": [_way(figure, case) for figure in each.figures],
        "goals": [_verdict(verdict, case) for verdict in each.verdicts],
    }


def _way(figure: Figure, case: Case) -> dict[str, Any]:
    here = figure.missing is None
    return {
        "way": figure.way,
        "missing": figure.missing,
        "elements": figure.elements,
        "value": figure.seconds if here else None,
        "spread": figure.spread if here else None,
        "ratio": figure.ratio if here else None,
        "ns_per_element": figure.nanoseconds_per_element if here and case.unit is None else None,
    }


def _verdict(verdict: Verdict, case: Case) -> dict[str, Any]:
    goal = verdict.goal
    base = next(iter(case.ways)) if goal.against is None else goal.against
    return {
        "way": goal.way,
        "kind": goal.kind.name.lower(),
        "against": None if goal.kind is Kind.ABSOLUTE else base,
        "target": goal.target,
        "stretch": goal.stretch,
        "measured": verdict.measured,
        "unit": verdict.unit,
        "met": verdict.met,
        "stretch_met": verdict.stretch_met,
        "missed_by": verdict.missed_by,
    }
