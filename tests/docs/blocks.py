"""Reads the documentation: fenced blocks, headings and links, and runs the Python examples of one file.

The blocks of a file run in order and share their names, as a reader would type them. What one prints is compared with

* the ```` ```text ```` block right behind it (``...`` stands for anything), or
* its ``# ->`` comments, each the next line printed.

An HTML comment before a block says what is special about it: ``<!-- raises: ValueError -->`` (the text block is then the error
with its notes), ``<!-- needs: rx-spark -->`` (runs with the tests that need it), ``<!-- from: path -->`` (the block is
quoted from that file, ``...`` stands for what is left out), ``<!-- any: it -->`` (a type checker takes something of the block for
Any: what follows says because of what; see tools/document_types.py).
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
#: Files whose examples need not say what they print.
LOOSE = [ROOT / "packages" / name / "README.md" for name in ("rx-asyncio", "rx-metrics", "rx-trio", "rx-spark")]

_FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*([\w-]*)\s*$")
_DIRECTIVE = re.compile(r"<!--\s*(needs|raises|from|any):\s*([\w./-]+)\s*-->")
_COMMENT = re.compile(r"#\s*->\s?(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block and what the HTML comment before it says."""

    path: Path
    line: int
    language: str
    text: str
    directives: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Example:
    """A Python block with the output it promises, if it promises any."""

    block: Block
    expected: str | None

    @property
    def needs(self) -> str | None:
        return self.block.directives.get("needs")


def documents() -> list[Path]:
    """Every Markdown file whose examples must run."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/README.md")]
    return sorted(path for path in found if path.is_file())


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a file, in order."""
    found: list[Block] = []
    directives: dict[str, str] = {}
    opened: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None:
            if fence is not None and fence[2] == opened[1] and not fence[3]:
                text = dedent("\n".join(lines)) + "\n"
                found.append(Block(path, opened[0], opened[2], text, directives))
                opened, directives = None, {}
            else:
                lines.append(line)
        elif fence is not None:
            opened, lines = (number, fence[2], fence[3]), []
        elif marks := _DIRECTIVE.findall(line):
            directives = {**directives, **dict(marks)}
        elif line.strip():
            directives = {}
    if opened is not None:
        raise ValueError(f"{path}: the block of line {opened[0]} has no end")
    return found


def examples(path: Path) -> list[Example]:
    """The Python blocks of a file with what they are to print."""
    all_blocks = blocks(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for at, block in enumerate(all_blocks):
        if block.language != "python":
            continue
        expected: str | None = None
        comments = [mark[1] for mark in map(_COMMENT.search, block.text.splitlines()) if mark]
        after = all_blocks[at + 1] if at + 1 < len(all_blocks) else None
        end = block.line + block.text.count("\n") + 1  # the closing fence
        if after is not None and after.language == "text" and not any(map(str.strip, lines[end : after.line - 1])):
            assert not comments, f"{block.where}: either a text block or '# ->' comments"
            expected = after.text
        elif comments:
            expected = "\n".join(comments) + "\n"
        found.append(Example(block, expected))
    return found


def run(examples: list[Example], *, strict: bool = True) -> dict[str, Any]:
    """Run examples one after the other, and return the names that they leave.

    AssertionError where the output is another than promised, or not promised.
    """
    names: dict[str, Any] = {"__name__": "docs_example"}
    for example in examples:
        block = example.block
        name = f"<{block.where}>"
        # Stages are compiled from their source text, and tracebacks show it.
        linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)
        printed = io.StringIO()
        failure: Exception | None = None
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(block.text, name, "exec", dont_inherit=True), names)
            except Exception as error:
                if type(error).__name__ != block.directives.get("raises"):
                    error.add_note(f"in the example {block.where}")
                    raise
                failure = error
        wanted = block.directives.get("raises")
        assert wanted is None or failure is not None, f"{block.where}: {wanted} was not raised"
        shown = printed.getvalue()
        if failure is not None:
            shown += "".join(traceback.format_exception_only(failure))
        if example.expected is not None:
            assert matches(shown, example.expected), (
                f"{block.where} prints something else.\n--- promised\n{example.expected}--- printed\n{shown}"
            )
        elif strict:
            assert not printed.getvalue(), f"{block.where} prints without saying what:\n{shown}"
    return names


def matches(shown: str, expected: str) -> bool:
    """Whether ``shown`` is ``expected``, in which ``...`` stands for any text. Trailing blanks do not count."""
    pattern = ".*?".join(re.escape(part) for part in _trimmed(expected).split("..."))
    return re.fullmatch(pattern, _trimmed(shown), re.DOTALL) is not None


def quoted(text: str, block: str) -> bool:
    """Whether ``text`` holds the lines of ``block``, in which ``...`` stands for anything. Indentation does not count."""
    pattern = ".*?".join(re.escape(part.strip()) + r"\s*" for part in _flat(block).split("..."))
    return re.search(pattern, _flat(text), re.DOTALL) is not None


def _flat(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a file outside its blocks, without inline code."""
    inside = {number for block in blocks(path) for number in range(block.line, block.line + block.text.count("\n") + 2)}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if number not in inside:
            yield number, re.sub(r"`[^`]*`", "", line)


def links(path: Path) -> Iterator[tuple[int, str]]:
    """Where a file links to, line by line."""
    for number, line in prose(path):
        for target in _LINK.findall(line):
            yield number, target


def anchors(path: Path) -> set[str]:
    """The anchors of a file's headings, as code hosts make them."""
    found: set[str] = set()
    inside = {n for block in blocks(path) for n in range(block.line, block.line + block.text.count("\n") + 2)}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        heading = _HEADING.match(line)
        if heading is None or number in inside:
            continue
        slug = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
        turn = slug
        count = 0
        while turn in found:
            count += 1
            turn = f"{slug}-{count}"
        found.add(turn)
    return found
