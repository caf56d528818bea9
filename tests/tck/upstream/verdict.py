"""Which rules of Reactive Streams what is scanned breaks, with fusion and without, and how that is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from rx_testing.tck import RULES, RuleViolation
from tests.recorded.ratchet import FUSED, MODES, UNFUSED, possible_modes, switched
from tests.tck.upstream.scan import Scanned

__all__ = ["COMMAND", "FUSED", "MODES", "UNFUSED", "broken_by", "possible_modes", "said"]

COMMAND: Final = "python -m tests.tck.upstream"
_SHOWN: Final = 4


def broken_by(scanned: Scanned, mode: str) -> list[RuleViolation]:
    """What it breaks in this mode."""
    with switched(mode):
        return scanned.violations()


def said(scanned: Scanned, mode: str, found: Iterable[RuleViolation]) -> str:
    """What a failing test says; empty when no rule is broken."""
    violations = list(found)
    lines: list[str] = []
    for rule in _sorted({each.rule for each in violations}):
        some = [each for each in violations if each.rule == rule]
        lines.append(f"{scanned} breaks §{rule}, {mode}: {RULES[rule]}.")
        lines += [f"  {each.text} [{each.script}]" for each in some[:_SHOWN]]
        if len(some) > _SHOWN:
            lines.append(f"  and {len(some) - _SHOWN} more:  {COMMAND} --mode {mode} --only '{scanned.id}'")
    return "\n".join(lines)


def _sorted(rules: Collection[str]) -> list[str]:
    return sorted(rules, key=lambda rule: tuple(map(int, rule.split("."))))
