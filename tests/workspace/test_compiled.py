"""tools/compiled.py: what it compiles, what it does to a copy, what it takes on the command line. Here nothing is compiled."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from tests.workspace.projects import ROOT
from tools import compiled
from tools.dev import SetupError


@pytest.mark.parametrize(
    ("words", "kept", "rest"),
    [
        ([], None, []),
        (["-k", "merge"], None, ["-k", "merge"]),
        (["--keep", "/tmp/a"], "/tmp/a", []),
        (["--keep=/tmp/a", "packages/rx-ops"], "/tmp/a", ["packages/rx-ops"]),
        (["packages", "--keep", "x"], None, ["packages", "--keep", "x"]),  # all that follows is pytest's
    ],
)
def test_the_folder_may_be_named_before_the_arguments_of_pytest(words: list[str], kept: str | None, rest: list[str]) -> None:
    assert compiled.arguments_of(words) == (kept, rest)


def test_a_folder_that_is_not_named_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert compiled.main(["--keep"]) == 1
    assert "--keep needs a folder" in capsys.readouterr().err


def test_the_gate_and_all_of_streams_are_compiled_but_for_what_is_left_out() -> None:
    names = compiled.compiled_modules(compiled.SOURCES)
    assert {"rx_core.gate", "rx_core.streams.op", "rx_core.streams.inputs"} <= set(names)
    modules = {f"rx_core.streams.{file.stem}" for file in (compiled.SOURCES / "rx_core" / "streams").glob("*.py")}
    assert modules | {"rx_core.gate"} == set(names) | compiled.LEFT_OUT.keys()


def retyped(classes: dict[str, ast.ClassDef]) -> list[str]:
    """Attributes to which a class gives another type than one of its bases. mypyc refuses them; mypy does not."""
    types = {
        name: {ast.unparse(each.target): ast.unparse(each.annotation) for each in node.body if isinstance(each, ast.AnnAssign)}
        for name, node in classes.items()
    }
    found = []
    for name, node in classes.items():
        bases = list(node.bases)
        while bases:
            base = ast.unparse(bases.pop()).partition("[")[0]
            if base in classes:
                bases += classes[base].bases
                found += [f"{name}.{each}" for each, said in types[name].items() if types[base].get(each, said) != said]
    return found


def classes_of(*sources: str) -> dict[str, ast.ClassDef]:
    return {node.name: node for source in sources for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}


def test_no_subclass_gives_an_attribute_of_the_core_another_type() -> None:
    modules = compiled.compiled_modules(compiled.SOURCES)
    sources = [(compiled.SOURCES / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8") for module in modules]
    assert retyped(classes_of(*sources)) == []


def test_another_type_of_an_attribute_is_found_through_a_class_between() -> None:
    sources = "class A:\n    op: int\n", "class B(A[T]):\n    pass\n", "class C(B):\n    op: bool\n    up: int\n"
    assert retyped(classes_of(*sources)) == ["C.op"]


def test_a_module_that_is_left_out_and_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rx_core" / "streams").mkdir(parents=True)
    with pytest.raises(SetupError, match=r"rx_core\.streams\.waiting"):
        compiled.compiled_modules(tmp_path)


def test_classes_are_opened_to_subclasses_that_are_not_compiled() -> None:
    source = textwrap.dedent(
        '''
        """A module."""

        from __future__ import annotations

        from typing import Protocol, final

        class Plain:
            class Inner:
                pass

        @final
        class Decorated(Plain):
            pass

        class Told(Protocol):
            pass
        '''
    )
    tree = ast.parse(compiled.open_to_subclasses(source))
    found = {
        node.name: [ast.unparse(each) for each in node.decorator_list] for node in tree.body if isinstance(node, ast.ClassDef)
    }
    opened = "mypyc_attr(allow_interpreted_subclasses=True)"
    assert found == {"Plain": [opened], "Decorated": [opened, "final"], "Told": []}
    assert ast.unparse(tree.body[2]) == "from mypy_extensions import mypyc_attr"


def test_a_module_without_classes_stays_as_it_is() -> None:
    assert compiled.open_to_subclasses("x = 1\n") == "x = 1\n"


def test_tests_that_need_the_sources_are_there() -> None:
    for line in compiled.NEED_SOURCES:
        file, _, start = line.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert any(isinstance(node, ast.FunctionDef) and node.name.startswith(start) for node in tree.body), line


def test_lines_that_name_no_test_any_more_are_found() -> None:
    file = "packages/rx-core/tests/streams/test_border.py::"
    assert compiled.missing_tests([file + "test_control_a", file + "test_other"]) == []
    assert compiled.missing_tests([file + "test_other"]) == [file + "test_control_"]
    assert compiled.missing_tests(["tests/test_a.py::test_b"]) == []


@pytest.mark.parametrize(("file", "expected"), [("a/op.py", False), (None, False), ("a/op.abi3.so", True)])
def test_an_extension_module_is_known_by_its_file(file: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.machinery.EXTENSION_SUFFIXES", [".cpython-311.so", ".abi3.so", ".so"])
    assert compiled.is_compiled(file) == expected


def test_a_core_that_is_not_compiled_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.FOLDER, str(compiled.SOURCES))
    with pytest.raises(pytest.UsageError, match="not compiled"):
        compiled.pytest_collection_finish()


def test_without_a_c_compiler_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="build-essential"):
        compiled.compile_into(tmp_path, [], {"PATH": str(tmp_path)})
