from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.plugins.places import PAIRS, Place


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mypy's cache, for all runs: only the first reads everything."""
    return tmp_path_factory.mktemp("mypy-cache")


@pytest.fixture
def place(tmp_path: Path, cache: Path) -> Place:
    """An interpreter without distributions that offer operators."""
    return Place(tmp_path, cache)


@pytest.fixture
def with_pairs(place: Place) -> Place:
    """An interpreter in which examples/plugins/rx-pairs is installed, editable as in a workspace."""
    project = tomllib.loads((PAIRS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    place.install_editable("rx-pairs", PAIRS, project["entry-points"]["rx.operators"])
    return place
