"""What a package imports is what it declares, no more and no less."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import re
import sys
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.workspace.projects import PACKAGES, PLUGINS, Project

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

# Needed at run time, but only by a dependency of ours and only if we use a certain part of it.
NOT_IMPORTED = {
    "rx-spark": {"pandas": "pyspark converts to and from Arrow only if it is there"},
}
# Imported, but brought along by whoever loads the module: a tool that calls its own plugin.
BROUGHT_BY_CALLER = {
    "rx-ops": {"mypy": "mypy loads the plugin module"},
    "rx-spark": {"polars": "batches(as_='polars') says so where it is not installed"},
    "rx-core": {"rich": "the progress plugin asks for it when it is switched on"},
}


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield the top-level names of absolute imports, except those only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for statement in node.orelse:
                yield from imported_names(ast.Module([statement], []))
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                yield node.module.partition(".")[0]
        else:
            yield from imported_names(node)


def third_party(folder: Path, own: str) -> set[str]:
    found = {
        name for file in folder.rglob("*.py") for name in imported_names(ast.parse(file.read_text(encoding="utf-8"), str(file)))
    }
    return found - set(sys.stdlib_module_names) - {own}


#: It reads the metadata of everything installed.
packages_distributions = cache(importlib.metadata.packages_distributions)


def distribution(module: str, known: Collection[str] = ()) -> str:
    """Return the distribution that an import name belongs to; where several share it, one of those that are ``known``."""
    owners = [normal(owner) for owner in packages_distributions().get(module, [module])]
    return next((owner for owner in owners if owner in known), owners[0])


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def differences(project: Project) -> tuple[set[str], set[str]]:
    """Return what is imported without being declared, and what is declared without being imported."""
    declared = {normal(requirement.name) for requirement in project.requirements}
    optional = {normal(requirement.name) for requirement in project.extras}
    imported = {distribution(name, declared | optional) for name in third_party(project.sources, project.module)}
    undeclared = imported - declared - optional - set(BROUGHT_BY_CALLER.get(project.name, ()))
    unused = declared - imported - set(NOT_IMPORTED.get(project.name, ()))
    return undeclared, unused


@pytest.mark.parametrize("project", [*PACKAGES, *PLUGINS], ids=str)
def test_imports_are_declared_and_declarations_are_used(project: Project) -> None:
    undeclared, unused = differences(project)
    assert not undeclared, f"{project.name} imports {undeclared}: add it to its dependencies, or import it elsewhere"
    assert not unused, f"{project.name} depends on {unused} without importing it: remove it from its dependencies"


@pytest.mark.parametrize("project", PACKAGES, ids=str)
def test_dir_shows_what_a_package_offers(project: Project) -> None:
    """Also what is imported when it is used, and nothing that the package imports for itself."""
    package = importlib.import_module(project.module)
    shown = dir(package)
    assert [name for name in shown if not name.startswith("__")] == sorted(set(package.__all__) - {"__version__"})
    assert {"__doc__", "__version__"} <= set(shown)
    assert all(hasattr(package, name) for name in package.__all__)


def test_a_difference_is_found(tmp_path: Path) -> None:
    sources = tmp_path / "src" / "rx_sample"
    sources.mkdir(parents=True)
    (sources / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "import os.path\n"
        "from rx_sample import thing\n"
        "from . import other\n"
        "if TYPE_CHECKING:\n    import mypy\nelse:\n    import pytest\n"
        "def late():\n    import trio.lowlevel\n"
    )
    table = {"project": {"name": "rx-sample", "dependencies": ["pytest>=8", "rich>=13"]}}
    assert differences(Project(tmp_path, table)) == ({"trio"}, {"rich"})
