"""Tables for people, plain text for pipes, JSON for programs."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from corpus.answer import Answer
from corpus.job import Job, Run

SHOWN_SKIPS: Final = 20
"""Skipped files named in a table; the JSON names all."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table before it is decided how to draw it.  Columns whose header starts with ``>`` align right."""

    title: str
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


def printable(text: str) -> str:
    """``text`` with control characters and undecodable bytes of file names shown as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def tables(job: Job, runs: Sequence[Run], top: int) -> list[Table]:
    """Everything there is to say, the answer being that of the first run."""
    answer = runs[0].outcome.answer
    shown = [_packages(answer, top), _longest(job, answer, top)]
    if answer.skipped:
        shown.append(_skipped(job, answer))
    return [*shown, _engines(runs)]


def print_tables(shown: Sequence[Table], stream: TextIO) -> None:
    """With rich on a terminal, otherwise as plain text that stays the same from release to release."""
    if stream.isatty():
        try:
            _print_rich(shown, stream)
        except ImportError:
            _print_plain(shown, stream)
    else:
        _print_plain(shown, stream)


def as_json(runs: Sequence[Run], differences: Sequence[str], top: int) -> str:
    """One object; paths are absolute, and all skipped files are in it."""
    answer = runs[0].outcome.answer
    return json.dumps(
        {
            "files": answer.files,
            "identifiers": answer.identifiers,
            "functions": answer.longest.count,
            "elements": answer.elements,
            "packages": [
                {
                    "package": name,
                    "files": row.files,
                    "identifiers": row.identifiers,
                    "distinct": len(row.counts),
                    "most_frequent": dict(row.most_frequent(top)),
                }
                for name, row in answer.top_packages(top)
            ],
            "longest": [function._asdict() for function in answer.longest.functions[:top]],
            "skipped": [{"path": skip.path, "line": skip.line, "reason": skip.reason} for skip in answer.skipped],
            "engines": [
                {
                    "engine": run.engine,
                    "setup_seconds": round(run.setup_seconds, 3),
                    "seconds": round(run.seconds, 3),
                    "elements_per_second": round(run.elements_per_second),
                    "max_buffered": run.outcome.max_buffered,
                }
                for run in runs
            ],
            "differences": list(differences),
        },
        indent=2,
    )


def _packages(answer: Answer, top: int) -> Table:
    rows = [
        (
            printable(name),
            f"{row.files:,}",
            f"{row.identifiers:,}",
            f"{len(row.counts):,}",
            ", ".join(f"{identifier} {count:,}" for identifier, count in row.most_frequent(3)),
        )
        for name, row in answer.top_packages(top)
    ]
    return Table(
        f"Identifiers per package: {answer.identifiers:,} in {len(answer.packages):,} packages, {answer.files:,} files",
        ("package", ">files", ">identifiers", ">distinct", "most frequent"),
        rows,
    )


def _longest(job: Job, answer: Answer, top: int) -> Table:
    rows = [(f"{f.lines:,}", f.qualified_name, f"{_short(f.path, job)}:{f.first_line}") for f in answer.longest.functions[:top]]
    return Table(f"Longest of {answer.longest.count:,} functions", (">lines", "function", "where"), rows)


def _skipped(job: Job, answer: Answer) -> Table:
    rows = [
        (_short(skip.path, job), str(skip.line) if skip.line else "-", printable(skip.reason))
        for skip in answer.skipped[:SHOWN_SKIPS]
    ]
    left = len(answer.skipped) - SHOWN_SKIPS
    note = "What stands before the line where reading stopped is counted."
    if left > 0:
        note += f" {left:,} more skipped files are in the output of --json."
    return Table(f"Skipped files: {len(answer.skipped):,}", ("file", ">at line", "reason"), rows, note)


def _engines(runs: Sequence[Run]) -> Table:
    rows = [
        (
            run.engine,
            f"{run.setup_seconds:.1f}",
            f"{run.seconds:.1f}",
            f"{run.outcome.answer.elements:,}",
            f"{run.elements_per_second:,.0f}",
            f"{run.outcome.max_buffered:,}",
        )
        for run in runs
    ]
    headers = ("engine", ">set-up s", ">run s", ">elements", ">elements/s", ">most buffered")
    return Table("Engines", headers, rows)


def _short(path: str, job: Job) -> str:
    """Relative to the one root, or to the working directory; as it is when it lies elsewhere."""
    base = job.roots[0] if len(job.roots) == 1 and os.path.isdir(job.roots[0]) else Path.cwd()
    base = Path(os.path.abspath(base))
    return printable(str(Path(path).relative_to(base)) if Path(path).is_relative_to(base) else path)


def _print_plain(shown: Sequence[Table], stream: TextIO) -> None:
    for table in shown:
        headers = [header.removeprefix(">") for header in table.headers]
        widths = [max(map(len, column)) for column in zip(headers, *table.rows, strict=True)]
        print(table.title, file=stream)
        for row in (tuple(headers), *table.rows):
            cells = (
                cell.rjust(width) if header.startswith(">") else cell.ljust(width)
                for cell, width, header in zip(row, widths, table.headers, strict=True)
            )
            print("  " + "  ".join(cells).rstrip(), file=stream)
        if table.note:
            print("  " + table.note, file=stream)
        print(file=stream)


def _print_rich(shown: Sequence[Table], stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(file=stream)
    for table in shown:
        drawn = RichTable(title=Text(table.title), caption=Text(table.note), title_justify="left")
        for header in table.headers:
            right = header.startswith(">")
            drawn.add_column(header.removeprefix(">"), justify="right" if right else "left", overflow="fold")
        for row in table.rows:
            # Text, not str: '[bold]' in a file name is a file name.
            drawn.add_row(*(Text(cell) for cell in row))
        console.print(drawn)
