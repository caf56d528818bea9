"""Check the Python blocks of README and guides with mypy and pyright, and that neither takes anything of them for Any.

    python -m tools.document_types [FILE...]

The blocks of a page are one module, each line where it stands in the page. Behind each assignment and each expression that is a
statement stands a ``reveal_type``: what is revealed must hold no Any (mypy) and no Unknown (pyright), unless the page itself says
Any there or the block is marked ``<!-- any: it -->``, with what is untyped in it. A block that raises may be wrong for a checker,
too: that is often what it shows.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.docs.blocks import ROOT, documents, examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MYPY: Final = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)$")
_REVEALED: Final = re.compile(r"Revealed type is \"(.*)\"$")

#: What a page does and a module does not: it is read from above, so it imports where it needs something, takes a name again,
#: shows what it does not use, and asks in one block what another one settled.
_OF_A_PAGE: Final = (
    "ConstantRedefinition",
    "DuplicateImport",
    "PrivateUsage",
    "Redeclaration",
    "UnnecessaryComparison",
    "UnusedClass",
    "UnusedExpression",
    "UnusedFunction",
    "UnusedImport",
    "UnusedVariable",
)


#: Above each page. It may take a name again: said to mypy in the module, since an option of the whole run would empty its cache.
_ABOVE: Final = ("# mypy: allow-redefinition", "from typing import reveal_type")


@dataclass
class Page:
    """A page as a module: its lines, and for each line of the module the page's."""

    path: Path
    lines: list[str] = field(default_factory=lambda: list(_ABOVE))
    places: list[int] = field(default_factory=lambda: [0] * len(_ABOVE))
    raising: set[int] = field(default_factory=set)
    #: Lines of the page on which it says Any itself.
    said: set[int] = field(default_factory=set)

    @property
    def module(self) -> str:
        return "page_" + re.sub(r"\W", "_", self.name)

    @property
    def name(self) -> str:
        return os.path.relpath(self.path, ROOT)

    def add(self, line: str, place: int) -> None:
        self.lines.append(line)
        self.places.append(place)


def page_of(path: Path) -> Page:
    page = Page(path)
    for example in examples(path):
        block = example.block
        lines = block.text.splitlines()
        revealed = dict(_revealed(block.text))
        for number, line in enumerate(lines, 1):
            place = block.line + number
            page.add(line, place)
            if "raises" in block.directives:
                page.raising.add(place)
            if "any" in block.directives or re.search(r"\bAny\b", line):
                page.said.add(place)
            for expression in revealed.get(number, ()):
                page.add(f"reveal_type({expression})", place)
    return page


def _revealed(text: str) -> Iterator[tuple[int, list[str]]]:
    """After which lines of a block what is to be revealed: names that were assigned, and arguments of what is printed."""
    for statement in ast.parse(text).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                found: list[ast.expr] = [ast.Name(name)]
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[*arguments])):
                found = arguments
            case ast.Expr(value=ast.Call() as call):
                found = [call]
            case _:
                continue
        yield statement.end_lineno or statement.lineno, [ast.unparse(each) for each in found if not isinstance(each, ast.Starred)]


def mypy(pages: dict[str, Page], folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "mypy", "--hide-error-context", "--no-error-summary", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    for line in (done.stdout + done.stderr).splitlines():
        found = _MYPY.match(line)
        page = pages.get(Path(found["file"]).stem) if found else None
        if found is None or page is None:
            yield line
            continue
        place = page.places[int(found["line"]) - 1]
        revealed = _REVEALED.search(found["text"])
        wrong = revealed is not None and re.search(r"\bAny\b", revealed[1]) and place not in page.said
        if place not in page.raising and (wrong or found["kind"] == "error"):
            yield f"{page.name}:{place}: mypy: {found['text']}"


def pyright(pages: dict[str, Page], folder: Path) -> Iterator[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pyright"]
    settings["include"] = ["."]
    settings["extraPaths"] = [str(ROOT / place) for place in settings["extraPaths"]]
    settings |= {f"report{name}": "none" for name in _OF_A_PAGE}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        page = pages[Path(each["file"]).stem]
        place = page.places[each["range"]["start"]["line"]]
        wrong = each["severity"] == "error" or re.search(r"\bUnknown\b", each["message"])
        unknown = each.get("rule", "").startswith("reportUnknown") or each["severity"] != "error"
        if wrong and place not in page.raising and not (unknown and place in page.said):
            yield f"{page.name}:{place}: pyright: {each['message'].splitlines()[0]}"


def main(arguments: Sequence[str]) -> int:
    chosen = [Path(argument).resolve() for argument in arguments] or documents()
    pages = {page.module: page for page in map(page_of, chosen) if len(page.lines) > len(_ABOVE)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for module, page in pages.items():
            (folder / f"{module}.py").write_text("\n".join(page.lines) + "\n", encoding="utf-8")
        found = list(dict.fromkeys([*mypy(pages, folder), *pyright(pages, folder)]))
    print(
        "\n".join([*found, f"{len(found)} problems in {len(pages)} pages"] if found else [f"{len(pages)} pages have exact types"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
