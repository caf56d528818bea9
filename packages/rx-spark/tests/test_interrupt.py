"""A ctrl-C while Spark starts ends the program and leaves no JVM behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from standalone import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120), pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def _group_runs_spark(group: int) -> bool:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group and b"deploy.SparkSubmit" in (folder / "cmdline").read_bytes():
                return True
        except (OSError, ValueError):
            continue  # it ended while we looked
    return False


def test_an_interrupt_while_the_jvm_starts_leaves_nothing_behind() -> None:
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import rx_spark\n"
        "try: rx_spark.start(master='local[1]')\n"
        "except KeyboardInterrupt: raise SystemExit(130)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        assert eventually(lambda: _group_runs_spark(process.pid) or process.poll() is not None, 60)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert eventually(lambda: not _group_runs_spark(process.pid), 30), "the JVM outlived its program"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
