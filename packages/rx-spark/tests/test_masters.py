"""Programs that name a master: one that is not there, one that is silent, one whose Python is another; and a quiet end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rx_spark._jobs._job_errors import job_error
from rx_spark._session._masters import check_reachable

LOCAL_CLUSTER = "local-cluster[1,1,1024]"


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, **environment},
        check=False,
    )
    return done


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Takes connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_master_that_is_not_there_is_named(closed_port: int) -> None:
    program = "import sys, rx_spark\nrx_spark.range(3, master=sys.argv[1]).map(str).blocking_list()"
    started = time.monotonic()
    done = run(program, f"spark://127.0.0.1:{closed_port}")
    assert done.returncode == 1
    assert f"ConnectionError: no Spark master answers at 'spark://127.0.0.1:{closed_port}'." in done.stderr
    assert "refused" in done.stderr
    assert time.monotonic() - started < 30


def test_one_of_several_masters_is_enough(closed_port: int, silent_port: int) -> None:
    check_reachable(f"spark://127.0.0.1:{closed_port},127.0.0.1:{silent_port}")
    with pytest.raises(ConnectionError, match=f"127.0.0.1:{closed_port}: .*\n.*\\[::1\\]:{closed_port}: "):
        check_reachable(f"spark://127.0.0.1:{closed_port},[::1]:{closed_port}")
    with pytest.raises(ValueError, match=r"Right: {2}spark://host:7077"):
        check_reachable("spark://host")


def test_other_masters_are_left_to_spark() -> None:
    for master in ("local", "local[2]", "local-cluster[2,1,1024]", "yarn", "k8s://https://nowhere.invalid:6443"):
        check_reachable(master)


SILENT = """
import sys, rx_spark
from rx_spark._session import _masters
_masters.ACCEPT_SECONDS = 3.0
try:
    rx_spark.start(master=sys.argv[1])
except ConnectionError as error:
    print(error)
print(rx_spark.range(3, master="local[1]").map(str).blocking_list())
"""


@pytest.mark.cluster
@pytest.mark.engine("local-cluster")  # as long as a JVM takes to start twice
def test_a_master_that_is_silent_is_named_and_another_session_can_be_made(silent_port: int) -> None:
    done = run(SILENT, f"spark://127.0.0.1:{silent_port}")
    assert f"no Spark master answers at 'spark://127.0.0.1:{silent_port}'." in done.stdout
    assert "It took the connection, and was silent for 3 s" in done.stdout
    assert done.stdout.splitlines()[-1] == "['0', '1', '2']", done.stderr


def test_another_python_is_one_clear_error() -> None:
    told = "\n".join(
        (
            "An error occurred while calling o76.collectToPython.",
            ": org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times",
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] "
            "Python in worker has different version: 3.12 than that in driver: 3.11, PySpark cannot run with these.",
        )
    )
    assert str(job_error(RuntimeError(told))).startswith("the executors run Python 3.12, and this program runs 3.11: functions")


def test_a_python_without_the_library_is_named_with_what_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = RuntimeError(
        "An error occurred while calling o76.collectToPython.\n"
        "    return cloudpickle.loads(obj, encoding=encoding)\n"
        "ModuleNotFoundError: No module named 'rx_spark'\n"
    )
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    error = job_error(told)
    assert isinstance(error, ModuleNotFoundError)
    assert error.name == "rx_spark"
    assert "It is the first 'python3' on the path" in str(error)
    monkeypatch.setenv("PYSPARK_PYTHON", "elsewhere/python")
    assert "It is 'elsewhere/python', as PYSPARK_PYTHON says" in str(job_error(told))


OWN_SESSION = """
import rx_spark
from pyspark.sql import SparkSession
SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    rx_spark.range(3).map(lambda n: n + 1).blocking_list()
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.nightly
@pytest.mark.spark
def test_a_session_of_the_programs_own_may_start_a_python_without_the_library(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without any installed package
    python.chmod(0o755)
    done = run(OWN_SESSION, PYSPARK_PYTHON=str(python))
    assert "has no module" in done.stdout, done.stderr
    assert f"It is {str(python)!r}, as PYSPARK_PYTHON says" in done.stdout


#: Makes a Python say that it is 3.10: a real one would have to be on each machine that runs this.
PRETENDING = """
import sys
class Version(tuple):
    major, minor, micro, releaselevel, serial = 3, 10, 0, "final", 0
sys.version_info = Version((3, 10, 0, "final", 0))
"""
OTHER = """
import sys, rx_spark
try:
    rx_spark.range(3, master=sys.argv[1]).map(lambda n: open(sys.argv[2], "w")).blocking_list()
except rx_spark.SparkJobError as error:
    print(error)
"""


@pytest.mark.cluster
@pytest.mark.engine("local-cluster")
def test_another_python_is_named_before_user_code_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(PRETENDING)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = run(OTHER, LOCAL_CLUSTER, str(tmp_path / "touched"), PYSPARK_PYTHON=str(python))
    ours = ".".join(map(str, sys.version_info[:2]))
    assert done.stdout.startswith(f"the executors run Python 3.10, and this program runs {ours}"), done.stderr
    assert str(python) in done.stdout
    assert not (tmp_path / "touched").exists()


END = """
import sys, rx_spark
print(sorted(rx_spark.range(10, master=sys.argv[1]).group_reduce(lambda n: n % 2, lambda n: n, lambda a, b: a + b)))
"""


@pytest.mark.cluster
@pytest.mark.engine("local-cluster")
def test_a_program_on_a_cluster_ends_without_a_word_of_spark() -> None:
    done = run(END, LOCAL_CLUSTER)
    assert done.stdout == "[(0, 20), (1, 25)]\n"
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("master", ["foo", "", "local[0]", "local[x]", "spark:/host:7077", "local-cluster[2,1]"])
def test_what_is_no_master_is_told_with_those_that_are(master: str) -> None:
    with pytest.raises(ValueError, match=r"is no master of Spark\.\n  In this program:  local\[4\]"):
        check_reachable(master)


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]", "yarn", "k8s://https://host:443", "armada://x"],
)
def test_masters_that_spark_may_know_are_left_to_it(master: str) -> None:
    check_reachable(master)
