"""Print lines, and tokens per line, of each Python file; fail where a file has grown too long.

    python tools/sizes.py [--all]

By default only what is long is printed, and a total for each package; ``--all`` prints every file. Dense code is as
hard to enter as long code: tokens are counted without comments and docstrings, lines are those that hold a token.
Generated files, named ``_generated_*``, are not limited.
"""

from __future__ import annotations

import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("packages/*/src", "packages/*/tests", "tests", "tools", "examples", "bench", "docs")
WARN_LINES = 600
MOST_LINES = 1000

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


@dataclass(frozen=True)
class Size:
    """What a file, or several, amount to."""

    lines: int = 0
    code_lines: int = 0
    tokens: int = 0

    @property
    def density(self) -> float:
        return self.tokens / self.code_lines if self.code_lines else 0.0

    def __add__(self, other: Size) -> Size:
        return Size(self.lines + other.lines, self.code_lines + other.code_lines, self.tokens + other.tokens)


def measure(file: Path) -> Size:
    with open(file, "rb") as source:
        tokens = list(tokenize.tokenize(source.readline))
    code: set[int] = set()
    count = 0
    fresh = True  # at the start of a statement, where a lone string is a docstring
    for index, token in enumerate(tokens):
        if token.type in _LAYOUT:
            fresh = fresh or token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            continue
        docstring = fresh and token.type == tokenize.STRING and tokens[index + 1].type == tokenize.NEWLINE
        fresh = False
        if not docstring:
            count += 1
            code.update(range(token.start[0], token.end[0] + 1))
    lines = max((token.end[0] for token in tokens if token.type not in (tokenize.ENDMARKER, tokenize.DEDENT)), default=0)
    return Size(lines, len(code), count)


def verdict(file: Path, size: Size) -> str:
    """Return "" for a file that is fine, else what is wrong with it."""
    if file.name.startswith("_generated_") or size.lines <= WARN_LINES:
        return ""
    if size.lines <= MOST_LINES:
        return f"long: discuss above {WARN_LINES} lines"
    return f"TOO LONG: never above {MOST_LINES} lines; split it by family"


def python_files(root: Path) -> list[Path]:
    found = {file for place in PLACES for folder in root.glob(place) for file in folder.rglob("*.py")}
    return sorted(file for file in found if not any(p.startswith(".") for p in file.relative_to(root).parts))


def home(path: Path) -> str:
    """Return the package, or the top folder, that a file belongs to."""
    return "/".join(path.parts[:2] if path.parts[0] == "packages" else path.parts[:1])


def row(size: Size, name: str, remark: str = "") -> str:
    return f"{size.lines:>7} {size.density:>6.1f}  {name}" + (f"  <- {remark}" if remark else "")


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    everything = "--all" in arguments
    totals: dict[str, Size] = {}
    rows: list[str] = []
    failed = False
    for file in python_files(root):
        name = file.relative_to(root)
        if "data" in name.parts:
            continue  # input for tests, possibly not even Python
        size = measure(file)
        totals[home(name)] = totals.get(home(name), Size()) + size
        remark = verdict(file, size)
        failed |= size.lines > MOST_LINES and bool(remark)
        if everything or remark:
            rows.append(row(size, str(name), remark))
    print(f"{'lines':>7} {'tok/ln':>6}")
    for line in rows:
        print(line)
    for name_of_home, total in totals.items():
        print(row(total, name_of_home))
    print(row(sum(totals.values(), Size()), "all"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
