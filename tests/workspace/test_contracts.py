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
    (contract,) = [c for c in LINTER["contracts"] if c.get("source_modules") == [project.module]]
    allowed = {project.module, *(needed.module for needed in siblings(project))}
    assert set(contract["forbidden_modules"]) == {other.module for other in PACKAGES} - allowed


def lint(folder: Path, module: str, text: str) -> subprocess.CompletedProcess[str]:
    """Check our packages, all modules of which are empty but for one with ``text``, against our contracts."""
    for project in PACKAGES:
        for file in (project.folder / "src").rglob("*.py"):
            copy = folder / file.relative_to(project.folder / "src")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("")
    (folder / module).write_text(text)
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
def test_an_allowed_import_is_not_refused(tmp_path: Path) -> None:
    linted = lint(tmp_path, "rx_ops/__init__.py", "import rx_core\n")
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "text", "contract"),
    [
        ("rx_core/__init__.py", "def late():\n    import rx_ops\n", "rx_core stands alone"),
        (
            "rx_core/__init__.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rx_ops\n",
            "rx_core stands alone",
        ),
        ("rx_core/streams/op.py", "from rx_core.streams import inputs\n", "rx_core.streams: contracts, gate"),
        ("rx_core/blocks/_once.py", "from rx_core.streams import op\n", "rx_core: blocks and streams"),
    ],
    ids=["another package", "for type checkers", "the gate and its inputs", "blocks and streams"],
)
def test_a_forbidden_import_is_refused(module: str, text: str, contract: str, tmp_path: Path) -> None:
    linted = lint(tmp_path, module, text)
    assert linted.returncode == 1, linted.stdout + linted.stderr
    [broken] = [line for line in " ".join(linted.stdout.split()).split(" KEPT") if contract in line and "BROKEN" in line][:1]
    assert contract in broken
