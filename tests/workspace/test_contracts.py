"""The import contracts say what the dependencies say, and they bite."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.workspace.projects import PACKAGES, ROOT, WORKSPACE, Project, siblings

if TYPE_CHECKING:
    from pathlib import Path

LINTER = WORKSPACE["tool"]["importlinter"]


def test_every_package_is_under_contract() -> None:
    assert set(LINTER["root_packages"]) == {project.module for project in PACKAGES}


@pytest.mark.parametrize("project", PACKAGES, ids=str)
def test_a_contract_forbids_what_is_no_dependency(project: Project) -> None:
    (contract,) = [c for c in LINTER["contracts"] if c["source_modules"] == [project.module]]
    allowed = {project.module, *(needed.module for needed in siblings(project))}
    assert set(contract["forbidden_modules"]) == {other.module for other in PACKAGES} - allowed


def lint(folder: Path, line_in_core: str) -> subprocess.CompletedProcess[str]:
    """Check packages that are empty but for one line in rx_core against our contracts."""
    for project in PACKAGES:
        (folder / project.module).mkdir()
        (folder / project.module / "__init__.py").write_text("")
    (folder / "rx_core" / "__init__.py").write_text(line_in_core)
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"]
    return subprocess.run(
        [*command, "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_forbidden_import_is_refused(tmp_path: Path) -> None:
    linted = lint(tmp_path, "def late():\n    import rx_ops\n")
    assert linted.returncode == 1, linted.stdout + linted.stderr
    assert "rx_core stands alone BROKEN" in linted.stdout


@pytest.mark.slow
def test_an_import_for_type_checkers_is_allowed(tmp_path: Path) -> None:
    linted = lint(tmp_path, "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rx_ops\n")
    assert linted.returncode == 0, linted.stdout + linted.stderr
