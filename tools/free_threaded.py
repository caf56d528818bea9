"""Run tests on a CPython without the GIL, which is built the first time.

    python3 -m tools.free_threaded [--python PATH] [pytest arguments]

Without pytest arguments it runs the tests of the packages in PACKAGES and those in ACROSS. ``PATH`` is a free-threaded CPython
that is there already. Otherwise CPython 3.13t is built from Debian's source package of trixie, which comes from the servers that
apt is configured for. Neither root nor a change of apt's configuration is needed: lists, downloads and the build are in
``.dev/free``. This takes some minutes once; later calls only look whether it is there. ``rm -rf .dev/free`` forgets it.

PYTHON_GIL=0 keeps the GIL off, also when an extension module is loaded that is not made for it; PYTHONFAULTHANDLER=1 shows the
stacks of a crash.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools import dev
from tools.dev import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent

#: The packages that are installed and tested; rx-spark needs a JVM and extension modules that insist on the GIL.
PACKAGES: Final = ("rx-asyncio", "rx-core", "rx-fusion", "rx-metrics", "rx-ops", "rx-schedulers", "rx-testing", "rx-trio")
#: The tests beside those of the packages in which threads meet.
ACROSS: Final = ("tests/integration", "tests/storm", "tests/tasks")
#: What the tests and editable installs need, in the versions that pyproject.toml names.
NEEDED: Final = ("hatchling", "hypothesis", "opentelemetry-sdk", "pytest", "pytest-timeout", "rich", "ruff")
#: What pyproject.toml does not name, or not exactly enough: later releases of hypothesis have wheels that insist on the GIL, and
#: cloudpickle comes with rx-spark elsewhere.
EXACT: Final = {
    "cloudpickle": "cloudpickle>=3,<4",
    "editables": "editables>=0.5,<1",
    "hypothesis": "hypothesis==6.130.0",
}

SUITE: Final = "trixie"
SOURCE: Final = "python3.13"
EXECUTABLE: Final = "python3.13t"
CONFIGURE: Final = ("--disable-gil", "--without-ensurepip", "-q")
#: Where Debian's systems keep the keys of their archive; apt's default place has them as well, but not everywhere.
KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

_ANOTHER = f"  Or name a free-threaded CPython that you have:  python3 -m tools.free_threaded --python /path/to/{EXECUTABLE}"
_APT_GET = ("apt-get", "-o", "APT::Update::Error-Mode=any", "-o", "Acquire::Retries=3")


# What is decided without touching anything


def arguments_of(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split the command line into the interpreter of ``--python``, if it is named, and the arguments of pytest."""
    rest = list(words)
    if rest and rest[0].startswith("--python="):
        rest[:1] = rest[0].split("=", 1)
    if rest[:1] == ["--python"]:
        if len(rest) < 2:
            raise SetupError(f"--python needs the path of an interpreter.\n{_ANOTHER}")
        return rest[1], rest[2:]
    return None, rest


def default_tests() -> list[str]:
    return [*(f"packages/{name}/tests" for name in PACKAGES), *ACROSS]


def requirements(config: Mapping[str, Any]) -> list[str]:
    """Return what is installed beside the packages; ``config`` is the pyproject.toml of the workspace."""
    listed = config["tool"]["hatch"]["envs"]["default"]["dependencies"]
    ranges = {re.split(r"[^\w.-]", line, maxsplit=1)[0]: line for line in listed}
    return [EXACT.get(name) or ranges[name] for name in sorted({*NEEDED, *EXACT})]


def archives(printed: str) -> list[str]:
    """Return the archives apt is configured for, from what ``apt-get update --print-uris`` printed; security updates last."""
    found = re.findall(r"^'([^']+?)/dists/[^']+/InRelease'", printed, re.MULTILINE)
    return sorted(dict.fromkeys(found), key=lambda archive: "security" in archive)


def source_list(archive: str, keyring: Path | None) -> str:
    """Return an apt list with the source packages of trixie and nothing else."""
    lines = ["Types: deb-src", f"URIs: {archive}", f"Suites: {SUITE}", "Components: main"]
    if keyring is not None:
        lines.append(f"Signed-By: {keyring}")
    return "\n".join(lines) + "\n"


def apt_options(home: Path) -> list[str]:
    """Return the options that keep apt away from the lists, the cache and the sources of the system."""
    places = {
        "Dir::Etc::SourceList": home / "trixie.sources",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": home / "lists",
        "Dir::Cache": home / "cache",
    }
    return [word for name, place in places.items() for word in ("-o", f"{name}={place}")]


def run_environ(environ: Mapping[str, str]) -> dict[str, str]:
    return {**environ, "PYTHON_GIL": "0", "PYTHONFAULTHANDLER": "1"}


# The interpreter


class Build:
    """Builds CPython in a folder, with everything that is said on the way in one log."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self.home = home
        self.environ = {**environ, "LC_ALL": "C"}
        self.prefix = home / "python"
        self.python = self.prefix / "bin" / EXECUTABLE
        self.log = home / "build.log"

    def ensure(self) -> Path:
        stamp = self.home / "python.json"
        wanted = {"source": SOURCE, "suite": SUITE, "configure": list(CONFIGURE), "place": str(self.prefix)}
        if dev.same(stamp, wanted) and self.python.exists():
            return self.python
        self.check_tools()
        stamp.unlink(missing_ok=True)
        shutil.rmtree(self.prefix, ignore_errors=True)
        self.log.unlink(missing_ok=True)
        dev.note(f"fetching the source of {SOURCE} from Debian {SUITE} (once)")
        folder = self.unpack(self.fetch())
        dev.note(f"building CPython without the GIL (once; takes minutes; its output is in {self.log})")
        self.step("configuring CPython", [str(folder / "configure"), f"--prefix={self.prefix}", *CONFIGURE], folder)
        self.step("compiling CPython", ["make", "-s", f"-j{os.cpu_count() or 1}"], folder)
        self.step("installing CPython", ["make", "-s", "install"], folder)
        self.check_modules()
        shutil.rmtree(self.home / "source")
        shutil.rmtree(self.home / "apt")
        stamp.write_text(json.dumps(wanted), encoding="utf-8")
        return self.python

    def check_tools(self) -> None:
        missing = [tool for tool in ("apt-get", "make") if shutil.which(tool, path=self.environ.get("PATH")) is None]
        if not any(shutil.which(name, path=self.environ.get("PATH")) for name in ("cc", "gcc", "clang")):
            missing.append("a C compiler")
        if "apt-get" in missing:
            raise SetupError(f"there is no apt-get: CPython is built from Debian's source package.\n{_ANOTHER}")
        if missing:
            remedy = "  On Debian and Ubuntu:  apt install build-essential"
            raise SetupError(f"{' and '.join(missing)} is missing, so CPython cannot be built.\n{remedy}\n{_ANOTHER}")

    def fetch(self) -> Path:
        """Download the source package and return its tarball."""
        printed = self.output([*_APT_GET, "update", "--print-uris"])
        tried = archives(printed)
        for archive in tried:
            if tarball := self.fetch_from(archive):
                return tarball
        if tried:
            why = f"no archive of apt's configuration has the source packages of Debian {SUITE}, or none can be reached:"
            lines = [f"  {archive}" for archive in tried]
        else:
            why, lines = "apt is configured for no archive (apt-get update --print-uris names none).", []
        raise SetupError("\n".join([why, *lines, f"  What apt said is in {self.log}", _ANOTHER]))

    def fetch_from(self, archive: str) -> Path | None:
        apt, source = self.home / "apt", self.home / "source"
        for folder in (apt, source):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (apt / "lists" / "partial", apt / "cache" / "archives" / "partial", source):
            folder.mkdir(parents=True)
        (apt / "trixie.sources").write_text(source_list(archive, KEYRING if KEYRING.exists() else None), encoding="utf-8")
        command = [*_APT_GET, *apt_options(apt)]
        for words in (["update"], ["source", "--download-only", SOURCE]):
            if self.logged([*command, *words], source):
                return None
        return next(source.glob("*.orig.tar.*z"), None)

    def unpack(self, tarball: Path) -> Path:
        folder = tarball.parent / "unpacked"
        with tarfile.open(tarball) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(folder, filter="data")
            else:  # apt has checked the signature
                archive.extractall(folder)
        return next(folder.iterdir())

    def check_modules(self) -> None:
        """CPython leaves out what it finds no headers for; pip needs some of it."""
        code = "import ctypes, ssl, zlib"
        if self.logged([str(self.python), "-c", code], self.home):
            raise SetupError(
                "CPython was built without modules that are needed here.\n"
                "  On Debian and Ubuntu:  apt install libffi-dev libssl-dev zlib1g-dev\n"
                f"  What is missing is in {self.log}\n{_ANOTHER}"
            )

    def step(self, what: str, command: Sequence[str], folder: Path) -> None:
        if code := self.logged(command, folder):
            last = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            lines = [
                f"{what} failed (exit code {code}).",
                f"  Command:  {shlex.join(command)}",
                *(f"  | {line}" for line in last),
            ]
            raise SetupError("\n".join([*lines, f"  All of it is in {self.log}", _ANOTHER]))

    def logged(self, command: Sequence[str], folder: Path) -> int:
        with open(self.log, "a", encoding="utf-8") as log:
            print(f"$ {shlex.join(command)}", file=log, flush=True)
            return subprocess.call(command, cwd=folder, env=self.environ, stdout=log, stderr=subprocess.STDOUT)

    def output(self, command: Sequence[str]) -> str:
        return subprocess.run(command, env=self.environ, capture_output=True, text=True, check=False).stdout


# The environment of the tests


def named_python(named: str) -> str:
    """Return the whole path of an interpreter named on the command line."""
    found = shutil.which(named)
    if found is None:
        raise SetupError(f"there is no program {named}.\n  Run without --python to build one.")
    return os.path.abspath(found)


def described(python: str, environ: Mapping[str, str]) -> str:
    """Return which Python this is; SetupError unless it can do without the GIL."""
    code = "import sys, sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'), sys.version)"
    asked = subprocess.run([python, "-c", code], env=dict(environ), capture_output=True, text=True, check=False)
    free, _, version = asked.stdout.strip().partition(" ")
    if asked.returncode:
        raise SetupError(f"{python} does not run Python code:\n{asked.stderr}\n  Run without --python to build one.")
    if free != "1":
        raise SetupError(f"{python} is Python {version}, which has a GIL.\n  Run without --python to build one that has none.")
    return version


def ensure_venv(home: Path, python: str, environ: Mapping[str, str]) -> Path:
    """Make an environment with the packages, unless it is there and nothing that it is made from has changed."""
    venv, stamp = home / "venv", home / "venv.json"
    inside = venv / "bin" / "python"
    folders = [ROOT / "packages" / name for name in PACKAGES]
    wanted_packages = requirements(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    wanted = {
        "python": python,
        "version": described(python, environ),
        "requirements": wanted_packages,
        "members": dev.metadata_digest(ROOT, folders),
        "place": str(venv),
    }
    if dev.same(stamp, wanted) and inside.exists():
        return inside
    dev.note(f"making the environment of the tests in {os.path.relpath(venv, ROOT)} (once)")
    stamp.unlink(missing_ok=True)
    shutil.rmtree(venv, ignore_errors=True)
    dev.step("making a virtual environment", [python, "-m", "venv", str(venv)], environ, ROOT, _ANOTHER)
    install = [str(inside), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    remedy = (
        "  pip used your own configuration; see it with:  python3 -m pip config list\n"
        "  Behind a proxy set HTTPS_PROXY; for a mirror set PIP_INDEX_URL or pip.conf."
    )
    dev.step("installing what the tests need", [*install, *wanted_packages], environ, ROOT, remedy)
    editables = [word for folder in folders for word in ("--editable", str(folder))]
    dev.step("installing the packages", [*install, "--no-build-isolation", *editables], environ, ROOT, remedy)
    stamp.write_text(json.dumps(wanted), encoding="utf-8")
    return inside


def main(arguments: Sequence[str]) -> int:
    home = ROOT / ".dev" / "free"
    environ = dev.bytecode_kept(dev.clean_environment(os.environ), home)
    try:
        named, words = arguments_of(arguments)
        with dev.locked(home):
            found = str(Build(home, environ).ensure()) if named is None else named_python(named)
            python = ensure_venv(home, found, environ)
    except SetupError as error:
        print(f"free_threaded: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return dev.run(
        [str(python), "-m", "pytest", "-p", "no:cacheprovider", *(words or default_tests())], run_environ(environ), ROOT
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
