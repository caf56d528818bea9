import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corpus import PACKAGE_FOLDER
from corpus.answer import Answer
from corpus.cli import main
from corpus.engines import EngineUnavailable
from corpus.job import Engine, Job, OpenEngine, Outcome, Progress, Run
from corpus.progress import Silent
from corpus.reference import ReferenceEngine
from corpus.report import print_tables, printable, tables


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "pack"
    package.mkdir(parents=True)
    (package / "a.py").write_text("def f():\n    return x\n")
    (package / "bad.py").write_bytes(b"y = '\xff'\n")
    return tmp_path / "src"


class Wrong(ReferenceEngine):
    def run(self, job: Job, progress: Progress, /) -> Outcome:
        return Outcome(Answer.of([(("pack", "f"), 7)]), 3)


class Interrupted(ReferenceEngine):
    def run(self, job: Job, progress: Progress, /) -> Outcome:
        raise KeyboardInterrupt


def opening(engines: dict[str, Engine]) -> OpenEngine:
    @contextmanager
    def opener(name: str, master: str | None, /) -> Iterator[Engine]:
        yield engines.get(name, ReferenceEngine())

    return opener


def test_the_tables_of_one_engine(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tree), "--engine", "reference"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Identifiers per package: 2 in 1 packages, 1 files" in out
    assert "pack         1            2         2  f 1, x 1" in out
    assert "2  f         pack/a.py:1" in out
    assert "Skipped files: 1" in out
    assert "pack/bad.py        1  cannot decode" in out


def test_all_engines_are_compared(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tree), "--engine", "all"], opening({})) == 0
    assert "The answers of local, threads, trio, spark are identical." in capsys.readouterr().out


def test_a_different_answer_is_an_error_and_said_in_words(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tree), "--engine", "all"], opening({"trio": Wrong()})) == 1
    out, err = capsys.readouterr()
    assert "identical" not in out
    assert "local and trio differ: package pack: f occurs 1 times against 7" in err
    assert "spark" not in err


def test_json_is_one_object_with_everything(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tree), "--engine", "all", "--json"], opening({"spark": Wrong()})) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["packages"][0]["most_frequent"] == {"f": 1, "x": 1}
    assert result["longest"][0]["qualified_name"] == "f"
    assert result["skipped"][0]["line"] == 1
    assert [engine["engine"] for engine in result["engines"]] == ["local", "threads", "trio", "spark"]
    assert any(line.startswith("local and spark differ") for line in result["differences"])


def test_explain_runs_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tree), "--explain", "--engine", "all"], opening({"trio": Interrupted()})) == 0
    assert capsys.readouterr().out.startswith("local:\n  a for loop")


def test_an_interrupt_is_130_without_a_traceback(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--input", str(tree)], opening({"local": Interrupted()})) == 130
    assert capsys.readouterr().err == "corpus: interrupted\n"


def test_an_unavailable_engine_is_one_line(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager
    def none(name: str, master: str | None, /) -> Iterator[Engine]:
        if name:
            raise EngineUnavailable("no Java here; do this")
        yield ReferenceEngine()

    assert main(["--input", str(tree)], none) == 1
    assert capsys.readouterr().err == "corpus: no Java here; do this\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "warp"], "invalid choice: 'warp'"),
        (["--input", "no-such-place"], "there is no file or directory 'no-such-place'"),
        (["--top", "0"], "expected a whole number from 1 to 100, got '0'"),
        (["--top", "many"], "expected a whole number from 1 to 100, got 'many'"),
        (["--engine", "trio", "--master", "spark://x"], "--engine trio would not use it"),
    ],
)
def test_wrong_usage_is_2_with_a_message(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_an_input_without_sources_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--input", str(tmp_path)])
    assert caught.value.code == 2
    assert "no .py file below" in capsys.readouterr().err


def test_several_inputs_add_up(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, good = tree / "pack" / "bad.py", tree / "pack" / "a.py"
    assert main(["--input", str(bad), "--input", str(good), "--engine", "reference", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["files"], len(result["skipped"])) == (1, 1)


def test_a_terminal_gets_rich_tables_and_file_names_are_only_text(tmp_path: Path) -> None:
    (tmp_path / "[bold]x\n.py").write_text("a = 1")
    (tmp_path / os.fsdecode(b"y\xff.py")).write_bytes(b"\xff")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    job = Job((tmp_path,))
    run = Run("reference", 0.0, 1.0, ReferenceEngine().run(job, Silent()))
    for stream in (Terminal(), io.StringIO()):
        print_tables(tables(job, [run], 10), stream)
        assert "[bold]x\\n" in stream.getvalue()
        assert "y\\udcff.py" in stream.getvalue()
        stream.getvalue().encode()


def test_printable_leaves_letters_alone() -> None:
    assert printable("größe\x1b[31m") == "größe\\x1b[31m"


@pytest.mark.parametrize("how", [["-m", "corpus"], [str(PACKAGE_FOLDER)]], ids=["module", "folder"])
def test_both_ways_to_start_it(how: list[str], tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, *how, "--input", str(tree), "--engine", "reference"],
        capture_output=True,
        text=True,
        cwd=PACKAGE_FOLDER,
        timeout=60,
        check=True,
    )
    assert "Identifiers per package: 2" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("program", [PACKAGE_FOLDER, PACKAGE_FOLDER / "corpus"])
def test_an_interrupt_while_it_is_imported_is_130_without_a_traceback(program: Path) -> None:
    interrupting = f"""
import runpy, sys

class Interrupt:
    def find_spec(self, name, *_others):
        if name == "corpus.report":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.path.insert(0, {str(PACKAGE_FOLDER)!r})
runpy.run_path({str(program / "__main__.py")!r}, run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", interrupting], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "corpus: interrupted\n")


def test_a_reader_that_has_seen_enough_is_no_error(tree: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [sys.executable, str(PACKAGE_FOLDER), "--input", str(tree), "--engine", "reference"],
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")
