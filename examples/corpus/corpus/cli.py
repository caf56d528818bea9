"""The command line.

Exit codes: 0 done, 1 an engine is unavailable or the answers differ, 2 wrong usage, 130 interrupted.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from corpus.answer import diff
from corpus.engines import COMPARED, EngineUnavailable, open_engine
from corpus.entries import LONGEST_KEPT
from corpus.job import Job, OpenEngine, Run
from corpus.progress import progress_bar
from corpus.report import as_json, print_tables, printable, tables
from corpus.sources import NOT_STANDARD_LIBRARY, standard_library


def main(argv: Sequence[str] | None = None, opener: OpenEngine = open_engine) -> int:
    """Run the program; ``opener`` lets tests bring their own engines."""
    parser = _parser()
    options = parser.parse_args(argv)
    names = COMPARED if options.engine == "all" else (options.engine,)
    if options.master and "spark" not in names:
        parser.error(f"--master is the address of a Spark cluster; --engine {options.engine} would not use it")
    job = _job(parser, options.input)
    try:
        if options.explain:
            return _explain(job, names, options.master, opener)
        return _run(job, names, options, opener)
    except EngineUnavailable as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.  Python would complain once more when it flushes
        # stdout at exit, so stdout is pointed elsewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="corpus",
        description="Count the identifiers of Python sources per package, and find the longest functions.",
    )
    parser.add_argument(
        "--input",
        nargs="+",
        action="extend",
        type=Path,
        metavar="PATH",
        help="files or directories to read (default: the sources of Python's standard library)",
    )
    parser.add_argument(
        "--engine",
        choices=[*COMPARED, "all", "reference"],
        default="local",
        help="where the pipeline runs; 'all' runs each and compares the answers, "
        "'reference' is a plain loop without the library (default: local)",
    )
    parser.add_argument("--master", metavar="URL", help="Spark cluster to use (default: Spark inside this process)")
    parser.add_argument("--top", type=_top, default=10, metavar="N", help="rows per table (default: 10)")
    parser.add_argument("--explain", action="store_true", help="print the plan and stop")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser


def _top(text: str) -> int:
    try:
        top = int(text)
    except ValueError:
        top = 0
    if not 1 <= top <= LONGEST_KEPT:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to {LONGEST_KEPT}, got {text!r}")
    return top


def _job(parser: argparse.ArgumentParser, inputs: list[Path] | None) -> Job:
    if inputs is None:
        job = Job((standard_library(),), NOT_STANDARD_LIBRARY)
    else:
        for path in inputs:
            # Not exists(): that raises for a name that no file can have, and hides a dangling link.
            if not os.path.lexists(path):
                parser.error(
                    f"--input: there is no file or directory {printable(str(path))!r} in {os.getcwd()}\n"
                    f"  name files or directories with Python sources, as in:  --input src tests/test_one.py\n"
                    f"  or leave --input out to read Python's standard library"
                )
        job = Job(tuple(inputs))
    if next(job.files(), None) is None:
        where = ", ".join(printable(str(path)) for path in job.roots)
        parser.error(f"--input: no .py file below {where}\n  a file with another suffix is read when it is named itself")
    return job


def _explain(job: Job, names: Sequence[str], master: str | None, opener: OpenEngine) -> int:
    for name in names:
        with opener(name, master) as engine:
            print(f"{name}:")
            for line in engine.explain(job).splitlines():
                print(f"  {line}".rstrip())
    sys.stdout.flush()
    return 0


def _run(job: Job, names: Sequence[str], options: argparse.Namespace, opener: OpenEngine) -> int:
    total = sum(1 for _ in job.files())
    runs = [_timed(job, name, options.master, total, opener) for name in names]
    differences = _differences(runs)
    if options.json:
        print(as_json(runs, differences, options.top))
    else:
        print_tables(tables(job, runs, options.top), sys.stdout)
        if len(runs) > 1 and not differences:
            print(f"The answers of {', '.join(names)} are identical.")
    sys.stdout.flush()
    for line in differences:
        print(printable(line), file=sys.stderr)
    return 1 if differences else 0


def _timed(job: Job, name: str, master: str | None, total: int, opener: OpenEngine) -> Run:
    started = time.perf_counter()
    with opener(name, master) as engine:
        engine.prepare()
        ready = time.perf_counter()
        with progress_bar(name, total) as progress:
            outcome = engine.run(job, progress)
        return Run(name, ready - started, time.perf_counter() - ready, outcome)


def _differences(runs: Sequence[Run]) -> list[str]:
    first, *others = runs
    return [
        f"{first.engine} and {run.engine} differ: {line}"
        for run in others
        if run.outcome.answer != first.outcome.answer
        for line in diff(first.outcome.answer, run.outcome.answer) or ["in a way that diff() cannot tell"]
    ]
