"""What the tests of the workspace know about its packages: they read the same files as the build does."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Project:
    """One distribution of the workspace."""

    folder: Path
    table: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return str(self.table["project"]["name"])

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def sources(self) -> Path:
        return self.folder / "src" / self.module

    @property
    def version(self) -> str:
        tree = ast.parse((self.sources / "_version.py").read_text(encoding="utf-8"))
        values = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
        assert len(values) == 1, f"{self.sources / '_version.py'} holds the version and nothing else"
        return str(values[0])

    @property
    def requirements(self) -> list[Requirement]:
        return [Requirement(text) for text in self.table["project"].get("dependencies", [])]

    @property
    def extras(self) -> list[Requirement]:
        extras = self.table["project"].get("optional-dependencies", {})
        return [Requirement(text) for texts in extras.values() for text in texts]

    @property
    def entry_points(self) -> dict[str, dict[str, str]]:
        points: dict[str, dict[str, str]] = self.table["project"].get("entry-points", {})
        return points


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def load(pattern: str) -> list[Project]:
    return [Project(file.parent, read(file)) for file in sorted(ROOT.glob(pattern))]


PACKAGES = load("packages/*/pyproject.toml")
PLUGINS = load("examples/plugins/*/pyproject.toml")
WORKSPACE = read(ROOT / "pyproject.toml")
NAMES = {project.name for project in PACKAGES}


def siblings(project: Project) -> list[Project]:
    """Return the packages of the workspace that a package needs, those of its needs included."""
    direct = {requirement.name for requirement in project.requirements} & NAMES
    found = set(direct)
    for other in PACKAGES:
        if other.name in direct:
            found |= {needed.name for needed in siblings(other)}
    return [other for other in PACKAGES if other.name in found]
