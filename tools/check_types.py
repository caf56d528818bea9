"""Run mypy --strict over everything: sources, tests, tools, examples and benchmarks.

    python tools/check_types.py [PATH...]

Two packages may each have a ``tests/test_errors.py``, and mypy refuses two files of one module name in a run. So the
files are put into as few runs as possible: the first takes nearly all, a second one what collided. mypy's cache is
shared, so that a further run costs about a second.

Folders called ``data`` hold input for tests (code that must be rejected, for example) and are left out.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent
PLACES = (
    "packages/*/src",
    "packages/*/tests",
    "packages/*/bench",
    "packages/*/examples",
    "tests",
    "tools",
    "examples",
    "bench",
    "docs",
)


def mypy_bases(root: Path) -> list[Path]:
    """Return the folders below which mypy names modules, as the configuration lists them."""
    config = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    listed = config["tool"]["mypy"].get("mypy_path", [])
    return [Path(entry.replace("$MYPY_CONFIG_FILE_DIR", str(root))).resolve() for entry in listed]


def python_files(root: Path) -> list[Path]:
    found = {file for place in PLACES for folder in root.glob(place) for file in folder.rglob("*.py") if wanted(root, file)}
    return sorted(found)


def wanted(root: Path, file: Path) -> bool:
    parts = file.relative_to(root).parts[:-1]
    return not any(part in ("data", "build", "dist", "node_modules") or part.startswith(".") for part in parts)


def module_name(file: Path, bases: Iterable[Path]) -> str:
    """Name a file as mypy does: relative to the nearest base."""
    nearest = max((base for base in bases if file.is_relative_to(base)), key=lambda base: len(base.parts))
    parts = file.relative_to(nearest).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def group(files: Iterable[Path], bases: Sequence[Path]) -> list[dict[str, Path]]:
    """Put each file into the first run that has no module of its name yet."""
    runs: list[dict[str, Path]] = []
    for file in files:
        name = module_name(file, bases)
        for run in runs:
            if name not in run:
                run[name] = file
                break
        else:
            runs.append({name: file})
    return runs


def main(arguments: Sequence[str]) -> int:
    files = python_files(ROOT)
    if arguments:
        chosen = [Path(argument).resolve() for argument in arguments]
        files = [file for file in files if any(file.is_relative_to(path) for path in chosen)]
        if not files:
            print(f"no Python file of the workspace is in {' '.join(arguments)}", file=sys.stderr)
            return 2
    failed = 0
    for run in group(files, mypy_bases(ROOT)):
        names = [str(file.relative_to(ROOT)) for file in run.values()]
        failed |= subprocess.call([sys.executable, "-m", "mypy", *names], cwd=ROOT)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
