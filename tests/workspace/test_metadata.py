"""Each package is complete, and the lists at the root name all of them."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys

import pytest

from tests.workspace.projects import NAMES, PACKAGES, PLUGINS, ROOT, WORKSPACE, Project
from tools import dev, free_threaded

EVERY_PACKAGE = pytest.mark.parametrize("project", PACKAGES, ids=str)


def test_all_packages_of_the_design_exist() -> None:
    assert {
        "rx-asyncio",
        "rx-core",
        "rx-fusion",
        "rx-metrics",
        "rx-ops",
        "rx-schedulers",
        "rx-spark",
        "rx-testing",
        "rx-trio",
    } <= NAMES
    assert {project.folder.name for project in PACKAGES} == NAMES


@EVERY_PACKAGE
def test_a_package_is_complete(project: Project) -> None:
    for name in ("README.md", "CHANGELOG.md", "LICENSE", "api.txt"):
        assert (project.folder / name).is_file(), f"{project.name} has no {name}"
    assert (project.sources / "py.typed").is_file()
    assert (project.folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (project.folder / "README.md").read_text(encoding="utf-8").startswith(f"# {project.name}\n")


@EVERY_PACKAGE
def test_metadata_agrees_with_the_other_packages(project: Project) -> None:
    model = next(other for other in PACKAGES if other.name == "rx-core").table["project"]
    own = project.table["project"]
    for key in ("requires-python", "license", "license-files", "authors"):
        assert own[key] == model[key], key
    for wanted in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {wanted}" in own["classifiers"]
    assert "Typing :: Typed" in own["classifiers"]
    beta = "Programming Language :: Python :: Free Threading :: 2 - Beta"
    assert (beta in own["classifiers"]) == (
        project.name in free_threaded.PACKAGES
    )  # what is promised is what is run without the GIL
    # PEP 639: the licence is told by the expression, and a classifier next to it is refused by the index.
    assert not [classifier for classifier in own["classifiers"] if classifier.startswith("License ::")]


@EVERY_PACKAGE
def test_installed_metadata_has_the_version_of_the_module(project: Project) -> None:
    assert importlib.metadata.version(project.name) == project.version, (
        f"the environment has old metadata of {project.name}: run tools/dev.py once, or hatch env remove default"
    )


@EVERY_PACKAGE
def test_requirements_have_a_range_and_accept_what_is_installed(project: Project) -> None:
    for requirement in [*project.requirements, *project.extras]:
        assert ">=" in str(requirement.specifier), f"{project.name}: {requirement} names no oldest version"
        installed = importlib.metadata.version(requirement.name)
        assert requirement.specifier.contains(installed), f"{requirement} refuses the installed {installed}"


@EVERY_PACKAGE
def test_entry_points_name_modules_that_exist(project: Project) -> None:
    for group, points in project.entry_points.items():
        for value in points.values():
            module = value.partition(":")[0]
            path = project.folder / "src" / module.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), f"{group}: {value}"


@EVERY_PACKAGE
def test_change_log_entries_have_a_type_towncrier_knows(project: Project) -> None:
    kinds = {kind["directory"] for kind in project.table["tool"]["towncrier"]["type"]}
    for entry in (project.folder / "changelog.d").glob("*"):
        assert re.fullmatch(rf"(\d+|\+[\w-]+)\.({'|'.join(sorted(kinds))})(\.\d+)?\.md", entry.name), entry
        assert entry.read_text(encoding="utf-8").strip(), f"{entry} is empty"


@pytest.mark.slow
def test_towncrier_can_write_the_change_log() -> None:
    project = next(project for project in PACKAGES if project.name == "rx-core")
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--dir", str(project.folder), "--date", "today"]
    drafted = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    entries = list((project.folder / "changelog.d").glob("*.md"))
    assert f"## {project.version} (today)" in drafted
    for entry in entries:
        assert entry.read_text(encoding="utf-8").split()[0] in drafted


def test_checkers_find_the_sources_of_every_package() -> None:
    mypy = [entry.replace("$MYPY_CONFIG_FILE_DIR/", "") for entry in WORKSPACE["tool"]["mypy"]["mypy_path"]]
    pyright = WORKSPACE["tool"]["pyright"]["extraPaths"]
    for project in [*PACKAGES, *PLUGINS]:
        folder = project.folder.relative_to(ROOT)
        assert f"{folder}/src" in mypy
        assert f"{folder}/tests" in mypy
        assert f"{folder}/src" in pyright or project in PLUGINS


def test_every_command_of_dev_py_is_a_script() -> None:
    scripts = WORKSPACE["tool"]["hatch"]["envs"]["default"]["scripts"]
    assert set(dev.COMMANDS) - {"pytest"} <= set(scripts)


def test_the_test_command_runs_the_parts() -> None:
    scripts = WORKSPACE["tool"]["hatch"]["envs"]["default"]["scripts"]
    assert scripts["test"] == "python tools/tests.py {args}"  # the rest: tests/workspace/test_parts.py


def test_ci_runs_the_same_command_as_everybody() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "set -eu" in lines
    assert lines[-1] == "python3 tools/dev.py test"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
