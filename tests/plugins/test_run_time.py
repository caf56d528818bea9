"""Operators of other distributions at run time: found when used, bound to the stream, told apart from mistakes."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from rx_core import OperatorNotFoundError
from rx_ops import Completable, Flowable, GroupedFlowable, Maybe, Single, _entry_points, _plugins
from tests.plugins.cold import cold
from tests.plugins.places import Place

NUMBERS = Flowable.range(6)


class Distribution:
    """What an entry point knows of its distribution."""

    def __init__(self, name: str) -> None:
        self.name = name


def entry(name: str, value: str, distribution: str) -> EntryPoint:
    made = EntryPoint(name, value, _entry_points.GROUP)
    vars(made)["dist"] = Distribution(distribution)
    return made


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Whatever a test offers is forgotten."""
    forget()
    with cold():
        yield
    forget()


def forget() -> None:
    for cached in (_entry_points.entries, _plugins._operator, _plugins.unknown):
        cached.cache_clear()


def offer(monkeypatch: pytest.MonkeyPatch, *offers: EntryPoint) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: offers)
    forget()


def dynamic(stream: object, name: str) -> Any:
    """An operator that type checkers do not know."""
    return getattr(stream, name)


def test_an_operator_is_a_method_of_the_stream() -> None:
    assert NUMBERS.pairs(2, step=2).map(sum).blocking_list() == [1, 5, 9]
    assert NUMBERS.total().map(lambda n: n * 2).blocking_get() == 30


def test_an_operator_works_on_a_group() -> None:
    def neighbours(group: GroupedFlowable[int, int]) -> Flowable[tuple[int, tuple[int, ...]]]:
        return group.pairs(2).map(lambda pair: (group.key, pair))

    grouped = NUMBERS.group_by(lambda n: n % 2).flat_map(neighbours)
    assert sorted(grouped.blocking_list()) == [(0, (0, 2)), (0, (2, 4)), (1, (1, 3)), (1, (3, 5))]


@pytest.mark.parametrize("stream", [Flowable.range(1), Single.just(1), Maybe.just(1), Completable.complete()], ids=repr)
def test_every_type_takes_operators(stream: object, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(stream).__name__
    offer(monkeypatch, entry(f"{kind}.described", "builtins:repr", "rx-one"))
    assert dynamic(stream, "described")() == repr(stream)


def test_an_operator_of_one_type_is_none_of_another() -> None:
    with pytest.raises(OperatorNotFoundError, match=r"Single has no operator 'pairs'"):
        dynamic(Single.just(1), "pairs")


def test_a_method_cannot_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, entry("Flowable.map", "builtins:repr", "rx-one"))
    assert NUMBERS.map(str).blocking_first() == "0"


def test_a_misspelt_operator_is_told_the_right_one() -> None:
    with pytest.raises(OperatorNotFoundError) as caught:
        dynamic(NUMBERS, "pears")
    assert str(caught.value) == (
        "Flowable has no operator 'pears'.\n"
        "  Did you mean:  .pairs, .pairwise\n"
        "  Your own function in a chain:  .pipe(pears, ...)\n"
        "  Operators of installed plugins:  python -m rx_core plugins"
    )
    assert isinstance(caught.value, AttributeError)
    assert (caught.value.name, caught.value.obj) == ("pears", NUMBERS)


def test_a_misspelt_method_is_told_the_right_one() -> None:
    with pytest.raises(OperatorNotFoundError, match=r"(?m)^  Did you mean:  \.flat_map\b"):
        dynamic(NUMBERS, "flatmap")


def test_a_plugin_that_cannot_be_imported_is_named_and_spoils_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(
        monkeypatch,
        entry("Flowable.broken", "rx_no_such_module:broken", "rx-broken"),
        entry("Flowable.nothing", "builtins:nothing", "rx-broken"),
        entry("Flowable.number", "sys:maxsize", "rx-broken"),
        entry("Flowable.described", "builtins:repr", "rx-one"),
    )
    said = r"Flowable\.broken\(\) is offered by rx-broken \(rx_no_such_module:broken\), which cannot be imported: ModuleNotFound"
    with pytest.raises(OperatorNotFoundError, match=f"{said}(?s:.*)pip install -U rx-broken") as caught:
        dynamic(NUMBERS, "broken")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    with pytest.raises(OperatorNotFoundError, match="rx-broken"):
        dynamic(NUMBERS, "nothing")
    with pytest.raises(OperatorNotFoundError, match="that is no function"):
        dynamic(NUMBERS, "number")
    assert not hasattr(NUMBERS, "broken")
    assert dynamic(NUMBERS, "described")() == "range(6)"


def test_a_plugin_that_exits_when_imported_is_named_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.joinpath("rx_exits.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    offer(monkeypatch, entry("Flowable.exits", "rx_exits:exits", "rx-exits"))
    with pytest.raises(OperatorNotFoundError, match=r"offered by rx-exits .*SystemExit\(3\)"):
        dynamic(NUMBERS, "exits")


def test_of_two_distributions_the_first_counts_and_both_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(
        monkeypatch,
        entry("Flowable.same", "builtins:id", "rx-two"),
        entry("Flowable.same", "builtins:repr", "rx-one"),
    )
    with pytest.warns(RuntimeWarning, match=r"same\(\) is offered by rx-one and by rx-two; rx-one is used") as caught:
        assert dynamic(NUMBERS, "same")() == "range(6)"
    assert [warning.filename for warning in caught] == [__file__]


def test_only_the_operator_that_is_used_is_imported(place: Place) -> None:
    for name in ("one", "two"):
        module = f"rx_{name}"
        operators = {f"Flowable.{name}": f"{module}:{name}"}
        place.install(f"rx-{name}", operators, {f"{module}/__init__.py": f"def {name}(flow): return {name!r}"})
    place.write(
        "program.py",
        "import sys\n"
        "from rx_ops import Flowable\n"
        "assert 'importlib.metadata' not in sys.modules\n"
        "print(Flowable.range(3).one(), 'rx_one' in sys.modules, 'rx_two' in sys.modules)\n",
    )
    assert place.run("program.py") == ["one True False"]


def test_an_operator_that_was_declared_after_an_editable_installation(place: Place, tmp_path: Path) -> None:
    source = tmp_path / "rx-late"
    source.mkdir()
    entries = '[project.entry-points."rx.operators"]\n"Flowable.late" = "rx_late:late"\n'
    source.joinpath("pyproject.toml").write_text(f'[project]\nname = "rx-late"\n{entries}')
    place.install_editable("rx-late", source, {})
    place.write(
        "program.py", "from rx_ops import Flowable\ntry: Flowable.range(3).late()\nexcept AttributeError as e: print(e)\n"
    )
    assert "  rx-late declares it since it was installed:  pip install --no-deps -e <its folder>" in place.run("program.py")


def test_streams_can_be_copied_and_pickled() -> None:
    pairs = NUMBERS.map(str).pairs(2)
    for again in (copy.copy(pairs), copy.deepcopy(pairs), pickle.loads(pickle.dumps(pairs))):
        assert type(again) is Flowable
        assert again.blocking_list() == pairs.blocking_list()


@pytest.mark.parametrize("stream", [NUMBERS, Single.just(1), Maybe.just(1), Completable.complete()], ids=repr)
def test_looking_for_an_attribute_finds_none_and_imports_nothing(stream: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hasattr(stream, "subscribe")
    assert not hasattr(stream, "no_such_operator")
    monkeypatch.setattr(_plugins, "bind_operator", pytest.fail)
    for name in ("__array__", "__await_me__", "_repr_png_", "_ipython_display_", "_private"):
        assert not hasattr(stream, name)


def test_the_list_of_plugins_names_the_operators(place: Place) -> None:
    listed = place.call(sys.executable, "-W", "ignore", "-m", "rx_core", "plugins")  # of the workspace, which has the example
    (line,) = [line for line in listed if line.startswith("rx-pairs")]
    assert line.split(maxsplit=3)[3] == "operators: Flowable.pairs, Flowable.total"
