"""docs/guides/glossary.md: each word once, what it names exists, and words that were given up do not come back."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

GLOSSARY = (ROOT / "docs" / "guides" / "glossary.md").read_text(encoding="utf-8")
WORDS, _, GIVEN_UP = GLOSSARY.partition("\n## Two words for one idea\n")
SOURCES = sorted((ROOT / "packages").glob("*/src/**/*.py"))

#: Words that must not be in the sources, with those lines that may have them: other meanings, and public names.
RETIRED = {
    r"lanes?|Lanes?": r"(?!)",
    r"tickets?|Tickets?|seats?|Seats?": r"(?!)",
    r"bells?|Bells?": r"(?!)",
    r"lend|lends|lending|lent|freely|at hand": r"(?!)",
    r"[Ss]omebody|[Nn]obody|[Aa]nybody|[Ww]hoever": r"_nobody",
    r"[Ee]lements?": r"Single-element|Multi-element|symbols|self\.elements|\"elements\"",  # JobStats.elements is public
}


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in ``text``, without their heads."""
    found = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in found if row[0] not in ("word", "not") and not set(row[0]) <= set("- ")]


def test_each_word_is_explained_once() -> None:
    words = Counter(word.strip() for row in rows(WORDS) for word in row[0].split(","))
    assert len(words) > 60
    assert [word for word, times in words.items() if times > 1] == []
    assert all(row[1] for row in rows(WORDS))


def test_a_word_that_was_given_up_is_not_explained() -> None:
    kept = {word.strip() for row in rows(WORDS) for word in row[0].split(",")}
    given_up = {word.strip() for row in rows(GIVEN_UP) for word in row[0].split(",")}
    assert given_up
    assert not kept & given_up


def test_what_is_named_is_in_the_code() -> None:
    defined = set()
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                defined.add(node.name)
            elif isinstance(node, ast.Assign):
                defined.update(target.id for target in node.targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                defined.add(node.target.id)
    named = {name for row in rows(WORDS) for name in re.findall(r"`(\w+)`", row[2])}
    assert named
    assert named - defined == set()


def offences(word: str, allowed: str, text: str) -> list[str]:
    """The lines of ``text`` that have the word, but for those that may."""
    return [
        line.strip() for line in text.splitlines() if re.search(rf"(?<![\w-])(?:{word})\b", line) and not re.search(allowed, line)
    ]


@pytest.mark.parametrize("word", RETIRED)
def test_words_that_were_given_up_are_not_in_the_sources(word: str) -> None:
    found = {
        str(file.relative_to(ROOT)): lines
        for file in SOURCES
        if "symbols" not in file.parts and (lines := offences(word, RETIRED[word], file.read_text(encoding="utf-8")))
    }
    assert not found


def test_the_guides_name_the_party() -> None:
    """A subscriber, a source, a caller: with a pronoun in its place the reader has to guess. The glossary itself lists them."""
    guides = [ROOT / "README.md", *(ROOT / "docs" / "guides").glob("*.md"), *(ROOT / "packages").glob("*/README.md")]
    party = r"[Ss]omebody|[Nn]obody|[Aa]nybody|[Ww]hoever"
    found = {
        str(guide.relative_to(ROOT)): lines
        for guide in guides
        if guide.name != "glossary.md" and (lines := offences(party, r"(?!)", guide.read_text(encoding="utf-8")))
    }
    assert not found


def test_a_word_that_comes_back_is_found() -> None:
    assert offences(r"lanes?", r"(?!)", "x = 1\n# a lane for each source\nself.lanes = ()\nplanes, laned = 1, 2\n") == [
        "# a lane for each source",
        "self.lanes = ()",
    ]
    assert offences(r"[Ee]lements?", r"Single-element", 'the specs\' "Single-element post-complete"\nflow.element_at(3)\n') == []


def test_every_word_that_was_given_up_is_looked_for() -> None:
    given_up = [word.split(" of ")[0].strip() for row in rows(GIVEN_UP) for word in row[0].split(",")]
    elsewhere = {"inbox", "queue fusion"}  # other meanings: of a scheduler, and the name of the module with RxJava's protocol
    looked_for = "|".join(RETIRED)
    assert [word for word in given_up if word not in elsewhere and not re.fullmatch(looked_for, word)] == []


def test_the_glossary_is_linked() -> None:
    assert "(guides/glossary.md)" in Path(ROOT / "docs" / "README.md").read_text(encoding="utf-8")
