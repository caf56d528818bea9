"""``python -m bench``: prints a Markdown table, or JSON with ``--json``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from bench._cases import cases
from bench._measure import measure
from bench._report import Measured, as_json, table


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Ratios to a loop written by hand, and to reactivex and others.")
    parser.add_argument("--size", type=int, default=400_000, help="elements of the cheap cases (default: 400000)")
    parser.add_argument("--rounds", type=int, default=7, help="how often each way runs (default: 7)")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--list", action="store_true", help="only name the cases")
    options = parser.parse_args(argv)
    wanted = (case for case in cases(options.size) if options.only is None or options.only in case.name)
    if options.list:
        for case in wanted:
            print(case.name)
        return 0
    measured: list[Measured] = []
    for case in wanted:
        measured.append(Measured(case, measure(case, options.rounds)))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if options.json:
        print(json.dumps(as_json(measured, size=options.size, rounds=options.rounds), indent=2))
    else:
        print(table(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
