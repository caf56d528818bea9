"""Finding the files: lazily, in one order on every machine, and without losing what cannot be listed."""

import os
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

NEVER_SOURCES: Final = frozenset({"__pycache__"})
NOT_STANDARD_LIBRARY: Final = NEVER_SOURCES | {"site-packages", "dist-packages"}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to read, or one place that could not be listed.

    ``path``     absolute, to open the file with.
    ``package``  first part of the path below the root: ``json`` for ``json/decoder.py``, ``os`` for ``os.py``.
    ``problem``  not empty: this place could not be listed, and why.  Reading such a record yields a skip, so that a
                 directory without permission shows up in the answer instead of raising in the middle of a stream.
    """

    path: str
    package: str
    problem: str = ""


def standard_library() -> Path:
    """The folder of the running interpreter's own sources."""
    return Path(sysconfig.get_path("stdlib"))


def find_sources(roots: Sequence[Path], excluded: frozenset[str] = NEVER_SOURCES) -> Iterator[SourceFile]:
    """Every ``.py`` file below the directories among ``roots``, and every file named directly, whatever its suffix.

    Order:    roots as given; in a directory first its files, then its folders, each by name.
    Once:     a root that lies inside another one is dropped, so no file is counted twice.
    Symlinks: linked files are read, linked directories below a root are not entered.  What they point to is either
              in the tree already or was not asked for, and a loop cannot arise.
    Memory:   the names of one directory and of its ancestors' folders.
    """
    for root in without_overlap(roots):
        if os.path.isdir(root):  # unlike Path.is_dir, False where permission is missing: reading gives the reason
            yield from _walk(root, excluded)
        else:
            yield SourceFile(str(root), root.stem)


def without_overlap(roots: Sequence[Path]) -> list[Path]:
    """Absolute ``roots`` in their order, without repetitions and without those inside another root."""
    # os.path.realpath: Path.resolve raises on a loop of links before Python 3.13.
    real = {Path(os.path.abspath(root)): Path(os.path.realpath(root)) for root in roots}
    targets = set(real.values())
    kept: list[Path] = []
    seen: set[Path] = set()
    for root, target in real.items():
        if target not in seen and targets.isdisjoint(target.parents):
            seen.add(target)
            kept.append(root)
    return kept


def _walk(root: Path, excluded: frozenset[str]) -> Iterator[SourceFile]:
    failures: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=failures.append):
        yield from _unlisted(failures, root)
        # os.walk goes on into what is left in this list, in this order.
        folders[:] = sorted(name for name in folders if name not in excluded)
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                yield SourceFile(path, _package(path, root))
    yield from _unlisted(failures, root)


def _unlisted(failures: list[OSError], root: Path) -> Iterator[SourceFile]:
    while failures:
        failure = failures.pop(0)
        path = str(failure.filename)
        yield SourceFile(path, _package(path, root), f"cannot list the directory: {failure.strerror}")


def _package(path: str, root: Path) -> str:
    parts = Path(path).relative_to(root).parts
    # The root itself has no part below it: that happens when it cannot be listed.
    return parts[0].removesuffix(".py") if parts else root.name
