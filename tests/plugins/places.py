"""Interpreters to check for: each sees our packages, and whatever distributions a test installs into it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("data")
PACKAGES = ("packages/rx-core/src", "packages/rx-fusion/src", "packages/rx-ops/src")
FOREIGN = ("PYTHONPATH", "MYPYPATH", "VIRTUAL_ENV")
PAIRS = ROOT / "examples" / "plugins" / "rx-pairs"


class Place:
    """A virtual environment, and a folder in which checkers run for it."""

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        self.folder = folder
        self.cache = cache or folder / "cache"
        home = folder / "target"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
        scheme = sysconfig.get_preferred_scheme("prefix")
        self.python = Path(sysconfig.get_path("scripts", "venv", {"base": str(home)})) / "python"
        self.site = Path(sysconfig.get_path("purelib", scheme, {"base": str(home)}))
        self.site.joinpath("workspace.pth").write_text("".join(f"{ROOT / folder}\n" for folder in PACKAGES))
        for name, text in (("mypy.ini", MYPY), ("pyrightconfig.json", PYRIGHT)):
            folder.joinpath(name).write_text(text)

    def install(self, name: str, operators: Mapping[str, str], files: Mapping[str, str]) -> None:
        """Put a distribution and its modules where pip would."""
        for path, text in files.items():
            self.site.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
            self.site.joinpath(path).write_text(text)
        self._record(name, operators)

    def install_editable(self, name: str, source: Path, operators: Mapping[str, str]) -> None:
        """The same for a folder with a pyproject.toml, with the entries it had when it was installed."""
        self.site.joinpath(f"{name}.pth").write_text(f"{source / 'src'}\n")
        information = self._record(name, operators)
        link = {"url": source.as_uri(), "dir_info": {"editable": True}}
        information.joinpath("direct_url.json").write_text(json.dumps(link))

    def uninstall(self, name: str) -> None:
        shutil.rmtree(self.site / f"{name.replace('-', '_')}-1.dist-info")
        shutil.rmtree(self.site / name.replace("-", "_"))

    def _record(self, name: str, operators: Mapping[str, str]) -> Path:
        information = self.site / f"{name.replace('-', '_')}-1.dist-info"
        information.mkdir(exist_ok=True)
        information.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        entries = "".join(f"{operator} = {value}\n" for operator, value in operators.items())
        information.joinpath("entry_points.txt").write_text(f"[rx.operators]\n{entries}")
        return information

    def write(self, name: str, text: str) -> None:
        self.folder.joinpath(name).write_text(text)

    def copy(self, *names: str) -> None:
        for name in names:
            shutil.copy(DATA / name, self.folder)

    def mypy(self, *arguments: str) -> list[str]:
        """Run mypy over files for this interpreter and return its lines."""
        where = ("--python-executable", str(self.python), "--cache-dir", str(self.cache))
        return self.call(sys.executable, "-m", "mypy", *where, *arguments)

    def pyright(self, *arguments: str) -> list[str]:
        return self.call(sys.executable, "-m", "pyright", "--pythonpath", str(self.python), *arguments)

    def run(self, *arguments: str) -> list[str]:
        """Run this interpreter."""
        return self.call(str(self.python), "-W", "ignore", *arguments)

    def call(self, *command: str) -> list[str]:
        environ = {name: value for name, value in os.environ.items() if name not in FOREIGN}
        environ["PYRIGHT_PYTHON_IGNORE_WARNINGS"] = "1"
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, check=False)
        assert not done.stderr.strip(), done.stderr
        return done.stdout.splitlines()


MYPY = """\
[mypy]
strict = True
show_error_context = False
hide_error_codes = False
pretty = False
plugins = rx_ops.mypy_plugin
"""
PYRIGHT = """\
{
    "typeCheckingMode": "strict",
    "enableTypeIgnoreComments": false,
    "reportUnnecessaryTypeIgnoreComment": "error",
    "include": ["uses.py", "mistakes.py"]
}
"""
