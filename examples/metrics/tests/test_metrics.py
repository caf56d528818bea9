"""The job over real files: in this thread, on Spark, and in PySpark alone."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from metrics.__main__ import main, read
from metrics.export import export, source_files
from metrics.job import run_here, run_on_spark
from metrics.model import SourceFile
from metrics.plain import run_plain

STDLIB = Path(sysconfig.get_path("stdlib"))


@pytest.fixture(scope="module")
def rows() -> list[SourceFile]:
    found = [*source_files(STDLIB / "json"), *source_files(STDLIB / "email"), *source_files(STDLIB / "asyncio")]
    return [*found, SourceFile("generated", "x.py", 3, 5_000, None), SourceFile("empty", "y.py", 0, 0, 0)]


def test_the_rows_are_those_of_the_files(rows: list[SourceFile]) -> None:
    assert {"decoder.py", "encoder.py", "message.py"} <= {row.path for row in rows}
    assert all(row.functions is not None for row in rows if row.package != "generated")


def test_what_is_generated_or_empty_is_left_out(rows: list[SourceFile]) -> None:
    assert not {"generated", "empty"} & {total.package for total in run_here(rows)}


@pytest.mark.spark
def test_the_job_gives_on_spark_what_it_gives_here_and_what_plain_pyspark_gives(rows: list[SourceFile], tmp_path: Path) -> None:
    from rx_spark import SparkConfig
    from rx_spark._session._session import engine

    export(rows, tmp_path / "files")
    here = sorted(run_here(rows), key=repr)
    written = run_on_spark(tmp_path / "files", tmp_path / "totals")
    assert written.rows == len(here)
    assert sorted(read(tmp_path / "totals"), key=repr) == here
    run_plain(engine(SparkConfig()).application, tmp_path / "files", tmp_path / "plain")
    assert sorted(read(tmp_path / "plain"), key=repr) == here


@pytest.mark.spark
def test_the_program_shows_its_plan_and_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(STDLIB / "json"), "--explain"]) == 0
    plan = capsys.readouterr().out
    assert "columns: filter(it.lines > 0) → filter(it.longest_line < 2000)" in plan
    assert "PushedFilters: [" in plan
    assert main(["--input", str(STDLIB / "json"), "--output", str(tmp_path / "out")]) == 0
    assert "rows in" in capsys.readouterr().out
    assert read(tmp_path / "out")


def test_a_folder_without_python_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tmp_path)]) == 1
    assert "no Python files in" in capsys.readouterr().err
