"""The user's own modules on their way to a cluster.

Functions are pickled by the name of their module, so the module has to be there. What is installed (the standard library,
site-packages) is expected on the executors; everything else that a pipeline names goes along as one zip, with what it imports:
whole packages, because a module of one may import any other. A package without ``__init__`` (a namespace) is not a whole: of it
go what is named below.
"""

from __future__ import annotations

import ast
import hashlib
import pickletools
import sys
import sysconfig
import threading
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A package with more than this has data in it, which is not sent with each pipeline.
MOST_BYTES: Final = 64 * 1024 * 1024
_NOT_SENT: Final = frozenset(("__pycache__", ".git", ".venv", "node_modules"))


class Shipment:
    """What has been sent to one Spark application. Thread: any; one at a time gets in."""

    def __init__(self, sessions: Iterable[SparkSession], folder: Path) -> None:
        self._sessions = tuple(sessions)
        self._folder = folder
        self._sent: set[str] = set()
        self._lock = threading.Lock()

    def send(self, names: Iterable[str]) -> None:
        """Send the modules and packages ``names`` unless they are there. ValueError for one that is too large to travel."""
        with self._lock:
            files = {name: _files_of(name) for name in names}
            digest = _digest(files)
            if not files or digest in self._sent:
                return
            target = self._folder / f"rx_modules_{digest[:16]}.zip"
            _pack(target, files)
            for session in self._sessions:
                session.addArtifacts(str(target), pyfile=True)
            self._sent.add(digest)


def own_modules(payload: bytes) -> frozenset[str]:
    """The modules and packages that a pickle names and that are the user's own, with those that they import."""
    found: set[str] = set()
    left = [unit(text) for text in _texts(payload) if text in sys.modules]
    while left:
        name = left.pop()
        if name not in found and is_own(name):
            found.add(name)
            left += _imported(name)
    return frozenset(found)


@cache
def is_own(name: str) -> bool:
    """Whether a module or package is neither part of Python nor installed, and can be sent: it has a file."""
    if name.partition(".")[0] in sys.stdlib_module_names or name == "__main__":
        return False
    places = _places(name)
    return bool(places) and not any(place.is_relative_to(root) for place in places for root in _installed())


def unit(name: str) -> str:
    """What is sent when a module is needed: the outermost package that has an ``__init__``, or the module.

    A package without one is only a name, which several distributions may share: installed ones, and the user's own.
    """
    parts = name.split(".")
    for depth in range(1, len(parts)):
        outer = ".".join(parts[:depth])
        spec = _spec(outer)
        if spec is None or spec.submodule_search_locations is None or spec.origin not in (None, "namespace"):
            return outer
    return name


def _spec(name: str) -> ModuleSpec | None:
    """As a new interpreter with the finders of this one would find it: ``sys.modules`` may hold what was made by hand."""
    path: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        try:
            found = (finder.find_spec(".".join(parts[:depth]), path) for finder in sys.meta_path)
            spec = next((each for each in found if each is not None), None)
        except (ImportError, ValueError):  # of a finder that does not know such names
            return None
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec


def _places(name: str) -> list[Path]:
    """Where a module is: its file, or the folders of a package that is more than a name."""
    spec = _spec(name)
    if spec is None or spec.origin in (None, "namespace"):
        return []
    if spec.submodule_search_locations:
        return [Path(place).resolve() for place in spec.submodule_search_locations]
    return [Path(spec.origin).resolve()] if spec.origin.endswith(".py") else []


@cache
def _installed() -> tuple[Path, ...]:
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({Path(sysconfig.get_path(key)).resolve() for key in keys})


def _files_of(name: str) -> dict[str, Path]:
    """The files of a module or package, by their names in a zip."""
    files: dict[str, Path] = {}
    inside = Path(*name.split("."))
    for place in _places(name):
        if place.is_file():
            files[str(inside.with_name(place.name))] = place
            continue
        for file in sorted(place.rglob("*")):
            if file.is_file() and not _NOT_SENT & set(file.parts):
                files[str(inside / file.relative_to(place))] = file
    size = sum(file.stat().st_size for file in files.values())
    if size > MOST_BYTES:
        raise ValueError(
            f"the package {name} has {size:,} bytes of files, and at most {MOST_BYTES:,} travel with a pipeline.\n"
            f"  Install it on the executors, or keep its data outside the package"
        )
    return files


def _digest(files: dict[str, dict[str, Path]]) -> str:
    made = hashlib.sha256()
    for name, file in sorted((name, file) for several in files.values() for name, file in several.items()):
        made.update(name.encode())
        made.update(file.read_bytes())
    return made.hexdigest()


def _pack(target: Path, files: dict[str, dict[str, Path]]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        packed = {name: file for several in files.values() for name, file in several.items()}
        # A package without __init__ is found in a zip only where its folder has an entry.
        for folder in sorted({str(parent) for name in packed for parent in Path(name).parents} - {"."}):
            archive.mkdir(folder)
        for name, file in packed.items():
            archive.write(file, name)


def _texts(payload: bytes) -> Iterator[str]:
    """The texts in a pickle, names of modules among them."""
    arguments: Iterator[Any] = (argument for _, argument, _ in pickletools.genops(payload))
    for argument in arguments:
        if isinstance(argument, str):
            yield from argument.split(" ", 1)  # the old opcode has module and name in one


@cache
def _imported(name: str) -> frozenset[str]:
    """What the files of a module or package import."""
    found: set[str] = set()
    for file in _files_of(name).values():
        if file.suffix != ".py":
            continue
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            continue  # it cannot be imported there either
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module is not None:
                found.add(node.module)
                found.update(f"{node.module}.{alias.name}" for alias in node.names)  # each may be a module
    return frozenset(map(unit, found))
