"""tools/tests.py: every test is in exactly one part, and parts run side by side until the last one, a failure or Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.workspace.projects import ROOT, WORKSPACE
from tests.workspace.test_dev import alive, wait_until
from tools import tests
from tools.tests import Part

TESTPATHS: list[str] = WORKSPACE["tool"]["pytest"]["ini_options"]["testpaths"]


def python(code: str) -> str:
    return f"python -c {code!r}"


def workspace(folder: Path, **scripts: str | list[str]) -> Path:
    """A workspace that is nothing but scripts."""
    lines = "\n".join(f"{name} = {script!r}" for name, script in scripts.items())
    (folder / "pyproject.toml").write_text(f"[tool.hatch.envs.default.scripts]\n{lines}\n")
    return folder


def scripts(*names: str) -> list[Part]:
    return [Part(name, script=name) for name in names]


# Every test exactly once


def test_every_test_runs_in_exactly_one_part(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts as they are, in a tree of the same folders, with one test for each file of tests."""
    files = [file.relative_to(ROOT) for place in TESTPATHS for file in (ROOT / place).rglob("test_*.py")]
    assert len(files) > 100
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # nothing of them is needed
    script = python("print()")
    workspace(tmp_path, style=script, types=script, unfused=script)
    with open(tmp_path / "pyproject.toml", "a") as config:
        config.write(f"[tool.pytest.ini_options]\ntestpaths = {TESTPATHS}\naddopts = ['--import-mode=importlib', '-q']\n")
    folders = {file.parent for file in files}
    for at, folder in enumerate(sorted(folders)):
        (tmp_path / folder).mkdir(parents=True)
        note = f"def test_{at}():\n    with open({str(tmp_path / 'ran')!r}, 'a') as ran:\n        ran.write('{folder}\\n')\n"
        (tmp_path / folder / f"test_{at}.py").write_text(note)
    assert tests.main([], tmp_path) == 0, capfd.readouterr().out
    ran = (tmp_path / "ran").read_text().splitlines()
    assert Counter(map(Path, ran)) == dict.fromkeys(folders, 1)


@pytest.mark.parametrize("part", tests.PARTS, ids=lambda part: part.name)
def test_what_a_part_names_exists(part: Part) -> None:
    assert all((ROOT / folder).is_dir() for folder in part.folders)
    for command in tests.commands(part, tests.PARTS, ROOT):
        assert (Path(sys.executable).parent / command[0]).exists()  # Python itself is named with its path


def test_a_part_may_be_a_script_and_tests_behind_it(tmp_path: Path) -> None:
    script, tested = tests.commands(Part("both", ("tests/typing",), script="types"), [], workspace(tmp_path, types="tool"))
    assert script == ["tool"]
    assert tested[-1] == "tests/typing"


def test_everything_that_is_checked_is_a_part() -> None:
    listed = WORKSPACE["tool"]["hatch"]["envs"]["default"]["scripts"]
    assert {part.script for part in tests.PARTS if part.script} == {*listed["check"], "unfused"}


def test_at_night_no_test_is_left_out() -> None:
    part = Part("some", ("tests/typing",))
    assert "not nightly" in tests.commands(part, [part], ROOT)[0]
    assert "not nightly" not in tests.commands(part, [part], ROOT, chosen=())[0]
    (unfused,) = (part for part in tests.PARTS if part.script == "unfused")
    assert "--nightly" not in tests.commands(unfused, tests.PARTS, ROOT)[0]
    assert "--nightly" in tests.commands(unfused, tests.PARTS, ROOT, chosen=())[0]


def test_a_script_is_what_hatch_makes_of_it_without_arguments() -> None:
    scripts: dict[str, str | list[str]] = {
        "all": ["one", "two"],
        "one": "python a.py {args} --check",
        "two": ["tool {args:packages}", "two --of-that-name 'a b'"],
    }
    assert list(tests.expand("all", scripts)) == [
        [sys.executable, "a.py", "--check"],
        ["tool"],
        ["two", "--of-that-name", "a b"],
    ]


# How they run


def test_parts_run_side_by_side_but_no_more_than_there_are_cores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first two wait for one another."""
    waits = (
        "import os, sys, time; me, other = sys.argv[1:]; open(me, 'w').close(); end = time.monotonic() + 20\n"
        "while not os.path.exists(other): time.sleep(0.01); assert time.monotonic() < end, 'alone'"
    )
    (tmp_path / "part.py").write_text(waits)
    pairs = [("a", "b"), ("b", "a"), ("c", "c"), ("d", "d")]
    workspace(tmp_path, **{me: f"python part.py {me} {other}" for me, other in pairs})
    assert tests.run(scripts("a", "b", "c", "d"), tmp_path, 2) == 0
    running, counts = 0, list[int]()
    for line in capsys.readouterr().out.splitlines():
        running += line.endswith(": begun") - (": passed after" in line)
        counts.append(running)
    assert (max(counts), counts[-1]) == (2, 0)


@pytest.mark.skipif(os.name != "posix", reason="priorities of POSIX")
def test_the_others_leave_the_cores_to_the_part_that_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = os.nice(0)
    workspace(tmp_path, a=python("import os; print(100 + os.nice(0))"), b=python("import os; print(200 + os.nice(0))"))
    assert tests.run([Part("a", script="a", first=True), Part("b", script="b")], tmp_path, 1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {str(100 + mine), str(200 + mine + tests.NICE)} <= set(lines)


def test_the_first_failure_gives_the_code_and_the_others_still_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace(
        tmp_path,
        fine=python("print(1 + 1)"),
        three=[python("print(6 * 7); raise SystemExit(3)"), python("print(41 + 2)")],
        four=python("raise SystemExit(4)"),
        killed=python("import os; os.kill(os.getpid(), 9)"),
    )
    assert tests.run(scripts("fine", "three", "four", "killed"), tmp_path, 1) == 3
    out = capsys.readouterr().out
    assert "---- fine: passed after" in out
    assert "\n2\n" in out
    assert "\n42\n" in out
    assert "\n43\n" not in out  # what comes after a failure within a part does not run
    closing = out[out.index("---- all parts") :].splitlines()[1:]
    assert [(line.split()[0], line.partition(" s  ")[2]) for line in closing[:4]] == [
        ("fine", "passed"),
        ("three", "failed with exit code 3"),
        ("four", "failed with exit code 4"),
        ("killed", "failed with exit code 137"),
    ]
    assert [line for line in closing[4:] if line] == [
        "---- three, its last lines ----",
        "42",
        "---- four, its last lines ----",
        "---- killed, its last lines ----",
    ]


def test_with_arguments_it_is_pytest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): pass\ndef test_two(): pass\n")
    assert tests.main(["-k", "two", "-p", "no:cacheprovider", "test_one.py"], tmp_path) == 0
    assert "1 passed, 1 deselected" in capfd.readouterr().out


# How they end

RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tools import tests
tests.ENDINGS = (("SIGINT", 20.0 if {polite} else 0.3), ("SIGTERM", 0.3), ("SIGKILL", 1.0))
sys.exit(tests.run([tests.Part(name, script=name) for name in ("one", "two", "three")], Path.cwd(), 2))
"""
PARENT = """
import os, subprocess, sys, time
me, child = sys.argv[1:]
running = subprocess.Popen([sys.executable, child, me])
while not os.path.exists(me + ".ready"):
    time.sleep(0.01)
with open(me + ".new", "w") as file:
    file.write(f"{os.getpid()} {running.pid}")
os.rename(me + ".new", me + ".pids")
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("cleaned up", me, flush=True)
"""
CHILD = (
    "import sys, time; open(sys.argv[1] + '.ready', 'w').close()\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    pass\n"
)
STUBBORN = "import signal\nfor each in (signal.SIGINT, signal.SIGTERM):\n    signal.signal(each, signal.SIG_IGN)\n" + CHILD


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize(
    ("signum", "child", "code"),
    [(signal.SIGINT, CHILD, 130), (signal.SIGTERM, CHILD, 143), (signal.SIGINT, STUBBORN, 130)],
    ids=["interrupted", "terminated", "stubborn"],
)
def test_a_signal_ends_every_part_with_its_children(signum: int, child: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "child.py").write_text(child)
    workspace(tmp_path, **{name: f"python parent.py {name} child.py" for name in ("one", "two", "three")})
    command = [sys.executable, "-c", RUN.format(root=str(ROOT), polite=child is CHILD)]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ})
    wait_until(lambda: (tmp_path / "one.pids").exists() and (tmp_path / "two.pids").exists())
    processes = [int(pid) for name in ("one", "two") for pid in (tmp_path / f"{name}.pids").read_text().split()]
    running.send_signal(signum)
    out, _ = running.communicate(timeout=30)
    assert running.returncode == code
    assert not any(alive(process) for process in processes)
    assert not (tmp_path / "three.ready").exists()
    assert out.count("cleaned up") == 2  # each had the chance to clean up, once
    assert [line.split()[-1] for line in out.splitlines()[-3:]] == ["interrupted", "interrupted", "run"]
