"""The rows of the job: what is read, what a file comes to, what is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceFile:
    """A row of the input. ``functions`` is None for a file that is no Python of this version."""

    package: str
    path: str
    lines: int
    longest_line: int
    functions: int | None


@dataclass(frozen=True)
class Measured:
    """What a file adds to its package."""

    package: str
    size: str
    lines: int
    functions: int


@dataclass(frozen=True)
class Total:
    """A row of the output: the files of one size in one package."""

    package: str
    size: str
    files: int
    lines: int
    functions: int
    longest: int


SIZES = (("small", 200), ("medium", 1000))


def measured(file: SourceFile) -> Measured:
    """The mapper of the job: ordinary Python, in a module of the program's own."""
    size = next((name for name, limit in SIZES if file.lines < limit), "large")
    return Measured(file.package, size, file.lines, file.functions or 0)
