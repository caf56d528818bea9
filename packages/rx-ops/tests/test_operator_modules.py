"""A program imports the modules of the operators that it uses, when it uses them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from rx_ops import operators


def loaded(program: str) -> set[str]:
    printing = "import sys; print(*[name for name in sys.modules if name.startswith('rx_ops.operators.')])"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{printing}"], capture_output=True, text=True, check=True, timeout=30
    )
    return {name.rpartition(".")[2] for name in done.stdout.split()}


def test_each_name_is_there_and_is_that_of_its_module() -> None:
    for name in operators.__all__:
        found = getattr(operators, name)
        assert getattr(found, "__name__", name) == name
    assert set(operators.__all__) <= set(dir(operators))


def test_type_checkers_see_the_same_names_in_the_same_modules() -> None:
    tree = ast.parse(Path(operators.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen: dict[str, str] = {}
    for statement in checked.body:
        assert isinstance(statement, ast.ImportFrom)
        assert statement.module is not None
        seen |= {each.name: statement.module.rpartition(".")[2] for each in statement.names}
    assert seen == operators._HOMES
    assert sorted(seen) == sorted(operators.__all__)


def test_what_a_program_does_not_use_is_not_imported() -> None:
    unused = {
        "_window",
        "_rates",
        "_repeat",
        "_rounds",
        "_timeout",
        "_switch_map",
        "_observe_on",
        "_create",
        "_publish",
        "_replay",
    }
    assert loaded("import rx_ops") & {*unused, "_flat_map"} == set()
    used = loaded("from rx_ops import Flowable\nFlowable.range(3).flat_map(Flowable.just).blocking_list()")
    assert "_flat_map" in used
    assert used & unused == set()


def test_a_name_that_is_not_there_is_an_error_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match=r"module 'rx_ops\.operators' has no attribute 'FlatMop'"):
        operators.FlatMop  # type: ignore[attr-defined]  # noqa: B018  # the mistake
