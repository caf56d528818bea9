"""Programs that run in a process of their own: they run out of stack, or there must be no plugins."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent

from tests.defects.modes import UNFUSED


def printed(program: str, mode: str, **environment: str) -> str:
    """What a program prints that is run in this mode."""
    path = os.pathsep.join(each for each in sys.path if each)
    settings = {**os.environ, "PYTHONPATH": path, "RX_FUSION": "off" if mode == UNFUSED else "on", **environment}
    run = subprocess.run([sys.executable, "-c", dedent(program)], env=settings, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.strip()
