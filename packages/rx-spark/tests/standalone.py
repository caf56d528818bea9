"""A standalone cluster on this machine: a master and workers from pyspark's own files, on loopback, in a folder of its own.

The processes of its executors are looked up in /proc, so that tests can kill them one by one.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from rx_spark._session._java import find_java, java_home

#: The engine of this run, see conftest.
MASTER: Final = os.environ.get("RX_SPARK_MASTER", "")
LOOPBACK: Final = "127.0.0.1"
PATIENCE: Final = 60.0  # seconds for a JVM to start on a machine with other work
_MASTER: Final = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED: Final = "Successfully registered with master"


@dataclass
class Node:
    """A master or a worker. ``log`` is all that it printed, ``work`` where a worker's executors run."""

    process: subprocess.Popen[bytes]
    log: Path
    work: Path

    def wait_for(self, pattern: str) -> str:
        found: list[str] = []

        def said() -> bool:
            match = re.search(pattern, self.log.read_text(errors="replace"))
            if match is not None:
                found.append(match[match.lastindex or 0])
            elif self.process.poll() is not None:
                raise RuntimeError(f"Spark ended with {self.process.returncode}:\n{self.log.read_text(errors='replace')[-3000:]}")
            return bool(found)

        if not eventually(said, PATIENCE):
            raise RuntimeError(f"no {pattern!r} after {PATIENCE:.0f} s:\n{self.log.read_text(errors='replace')[-3000:]}")
        return found[0]


class Standalone:
    """``with Standalone(folder) as cluster``: a master and ``workers`` workers of one core each; all are gone at the end."""

    def __init__(self, folder: Path, workers: int = 2, *, hosts: Sequence[str] = (LOOPBACK,)) -> None:
        self._folder = folder
        self._wanted = workers
        #: Of the workers, in turns. Spark runs no second attempt on the host of the first one.
        self._hosts = hosts
        self._started = 0
        self._master: Node | None = None
        self.workers: list[Node] = []
        self.url = ""

    def __enter__(self) -> Standalone:
        try:
            self._master = self._start("org.apache.spark.deploy.master.Master", LOOPBACK, "--port", "0")
            self.url = self._master.wait_for(_MASTER.pattern)
            self.fill()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def fill(self) -> None:
        """Start as many workers as are missing."""
        self.workers = [worker for worker in self.workers if worker.process.poll() is None]
        new = [self._worker() for _ in range(self._wanted - len(self.workers))]
        self.workers += new
        for worker in new:
            worker.wait_for(_REGISTERED)

    def grow(self) -> Node:
        """Start one more worker than were wanted; :meth:`shrink` ends it."""
        worker = self._worker()
        self.workers.append(worker)
        worker.wait_for(_REGISTERED)
        return worker

    def shrink(self, worker: Node) -> None:
        self.workers.remove(worker)
        worker.process.terminate()
        worker.process.wait(PATIENCE)
        # Looked for now, when it starts no more: one that was just being started goes on, gets tasks and belongs to no worker.
        if not eventually(lambda: not executors_in(worker.work), 10.0):
            for executor in executors_in(worker.work):
                kill(executor)

    def stop(self) -> None:
        """Ask all to end, workers first: they end their executors. What has not ended after ten seconds is killed."""
        nodes = [*self.workers, *([self._master] if self._master is not None else [])]
        for node in nodes:
            node.process.terminate()
        for node in nodes:
            try:
                node.process.wait(10)
            except subprocess.TimeoutExpired:
                node.process.kill()
                node.process.wait()

    def executors(self) -> list[int]:
        """The process ids of the executors' JVMs."""
        return [pid for worker in self.workers for pid in children(worker.process.pid) if is_executor(pid)]

    def worker_of(self, executor: int) -> Node:
        return next(worker for worker in self.workers if executor in children(worker.process.pid))

    def _worker(self) -> Node:
        shape = ("--cores", "1", "--memory", "2g", "--work-dir", str(self._work()))
        host = self._hosts[self._started % len(self._hosts)]
        return self._start("org.apache.spark.deploy.worker.Worker", host, *shape, self.url)

    def _work(self) -> Path:
        return self._folder / f"work-{self._started}"

    def _start(self, name: str, host: str, *arguments: str) -> Node:
        from pyspark.find_spark_home import _find_spark_home

        java = find_java()
        temporary = self._folder / "tmp"
        temporary.mkdir(exist_ok=True)
        # Not what this process imports from: on a cluster nothing of it is known.
        environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SPARK_HOME")} | {
            "JAVA_HOME": java_home(java.executable, java.version),
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": str(temporary),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"-Djava.io.tmpdir={temporary} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        log, work = self._folder / f"{name.rpartition('.')[2].lower()}-{self._started}.log", self._work()
        self._started += 1
        command = [
            os.path.join(_find_spark_home(), "bin", "spark-class"),
            name,
            "--host",
            host,
            "--webui-port",
            "0",
            *arguments,
        ]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=self._folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        return Node(process, log, work)


# --- processes --------------------------------------------------------------------------------------------------------


def eventually(holds: Callable[[], bool], seconds: float) -> bool:
    """A process does not tell its caller what it does, so look again and again, for ``seconds`` at most."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def parents() -> dict[int, int]:
    """The parent of each process."""
    found: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue  # it ended while we looked
    return found


def children(pid: int) -> list[int]:
    return [child for child, parent in parents().items() if parent == pid]


def ancestors(pid: int) -> Iterator[int]:
    """``pid``, its parent, and so on."""
    known = parents()
    while pid > 1:
        yield pid
        pid = known.get(pid, 0)


def is_executor(pid: int) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def executors_in(work: Path) -> list[int]:
    """The process ids of the executors whose files are in the folder ``work``, whoever is their parent by now."""
    found = []
    folder = work.resolve()
    for pid in parents():
        try:
            inside = Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder)
        except OSError:
            continue
        if inside and is_executor(pid) and alive(pid):
            found.append(pid)
    return found


def alive(pid: int) -> bool:
    """Whether a process runs. One that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def kill(pid: int) -> None:
    """End a process at once, as a machine that breaks does."""
    if sys.platform != "linux":
        raise RuntimeError("processes are looked up in /proc")
    os.kill(pid, signal.SIGKILL)
