"""tools/java_archive.py: what the JVMs of a test run are started with, with and without the archive of classes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tools import java_archive, tests


@pytest.fixture(autouse=True)
def looked_for_anew() -> None:
    tests.java_archive.cache_clear()


def test_without_java_there_is_no_archive_and_that_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert java_archive.main() == 0
    assert "no Java" in capsys.readouterr().out


def test_a_java_that_does_not_work_has_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert tests.java_archive() is None
    broken = tmp_path / "bin" / "java"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    tests.java_archive.cache_clear()
    assert tests.java_archive() is None


def test_another_java_has_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/sh\necho "openjdk version $(cat $0.version)" >&2\n')
    java.chmod(0o755)
    places = set[Path | None]()
    for version in ("17.0.1", "17.0.2", "17.0.1"):
        (java.parent / "java.version").write_text(version)
        tests.java_archive.cache_clear()
        places.add(tests.java_archive())
    assert len(places) == 2
    assert None not in places


def test_an_archive_is_named_to_jvms_once_it_is_there(tmp_path: Path) -> None:
    archive = tmp_path / "classes.jsa"
    assert tests.java_options(None) == tests.java_options(archive) == tests.SHORT_LIVED_JAVA
    archive.touch()
    assert tests.java_options(archive).endswith(f" -XX:SharedArchiveFile={archive}")


@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
@pytest.mark.parametrize("content", [b"", b"no archive", b"\0" * 100_000], ids=["empty", "text", "zeros"])
def test_an_archive_that_cannot_be_used_is_passed_over_in_silence(tmp_path: Path, content: bytes) -> None:
    archive = tmp_path / "classes.jsa"
    archive.write_bytes(content)
    plain, told = (
        subprocess.run(["java", *options, "-version"], capture_output=True, text=True, timeout=60, check=True)
        for options in (tests.SHORT_LIVED_JAVA.split(), tests.java_options(archive).split())
    )
    assert told.stdout == plain.stdout == ""
    assert told.stderr.replace(", sharing", "") == plain.stderr.replace(", sharing", "")
