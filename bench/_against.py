"""What has changed since a recording: the figures of now beside those of a JSON file that was written before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

#: Between two runs on an idle machine a ratio moves by so much; what is worse by more has become slower.
MARGIN: Final = 0.05


@dataclass(frozen=True, slots=True)
class Change:
    """One way, before and now: the ratio to what it is compared with, or the figure itself where there is no such thing."""

    case: str
    way: str
    before: float
    now: float

    @property
    def by(self) -> float:
        """By how much it has become slower; below zero when it has become faster."""
        return self.now / self.before - 1


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """Every way of this library that both recordings have, the one that has become slower most first.

    Times of two moments can be compared by ratios only: a way is related to the first way of its case that is not this
    library's, or else to the first one. In cases that have a unit the figures themselves are compared.
    """
    earlier = {case["name"]: case for case in before["cases"]}
    found: list[Change] = []
    for case in now["cases"]:
        old = earlier.get(case["name"])
        if old is None or old["unit"] != case["unit"]:
            continue
        old_ways, ways = _measured(old), _measured(case)
        both = [name for name in ways if name in old_ways]
        ours = [name for name in both if name.startswith("rx")] or both
        base = next((name for name in both if name not in ours), next(iter(both), None)) if case["unit"] == "s" else None
        for name in ours:
            if name != base:
                found.append(Change(case["name"], name, _figure(old_ways, name, base), _figure(ways, name, base)))
    return sorted((each for each in found if each.before), key=lambda change: change.by, reverse=True)


def _measured(case: Mapping[str, Any]) -> dict[str, float]:
    return {
        way["way"]: way["value"] if way["ns_per_element"] is None else way["ns_per_element"]
        for way in case["ways"]
        if way["missing"] is None
    }


def _figure(ways: Mapping[str, float], way: str, base: str | None) -> float:
    return ways[way] if base is None else ways[way] / ways[base]


def changes_text(found: Sequence[Change], file: str) -> str:
    slower, faster = _beyond(found)
    lines = [f"Beside {file}: of {len(found)} ways {len(slower)} are over {MARGIN:.0%} slower and {len(faster)} as much faster."]
    if slower or faster:
        lines += ["", "| work | way | before | now | |", "| --- | --- | ---: | ---: | ---: |"]
    lines += [
        f"| {each.case} | {each.way} | {_short(each.before)} | {_short(each.now)} | **{each.by:+.0%}** |" for each in slower
    ]
    lines += [f"| {each.case} | {each.way} | {_short(each.before)} | {_short(each.now)} | {each.by:+.0%} |" for each in faster]
    return "\n".join(lines)


def _short(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 1_000 else f"{figure:.3g}"


def changes_json(found: Sequence[Change]) -> dict[str, Any]:
    slower, faster = _beyond(found)
    return {
        "slower": len(slower),
        "faster": len(faster),
        "ways": [{"case": each.case, "way": each.way, "before": each.before, "now": each.now, "by": each.by} for each in found],
    }


def _beyond(found: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    return [each for each in found if each.by > MARGIN], [each for each in found if each.now < each.before / (1 + MARGIN)]
