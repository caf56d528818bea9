"""Run all tests in parts, two parts more at a time than there are cores: now and then each waits, for Spark or for a timer.

    python tools/tests.py [--nightly | pytest arguments]

With arguments it is pytest, in one process. Without, each part is a process of its own, and tests that are marked ``nightly`` are
left out; ``--nightly`` leaves out nothing. A check that takes long, such as mypy, is a part as well. What a part prints is shown
whole when it is over; a summary and the last lines of each part that failed close the output. The exit code is that of the part
that failed first. After Ctrl-C nothing is left running.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

ROOT: Final = Path(__file__).resolve().parent.parent
#: Parts run side by side: a cache of pytest's would be written by all of them.
PYTEST: Final = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
ORDINARY: Final = ("-m", "not nightly")
#: What an interrupted part gets, and how long it may take to end after that. tools/dev.py waits ten seconds for all.
ENDINGS: Final = (("SIGINT", 5.0), ("SIGTERM", 2.0), ("SIGKILL", 1.0))
TICK: Final = 0.05
#: How far parts stand behind the one that comes first.
NICE: Final = 5
#: Of each part that failed, shown again behind the summary: who keeps only the end of a log finds the reason there.
LAST_LINES: Final = 15
#: A JVM of the tests does not live long enough for its second compiler. Without that, and with one thread that collects, it needs
#: a fifth less of the cores; and what the first one makes does not fit into the 48 MB that it has alone, which is swept then.
SHORT_LIVED_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"


@dataclass(frozen=True)
class Part:
    """A script of pyproject.toml, tests of some folders, or both, the script first; with neither, all tests that no other part
    names."""

    name: str
    folders: tuple[str, ...] = ()
    script: str | None = None
    #: The others get what this one leaves of the cores.
    first: bool = False
    #: The script where nothing is left out.
    at_night: str | None = None


#: The longest first, so that no core waits for a part that was begun last.
PARTS: Final = (
    Part("style and contracts", script="style"),  # short, and what fails most often
    # It waits much: with an equal share of the cores it would be the last to end.
    Part("spark", ("packages/rx-spark", "examples"), first=True),
    Part("contracts of streams", ("packages/rx-testing", "tests/tck")),
    Part("everything else"),
    Part("documents, plugins and benchmarks", ("tests/docs", "tests/plugins", "tests/bench")),
    Part("operators", ("packages/rx-ops",)),
    Part("without fusion", script="unfused", at_night="unfused-nightly"),
    Part("types", ("tests/typing",), script="types"),  # its tests find mypy's cache filled
    Part("conformance", ("tests/conformance",)),
    Part("random pipelines and storms", ("tests/invisible", "tests/storm")),
    Part("recorded pipelines", ("tests/recorded", "tests/defects")),
    Part("tasks", ("tests/tasks", "packages/rx-asyncio", "packages/rx-trio")),
    Part("core", ("packages/rx-core",)),
)


def commands(part: Part, parts: Sequence[Part], root: Path, chosen: Sequence[str] = ORDINARY) -> list[list[str]]:
    """What a part runs, one after the other until one fails."""
    config = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    scripts = config["hatch"]["envs"]["default"]["scripts"]
    script = part.script if chosen else part.at_night or part.script
    listed = [] if script is None else list(expand(script, scripts))
    if part.folders:
        listed.append([*PYTEST, *chosen, *part.folders])
    if listed:
        return listed
    named = [folder for other in parts for folder in other.folders]
    # A folder that pytest is called with is not ignored, so one that is named as a whole must not be among them.
    places = [place for place in config["pytest"]["ini_options"]["testpaths"] if place not in named]
    return [[*PYTEST, *chosen, *places, *(f"--ignore={folder}" for folder in named)]]


def expand(script: str, scripts: dict[str, str | list[str]]) -> Iterator[list[str]]:
    """The commands of a hatch script called without arguments, those of other scripts that it names in their place."""
    listed = scripts[script]
    for line in [listed] if isinstance(listed, str) else listed:
        words = shlex.split(re.sub(r"\{args[^}]*\}", "", line))
        if words[0] in scripts and words[0] != script:
            yield from expand(words[0], scripts)
        else:
            yield [sys.executable if word == "python" and not at else word for at, word in enumerate(words)]


@dataclass
class Running:
    """A part on its way: the process of its current command, leader of a process group with all its children."""

    part: Part
    commands: list[list[str]]
    root: Path
    output: TextIO
    started: float = field(default_factory=time.monotonic)
    process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        # The tools of the environment come first, also when its Python was called without the environment being active.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        command = self.commands.pop(0)
        nice = [] if self.part.first or os.name != "posix" else ["nice", "-n", str(NICE)]
        self.process = subprocess.Popen(
            [*nice, *command],
            cwd=self.root,
            env={"SPARK_SUBMIT_OPTS": SHORT_LIVED_JAVA, **os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            process_group=0 if os.name == "posix" else None,
        )

    def code(self) -> int | None:
        """The exit code when the part is over; what comes next is begun here."""
        assert self.process is not None
        code = self.process.poll()
        if code == 0 and self.commands:
            self.begin()
            return None
        return 128 - code if code is not None and code < 0 else code

    def send(self, signum: int) -> bool:
        """Signal everybody in the group, and return whether there was anybody. Signal 0 only looks."""
        assert self.process is not None
        self.process.poll()  # a leader that only waits to be reaped is nobody
        try:
            os.killpg(self.process.pid, signum)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def show(self, result: str) -> str:
        """Print what the part has printed, and return the end of it."""
        seconds = time.monotonic() - self.started
        self.output.seek(0)
        printed = self.output.read()
        print(f"\n---- {self.part.name}: {result} after {seconds:.0f} s ----", printed, sep="\n", flush=True)
        self.output.close()
        return "\n".join(printed.splitlines()[-LAST_LINES:])


def run(parts: Sequence[Part], root: Path, at_once: int, chosen: Sequence[str] = ORDINARY) -> int:
    """Run all parts, ``at_once`` of them at a time; return the exit code of the first that failed, or 128 + the signal."""
    stops: list[int] = []
    signals = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

    def stop(signum: int, _frame: FrameType | None) -> None:
        stops.append(signum)  # not raised: nothing may come between a process and its place in the list

    # nohup is respected; an interrupt is not ignored, although a shell that starts us with "&" says so.
    handled = [each for each in signals if each == signal.SIGINT or signal.getsignal(each) is not signal.SIG_IGN]
    before = {signum: signal.signal(signum, stop) for signum in handled}
    waiting, running = list(parts), list[Running]()
    results: dict[str, tuple[str, float]] = {part.name: ("not run", 0.0) for part in parts}
    ends: dict[str, str] = {}
    first_failed = 0
    try:
        while (waiting or running) and not stops:
            while waiting and len(running) < at_once:
                part = waiting.pop(0)
                output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed when shown
                running.append(Running(part, commands(part, parts, root, chosen), root, output))
                running[-1].begin()
                print(f"{part.name}: begun", flush=True)
            time.sleep(TICK)
            for each in list(running):
                if (code := each.code()) is None:
                    continue
                running.remove(each)
                first_failed = first_failed or code
                result = f"failed with exit code {code}" if code else "passed"
                results[each.part.name] = result, time.monotonic() - each.started
                end_of_output = each.show(result)
                if code:
                    ends[each.part.name] = end_of_output
    finally:
        end(running, stops)
        for signum, handler in before.items():
            signal.signal(signum, handler)
    for each in running:
        results[each.part.name] = "interrupted", time.monotonic() - each.started
        each.show("interrupted")
    print(summary(results), flush=True)
    for name, lines in ends.items():
        print(f"\n---- {name}, its last lines ----", lines, sep="\n", flush=True)
    return 128 + stops[0] if stops else first_failed


def end(running: Sequence[Running], stops: Sequence[int]) -> None:
    """End everybody; who does not go is told more clearly, at once when another signal comes."""
    left = list(running)
    for name, seconds in ENDINGS if os.name == "posix" else ():
        left = [each for each in left if each.send(getattr(signal, name))]
        deadline, known = time.monotonic() + seconds, len(stops)
        while left and time.monotonic() < deadline and len(stops) == known:
            time.sleep(TICK)
            left = [each for each in left if each.send(0)]
    for each in running:
        if each.process is not None and each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def summary(results: dict[str, tuple[str, float]]) -> str:
    width = max(len(name) for name in results)
    lines = [f"{name:<{width}}  {seconds:4.0f} s  {result}" for name, (result, seconds) in results.items()]
    return "\n".join(["---- all parts ----", *lines])


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(arguments: Sequence[str], root: Path = ROOT, parts: Sequence[Part] = PARTS) -> int:
    if arguments == ["--nightly"]:
        return run(parts, root, cores() + 2, chosen=())
    if arguments:
        return subprocess.call([sys.executable, "-m", "pytest", *arguments], cwd=root)
    return run(parts, root, cores() + 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
