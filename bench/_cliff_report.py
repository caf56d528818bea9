"""What the cliffs add up to, as text and as JSON."""

from __future__ import annotations

from typing import Any

from bench._cliffs import DEARER, SLOW, TIMES, Cliffs, Cost
from bench._report import head_json, heading


def cliffs_text(cliffs: Cliffs, show: int) -> str:
    """The figures that have a target, and the ``show`` worst combinations."""
    lines = [
        heading(),
        "",
        f"{len(cliffs.costs):,} combinations of a source, an operator and an ending, {cliffs.size:,} items each, fastest rounds.",
        "The sum of the parts is what the source costs into callbacks and what the others add, each alone behind such a source.",
        "",
        "| of these there should be none | there are | |",
        "| --- | ---: | --- |",
        *(f"| {name} | {count:,} | {'**missed**' if count else 'met'} |" for name, count in _counts(cliffs).items()),
        "",
        "| combination | ns per item | sum of the parts | times |",
        "| --- | ---: | ---: | ---: |",
        *map(_line, cliffs.worst[:show]),
    ]
    if cliffs.dearer:
        lines += ["", "| part | added behind a pulled source | behind a pushing source |", "| --- | ---: | ---: |"]
        lines += [f"| {part.part} | {part.pulled:,.0f} | {part.pushing:,.0f} |" for part in cliffs.dearer]
    if cliffs.slow:
        lines += ["", "| source | ns per item into callbacks |", "| --- | ---: |"]
        lines += [f"| {name} | {cost:,.0f} |" for name, cost in cliffs.slow.items()]
    if cliffs.failed:
        lines += ["", "Failed, and not counted:", ""]
        lines += [f"- {name}: {reason}" for name, reason in cliffs.failed.items()]
    return "\n".join(lines)


def _counts(cliffs: Cliffs) -> dict[str, int]:
    return {
        f"combinations over {TIMES:g} times the sum of their parts": len(cliffs.over),
        f"parts over {DEARER:,.0f} ns dearer behind a source that pushes": len(cliffs.dearer),
        f"sources over {SLOW:,.0f} ns per item into callbacks": len(cliffs.slow),
        "combinations that fail": len(cliffs.failed),
    }


def _line(cost: Cost) -> str:
    return f"| {cost.combination.name} | {cost.nanoseconds:,.0f} | {cost.expected:,.0f} | {cost.times:.1f} |"


def cliffs_json(cliffs: Cliffs) -> dict[str, Any]:
    """Everything, in nanoseconds per item; ``combinations`` has the cost and the sum of the parts."""
    return {
        **head_json(size=cliffs.size, rounds=cliffs.rounds),
        "cliffs": {
            "over_three_times": len(cliffs.over),
            "dearer_parts": len(cliffs.dearer),
            "slow_sources": len(cliffs.slow),
            "failed": dict(cliffs.failed),
            "sources": {name: round(cost, 1) for name, cost in cliffs.sources.items()},
            "parts": {part.part: {"pulled": round(part.pulled, 1), "pushing": round(part.pushing, 1)} for part in cliffs.parts},
            "combinations": {
                cost.combination.name: {"cost": round(cost.nanoseconds, 1), "parts": round(cost.expected, 1)}
                for cost in cliffs.worst
            },
        },
    }
