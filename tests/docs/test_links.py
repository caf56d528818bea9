"""Links inside the documentation lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, anchors, documents, links

DOCUMENTS = documents()


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_links_resolve(path: Path) -> None:
    broken = []
    for line, target in links(path):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        if not found.exists() or (anchor and (found.suffix != ".md" or anchor not in anchors(found))):
            broken.append(f"{_name(path)}:{line}: {target}")
    assert not broken, "\n".join(broken)


def test_the_guides_are_linked_from_the_index() -> None:
    """A page nobody links to is read by nobody."""
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for _, target in links(index)}
    pages = {path for path in DOCUMENTS if path.is_relative_to(ROOT / "docs") and path != index}
    assert not [_name(path) for path in sorted(pages - linked)]


def test_what_messages_name_exists() -> None:
    """Error messages and comments send people to pages of the documentation."""
    missing = []
    for file in [*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("tools/*.py"), *ROOT.glob("examples/**/*.py")]:
        for page in re.findall(r"docs/[\w/-]+\.md", file.read_text(encoding="utf-8")):
            if not (ROOT / page).is_file():
                missing.append(f"{file.relative_to(ROOT)}: {page}")
    assert not missing, "\n".join(missing)
