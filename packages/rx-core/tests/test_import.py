"""What importing the core costs: it must not make anybody hesitate to depend on it."""

from __future__ import annotations

import json
import subprocess
import sys

_PROBE = """
import json, sys, time
import logging  # what nearly every program has imported anyway is not what the core costs
before = set(sys.modules)
started = time.perf_counter()
import rx_core
seconds = time.perf_counter() - started
print(json.dumps([seconds, sorted(set(sys.modules) - before)]))
"""


def _import_once() -> tuple[float, list[str]]:
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True, timeout=30)
    seconds, modules = json.loads(done.stdout)
    return seconds, modules


def test_importing_the_core_pulls_in_neither_pluggy_nor_an_event_loop() -> None:
    _, modules = _import_once()
    assert "rx_core" in modules
    heavy = {"pluggy", "asyncio", "trio", "importlib.metadata", "inspect", "dataclasses"}
    assert not heavy & set(modules)


def test_importing_the_core_takes_less_than_30_milliseconds() -> None:
    # The fastest of several: the bound is on the work, not on what else the machine is doing.
    assert min(_import_once()[0] for _ in range(5)) < 0.030


def test_plugin_tools_are_found_when_asked_for() -> None:
    code = "import sys, rx_core; rx_core.hookimpl; assert 'pluggy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
