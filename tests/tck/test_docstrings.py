"""The drawings in the docstrings of operators are marble diagrams that can be read, so that they cannot be nonsense."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import rx_ops
from rx_testing import doc_marbles_in, parse_doc_marbles

ROOT: Final = Path(rx_ops.__file__).parent
DRAWINGS: Final = [
    (f"{path.relative_to(ROOT)}:{number}", line.strip())
    for path in sorted(ROOT.rglob("*.py"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    if list(doc_marbles_in(line))
]


def test_there_are_drawings() -> None:
    assert len(DRAWINGS) > 100


@pytest.mark.parametrize("line", [line for _, line in DRAWINGS], ids=[where for where, _ in DRAWINGS])
def test_a_drawing_can_be_read(line: str) -> None:
    parse_doc_marbles(line)
