"""tools/free_threaded.py: what it asks of apt, what it installs, and what it says when it cannot build."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.workspace.projects import NAMES, ROOT, WORKSPACE
from tools import free_threaded
from tools.dev import SetupError

PRINTED = """\
'http://one.test/debian/dists/bookworm/InRelease' one.test_debian_dists_bookworm_InRelease 0
'http://two.test/debian-security/dists/bookworm-security/updates/InRelease' two.test_debian-security 0
'https://three.test/a/b/dists/stable/InRelease' three.test_a_b 0
'http://one.test/debian/dists/bookworm-updates/InRelease' one.test_debian_dists_bookworm-updates_InRelease 0
'http://one.test/debian/dists/bookworm/main/binary-amd64/Packages.xz' one.test_debian_Packages 0
"""


# Pure parts


@pytest.mark.parametrize(
    ("words", "python", "rest"),
    [
        ([], None, []),
        (["-m", "stress"], None, ["-m", "stress"]),
        (["--python", "/bin/p"], "/bin/p", []),
        (["--python=/bin/p", "-k", "a=b"], "/bin/p", ["-k", "a=b"]),
        (["-k", "x", "--python=p"], None, ["-k", "x", "--python=p"]),  # all that follows is pytest's
    ],
)
def test_the_interpreter_may_be_named_before_the_arguments_of_pytest(
    words: list[str], python: str | None, rest: list[str]
) -> None:
    assert free_threaded.arguments_of(words) == (python, rest)


def test_an_interpreter_that_is_not_named_is_an_error() -> None:
    with pytest.raises(SetupError, match="--python needs the path"):
        free_threaded.arguments_of(["--python"])


def test_the_archives_of_the_machine_are_tried_security_updates_last() -> None:
    assert free_threaded.archives(PRINTED) == [
        "http://one.test/debian",
        "https://three.test/a/b",
        "http://two.test/debian-security",
    ]
    assert free_threaded.archives("") == []


def test_the_list_for_apt_has_source_packages_only() -> None:
    wanted = "Types: deb-src\nURIs: http://one.test/debian\nSuites: trixie\nComponents: main\n"
    assert free_threaded.source_list("http://one.test/debian", None) == wanted
    assert free_threaded.source_list("http://one.test/debian", Path("/keys.gpg")) == wanted + "Signed-By: /keys.gpg\n"


def test_apt_is_kept_away_from_the_places_of_the_system(tmp_path: Path) -> None:
    words = free_threaded.apt_options(tmp_path)
    settings = dict(word.split("=", 1) for word in words if word != "-o")
    assert settings.pop("Dir::Etc::SourceParts") == "/dev/null"
    assert set(settings) == {"Dir::Etc::SourceList", "Dir::State::Lists", "Dir::Cache"}
    assert all(Path(place).is_relative_to(tmp_path) for place in settings.values())


def test_versions_are_those_of_the_workspace_or_exact_ones_within_them() -> None:
    wanted = {Requirement(line).name: Requirement(line) for line in free_threaded.requirements(WORKSPACE)}
    listed = {line.name: line for line in map(Requirement, WORKSPACE["tool"]["hatch"]["envs"]["default"]["dependencies"])}
    assert set(wanted) == {*free_threaded.NEEDED, *free_threaded.EXACT}
    for name in free_threaded.NEEDED:
        if name in free_threaded.EXACT:
            (exact,) = wanted[name].specifier
            assert listed[name].specifier.contains(exact.version)
        else:
            assert wanted[name] == listed[name]


def test_what_the_tests_import_is_installed() -> None:
    sources = [path for folder in free_threaded.default_tests() for path in (ROOT / folder).rglob("*.py")]
    imported = {module.partition(".")[0] for path in sources for module in imports(path)}
    ours = {"tests", "tools", *(path.stem for path in sources)}
    members = [name.replace("-", "_") for name in free_threaded.PACKAGES]
    described = [ROOT / "packages" / name / "pyproject.toml" for name in free_threaded.PACKAGES]
    projects = [tomllib.loads(path.read_text("utf-8")) for path in described]
    required = [line for project in projects for line in project["project"].get("dependencies", ())]
    installed = {Requirement(line).name for line in (*required, *free_threaded.requirements(WORKSPACE))}
    members += ["opentelemetry"] if "opentelemetry-sdk" in installed else []  # it is called otherwise where it is imported
    assert imported - sys.stdlib_module_names - ours <= {*members, *installed}


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports whenever it is imported itself."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def test_packages_and_folders_of_tests_exist() -> None:
    assert set(free_threaded.PACKAGES) <= NAMES
    assert all((ROOT / folder).is_dir() for folder in free_threaded.default_tests())


def test_the_gil_stays_off_and_a_crash_tells_where() -> None:
    assert free_threaded.run_environ({"PYTHON_GIL": "1", "RX_STRESS": "9"}) == {
        "PYTHON_GIL": "0",
        "PYTHONFAULTHANDLER": "1",
        "RX_STRESS": "9",
    }


# What it says when it cannot


def programs(folder: Path, **scripts: str) -> dict[str, str]:
    """An environment in which there are these programs and no others."""
    folder.mkdir()
    for name, script in scripts.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    return {"PATH": str(folder)}


def build(tmp_path: Path, **scripts: str) -> free_threaded.Build:
    home = tmp_path / "free"
    home.mkdir()
    return free_threaded.Build(home, programs(tmp_path / "bin", **scripts))


NEEDS_SH = pytest.mark.skipif(not Path("/bin/sh").exists(), reason="makes programs of /bin/sh")


@NEEDS_SH
@pytest.mark.parametrize(
    ("present", "said"),
    [
        ((), "there is no apt-get"),
        (("make", "gcc"), "there is no apt-get"),
        (("apt_get", "make"), "a C compiler is missing"),
        (("apt_get", "gcc"), "make is missing"),
        (("apt_get",), "make and a C compiler is missing"),
    ],
)
def test_what_is_missing_is_named(present: tuple[str, ...], said: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=said) as raised:
        build(tmp_path, **dict.fromkeys(present, "exit 0")).ensure()
    assert "--python /path/to" in str(raised.value)  # there is always another way


@NEEDS_SH
def test_archives_without_the_source_or_out_of_reach_are_listed(tmp_path: Path) -> None:
    apt_get = f'case "$*" in\n*--print-uris*) echo "{PRINTED}" ;;\n*) echo \'Err: cannot connect\'; exit 100 ;;\nesac'
    made = build(tmp_path, apt_get=apt_get, make="exit 0", cc="exit 0")
    with pytest.raises(SetupError, match="or none can be reached") as raised:
        made.ensure()
    assert [line.strip() for line in str(raised.value).splitlines()[1:4]] == free_threaded.archives(PRINTED)
    assert made.log.read_text().count("Err: cannot connect") == 3


@NEEDS_SH
def test_apt_without_archives_is_said(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="configured for no archive"):
        build(tmp_path, apt_get="exit 0", make="exit 0", cc="exit 0").ensure()


@NEEDS_SH
def test_a_build_that_fails_shows_the_end_of_its_log(tmp_path: Path) -> None:
    made = build(tmp_path, make="echo first; echo last; exit 2")
    with pytest.raises(SetupError, match=r"compiling failed \(exit code 2\)") as raised:
        made.step("compiling", ["make"], tmp_path)
    assert "  | last" in str(raised.value)
    assert str(made.log) in str(raised.value)


def test_a_finished_build_is_not_made_again(tmp_path: Path) -> None:
    made = free_threaded.Build(tmp_path, {"PATH": os.devnull})  # in which nothing could be built
    made.python.parent.mkdir(parents=True)
    made.python.touch()
    with pytest.raises(SetupError):
        made.ensure()  # begun, not finished
    wanted = {"source": "python3.13", "suite": "trixie", "configure": list(free_threaded.CONFIGURE), "place": str(made.prefix)}
    (tmp_path / "python.json").write_text(str(wanted).replace("'", '"'))
    assert made.ensure() == made.python


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="this Python has no GIL")
def test_an_interpreter_with_a_gil_is_refused() -> None:
    with pytest.raises(SetupError, match="has a GIL"):
        free_threaded.described(sys.executable, os.environ)


def test_an_interpreter_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="there is no program"):
        free_threaded.named_python(str(tmp_path / "python3.13t"))


def test_it_needs_only_the_standard_library() -> None:
    loaded = "import sys; sys.path.insert(0, '.'); import tools.free_threaded; print(*sys.modules)"
    listed = subprocess.run([sys.executable, "-I", "-S", "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in listed.stdout.split()}
    assert names - set(sys.stdlib_module_names) == {"__main__", "tools"}
