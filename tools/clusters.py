"""Run the tests that are marked ``cluster`` on Spark clusters of this machine, one cluster after the other.

    python tools/clusters.py                       local-cluster, a standalone cluster with two workers, one with speculation
    python tools/clusters.py standalone -k kill    one of them (or local-cluster, speculation), with arguments for pytest
    RX_KILLS=20 python tools/clusters.py           each kill twenty times, as in the night

Spark allows one context per process: each engine has a process of its own, whose fixtures start and stop what it needs
(packages/rx-spark/tests/conftest.py). When it is over, also after Ctrl-C, no process may be left: what is left is killed, and the
run has failed. Its files are removed. The exit code is that of the engine that failed first.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

ROOT: Final = Path(__file__).resolve().parent.parent
#: Engines, and the tests that run there unless others are named.
ENGINES: Final = {
    "local-cluster[2,1,1024]": "packages/rx-spark",
    "standalone": "packages/rx-spark",
    "speculation": "packages/rx-spark/tests/test_speculation.py",
}
#: In the environment of each process that a run starts, and of theirs.
NAME: Final = "RX_CLUSTER_RUN"
#: How long the tests may take to end after Ctrl-C, and what they leave behind to end by itself.
PATIENCE: Final = 30.0
TICK: Final = 0.1


def run(engine: str, arguments: Sequence[str], stops: list[int]) -> int:
    """The tests on one engine. Its exit code; 1 when all passed and something was left."""
    token = secrets.token_hex(8)
    folder = Path(tempfile.mkdtemp(prefix="rx-cluster-"))
    before = work_folders()
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={folder / 'pytest'}", "-m", "cluster"]
    named = any(Path(each.partition("::")[0]).exists() for each in arguments)
    command += [f"--timeout={10 * 60}", *([] if named else [ENGINES[engine]]), *arguments]
    environment = {**os.environ, NAME: token, "RX_SPARK_MASTER": engine, "TMPDIR": str(folder)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, process_group=0 if os.name == "posix" else None)
    try:
        told = 0.0
        while process.poll() is None:
            time.sleep(TICK)
            if stops and not told:
                told = time.monotonic()
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGINT)  # what a terminal does
            if told and time.monotonic() > told + PATIENCE:
                break
    finally:
        left = end(token, patience=PATIENCE if not stops else PATIENCE / 3)
        shutil.rmtree(folder, ignore_errors=True)
        for each in work_folders() - before - in_use():
            shutil.rmtree(each, ignore_errors=True)
    for line in left:
        print(f"{engine}: a process was left, and was killed: {line}", flush=True)
    return process.wait() or (1 if left else 0)


def end(token: str, patience: float) -> list[str]:
    """Wait until all processes of a run are gone; kill those that stay, and return their command lines."""
    deadline = time.monotonic() + patience
    while (found := of_run(token)) and time.monotonic() < deadline:
        time.sleep(TICK)
    lines = [command_line(pid) for pid in found]
    while found:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(TICK)
        found = of_run(token)  # what a dying process has started meanwhile
    return lines


def of_run(token: str) -> list[int]:
    """The processes that have the token in their environment. Linux only: elsewhere none are found."""
    needle = f"{NAME}={token}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if needle in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[-200:]
    return str(pid)


def work_folders() -> set[Path]:
    """Where executors of a local-cluster work: Spark puts that beside its own files, and leaves it there."""
    import pyspark

    return set((Path(pyspark.__file__).resolve().parent / "work").glob("app-*"))


def in_use() -> set[Path]:
    """The folders in which processes are, with those above: another run's executors work there."""
    found: set[Path] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.update((folder / "cwd").resolve(strict=True).parents)
    return found


def engine_of(argument: str) -> str | None:
    """The engine that is meant, with what it is made of or without; None for an option of pytest and for a file of tests.

    Raises SystemExit for what is none of these."""
    for engine in ENGINES:
        if argument in (engine, engine.partition("[")[0]):
            return engine
    if argument.startswith("-") or (ROOT / argument.partition("::")[0]).exists():
        return None
    raise SystemExit(f"{argument!r} is neither an engine nor a file of tests.\n  Engines:  {', '.join(ENGINES)}")


def main(arguments: Sequence[str]) -> int:
    engines = [engine for each in arguments[:1] if (engine := engine_of(each)) is not None]
    rest = arguments[len(engines) :]
    stops: list[int] = []

    def stop(signum: int, _frame: FrameType | None) -> None:
        stops.append(signum)  # not raised: what was started is ended first

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
    failed = 0
    seconds: dict[str, float] = {}
    for engine in engines or ENGINES:
        if not stops:
            print(f"---- {engine} ----", flush=True)
            started = time.monotonic()
            code = run(engine, rest, stops)
            failed = failed or code
            seconds[engine] = time.monotonic() - started
    for engine, took in seconds.items():
        print(f"{engine:<24} {took:4.0f} s", flush=True)
    return 128 + stops[0] if stops else failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
