#!/usr/bin/env python3
"""Set up what this repository needs, then run one of its commands.

    python3 tools/dev.py demo        the same real pipeline on every engine
    python3 tools/dev.py test        lint, types, import contracts and all tests

It needs Python 3.11 or newer and nothing else: no hatch, no Java, no package installed by hand. The commands are hatch
scripts (see pyproject.toml); whoever has hatch types ``hatch run test`` directly.

Everything it installs goes to ``.dev/py<version>`` inside the clone: a small environment that holds hatch and uv, and
next to it hatch's own data with the environment of the packages. So two clones, or two Python versions, cannot disturb
each other, and ``rm -rf .dev`` forgets everything. Downloads are shared through uv's ordinary cache.

pip's configuration (environment and pip.conf) holds here as well: it is handed on to uv, which does not read it.
"""

from __future__ import annotations

import ast
import contextlib
import glob
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
HATCH = "hatch>=1.18,<2"
UV = "uv>=0.8,<1"
# pyspark is published as a source package only. The wheel that is built of it is unpacked at once: compressing its 400 MB would
# take a quarter of the time that the whole environment takes.
UNCOMPRESSED = "[bdist_wheel]\ncompression = stored\n"
COMMANDS = {
    "demo": "run examples/corpus on every engine and compare the answers",
    "test": "lint, types, import contracts, interface dumps and all tests",
    "nightly": "all tests in parts, those that the command test leaves out included",
    "check": "what test does, without the tests",
    "lint": "ruff and file sizes",
    "fix": "let ruff repair and format what it can",
    "types": "mypy --strict over everything, pyright over the typing tests",
    "contracts": "which package may import which",
    "api": "write packages/*/api.txt",
    "unfused": "the tests of operators with fusion switched off",
    "free-threaded": "the tests on a CPython without the GIL, which is built first",
    "compiled": "the tests of the core and its operators on a core that mypyc has compiled",
    "clusters": "the tests of Spark on clusters of this machine",
    "bench": "run the benchmarks",
    "pytest": "pytest alone",
}

# What a shell that is inside some environment exports, and what would lead our tools back into it.
_FOREIGN = ("CONDA_DEFAULT_ENV", "CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
_FOREIGN_PREFIXES = ("HATCH_", "VIRTUAL_ENV")
_FOREIGN_PIP = ("PIP_PREFIX", "PIP_PYTHON", "PIP_REQUIRE_VIRTUALENV", "PIP_ROOT", "PIP_TARGET", "PIP_USER")
_FOREIGN_UV = ("UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_TARGET")
_UV_INDEX = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL")

# How long the children may take to end after Ctrl-C before they are ended harder.
GRACE_SECONDS = 10
# And how long those whose parent has ended already.
LEAVE_SECONDS = 3.0


class SetupError(Exception):
    """The environment cannot be made; the message says what to do about it."""


def python_tag() -> str:
    """Name the running Python: one environment for each version, free-threaded builds apart."""
    return f"py{sys.version_info[0]}.{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"


def base_python() -> str:
    """Return the interpreter itself, also when we were started from within a virtual environment."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def check_python() -> None:
    if sys.version_info[:2] < OLDEST:
        raise SetupError(
            f"this is Python {sys.version.split()[0]}, but rx needs Python {OLDEST[0]}.{OLDEST[1]} or newer.\n"
            f"  You ran:  {sys.executable} tools/dev.py\n"
            f"  Run:      python3.13 tools/dev.py"
        )
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        raise SetupError(
            f"{sys.executable} comes without {' and '.join(missing)}, so it cannot make a virtual environment.\n"
            f"  On Debian and Ubuntu:  apt install python3-venv\n"
            f"  Elsewhere:             run tools/dev.py with a complete Python {OLDEST[0]}.{OLDEST[1]} or newer\n"
            f"  If you have hatch:     hatch run demo, hatch run test"
        )


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment without what points into another Python environment."""
    foreign = {*_FOREIGN, *_FOREIGN_PIP, *_FOREIGN_UV}
    clean = {name: value for name, value in environ.items() if name not in foreign and not name.startswith(_FOREIGN_PREFIXES)}
    active = [Path(environ[name]) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)]
    hidden = {str(prefix / folder) for prefix in active for folder in ("bin", "Scripts")}
    path = clean.get("PATH", os.defpath).split(os.pathsep)
    clean["PATH"] = os.pathsep.join(entry for entry in path if entry.rstrip(os.sep) not in hidden)
    return clean


def bytecode_kept(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return an environment in which Python keeps what it compiles, in ``home`` where the caller wants none beside the sources.

    Without that each process of a test run compiles what it imports: 4.0 s in place of 1.3 s for the imports of a test of Spark.
    """
    kept = dict(environ)
    if kept.pop("PYTHONDONTWRITEBYTECODE", ""):
        kept.setdefault("PYTHONPYCACHEPREFIX", str(home / "bytecode"))
    return kept


def parse_pip_config(text: str) -> dict[str, str]:
    """Read the output of ``pip config list``; the more specific of two settings wins, as in pip."""
    found: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        key, equals, literal = line.partition("=")
        section, dot, name = key.rpartition(".")
        rank = {"global": 0, "install": 1, ":env:": 2}.get(section)
        if not (equals and dot) or rank is None:
            continue
        try:
            value = str(ast.literal_eval(literal))
        except (SyntaxError, ValueError):
            continue
        if rank >= found.get(name, (0, ""))[0]:
            found[name] = (rank, value)
    return {name: value for name, (_, value) in found.items()}


def uv_settings(pip: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Say to uv what pip was told; what the caller set for uv, or for the whole machine, is left as it is."""
    settings: dict[str, str] = {}
    if not any(environ.get(name) for name in _UV_INDEX):
        if index := pip.get("index-url"):
            settings["UV_DEFAULT_INDEX"] = index.strip()
        if extra := pip.get("extra-index-url"):
            settings["UV_INDEX"] = " ".join(extra.split())
            # pip takes the best version of all indexes, uv by itself the first index that knows the name.
            settings["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if links := pip.get("find-links"):
        settings["UV_FIND_LINKS"] = ",".join(links.split())
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        settings["UV_NO_INDEX"] = "1"
    if hosts := pip.get("trusted-host"):
        settings["UV_INSECURE_HOST"] = " ".join(hosts.split())
    if constraint := pip.get("constraint"):
        settings["UV_CONSTRAINT"] = " ".join(constraint.split())
    if cert := pip.get("cert"):
        settings["SSL_CERT_FILE"] = cert
    if proxy := pip.get("proxy"):
        settings.update(dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), proxy))
    seconds = pip.get("timeout", pip.get("default-timeout", ""))
    if seconds.isdigit():
        settings["UV_HTTP_TIMEOUT"] = seconds
    return {name: value for name, value in settings.items() if name not in environ}


def same(stamp: Path, wanted: object) -> bool:
    try:
        return bool(json.loads(stamp.read_text(encoding="utf-8")) == wanted)
    except (OSError, ValueError):
        return False


def note(message: str) -> None:
    """Tell what happens on stderr: stdout belongs to the command."""
    print(f"dev: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    """Let one set-up of a folder in .dev run at a time; a second one waits, then finds everything ready."""
    home.mkdir(parents=True, exist_ok=True)
    ignore = home.parent / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    if os.name == "nt":
        yield
        return
    import fcntl

    with open(home / "lock", "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            note("waiting for another command that sets up this clone")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def step(what: str, command: Sequence[str], environ: Mapping[str, str], folder: Path, remedy: str) -> None:
    """Run one command of a set-up; when it fails, SetupError says what was tried and what to do."""
    code = run(command, environ, folder)
    if code > 128 and code - 128 in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", 0)):
        raise SystemExit(code)
    if code:
        raise SetupError(f"{what} failed (exit code {code}).\n  Command:  {shlex.join(command)}\n{remedy}")


def metadata_digest(root: Path, folders: Sequence[Path]) -> str:
    """Return a digest of what an editable install copies from each project: its metadata and its version."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in (folder / "pyproject.toml", *sorted(folder.glob("src/*/_version.py"))):
            digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


class Tools:
    """The environment with hatch and uv, and the hatch environment next to it."""

    def __init__(self, root: Path = ROOT, environ: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.home = root / ".dev" / python_tag()
        self.venv = self.home / "venv"
        self.scripts = self.venv / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.scripts / "python"
        self.environ = bytecode_kept(clean_environment(os.environ if environ is None else environ), self.home)

    def pip_settings(self) -> dict[str, str]:
        """Return what pip is configured to, for uv."""
        listed = subprocess.run(
            [self.python, "-m", "pip", "--disable-pip-version-check", "config", "list"],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return uv_settings(parse_pip_config(listed.stdout), self.environ)

    def hatch_environ(self) -> dict[str, str]:
        """Return the environment hatch runs in: its data in the clone, our uv, our interpreter, pip's settings."""
        return {
            "DIST_EXTRA_CONFIG": str(self.home / "distutils.cfg"),
            **self.environ,
            **self.pip_settings(),
            "HATCH_CACHE_DIR": str(self.home / "cache"),
            "HATCH_CONFIG": str(self.home / "hatch.toml"),
            "HATCH_DATA_DIR": str(self.home / "hatch"),
            "HATCH_ENV_TYPE_VIRTUAL_UV_PATH": str(self.scripts / "uv"),
            "HATCH_PYTHON": base_python(),
        }

    def hatch(self, *arguments: str) -> list[str]:
        return [str(self.python), "-m", "hatch", *arguments]

    def step(self, what: str, command: Sequence[str], environ: Mapping[str, str], remedy: str) -> None:
        step(what, command, environ, self.root, remedy)

    def ensure_venv(self) -> None:
        """Make the environment with hatch and uv, unless it is there, complete and of this very Python."""
        stamp = self.home / "venv.json"
        wanted = {
            "python": os.path.realpath(base_python()),  # python3 and python3.11 are the same one
            "version": sys.version,
            "requirements": [HATCH, UV],
            "place": str(self.venv),  # an environment does not survive a move of the clone
        }
        if same(stamp, wanted) and self.python.exists():
            return
        note(f"setting up hatch and uv in {os.path.relpath(self.venv, self.root)} (once)")
        for stale in (stamp, self.home / "workspace.json"):
            stale.unlink(missing_ok=True)
        for folder in (self.venv, self.home / "hatch"):
            shutil.rmtree(folder, ignore_errors=True)
        self.step(
            "making a virtual environment",
            [base_python(), "-m", "venv", str(self.venv)],
            self.environ,
            "  On Debian and Ubuntu:  apt install python3-venv",
        )
        remedy = (
            "  pip used your own configuration; see it with:  python3 -m pip config list\n"
            "  Behind a proxy set HTTPS_PROXY; for a mirror set PIP_INDEX_URL or pip.conf."
        )
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
        self.step("installing uv", [*pip, UV], self.environ, remedy)
        # By uv, which takes a fifth of the time that pip does: hatch brings thirty packages.
        install = [str(self.scripts / "uv"), "pip", "install", "-q", "--python", str(self.python), HATCH]
        self.step("installing hatch", install, {**self.environ, **self.pip_settings()}, remedy)
        # An empty configuration: the caller's own, with its folders and interpreters, is not ours to follow.
        (self.home / "hatch.toml").write_text("", encoding="utf-8")
        (self.home / "distutils.cfg").write_text(UNCOMPRESSED, encoding="utf-8")
        stamp.write_text(json.dumps(wanted), encoding="utf-8")

    def members(self) -> list[Path]:
        """Return the folders of the workspace that are projects."""
        import tomllib

        config: dict[str, Any] = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))
        patterns = config["tool"]["hatch"]["envs"]["default"]["workspace"]["members"]
        folders = [Path(found) for pattern in patterns for found in sorted(glob.glob(str(self.root / pattern)))]
        return [folder for folder in folders if (folder / "pyproject.toml").is_file()]

    def ensure_workspace(self, environ: Mapping[str, str]) -> None:
        """Make the hatch environment; when a member's metadata changed, install that metadata again.

        hatch notices new members and dependencies by itself, but not a changed entry point or version.
        """
        stamp = self.home / "workspace.json"
        members = self.members()
        wanted = {"members": metadata_digest(self.root, members)}
        if same(stamp, wanted):
            return
        known = stamp.exists()
        if not known:
            note("setting up the environment of the packages (once; downloads about 500 MB if nothing is cached)")
        remedy = "  Start afresh with:  rm -rf .dev"
        self.step("making the environment", self.hatch("env", "create", "default"), environ, remedy)
        if known:
            note("a package changed its metadata: installing it again")
            editables = [word for folder in members for word in ("--editable", str(folder))]
            install = self.hatch("run", "--", str(self.scripts / "uv"), "pip", "install", "-q", "--no-deps", *editables)
            self.step("installing the packages", install, environ, remedy)
        stamp.write_text(json.dumps(wanted), encoding="utf-8")


def kill_group(group: int, signum: int) -> bool:
    """Send a signal to a process group; return whether there was anybody."""
    try:
        os.killpg(group, signum)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def run(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> int:
    """Run a command and return its exit code, or 130 after Ctrl-C, when all its children have ended.

    The command gets a session of its own, because a terminal sends Ctrl-C to everybody at once, and a `kill` only to
    us. This way each process below receives each signal exactly once, from here. What does not end by itself is
    terminated after ten seconds, or at the second Ctrl-C; killed at the third.
    """
    if os.name == "nt":
        return subprocess.call(list(command), env=dict(environ), cwd=folder)
    stops: list[int] = []
    harder = [0]
    child: subprocess.Popen[bytes] | None = None

    def escalate() -> None:
        if child is not None and child.returncode is None:
            kill_group(child.pid, (stops[0], signal.SIGTERM, signal.SIGKILL)[min(harder[0], 2)])
            harder[0] += 1
            signal.alarm(GRACE_SECONDS)

    def stop(signum: int, _frame: FrameType | None) -> None:
        stops.append(signum)
        escalate()

    def too_slow(_signum: int, _frame: FrameType | None) -> None:
        if stops:
            escalate()

    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop, signal.SIGALRM: too_slow}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup is respected
        handlers[signal.SIGHUP] = stop
    # Handled signals return to their default in the child, so it can be interrupted even if we were started with "&".
    before = {signum: signal.signal(signum, handler) for signum, handler in handlers.items()}
    try:
        child = subprocess.Popen(list(command), env=dict(environ), cwd=folder, start_new_session=True)
        if stops:  # Ctrl-C came while the child was being started
            escalate()
        code = child.wait()
        if stops:
            end_group(child.pid)
    finally:
        signal.alarm(0)
        for signum, handler in before.items():
            signal.signal(signum, handler)
    if stops:
        return 128 + stops[0]
    return code if code >= 0 else 128 - code


def end_group(group: int) -> None:
    """After an interrupt, see to it that nobody is left behind."""
    for signum, seconds in ((0, LEAVE_SECONDS), (signal.SIGTERM, LEAVE_SECONDS), (signal.SIGKILL, 1.0)):
        deadline = time.monotonic() + seconds
        if signum and not kill_group(group, signum):
            return
        while time.monotonic() < deadline:
            if not kill_group(group, 0):
                return
            time.sleep(0.05)


def usage() -> str:
    lines = [f"  {name:<14} {text}" for name, text in COMMANDS.items()]
    return "usage: python3 tools/dev.py COMMAND [ARGUMENTS...]\n\n" + "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if arguments else 2
    command, *rest = arguments
    if command not in COMMANDS:
        print(f"dev: there is no command {command!r}.\n\n{usage()}", file=sys.stderr)
        return 2
    tools = Tools()
    try:
        check_python()
        with locked(tools.home):
            tools.ensure_venv()
            environ = tools.hatch_environ()
            tools.ensure_workspace(environ)
    except SetupError as error:
        print(f"dev: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return run(tools.hatch("run", command, *rest), environ, tools.root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
