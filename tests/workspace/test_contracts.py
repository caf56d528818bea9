"""The import contracts say what the dependencies say, and they bite."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import grimp
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


def lint(folder: Path, modules: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Check our packages, all modules of which are empty but for these with their texts, against our contracts."""
    for project in PACKAGES:
        for file in (project.folder / "src").rglob("*.py"):
            copy = folder / file.relative_to(project.folder / "src")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("")
    for module, text in modules.items():
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
    linted = lint(tmp_path, {"rx_ops/__init__.py": "import rx_core\n"})
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
        ("rx_ops/_faces/_core.py", "def late():\n    from rx_ops._faces import _one_item\n", "rx_ops._faces: the types"),
        ("rx_ops/stages/_filter.py", "from rx_ops import operators\n", "rx_ops: stages and operators"),
        ("rx_ops/operators/_filter.py", "def late():\n    from rx_ops._faces import Flowable\n", "rx_ops: stages and operators"),
        ("rx_spark/_plans/_plan.py", "from rx_spark._jobs import _job\n", "rx_spark: plans, jobs, pipelines"),
        ("rx_spark/_columns/_rows.py", "from rx_spark._columns import _frames\n", "rx_spark: columns"),
        ("rx_fusion/_shapes.py", "from rx_fusion._heads import Head\n", "rx_fusion: stages"),
        ("rx_schedulers/_loop_thread.py", "def late():\n    from rx_schedulers import _event_loop\n", "rx_schedulers: actions"),
        ("rx_trio/_wakeup.py", "from rx_trio import _scheduler\n", "rx_trio: wake-ups below"),
        ("rx_asyncio/_loop.py", "def late():\n    from rx_asyncio import _source\n", "rx_asyncio: wake-ups below"),
        ("rx_core/tasks/_pump.py", "from rx_core.tasks import _mapping\n", "rx_core.tasks: loops, what waits"),
    ],
    ids=[
        "another package",
        "for type checkers",
        "the gate and its inputs",
        "blocks and streams",
        "the core of families and a type",
        "stages and operators",
        "operators and types of streams",
        "a plan and its job",
        "rows and DataFrames",
        "shapes and heads",
        "threads and their event loops",
        "wake-ups and what waits for them",
        "a loop and its sources",
        "tasks that pull and operators",
    ],
)
def test_a_forbidden_import_is_refused(module: str, text: str, contract: str, tmp_path: Path) -> None:
    refused(tmp_path, {module: text}, contract)


CIRCLES = [
    "rx_core/streams",
    "rx_fusion",
    "rx_ops/operators",
    "rx_ops/_faces",
    "rx_spark",
    "rx_spark/_workers",
    "rx_testing",
    "rx_trio",
    "rx_asyncio",
    "rx_metrics",
    "rx_core/tasks",
]


@pytest.mark.slow
@pytest.mark.parametrize("package", CIRCLES)
def test_a_circle_is_refused_also_when_half_of_it_is_for_type_checkers(package: str, tmp_path: Path) -> None:
    name = package.replace("/", ".")
    half = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {name} import _there\n"
    circle = {f"{package}/_here.py": half, f"{package}/_there.py": f"def late():\n    from {name} import _here\n"}
    refused(tmp_path, circle, "no circle inside a package")


@pytest.mark.slow
@pytest.mark.parametrize(
    "package", ["rx_fusion", "rx_ops", "rx_schedulers", "rx_spark", "rx_spark/_workers", "rx_trio", "rx_asyncio", "rx_metrics"]
)
def test_a_new_module_has_to_say_its_layer(package: str, tmp_path: Path) -> None:
    refused(tmp_path, {f"{package}/_new.py": ""}, f"{package.split('/')[0]}: ")


def test_what_names_the_types_for_their_families_imports_nothing_at_run_time() -> None:
    """The one exception in the contracts inside rx_ops is for type checkers."""
    graph = grimp.build_graph("rx_ops", exclude_type_checking_imports=True, cache_dir=None)
    assert graph.find_modules_directly_imported_by("rx_ops._faces._results") == set()
    assert graph.find_modules_that_directly_import("rx_ops._faces._results")


def refused(folder: Path, modules: dict[str, str], contract: str) -> None:
    linted = lint(folder, modules)
    assert linted.returncode == 1, linted.stdout + linted.stderr
    [broken] = [line for line in " ".join(linted.stdout.split()).split(" KEPT") if contract in line and "BROKEN" in line][:1]
    assert contract in broken
