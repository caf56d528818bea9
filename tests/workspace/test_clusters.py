"""tools/clusters.py leaves no process behind: not after its tests, and not after a Ctrl-C in the middle of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools import clusters

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: What stands for an executor: it has a session of its own, and does not end when its parent does.
SLEEPER = (
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True, "
    "stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)"
)


def eventually(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("argument", "engine"),
    [
        ("local-cluster", "local-cluster[2,1,1024]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("speculation", "speculation"),
        ("-k", None),
        ("packages/rx-spark", None),
        ("packages/rx-spark/tests/test_kills.py::test_columns", None),
    ],
)
def test_an_engine_is_named_with_what_it_is_made_of_or_without(argument: str, engine: str | None) -> None:
    assert clusters.engine_of(argument) == engine


def test_what_is_neither_an_engine_nor_a_file_is_told_with_the_engines() -> None:
    with pytest.raises(SystemExit, match=r"Engines:  local-cluster\[2,1,1024\], standalone, speculation"):
        clusters.main(["local"])


@pytest.fixture
def tests(tmp_path: Path) -> Iterator[Path]:
    """A folder for tests that start a sleeper, and tell its process id in a file."""
    yield tmp_path
    if (tmp_path / "pid").exists():
        pid = int((tmp_path / "pid").read_text())
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def write(folder: Path, after: str) -> Path:
    file = folder / "test_it.py"
    file.write_text(
        "import pathlib, subprocess, sys, time, warnings\nimport pytest\n\n\n"
        "@pytest.mark.cluster\n@pytest.mark.filterwarnings('ignore')\ndef test_it():\n"
        f"    sleeper = {SLEEPER}\n"
        f"    part = pathlib.Path({str(folder / 'part')!r})\n"
        "    part.write_text(str(sleeper.pid))\n"
        f"    part.rename({str(folder / 'pid')!r})\n"
        f"    {after}\n"
    )
    return file


def test_what_the_tests_leave_is_killed_and_fails_the_run(
    tests: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", 0.2)
    assert clusters.run("standalone", [str(write(tests, "pass"))], []) == 1
    pid = int((tests / "pid").read_text())
    assert not alive(pid)
    out = capfd.readouterr().out
    assert "1 passed" in out
    assert "standalone: a process was left, and was killed: " in out
    assert "time.sleep(600)" in out


def test_tests_that_leave_nothing_pass(tests: Path) -> None:
    assert clusters.run("standalone", [str(write(tests, "sleeper.kill(); sleeper.wait()"))], []) == 0


@pytest.mark.slow
def test_after_an_interrupt_nothing_is_left(tests: Path) -> None:
    program = "import sys; from tools import clusters; clusters.PATIENCE = 3.0; sys.exit(clusters.main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "standalone", str(write(tests, "time.sleep(600)"))]
    process = subprocess.Popen(command, cwd=clusters.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert eventually((tests / "pid").exists, 40)
        process.send_signal(signal.SIGINT)
        assert process.wait(40) == 130
    finally:
        process.kill()
        process.wait()
    assert not alive(int((tests / "pid").read_text()))
