"""Which operators break which rules of Reactive Streams towards their sources.

python -m tests.tck.upstream                          counts them, and shows what is not as listed
python -m tests.tck.upstream --only 'operator: map'   shows all violations of one
python -m tests.tck.upstream --update                 takes off the lists what is kept by now
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rx_testing.tck import RuleViolation
from tests.tck.upstream.ratchet import DATA, MODES, broken_by, possible_modes, read, said, write
from tests.tck.upstream.scan import SCANNED, Scanned


def main(arguments: Sequence[str], all_scanned: Sequence[Scanned] = SCANNED, folder: Path = DATA) -> int:
    """0 when exactly what is listed is broken, or the lists were written; 1 when not; 2 for a wrong command."""
    parser = argparse.ArgumentParser(prog="python -m tests.tck.upstream", description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=MODES, help="one mode; both without it")
    parser.add_argument("--only", metavar="TEXT", help="those whose id is TEXT, or contains it")
    parser.add_argument("--update", action="store_true", help="take off the lists what is kept by now")
    parser.add_argument("--add", action="store_true", help="with --update: list what is broken anew, too")
    given = parser.parse_args(arguments)
    chosen = [each for each in all_scanned if given.only in (None, each.id)]
    chosen = chosen or [each for each in all_scanned if given.only in each.id]
    if not chosen or (given.add and not given.update):
        print("nothing has this id" if not chosen else "--add needs --update")
        return 2
    code = 0
    for mode in [given.mode] if given.mode else possible_modes():
        found = {each.id: broken_by(each, mode) for each in chosen}
        if given.only is not None and not given.update:
            _show(found)
        if given.update:
            code = max(code, _update(mode, found, given.add, folder, whole=given.only is None))
        else:
            listed = read(mode, folder)
            texts = [said(each, mode, found[each.id], listed.get(each.id, ())) for each in chosen]
            print("\n".join(filter(None, texts)) or f"as listed, {mode}")
            code = max(code, int(any(texts)))
        _count(mode, found)
    return code


def _update(mode: str, found: dict[str, list[RuleViolation]], add: bool, folder: Path, *, whole: bool) -> int:
    known = read(mode, folder)
    broken = {id: {each.rule for each in violations} for id, violations in found.items()}
    new = {id: rules - {*known.get(id, ())} for id, rules in broken.items() if rules - {*known.get(id, ())}}
    kept = {} if whole else {id: rules for id, rules in known.items() if id not in broken}
    left = {id: rules if add else rules & {*known.get(id, ())} for id, rules in broken.items()}
    write(mode, {**kept, **left}, folder)
    if new and not add:
        print(f"broken anew and not listed, {mode}: " + "; ".join(f"{id} {' '.join(sorted(rules))}" for id, rules in new.items()))
        return 1
    return 0


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
