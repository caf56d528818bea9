"""Observable's generated families are current, and the tool says what it cannot turn."""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path

import pytest

from rx_ops import Flowable, Observable
from tools import generate_observable as tool


def methods(face: type) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in dir(face):  # what a plugin offers is an attribute of streams only
        if not name.startswith("_") and name not in ("subscribe", "subscribe_actual", "plan", "explain") and hasattr(face, name):
            found[name] = inspect.cleandoc(inspect.getattr_static(face, name).__doc__ or "")
    return found


def test_the_generated_file_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--check"]) == 0, capsys.readouterr().err


def test_every_operator_is_there_unless_it_is_about_demand() -> None:
    assert set(methods(Flowable)) - set(methods(Observable)) == {
        "on_backpressure_buffer",
        "on_backpressure_drop",
        "on_backpressure_latest",
        "to_observable",
        "on_backpressure_reduce",
        "on_backpressure_timeout",
        "rebatch_requests",
        "do_on_request",
        "do_on_cancel",
        "parallel",  # rails are asked for what they want; an Observable has .to_flowable(strategy) in front of it
    }
    assert set(methods(Observable)) - set(methods(Flowable)) == {"to_flowable", "do_on_dispose"}


@pytest.mark.parametrize("name", sorted(set(methods(Observable)) - {"to_flowable"}))
def test_a_docstring_has_its_fields_and_nothing_about_demand(name: str) -> None:
    doc = methods(Observable)[name]
    assert "Flowable" not in doc
    assert tool.DEMAND in doc or re.search(r"^Demand, .* are those of", doc, re.MULTILINE)
    for each in ("rrors", "emory", "hread", "usion"):
        assert each in doc


def test_no_parameter_about_demand_is_left() -> None:
    for name in methods(Observable):
        if name != "to_flowable":
            parameters = inspect.signature(getattr(Observable, name)).parameters
            kept = {parameter for method, parameter in tool.KEPT if method == name}
            assert not (set(tool.PARAMETERS) - kept) & set(parameters), name


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The families in a folder of their own, with the configuration that formats them."""
    shutil.copytree(tool.ROOT / tool.FACES, tmp_path / tool.FACES)
    shutil.copy(tool.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def edit(root: Path, family: str, old: str, new: str) -> None:
    path = root / tool.FACES / f"{family}.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_changed_family_fails_the_check_with_the_command_to_run(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(copy, "_filter", '"""The items for which', '"""Only the items for which')
    assert tool.main(["--check"], copy) == 1
    assert tool.COMMAND in capsys.readouterr().err
    assert tool.main([], copy) == 0
    assert "Only the items for which" in (copy / tool.TARGET).read_text(encoding="utf-8")
    assert tool.main(["--check"], copy) == 0


def test_a_new_operator_loses_its_prefetch_without_an_entry(copy: Path) -> None:
    edit(
        copy,
        "_filter",
        "    def take(self",
        '''    def ahead(self, other: Publisher[T], /, *, prefetch: int = DEFAULT_PREFETCH) -> Flowable[T_co]:
        """New.

        Demand:  ``prefetch`` ahead,
                 and more.   Errors: none.
        Memory:  none.
        """
        check_prefetch("ahead", prefetch)  # at least one
        return self.ahead(other, prefetch=prefetch)._then(stages.ahead, prefetch)

    def take(self''',
    )
    assert '''    def ahead(self, other: ObservableSource[T], /) -> Observable[T_co]:
        """New.

        Demand:  none; everything is taken as it comes.
        Errors:  none.
        Memory:  none.
        """
        return self.ahead(other)._then(stages.ahead, DEFAULT_PREFETCH)
''' in tool.generate(copy)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "        Errors:  what ``predicate`` raises",
            "        Errors:  at the next request, what",
            "filter: still about demand",
        ),
        ('T = TypeVar("T")', 'T = TypeVar("T", bound=int)', "declares T otherwise"),
        ("class FlowableFilter", "print()\n\n\nclass FlowableFilter", "a statement that is no"),
    ],
)
def test_what_the_tables_do_not_cover_is_named(
    old: str, new: str, problem: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(copy, "_filter", old, new)
    assert tool.main([], copy) == 1
    shown = capsys.readouterr().err
    assert problem in shown
    assert "_filter.py:" in shown


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--nonsense"]) == 2
    assert "generate_observable.py --check" in capsys.readouterr().err
