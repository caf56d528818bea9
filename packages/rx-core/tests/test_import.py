"""What importing the core pulls in. How long it takes is a row of the benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys

_PROBE = """
import json, sys
import logging  # what nearly every program has imported anyway is not what the core costs
before = set(sys.modules)
import rx_core
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_importing_the_core_pulls_in_neither_pluggy_nor_an_event_loop() -> None:
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True, timeout=30)
    modules = json.loads(done.stdout)
    assert "rx_core" in modules
    heavy = {"pluggy", "asyncio", "trio", "importlib.metadata", "inspect", "dataclasses"}
    assert not heavy & set(modules)


def test_plugin_tools_are_found_when_asked_for() -> None:
    code = "import sys, rx_core; rx_core.hookimpl; assert 'pluggy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
