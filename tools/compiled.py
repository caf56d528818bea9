"""Compile the core with mypyc and run tests on what comes out, so that the core stays compilable.

    python3 -m tools.compiled [--keep FOLDER] [pytest arguments]

The wheels are pure Python. But the core keeps rules that leave the way to compiled ones open (annotated attributes, no method
aliases, no patching from outside, ...), and this command notices when one is broken. It copies rx_core into a temporary folder,
or into ``FOLDER``, which stays; compiles ``rx_core.gate`` and ``rx_core.streams`` there, but for LEFT_OUT; and runs pytest with
the copy in front of the sources, by default on TESTS. It fails when mypyc refuses a module, when a test fails, or when a test
run did not import the compiled modules.

mypyc comes with mypy and needs setuptools and a C compiler. setuptools is fetched into ``.dev/compiled`` the first time.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools import dev
from tools.dev import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ROOT / "packages" / "rx-core" / "src"

#: The modules of the core that stay Python, with the reason.
LEFT_OUT: Final = {
    "rx_core.streams.__init__": "it only imports",
    "rx_core.streams.contracts": "pipelines derive from Stream, and are weakly referenced",
    "rx_core.streams.waiting": "a user's StopIteration is known by the frame of a generator, which compiled code does not have",
}

#: What runs when nothing is named.
TESTS: Final = ("packages/rx-core/tests/streams", "packages/rx-core/tests/test_gate.py", "packages/rx-ops/tests")

#: Beginnings of test ids: these interrupt the library between two instructions, or replace a method of it.
NEED_SOURCES: Final = (
    "packages/rx-core/tests/streams/test_border.py::test_control_",
    "packages/rx-ops/tests/test_clock_races.py::test_an_item_that_a_stage_drops_while_the_worker_takes_others_is_replaced",
)

#: Tells the pytest that runs on the copy where the copy is.
FOLDER: Final = "RX_COMPILED_FOLDER"

_SETUPTOOLS = "setuptools>=77"
_SETUP = """\
import sys
from setuptools import setup
from mypyc.build import mypycify

setup(name="compiled", ext_modules=mypycify(["--follow-imports=silent", *sys.argv[3:]], opt_level="1"), script_args=sys.argv[1:3])
"""


# What is decided without touching anything


def arguments_of(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split the command line into the folder of ``--keep``, if it is named, and the arguments of pytest."""
    rest = list(words)
    if rest and rest[0].startswith("--keep="):
        rest[:1] = rest[0].split("=", 1)
    if rest[:1] == ["--keep"]:
        if len(rest) < 2:
            raise SetupError("--keep needs a folder.\n  For example:  python3 -m tools.compiled --keep /tmp/compiled")
        return rest[1], rest[2:]
    return None, rest


def compiled_modules(sources: Path) -> list[str]:
    """Return the names of the modules that are compiled."""
    files = [sources / "rx_core" / "gate.py", *sorted((sources / "rx_core" / "streams").glob("*.py"))]
    names = [".".join(file.relative_to(sources).with_suffix("").parts) for file in files]
    unknown = sorted(LEFT_OUT.keys() - set(names))
    if unknown:
        raise SetupError(f"LEFT_OUT names modules that are not there: {', '.join(unknown)}")
    return [name for name in names if name not in LEFT_OUT]


def open_to_subclasses(source: str) -> str:
    """Let classes of a module have subclasses that are not compiled: each gets a decorator that only mypyc reads.

    Operators, and those of users, derive from compiled classes. The sources do without the decorator: it would be the only
    thing that the core imports from elsewhere.
    """
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts = [
        min(node.lineno, *(decorator.lineno for decorator in node.decorator_list)) if node.decorator_list else node.lineno
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not any("Protocol" in ast.unparse(base) for base in node.bases)
    ]
    for line in reversed(starts):
        lines.insert(line - 1, "@mypyc_attr(allow_interpreted_subclasses=True)\n")
    if starts:
        future = [node.end_lineno or 0 for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        lines.insert(max(future, default=0), "from mypy_extensions import mypyc_attr\n")
    return "".join(lines)


def needs_sources(test: str) -> bool:
    return test.startswith(NEED_SOURCES)


def missing_tests(tests: Sequence[str]) -> list[str]:
    """Return the lines of NEED_SOURCES whose file is among ``tests`` and that name none of them any more."""
    files = {test.partition("::")[0] for test in tests}
    return [
        line for line in NEED_SOURCES if line.partition("::")[0] in files and not any(test.startswith(line) for test in tests)
    ]


def is_compiled(file: str | None) -> bool:
    return file is not None and file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))


# Compiling


def ensure_setuptools(home: Path, environ: Mapping[str, str]) -> list[str]:
    """Return what has to be on the path so that mypyc finds setuptools."""
    if importlib.util.find_spec("setuptools") is not None:
        return []
    folder, stamp = home / "setuptools", home / "setuptools.json"
    wanted = {"requirement": _SETUPTOOLS, "python": sys.version}
    if not dev.same(stamp, wanted):
        dev.note("fetching setuptools, which mypyc needs (once)")
        shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-m", "uv", "pip", "install", "-q", "--target", str(folder), _SETUPTOOLS]
        remedy = "  Run it in the environment of the workspace:  python3 tools/dev.py compiled\n  Or:  pip install setuptools"
        dev.step("fetching setuptools", command, environ, ROOT, remedy)
        stamp.write_text(json.dumps(wanted), encoding="utf-8")
    return [str(folder)]


def compile_into(folder: Path, tools: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Copy rx_core into ``folder``, compile there what is to be compiled, and return the names of these modules."""
    if not any(shutil.which(name, path=environ.get("PATH")) for name in ("cc", "gcc", "clang")):
        raise SetupError("there is no C compiler.\n  On Debian and Ubuntu:  apt install build-essential")
    shutil.copytree(SOURCES / "rx_core", folder / "rx_core", ignore=shutil.ignore_patterns("__pycache__"))
    names = compiled_modules(folder)
    files = [Path(*name.split(".")).with_suffix(".py") for name in names]
    for file in files:
        path = folder / file
        path.write_text(open_to_subclasses(path.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "setup.py").write_text(_SETUP, encoding="utf-8")
    command = [sys.executable, "setup.py", "build_ext", "--inplace", *map(str, files)]
    searched = os.pathsep.join([str(folder), *tools, *filter(None, [environ.get("PYTHONPATH")])])
    log = folder / "build.log"
    with log.open("w", encoding="utf-8") as output:
        code = subprocess.call(command, cwd=folder, env={**environ, "PYTHONPATH": searched}, stdout=output, stderr=output)
    if code:
        said = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if ": error:" in line]
        lines = said or log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        raise SetupError("\n".join(["mypyc does not compile the core:", *(f"  {line}" for line in lines)]))
    return names


def run_tests(folder: Path, words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run pytest with the compiled modules in front of their sources, and this file as a plugin."""
    path = os.pathsep.join([str(folder), *filter(None, [environ.get("PYTHONPATH")]), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tools.compiled", *(words or TESTS)]
    return dev.run(command, {**environ, "PYTHONPATH": path, FOLDER: str(folder)}, ROOT)


def main(arguments: Sequence[str]) -> int:
    environ = dict(os.environ)
    home = ROOT / ".dev" / "compiled"
    try:
        kept, words = arguments_of(arguments)
        with dev.locked(home):
            tools = ensure_setuptools(home, environ)
        with tempfile.TemporaryDirectory(prefix="rx-compiled-") as temporary:
            folder = Path(temporary if kept is None else kept).resolve()
            names = compile_into(folder, tools, environ)
            dev.note(f"{len(names)} modules are compiled: {', '.join(names)}")
            return run_tests(folder, words, environ)
    except SetupError as error:
        print(f"compiled: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


# As a plugin of pytest, in the process that runs the tests


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    import pytest

    selected = config.option.keyword or config.option.markexpr or any("::" in argument for argument in config.args)
    missing = missing_tests([item.nodeid for item in items])
    if missing and not selected:
        raise pytest.UsageError(f"tools/compiled.py: NEED_SOURCES names tests that are not there: {', '.join(missing)}")
    left = [item for item in items if needs_sources(item.nodeid)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not needs_sources(item.nodeid)]


def pytest_collection_finish() -> None:
    """The tests have imported the core: it has to be the compiled one."""
    import pytest

    for name in compiled_modules(Path(os.environ[FOLDER])):
        file = getattr(importlib.import_module(name), "__file__", None)
        if not is_compiled(file):
            raise pytest.UsageError(f"{name} was imported from {file}, which is not compiled")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
