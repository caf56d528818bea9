"""Each package builds as a wheel that installs and imports in an environment that holds nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
import uv

from tests.workspace.projects import PACKAGES, Project, siblings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EVERY_PACKAGE = pytest.mark.parametrize("project", PACKAGES, ids=str)
# The first run may have to download Spark.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

IMPORT_IT = """
import importlib, importlib.metadata, sys
name, module = sys.argv[1:]
print(importlib.import_module(module).__version__)
for point in importlib.metadata.distribution(name).entry_points:
    point.load()
"""


def call(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VIRTUAL_ENV", "HATCH_", "RX_")) and name not in ("PYTHONPATH", "UV_PYTHON")
    }
    return subprocess.run(list(command), cwd=folder, env=environ, capture_output=True, text=True, check=False)


def succeed(command: Sequence[str | Path], folder: Path) -> str:
    done = call(command, folder)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the wheel of every package."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in PACKAGES:
        succeed([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], project.folder)
    return {wheel.name.partition("-")[0].replace("_", "-"): wheel for wheel in folder.glob("*.whl")}


@EVERY_PACKAGE
def test_a_wheel_holds_its_package_and_nothing_else(project: Project, wheels: dict[str, Path]) -> None:
    with zipfile.ZipFile(wheels[project.name]) as wheel:
        names = wheel.namelist()
        information = f"{project.module}-{project.version}.dist-info"
        metadata = wheel.read(f"{information}/METADATA").decode()
    assert {name.partition("/")[0] for name in names} == {project.module, information}
    assert f"{project.module}/py.typed" in names
    assert f"{information}/licenses/LICENSE" in names
    assert wheels[project.name].name.endswith("-py3-none-any.whl")
    lines = metadata.partition("\n\n")[0].splitlines()
    assert f"Version: {project.version}" in lines
    assert "License-Expression: Apache-2.0" in lines
    assert "Requires-Python: >=3.11" in lines


@EVERY_PACKAGE
def test_a_package_installs_and_imports_alone(project: Project, wheels: dict[str, Path], tmp_path: Path) -> None:
    tool = uv.find_uv_bin()
    succeed([tool, "venv", "--quiet", "--no-config", "--python", sys.executable, "alone"], tmp_path)
    python = tmp_path / "alone" / "bin" / "python"
    # Links, because Spark is 300 MB.
    install: list[str | Path] = [tool, "pip", "install", "--quiet", "--link-mode", "symlink", "--python", python]
    install += [wheels[needed.name] for needed in (project, *siblings(project))]
    # What is in uv's cache needs no network.
    if call([*install, "--offline"], tmp_path).returncode:
        succeed(install, tmp_path)
    assert succeed([python, "-I", "-c", IMPORT_IT, project.name, project.module], tmp_path).strip() == project.version
    if project.name == "rx-core" or "rx" in project.entry_points:
        listed = succeed([python, "-I", "-m", "rx_core", "plugins"], tmp_path)
        assert project.name in listed or "rx" not in project.entry_points, listed
