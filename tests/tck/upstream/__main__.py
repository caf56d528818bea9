"""Which operators break which rules of Reactive Streams towards their sources.

python -m tests.tck.upstream                          tries all, shows what is broken, and counts
python -m tests.tck.upstream --only 'operator: map'   shows all violations of one
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

from rx_testing.tck import RuleViolation
from tests.tck.upstream.scan import SCANNED, Scanned
from tests.tck.upstream.verdict import MODES, broken_by, possible_modes, said


def main(arguments: Sequence[str], all_scanned: Sequence[Scanned] = SCANNED) -> int:
    """0 when no rule is broken; 1 when one is; 2 for a wrong command."""
    parser = argparse.ArgumentParser(prog="python -m tests.tck.upstream", description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=MODES, help="one mode; both without it")
    parser.add_argument("--only", metavar="TEXT", help="those whose id is TEXT, or contains it")
    given = parser.parse_args(arguments)
    chosen = [each for each in all_scanned if given.only in (None, each.id)]
    chosen = chosen or [each for each in all_scanned if given.only in each.id]
    if not chosen:
        print("nothing has this id")
        return 2
    code = 0
    for mode in [given.mode] if given.mode else possible_modes():
        found = {each.id: broken_by(each, mode) for each in chosen}
        if given.only is not None:
            _show(found)
        else:
            for each in chosen:
                if found[each.id]:
                    print(said(each, mode, found[each.id]))
        code = max(code, int(any(found.values())))
        _count(mode, found)
    return code


def _show(found: dict[str, list[RuleViolation]]) -> None:
    for id, violations in found.items():
        print(id)
        for violation in violations:
            print(f"  {violation}")


def _count(mode: str, found: dict[str, list[RuleViolation]]) -> None:
    rules: Final = Counter(rule for violations in found.values() for rule in {each.rule for each in violations})
    broken = sum(bool(violations) for violations in found.values())
    counted = ", ".join(f"§{rule} {count}" for rule, count in sorted(rules.items()))
    print(f"{mode}: {broken} of {len(found)} break a rule{f': {counted}' if counted else ''}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
