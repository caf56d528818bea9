import os
import pickle
from pathlib import Path

import pytest

from corpus.sources import NOT_STANDARD_LIBRARY, SourceFile, find_sources, standard_library, without_overlap


def tree(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(root: Path) -> list[tuple[str, str]]:
    return [(os.path.relpath(file.path, root), file.package) for file in find_sources([root])]


def test_files_come_before_folders_and_both_by_name(tmp_path: Path) -> None:
    tree(tmp_path, "b/z.py", "b/a/x.py", "a/y.py", "z.py", "c.py", "notes.txt", "a/__pycache__/y.py")
    assert found(tmp_path) == [
        ("c.py", "c"),
        ("z.py", "z"),
        ("a/y.py", "a"),
        ("b/z.py", "b"),
        ("b/a/x.py", "b"),
    ]


def test_a_file_named_directly_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    tree(tmp_path, "script")
    assert found(tmp_path / "script") == [(".", "script")]


def test_no_file_is_found_twice(tmp_path: Path) -> None:
    tree(tmp_path, "a/x.py", "b/y.py")
    a, b = tmp_path / "a", tmp_path / "b"
    assert without_overlap([a / "x.py", a, b, b, tmp_path / "a" / ".." / "b"]) == [a, b]
    assert len(list(find_sources([a, tmp_path, b]))) == 2


def test_links_to_folders_are_not_entered_so_loops_end(tmp_path: Path) -> None:
    tree(tmp_path, "a/x.py")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "linked.py").symlink_to(tmp_path / "a" / "x.py")
    assert found(tmp_path) == [("linked.py", "linked"), ("a/x.py", "a")]


def test_a_link_to_itself_is_a_file_that_reading_will_skip(tmp_path: Path) -> None:
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    assert found(loop) == [(".", "loop")]


def test_a_folder_that_cannot_be_listed_becomes_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "a/x.py", "locked/y.py", "z/w.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        # Permissions do not stop root, so the refusal is made here.
        if os.path.basename(path) == "locked":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    problems = [(file.package, file.problem) for file in find_sources([tmp_path])]
    assert problems == [("a", ""), ("locked", "cannot list the directory: Permission denied"), ("z", "")]


def test_the_standard_library_is_found_without_what_was_installed_into_it() -> None:
    files = list(find_sources([standard_library()], NOT_STANDARD_LIBRARY))
    assert {"os", "json", "asyncio"} <= {file.package for file in files}
    assert not any("site-packages" in file.path for file in files)


def test_a_source_file_survives_pickling() -> None:
    file = SourceFile("/a/b.py", "a", "cannot")
    assert pickle.loads(pickle.dumps(file)) == file
