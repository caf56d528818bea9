"""Draw random pipelines, and show where the library differs from the reference.

    python -m tests.invisible.push [NAME...] [--count N] [--seed S] [--demanding] [--long] [--untimed]

With names, of sources and operators: pipelines that have them. Each difference is shown in the smallest pipeline that was found.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.invisible.push.drawing import Drawing
from tests.invisible.push.judging import Judge
from tests.invisible.push.reading import names
from tests.recorded.cases import Trace
from tests.recorded.running import errors_ignored


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tests.invisible.push", description="Compare random pipelines with the reference."
    )
    made.add_argument("names", nargs="*", metavar="NAME", help="sources and operators that each pipeline has one of")
    made.add_argument("--count", type=int, default=100, metavar="N", help="so many pipelines; with names, of each")
    made.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first")
    made.add_argument("--seed", default="", help="draw others")
    made.add_argument("--demanding", action="store_true", help="subscribers do not request everything")
    made.add_argument("--long", action="store_true", help="sources may have hundreds of items")
    made.add_argument("--untimed", action="store_true", help="nothing needs a clock, so that a for loop can run them")
    made.add_argument("--most", type=int, default=10, metavar="N", help="show no more than N differences")
    return made


def drawn(options: argparse.Namespace) -> Iterator[Trace]:
    drawing = Drawing(demanding=options.demanding, long=options.long, untimed=options.untimed)
    for name in options.names or [None]:
        for number in range(options.first, options.first + options.count):
            seed = f"{options.seed}{number}"
            yield drawing.case(seed) if name is None else drawing.case_with(name, seed)


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    judge = Judge()
    count, differing, used = 0, 0, Counter[str]()
    for case in drawn(options):
        count += 1
        if differences := judge.differences(case):
            differing += 1
            if differing <= options.most:
                smallest = judge.smallest(differences[0])
                used.update(set(names((smallest.case.source, smallest.case.operators))))
                print(smallest, f"also {', '.join(str(each.form) for each in differences[1:])}", "", sep="\n", flush=True)
    print(f"{differing} of {count} differ")
    if used:
        print("in the smallest pipelines are:", ", ".join(f"{name} {times}" for name, times in used.most_common(20)))
    return 1 if differing else 0


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # of what is dropped in garbage
    with errors_ignored():
        sys.exit(main(sys.argv[1:]))
