"""``python -m bench``: prints a Markdown table, or JSON with ``--json``.

``python -m bench growth``: how cost grows; ``python -m bench cliffs``: combinations that cost more than their parts;
``python -m bench spark``: work on Spark against PySpark; ``python -m bench spark-memory``: what streams from there hold;
``python -m bench spark-loss``: what a lost executor costs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from bench._against import changes, changes_json, changes_text
from bench._cases import cases
from bench._cliff_report import cliffs_json, cliffs_text
from bench._cliffs import combinations, measure_cliffs
from bench._growth import Growth, Point, growth_json, growth_report, growths, measure_growth
from bench._measure import measure
from bench._report import Measured, as_json, head_json, table
from bench._standing import standing, standing_json, standing_text

#: Some cases take a hundredth of the elements, others a quarter of that.
LEAST: Final = 400


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description="Ratios to a loop written by hand, and to reactivex and others.")
    parser.add_argument("what", nargs="?", choices=tuple(COMMANDS), default="table", help="(default: table)")
    parser.add_argument(
        "--size",
        type=at_least(LEAST),
        help="elements of the cheap cases (default: 400000), most elements of growth (10000000), items of cliffs (1000), "
        "rows of spark (2000000), items of spark-memory (10000000), items of spark-loss (100000000)",
    )
    parser.add_argument("--rounds", type=at_least(1), default=7, help="how often each way runs (default: 7)")
    parser.add_argument("--only", metavar="TEXT", help="only cases whose name contains TEXT")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="JSON into FILE beside the table, or instead of it")
    parser.add_argument("--against", metavar="FILE", help="what has become slower since --json wrote FILE")
    parser.add_argument("--slow", action="store_true", help="with the peers that take a minute")
    parser.add_argument("--pause", type=float, default=60.0, help="seconds that consumers of spark-memory stop (default: 60)")
    parser.add_argument("--huge", action="store_true", help="growth to 100000000 elements: takes minutes")
    parser.add_argument("--show", type=at_least(0), default=10, help="so many of the worst cliffs (default: 10)")
    parser.add_argument("--list", action="store_true", help="only name the cases")
    options = parser.parse_args(argv)
    if options.json not in (None, "-") and not Path(options.json).absolute().parent.is_dir():
        parser.error(f"argument --json: there is no folder for {options.json}")  # now, not after some minutes
    if options.against is not None and not Path(options.against).is_file():
        parser.error(f"argument --against: there is no file {options.against}")
    code = COMMANDS[options.what](options)
    if code:
        parser.error(f"argument --only: no name contains {options.only!r}; --list shows the names")
    return code


def at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return int(text)

    return number


def wanted(options: argparse.Namespace, name: str) -> bool:
    return options.only is None or options.only in name


def compare(options: argparse.Namespace) -> int:
    """Run the cases and print their figures; 2 when there is none."""
    size = 400_000 if options.size is None else options.size
    chosen = [case for case in cases(size, slow=options.slow) if wanted(options, case.name)]
    if not chosen:
        return 2
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    measured: list[Measured] = []
    for case in chosen:
        measured.append(Measured(case, measure(case, options.rounds)))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    figures, text = as_json(measured, size=size, rounds=options.rounds), table(measured)
    if (stands := standing(measured)) is not None:
        figures["against_reactivex"] = standing_json(stands)
        text += "\n\n" + standing_text(stands)
    if options.against is not None:
        found = changes(json.loads(Path(options.against).read_text(encoding="utf-8")), figures)
        figures["against"] = changes_json(found)
        text += "\n\n" + changes_text(found, options.against)
    give(options.json, figures, text)
    return 0


def give(file: str | None, figures: dict[str, Any], text: str) -> None:
    """Print the table, or JSON; with a file, the table and JSON there."""
    if file == "-":
        print(json.dumps(figures, indent=2))
        return
    print(text)
    if file is not None:
        Path(file).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def growth(options: argparse.Namespace) -> int:
    """Run the pipelines at growing sizes and print what that costs; 2 when there is none."""
    largest = (10**8 if options.huge else 10**7) if options.size is None else options.size
    chosen = [each for each in growths(largest) if wanted(options, each.name)]
    if not chosen:
        return 2
    if options.list:
        print("\n".join(each.name for each in chosen))
        return 0
    measured: list[tuple[Growth, Sequence[Point]]] = []
    for each in chosen:
        measured.append((each, measure_growth(each, min(options.rounds, 3))))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    tables = [growth_json(each, points) for each, points in measured]
    figures = {**head_json(size=largest, rounds=options.rounds), "growth": tables}
    give(options.json, figures, growth_report(measured))
    return 0


def cliffs(options: argparse.Namespace) -> int:
    """Time all combinations and print what is too dear; 2 when there is none."""
    chosen = list(combinations(options.only))
    if not chosen:
        return 2
    if options.list:
        print("\n".join(each.name for each in chosen))
        return 0
    size = 1_000 if options.size is None else options.size
    size -= size % 10  # several sources give ten items at a time
    found = measure_cliffs(chosen, size, min(options.rounds, 3), lambda: print(".", end="", file=sys.stderr, flush=True))
    print(file=sys.stderr)
    give(options.json, cliffs_json(found), cliffs_text(found, options.show))
    return 0


def spark(options: argparse.Namespace) -> int:
    """Time work on Spark against PySpark and print the table."""
    from bench._spark import run_spark

    text = run_spark(options.size or 2_000_000, options.rounds, lambda name: wanted(options, name), names_only=options.list)
    print(text)
    return 0


def spark_memory(options: argparse.Namespace) -> int:
    """Measure what streams from Spark hold while their consumers are slow, and print the table."""
    from bench._spark_memory import ROWS, run_spark_memory

    rows = options.size or ROWS
    print(run_spark_memory(rows - rows % 100, options.pause, lambda name: wanted(options, name), names_only=options.list))
    return 0


def spark_loss(options: argparse.Namespace) -> int:
    """Time work on a cluster that loses an executor, and print the table."""
    from bench._spark_loss import ROWS, run_spark_loss

    rounds = min(options.rounds, 3)
    print(run_spark_loss(options.size or ROWS, rounds, lambda name: wanted(options, name), names_only=options.list))
    return 0


#: What can be measured.
COMMANDS: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "table": compare,
    "growth": growth,
    "cliffs": cliffs,
    "spark": spark,
    "spark-memory": spark_memory,
    "spark-loss": spark_loss,
}


if __name__ == "__main__":
    sys.exit(main())
