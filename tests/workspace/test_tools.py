"""The other tools: the dump of the interface, the sizes of files, and the runs of mypy."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.workspace.projects import ROOT
from tools import api, check_types, sizes

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


# tools/api.py

SAMPLE = {
    "packages/rx-one/src/rx_one/__init__.py": """
        from typing import TYPE_CHECKING, overload
        from rx_two import Base as _Base
        from rx_two import helper
        from . import parts
        from ._private import Face, LIMIT
        from .parts import *

        __all__ = ["Face", "LIMIT", "helper", "late", *parts.__all__]

        if TYPE_CHECKING:
            from ._private import late
        """,
    "packages/rx-one/src/rx_one/_private.py": """
        from typing import Generic, TypeVar, final, overload
        from rx_two import Base as _Base

        T = TypeVar("T")
        LIMIT: int = 2 ** 10

        class _Mixin(Generic[T]):
            def map(self, mapper, /, *, prefetch: int = 128): ...
            def _hidden(self): ...
            def shadowed(self) -> int: ...

        @final
        class Face(_Mixin[T], _Base[T]):
            __slots__ = ("size",)
            kind: str = "face"

            def __init__(self, size: int) -> None:
                self.size = size
                self._run = None

            def shadowed(self) -> bool: ...

            @overload
            def scan(self, seed: int) -> int: ...
            @overload
            def scan(self, seed: str) -> str: ...
            def scan(self, seed): ...

            @property
            def demand(self) -> int: ...
            @demand.setter
            def demand(self, value: int) -> None: ...

            def __repr__(self) -> str: ...

        async def late(a=(1, 2), *args: int, **kwargs: str) -> None: ...
        """,
    "packages/rx-one/src/rx_one/parts.py": """
        __all__ = ["twice"]
        def twice(x: int) -> int: ...
        def not_offered(): ...
        """,
    "packages/rx-two/src/rx_two/__init__.py": """
        class Base:
            def own(self): ...
        def helper(): ...
        def _secret(): ...
        """,
}
DUMPED = """\
# The public interface of rx-one, written by `hatch run api`. Do not edit.

rx_one
    @final
    class Face(Generic[T], Base[T])
        def __init__(self, size: int) -> None
        @property
        def demand(self) -> int
        @demand.setter
        def demand(self, value: int) -> None
        kind: str = 'face'
        def map(self, mapper, /, *, prefetch: int=128)
        @overload
        def scan(self, seed: int) -> int
        @overload
        def scan(self, seed: str) -> str
        self.size
        def shadowed(self) -> bool
    LIMIT: int = 2 ** 10
    helper = rx_two.helper
    async def late(a=(1, 2), *args: int, **kwargs: str) -> None
    def twice(x: int) -> int

rx_one.parts
    twice = rx_one.twice
"""


def test_a_dump_holds_what_is_public(tmp_path: Path) -> None:
    write(tmp_path, SAMPLE)
    assert api.main([], tmp_path) == 0
    assert (tmp_path / "packages/rx-one/api.txt").read_text() == DUMPED


def test_a_changed_interface_fails_the_check_until_it_is_dumped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, SAMPLE)
    assert api.main(["--check"], tmp_path) == 1  # never dumped
    api.main([], tmp_path)
    assert api.main(["--check"], tmp_path) == 0
    parts = tmp_path / "packages/rx-one/src/rx_one/parts.py"
    parts.write_text(parts.read_text().replace("x: int", "x: float"))
    capsys.readouterr()
    assert api.main(["--check"], tmp_path) == 1
    diff = capsys.readouterr().out
    assert "-    def twice(x: int) -> int" in diff
    assert "+    def twice(x: float) -> int" in diff
    assert "hatch run api" in diff


def test_a_name_that_does_not_exist_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"packages/rx-one/src/rx_one/__init__.py": '__all__ = ["nothing"]\n'})
    assert api.main([], tmp_path) == 1
    assert "'nothing'" in capsys.readouterr().err


def test_an_offer_that_cannot_be_read_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"packages/rx-one/src/rx_one/__init__.py": "__all__ = sorted(globals())\n"})
    assert api.main([], tmp_path) == 1
    assert "__init__.py:1: __all__ must be made of names" in capsys.readouterr().err


# tools/sizes.py


def test_a_docstring_and_comments_are_no_tokens(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.py": '"""Text."""\n\n# why\nx = 1\n\n\ndef f():\n    """More\n    text."""\n    return "no docs"\n'},
    )
    assert sizes.measure(tmp_path / "a.py") == sizes.Size(lines=10, code_lines=3, tokens=3 + 5 + 2)


@pytest.mark.parametrize(
    ("name", "lines", "code", "said"),
    [
        ("tools/short.py", 600, 0, ""),
        ("tools/long.py", 601, 0, "long: discuss"),
        ("tools/longer.py", 1000, 0, "long: discuss"),
        ("tools/too_long.py", 1001, 1, "TOO LONG"),
        ("packages/rx-one/src/rx_one/_generated_face.py", 5000, 0, ""),
    ],
)
def test_long_files_are_named_and_too_long_ones_refused(
    name: str, lines: int, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {name: "x = 1\n" * lines})
    assert sizes.main([], tmp_path) == code
    rows = [row for row in capsys.readouterr().out.splitlines() if name in row]
    assert [said in row for row in rows] == ([True] if said else [])


def test_every_file_is_listed_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"tools/short.py": "x = 1\n", "tests/data/broken.py": "'''"})
    assert sizes.main(["--all"], tmp_path) == 0
    assert "      1    3.0  tools/short.py" in capsys.readouterr().out.splitlines()


# tools/check_types.py


def test_files_of_one_module_name_go_to_different_runs(tmp_path: Path) -> None:
    bases = [
        tmp_path,
        tmp_path / "packages/rx-a/tests",
        tmp_path / "packages/rx-b/tests",
        tmp_path / "packages/rx-a/src",
    ]
    names = [
        "packages/rx-a/src/rx_a/__init__.py",
        "packages/rx-a/tests/test_errors.py",
        "packages/rx-b/tests/test_errors.py",
        "packages/rx-b/tests/test_more.py",
        "tests/test_errors.py",
    ]
    runs = check_types.group([tmp_path / name for name in names], bases)
    assert [list(run) for run in runs] == [
        ["rx_a", "test_errors", "test_more", "tests.test_errors"],
        ["test_errors"],
    ]


def test_input_for_tests_is_not_checked(tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.py": "", "tests/data/rejected.py": "", "tools/b.py": "", "elsewhere/c.py": ""})
    assert check_types.python_files(tmp_path) == [tmp_path / "tests/a.py", tmp_path / "tools/b.py"]


def test_nothing_to_check_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_types.main(["no/such/folder"]) == 2
    assert "no/such/folder" in capsys.readouterr().err


def test_this_file_is_among_those_checked() -> None:
    assert ROOT / "tests/workspace/test_tools.py" in check_types.python_files(ROOT)
