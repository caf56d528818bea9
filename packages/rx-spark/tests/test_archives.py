"""Python workers of an embedded session are forked ready to work: pyspark is imported from its folder, before the fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

import rx_spark
from rx_spark._workers._archives import leave_archives

CORE = "spark-core_2.13-4.3.0.jar"


def installed(site: Path) -> Path:
    """A folder with a pyspark in it."""
    folder = site / "pyspark"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    return folder


def left(*path: Path) -> list[Path]:
    entries = [str(entry) for entry in path]
    leave_archives(entries)
    return [Path(entry) for entry in entries]


def test_the_zip_of_an_installation_by_pip_is_left(tmp_path: Path) -> None:
    folder = installed(tmp_path / "site-packages")
    archive, jar, other = folder / "python" / "lib" / "pyspark.zip", folder / "jars" / CORE, tmp_path / "py4j-0.10-src.zip"
    assert left(archive, other, jar, folder.parent) == [other, folder.parent]


def test_the_zip_of_a_distribution_is_left_where_its_folder_is_on_the_path(tmp_path: Path) -> None:
    python = installed(tmp_path / "spark" / "python").parent
    archive, jar = python / "lib" / "pyspark.zip", tmp_path / "spark" / "jars" / CORE
    assert left(archive, jar, python) == [python]


def test_a_zip_of_another_installation_stays_and_so_does_one_without_a_folder(tmp_path: Path) -> None:
    other = installed(tmp_path / "site-packages").parent
    archive, jar = tmp_path / "spark" / "python" / "lib" / "pyspark.zip", tmp_path / "spark" / "jars" / CORE
    assert left(archive, jar, other) == [archive, other]
    assert left(archive, jar, tmp_path) == [archive, tmp_path]


def test_an_installation_is_the_same_one_behind_a_link(tmp_path: Path) -> None:
    site = installed(tmp_path / "lib" / "site-packages").parent
    (tmp_path / "lib64").symlink_to(tmp_path / "lib")
    archive, linked = site / "pyspark" / "python" / "lib" / "pyspark.zip", tmp_path / "lib64" / "site-packages"
    assert left(archive, linked) == [linked]


def test_an_archive_that_is_left_is_asked_for_nothing_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / CORE
    monkeypatch.setitem(sys.path_importer_cache, str(jar), None)
    assert left(jar, tmp_path) == [tmp_path]
    assert str(jar) not in sys.path_importer_cache


def test_what_every_worker_needs_is_imported_before_the_fork() -> None:
    asked = (
        "import sys, rx_spark._workers._daemon; print(*{'pandas', 'pyarrow', 'pyspark.worker', 'rx_ops.stages'} - {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.spark
@pytest.mark.engine("embedded")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are not forked after imports")
def test_a_worker_has_pyspark_from_its_folder_and_no_archive_of_its_files() -> None:
    def seen(_: int) -> tuple[str | None, list[str]]:
        import pyspark.worker

        return pyspark.worker.__file__, [name for name in sys.path_importer_cache if "pyspark.zip" in name or CORE in name]

    folder = str(Path(pyspark.__file__).parent)
    ((file, archives),) = rx_spark.range(1).map(seen).blocking_list()
    assert (file, archives) == (f"{folder}/worker.py", [])
