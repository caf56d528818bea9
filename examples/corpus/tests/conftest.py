"""Helpers for tests that need files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.entries import Entry
from corpus.reading import read_entries
from corpus.sources import SourceFile

Read = Callable[[bytes], list[Entry]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Writes bytes to a file of package ``p`` and reads its entries."""

    def write_and_read(content: bytes) -> list[Entry]:
        path = tmp_path / "sample.py"
        path.write_bytes(content)
        return list(read_entries(SourceFile(str(path), "p")))

    return write_and_read
