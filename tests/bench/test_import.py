"""Importing stays cheap: what only some programs need waits for them. How long it takes is printed by the benchmark."""

from __future__ import annotations

import subprocess
import sys

#: Each is a millisecond or more, and nothing of it is needed to build and run a pipeline.
NOT_YET = ("asyncio", "html", "importlib.metadata", "logging", "pickle", "pluggy", "random", "rx_schedulers", "rx_trio", "trio")


def test_importing_rx_ops_leaves_out_what_only_some_need() -> None:
    code = "import sys, rx_ops; print(*sorted(sys.modules))"
    # -S and -I would leave out editable installs; what site brings in by itself is taken off instead
    loaded, bare = (
        set(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split())
        for text in (code, "import sys; print(*sorted(sys.modules))")
    )
    assert "rx_fusion" in loaded
    assert [name for name in NOT_YET if name in loaded - bare] == []


def test_importing_rx_ops_reads_no_stage() -> None:
    code = (
        "import rx_ops.stages, rx_fusion._stages as known\n"
        "print(*(f.__name__ for f, found in known._STAGES.items() if isinstance(found, known.Stage)))"
    )
    read = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert read == []
