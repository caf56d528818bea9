"""Single, Maybe and Completable are what the families and the table say, and the tool says what it cannot make."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rx_ops import Completable, Maybe, Single
from tools import generate_one_item as tool
from tools.generate_observable import FACES, ROOT, GenerateError
from tools.one_item.rows import Part
from tools.one_item.table import ROWS

OF_ALL = {"explain", "plan", "subscribe", "subscribe_actual"}
TYPES = {"S": Single, "M": Maybe, "C": Completable}


def test_the_generated_files_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--check"]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("letter", TYPES)
def test_a_type_has_the_operators_of_the_table_and_no_others(letter: str) -> None:
    face: type = TYPES[letter]
    methods = {name for name in dir(face) if not name.startswith("_") and hasattr(face, name)}  # but none of a plugin
    assert methods - OF_ALL == {row.name for row in ROWS[letter]}


@pytest.mark.parametrize("letter", TYPES)
def test_no_operator_is_in_the_table_twice(letter: str) -> None:
    names = [row.name for row in ROWS[letter]]
    assert len(names) == len(set(names))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The families in a folder of their own, with the configuration that formats them, and what is generated there."""
    shutil.copytree(ROOT / FACES, tmp_path / FACES)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert tool.main([], tmp_path) == 0  # imports are sorted otherwise where the other packages are not to be seen
    return tmp_path


def edit(root: Path, family: str, old: str, new: str) -> None:
    path = root / FACES / f"{family}.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_changed_family_fails_the_check_with_the_command_to_run(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(copy, "_transform", "Errors:  what ``mapper`` raises", "Errors:  whatever ``mapper`` raises")
    assert tool.main(["--check"], copy) == 1
    shown = capsys.readouterr().err
    assert tool.COMMAND in shown
    assert "_generated_single.py" in shown
    assert "_generated_completable.py" not in shown
    assert tool.main([], copy) == 0
    assert tool.main(["--check"], copy) == 0
    assert "whatever ``mapper`` raises" in (copy / FACES / "_generated_maybe.py").read_text(encoding="utf-8")


def test_a_field_about_several_items_is_named_with_its_place(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(copy, "_aside", "Memory:  none.   Thread: that of the error.", "Memory:  the items.   Thread: that of the error.")
    assert tool.main([], copy) == 1
    shown = capsys.readouterr().err
    assert "_aside.py:" in shown
    assert "memory of Single.do_on_error speaks of 'items'" in shown


def made(**said: object) -> str:
    """The text of one method of Single that a row says."""
    part = Part()
    part.row("name", "S", "Does it.", "--1|", **said)  # type: ignore[arg-type]  # as the rows of the table
    single = tool.KINDS[0]
    return "\n\n".join(tool.method(single, part.rows["S"][0], tool.families(ROOT)))


def test_what_is_not_said_is_that_of_the_family() -> None:
    text = made(family="on_error_return")
    assert text.startswith("def name(self, handler: Callable[[Exception], R]) -> Single[T_co | R]:")
    assert "Source:  RxJava ``onErrorReturn``." in text
    assert "return self._coordinate(operators.OnErrorReturn, handler)" in text


def test_a_result_of_another_type_changes_the_body() -> None:
    text = made(family="map", result="Maybe[R]")
    assert "-> Maybe[R]:" in text
    assert "return self._calling_into(_results.Maybe, stages.map_, mapper)" in text


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"family": "nothing_like_it"}, "Flowable has no nothing_like_it"),
        ({"family": "", "body": "return self"}, "neither a family nor the table has a signature"),
        (
            {"family": "", "body": "return self", "signature": "(self) -> Type[T_co]"},
            "neither a family nor the table says errors",
        ),
        ({"family": "concat_map"}, "a parameter about demand"),
        ({"family": "map", "result": "Flowable[R]"}, "what becomes of demand"),
    ],
)
def test_what_is_missing_is_named(said: dict[str, str], problem: str) -> None:
    with pytest.raises(GenerateError, match=problem):
        made(**said)


def test_a_completable_has_no_type_of_items() -> None:
    single, _, completable = tool.KINDS
    signature = "(self: Base[T], other: Base[T], /) -> Type[T]"
    assert single.named(signature) == "(self: SingleBase[T], other: SingleBase[T], /) -> Single[T]"
    assert completable.named(signature) == "(self, other: CompletableBase, /) -> Completable"


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--nonsense"]) == 2
    assert "generate_one_item --check" in capsys.readouterr().err
