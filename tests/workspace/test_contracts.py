"""The import contracts say what the dependencies say, and they bite."""

from __future__ import annotations

import os
import re
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


#: An import that a contract forbids: the module, its text, the import as the linter writes it, and the contract.
FORBIDDEN = [
    ("rx_core/__init__.py", "def late():\n    import rx_ops\n", "rx_core -> rx_ops (l.2)", "rx_core stands alone"),
    (
        "rx_core/gate.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rx_trio\n",
        "rx_core.gate -> rx_trio (l.3)",
        "rx_core stands alone",
    ),
    (
        "rx_core/streams/op.py",
        "from rx_core.streams import inputs\n",
        "rx_core.streams.op -> rx_core.streams.inputs (l.1)",
        "rx_core.streams: contracts, gate",
    ),
    (
        "rx_core/blocks/_once.py",
        "from rx_core.streams import op\n",
        "rx_core.blocks._once -> rx_core.streams.op (l.1)",
        "rx_core: blocks and streams",
    ),
    (
        "rx_ops/_faces/_core.py",
        "def late():\n    from rx_ops._faces import _one_item\n",
        "rx_ops._faces._core -> rx_ops._faces._one_item (l.2)",
        "rx_ops._faces: the types",
    ),
    (
        "rx_ops/stages/_filter.py",
        "from rx_ops import operators\n",
        "rx_ops.stages._filter -> rx_ops.operators (l.1)",
        "rx_ops: stages and operators",
    ),
    (
        "rx_ops/operators/_filter.py",
        "def late():\n    from rx_ops._faces import Flowable\n",
        "rx_ops.operators._filter -> rx_ops._faces (l.2)",
        "rx_ops: stages and operators",
    ),
    (
        "rx_spark/_plans/_plan.py",
        "from rx_spark._jobs import _job\n",
        "rx_spark._plans._plan -> rx_spark._jobs._job (l.1)",
        "rx_spark: plans, jobs, pipelines",
    ),
    (
        "rx_spark/_columns/_rows.py",
        "from rx_spark._columns import _frames\n",
        "rx_spark._columns._rows -> rx_spark._columns._frames (l.1)",
        "rx_spark: columns",
    ),
    (
        "rx_fusion/_shapes.py",
        "from rx_fusion._heads import Head\n",
        "rx_fusion._shapes -> rx_fusion._heads (l.1)",
        "rx_fusion: stages",
    ),
    (
        "rx_schedulers/_loop_thread.py",
        "def late():\n    from rx_schedulers import _event_loop\n",
        "rx_schedulers._loop_thread -> rx_schedulers._event_loop (l.2)",
        "rx_schedulers: actions",
    ),
    (
        "rx_trio/_wakeup.py",
        "from rx_trio import _scheduler\n",
        "rx_trio._wakeup -> rx_trio._scheduler (l.1)",
        "rx_trio: wake-ups below",
    ),
    (
        "rx_asyncio/_loop.py",
        "def late():\n    from rx_asyncio import _source\n",
        "rx_asyncio._loop -> rx_asyncio._source (l.2)",
        "rx_asyncio: wake-ups below",
    ),
    (
        "rx_core/tasks/_pump.py",
        "from rx_core.tasks import _mapping\n",
        "rx_core.tasks._pump -> rx_core.tasks._mapping (l.1)",
        "rx_core.tasks: loops, what waits",
    ),
]
#: Packages in which two modules import each other.
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
#: Packages with a module that no layer names.
NEW = ["rx_fusion", "rx_ops", "rx_schedulers", "rx_spark", "rx_spark/_workers", "rx_trio", "rx_asyncio", "rx_metrics"]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the linter says about all of these together, without line ends; each is named by itself."""
    modules = {module: text for module, text, _, _ in FORBIDDEN}
    assert len(modules) == len(FORBIDDEN)
    for package in CIRCLES:
        name = package.replace("/", ".")
        half = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {name} import _there\n"
        modules[f"{package}/_here.py"] = half
        modules[f"{package}/_there.py"] = f"def late():\n    from {name} import _here\n"
    modules.update({f"{package}/_new.py": "" for package in NEW})
    linted = lint(tmp_path_factory.mktemp("broken"), modules)
    assert linted.returncode == 1, linted.stdout + linted.stderr
    _, _, details = linted.stdout.partition("Broken contracts")
    return re.sub(r"(-{4,} ?)+", "---- ", " ".join(details.split()))  # a long rule is broken into several


def said_of(contract: str, broken: str) -> str:
    """What is said of a contract: up to the rule under the name of the next one."""
    _, found, rest = broken.partition(contract)
    assert found, broken
    _, _, rest = rest.partition("---- ")
    return rest.partition("---- ")[0]


@pytest.mark.slow
@pytest.mark.parametrize(("_module", "_text", "refused", "contract"), FORBIDDEN, ids=[each[2] for each in FORBIDDEN])
def test_a_forbidden_import_is_refused(_module: str, _text: str, refused: str, contract: str, broken: str) -> None:
    assert f"- {refused}" in said_of(contract, broken)


@pytest.mark.slow
@pytest.mark.parametrize("package", CIRCLES)
def test_a_circle_is_refused_also_when_half_of_it_is_for_type_checkers(package: str, broken: str) -> None:
    assert f"No cycles are allowed in {package.replace('/', '.')}. " in said_of("no circle inside a package", broken)


@pytest.mark.slow
@pytest.mark.parametrize("package", NEW)
def test_a_new_module_has_to_say_its_layer(package: str, broken: str) -> None:
    assert f"- {package.replace('/', '.')}._new " in broken


def test_what_names_the_types_for_their_families_imports_nothing_at_run_time() -> None:
    """The one exception in the contracts inside rx_ops is for type checkers."""
    graph = grimp.build_graph("rx_ops", exclude_type_checking_imports=True, cache_dir=None)
    assert graph.find_modules_directly_imported_by("rx_ops._faces._results") == set()
    assert graph.find_modules_that_directly_import("rx_ops._faces._results")
