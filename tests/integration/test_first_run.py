"""The first run of a program finds all installed plugins: each costs what is used of it, however heavy what it is for."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import rx_asyncio
import rx_testing
import rx_trio

#: What the packages of this repository that offer plugins are for, and what it takes 20 to 400 ms to import.
HEAVY = ("asyncio", "hypothesis", "pandas", "pyarrow", "pyspark", "pytest", "trio")

_FIRST_RUN = f"""
import sys
from rx_ops import Flowable
assert Flowable.range(3).blocking_list() == [0, 1, 2]
assert 'pluggy' in sys.modules, 'the run asked for no plugins'
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""


def run(program: str, *path: Path) -> str:
    """What ``program`` prints in a process of its own, which finds what is in ``path`` beside what is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "RX_DISABLE_PLUGINS"}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), *filter(None, [environment.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_first_run_imports_nothing_that_only_other_uses_of_the_plugins_need() -> None:
    assert run(_FIRST_RUN) == ""


def test_a_plugin_that_imports_at_its_top_is_caught(tmp_path: Path) -> None:
    """The control."""
    (tmp_path / "eager_plugin.py").write_text("import trio\n")
    installed = tmp_path / "eager-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: eager\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[rx]\neager = eager_plugin\n")
    assert run(_FIRST_RUN, tmp_path) == "trio"


def test_the_plugins_of_this_repository_are_there_all_the_same() -> None:
    program = """
import sys
from rx_core import manager, scheduler
found = {info.distribution for info in manager().describe() if info.failure is None}
print(sorted({'rx-asyncio', 'rx-schedulers', 'rx-testing', 'rx-trio'} - found), 'trio' in sys.modules, 'asyncio' in sys.modules)
from rx_testing import VirtualScheduler
assert type(scheduler('virtual')) is VirtualScheduler and scheduler('virtual') is scheduler('virtual')
assert 'trio' not in sys.modules
from rx_core import Scheduler
assert isinstance(scheduler('trio'), Scheduler) and 'trio' in sys.modules
"""
    assert run(program) == "[] False False"


def test_asyncio_awaits_without_trio_being_imported() -> None:
    program = """
import asyncio, sys
from rx_ops import Single
async def main():
    return await Single.just(1)
print(asyncio.run(main()), 'trio' in sys.modules)
"""
    assert run(program) == "1 False"


@pytest.mark.parametrize("package", [rx_asyncio, rx_trio, rx_testing], ids=lambda package: package.__name__)
def test_what_a_package_exports_is_found_when_it_is_asked_for(package: object) -> None:
    name = package.__name__  # type: ignore[attr-defined]  # a module
    program = f"""
import sys, {name}
assert not {{'asyncio', 'trio', 'pytest'}} & sys.modules.keys()
exported = {name}.__all__
assert set(exported) <= set(dir({name})) and '__doc__' in dir({name})
from {name} import *
assert set(exported) <= globals().keys()
assert all(getattr({name}, each) is globals()[each] for each in exported)
try:
    {name}.spam
except AttributeError as error:
    print(error)
"""
    assert run(program) == f"module '{name}' has no attribute 'spam'"


def test_the_tck_is_part_of_its_package() -> None:
    assert run("import rx_testing; print(rx_testing.tck.verify.__name__)") == "verify"


def test_the_heavy_ones_are_installed_here() -> None:
    """Or the first test would say nothing about them."""
    assert all(find_spec(name) for name in ("asyncio", "hypothesis", "pytest", "trio"))
