"""Write what operators are called elsewhere from docs/guides/names.md, so that a stream that is asked for one can say ours.

    python tools/names_elsewhere.py            write the file
    python tools/names_elsewhere.py --check    fail where the file is not what the guide says

A table of the guide whose first column is "here" gives ours for each name in the others; one whose first column is "elsewhere"
gives what to write instead. A name is written as it stands and in
camel case; so is each of ours. Names that an operator has here are left out: of the first kind where any of the five types has
it, of the second where all have. So what a type lacks that another has is told what to write instead.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
GUIDE: Final = Path("docs/guides/names.md")
TARGET: Final = Path("packages/rx-ops/src/rx_ops/_generated_names_elsewhere.py")
COMMAND: Final = "python tools/names_elsewhere.py"
TYPES: Final = ("Flowable", "Observable", "Single", "Maybe", "Completable")
HEAD: Final = f'''"""What operators are called in other libraries. Written from {GUIDE}: {COMMAND}."""

from typing import Final
'''
Names = dict[str, list[str]]


def read(text: str) -> tuple[Names, dict[str, str]]:
    """Ours for each name elsewhere, and what to write where we have no name."""
    called: Names = {}
    written: dict[str, str] = {}
    here = False
    for cells in _rows(text):
        if cells[0] in ("here", "elsewhere"):
            here = cells[0] == "here"
        elif here:
            ours = list(_names(cells[0]))
            for name in (name for cell in cells[1:] if ours for spelled in _names(cell) for name in _spellings(spelled)):
                called.setdefault(name, []).extend(each for each in ours if each not in called[name])
        else:
            names, codes = list(_names(cells[0])), re.findall(r"`([^`]+)`", cells[1])
            pairs = len(names) == len(codes) > 1  # one for each
            for at, spelled in enumerate(names):
                for name in _spellings(spelled):
                    written.setdefault(name, codes[at] if pairs else cells[1].replace("`", ""))
    return called, written


def _rows(text: str) -> Iterator[list[str]]:
    """The rows of the tables of operators; the first table is about types, the last about what is not here."""
    for line in text.partition("## Where streams begin")[2].splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def _names(cell: str) -> Iterator[str]:
    for code in re.findall(r"`([^`]+)`", cell):
        found = re.fullmatch(r"([A-Za-z]\w*)(\(.*\))?", code)
        if found is not None and not keyword.iskeyword(found[1]):
            yield found[1]


def _spellings(name: str) -> set[str]:
    return {name, re.sub(r"_(\w)", lambda found: found[1].upper(), name)}


def taken() -> list[set[str]]:
    """The names that something of a stream has here, for each of the types."""
    import rx_ops

    return [set(dir(getattr(rx_ops, kind))) for kind in TYPES]


def source(text: str) -> str:
    called, written = read(text)
    of_types = taken()
    ours, of_all = set[str]().union(*of_types), set.intersection(*of_types)
    for name in sorted(ours):
        for spelled in _spellings(name) - {name} if not name.startswith("_") else ():
            called.setdefault(spelled, [name])
    lines = [HEAD, "#: Ours for each.", "CALLED: Final[dict[str, tuple[str, ...]]] = {"]
    lines += [
        f"    {_quoted(name)}: {_tuple(called[name])}," for name in sorted(called.keys() - ours) if _is_new(name, called[name])
    ]
    lines += ["}", "", "#: What to write instead.", "WRITTEN: Final[dict[str, str]] = {"]
    lines += [f"    {_quoted(name)}: {_quoted(written[name])}," for name in sorted(written.keys() - of_all)]
    return "\n".join([*lines, "}", ""])


def _is_new(name: str, ours: list[str]) -> bool:
    """It is no class, and no method of something else than a stream."""
    return name not in ours and not name[0].isupper()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tuple(names: list[str]) -> str:
    return f"({', '.join(map(_quoted, names))}{',' if len(names) == 1 else ''})"


def main() -> int:
    made = source((ROOT / GUIDE).read_text(encoding="utf-8"))
    target = ROOT / TARGET
    if "--check" in sys.argv[1:]:
        if not target.is_file() or target.read_text(encoding="utf-8") != made:
            print(f"{TARGET} is not what {GUIDE} says: {COMMAND}")
            return 1
        return 0
    target.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
