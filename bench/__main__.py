"""``python -m bench``: prints a Markdown table, or JSON with ``--json``."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict

from bench._cases import cases
from bench._measure import Figure, measure


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Ratios to a loop written by hand, and to reactivex.")
    parser.add_argument("--size", type=int, default=400_000, help="elements of the cheap cases (default: 400000)")
    parser.add_argument("--rounds", type=int, default=7, help="how often each way runs (default: 7)")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(argv)
    figures: list[Figure] = []
    for case in cases(options.size):
        if options.only is None or options.only in case.name:
            figures += measure(case, options.rounds)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if options.json:
        print(json.dumps({"python": platform.python_version(), "figures": [asdict(figure) for figure in figures]}, indent=2))
    else:
        print(table(figures))
    return 0


def table(figures: Sequence[Figure]) -> str:
    """A Markdown table; the ratio is to the first way of each case, ± half the distance between the quartiles."""
    lines = [
        f"CPython {platform.python_version()}, medians, ratios within one process",
        "",
        "| work | way | ratio | ± | ns per element |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    before = ""
    for figure in figures:
        name = "" if figure.case == before else figure.case
        before = figure.case
        lines.append(
            f"| {name} | {figure.way} | {figure.ratio:.2f} | {figure.spread / 2:.0%} | {figure.nanoseconds_per_element:,.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
