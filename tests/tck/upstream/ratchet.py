"""Which rules of Reactive Streams what is scanned is known to break, with fusion and without: the lists may only become shorter.

``data/broken_fused.txt`` and ``data/broken_unfused.txt`` hold a line for each operator, with the rules.
``python -m tests.tck.upstream --update`` writes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from rx_testing.tck import RULES, RuleViolation
from tests.recorded.ratchet import FUSED, MODES, UNFUSED, possible_modes, switched
from tests.tck.upstream.scan import Scanned

__all__ = ["COMMAND", "FUSED", "MODES", "UNFUSED", "broken_by", "possible_modes", "read", "said", "write"]

COMMAND: Final = "python -m tests.tck.upstream"
DATA: Final = Path(__file__).parent / "data"
_SHOWN: Final = 4

#: The rules that each of it breaks, by its id.
Broken = Mapping[str, Collection[str]]


def broken_by(scanned: Scanned, mode: str) -> list[RuleViolation]:
    """What it breaks in this mode."""
    with switched(mode):
        return scanned.violations()


def said(scanned: Scanned, mode: str, found: Iterable[RuleViolation], listed: Collection[str]) -> str:
    """What a failing test says; empty when exactly the listed rules are broken."""
    violations = list(found)
    broken = {each.rule for each in violations}
    lines: list[str] = []
    for rule in _sorted(broken - {*listed}):
        some = [each for each in violations if each.rule == rule]
        lines.append(f"{scanned} breaks §{rule}, {mode}: {RULES[rule]}.")
        lines += [f"  {each.text} [{each.script}]" for each in some[:_SHOWN]]
        if len(some) > _SHOWN:
            lines.append(f"  and {len(some) - _SHOWN} more:  {COMMAND} --mode {mode} --only '{scanned.id}'")
    kept = _sorted({*listed} - broken)
    if kept:
        lines.append(f"{scanned} is listed as breaking {', '.join(f'§{rule}' for rule in kept)}, {mode}, and keeps it by now.")
        lines.append(f"  To take it off the list:  {COMMAND} --update --only '{scanned.id}'")
    return "\n".join(lines)


def read(mode: str, folder: Path = DATA) -> dict[str, list[str]]:
    """The known ones: the rules by the id."""
    found: dict[str, list[str]] = {}
    for line in _file(mode, folder).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            id, _, rules = line.rpartition(" | ")
            found[id] = rules.split()
    return found


def write(mode: str, broken: Broken, folder: Path = DATA) -> None:
    head = f"# What breaks which rules of Reactive Streams towards its sources, {mode}. Written by {COMMAND} --update.\n"
    lines = [f"{id} | {' '.join(_sorted(rules))}\n" for id, rules in sorted(broken.items()) if rules]
    _file(mode, folder).write_text(head + "".join(lines), encoding="utf-8")


def _sorted(rules: Collection[str]) -> list[str]:
    return sorted(rules, key=lambda rule: tuple(map(int, rule.split("."))))


def _file(mode: str, folder: Path) -> Path:
    return folder / f"broken_{mode}.txt"
