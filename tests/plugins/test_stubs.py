"""``python -m rx_ops stubs``: what the mypy plugin does, for checkers without plugins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugins.places import DATA, PAIRS, Place
from tests.plugins.test_mypy import errors, expected


def found_by_pyright(place: Place) -> set[tuple[str, int, str]]:
    report = json.loads("\n".join(place.pyright("--outputjson")))
    assert report["summary"]["filesAnalyzed"] == 2
    return {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["rule"])
        for each in report["generalDiagnostics"]
        if each["severity"] == "error"
    }


def on_lines(errors: set[tuple[str, int, str]]) -> set[tuple[str, int]]:
    return {(file, line) for file, line, _ in errors}


@pytest.mark.slow
def test_pyright_knows_the_operators_by_the_stubs(with_pairs: Place) -> None:
    with_pairs.copy("uses.py", "mistakes.py")
    assert "2 operators" in with_pairs.run("-m", "rx_ops", "stubs")[-1]
    found, wanted = found_by_pyright(with_pairs), expected(2)
    # Strict mode may report a line twice, the second time because its type is not known.
    assert found >= wanted
    assert on_lines(found) == on_lines(wanted)


@pytest.mark.slow
def test_pyright_refuses_every_use_without_the_stubs(with_pairs: Place) -> None:
    with_pairs.copy("uses.py", "mistakes.py")
    assert len({line for file, line in on_lines(found_by_pyright(with_pairs)) if file == "uses.py"}) > 10


@pytest.mark.slow
def test_mypy_without_the_plugin_takes_the_stubs_from_site_packages(with_pairs: Place) -> None:
    with_pairs.copy("uses.py", "mistakes.py")
    with_pairs.write("mypy.ini", "[mypy]\nstrict = True\n")
    with_pairs.run("-m", "rx_ops", "stubs", "--out", str(with_pairs.site))
    found, wanted = on_lines(errors(with_pairs.mypy("uses.py", "mistakes.py"))), on_lines(expected(1))
    assert found <= wanted
    (forgiven,) = wanted - found
    assert "unbound" in (DATA / forgiven[0]).read_text().splitlines()[forgiven[1] - 1]  # only the plugin refuses this


@pytest.mark.slow
def test_stubs_do_not_disturb_the_mypy_plugin(with_pairs: Place) -> None:
    with_pairs.copy("uses.py", "mistakes.py")
    with_pairs.run("-m", "rx_ops", "stubs", "--out", str(with_pairs.site))
    found, wanted = errors(with_pairs.mypy("uses.py", "mistakes.py")), expected(1)
    assert found >= wanted
    assert on_lines(found) == on_lines(wanted)


def test_the_command_says_what_it_wrote(with_pairs: Place) -> None:
    assert with_pairs.run("-m", "rx_ops", "stubs", "--out", "here") == [
        "Flowable.pairs  rx-pairs  rx_pairs._impl:pairs",
        "Flowable.total  rx-pairs  rx_pairs._impl:total",
        f"{Path('here', 'rx_ops-stubs')}: 2 operators of installed distributions",
    ]
    files = {path.relative_to(with_pairs.folder / "here").as_posix() for path in (with_pairs.folder / "here").rglob("*.*")}
    assert files == {"rx_ops-stubs/py.typed", "rx_ops-stubs/_faces/_plugged.pyi"}


def test_a_distribution_that_is_gone_leaves_the_stubs(place: Place) -> None:
    place.install("rx-one", {"Single.one": "rx_one:one"}, {"rx_one/__init__.py": "raise SystemExit('is never imported')"})
    place.run("-m", "rx_ops", "stubs")
    stub = place.folder / "typings" / "rx_ops-stubs" / "_faces" / "_plugged.pyi"
    assert "class SinglePlugged(SingleBase[T_co]):\n    one = rx_one.one\n" in stub.read_text()
    place.uninstall("rx-one")
    assert place.run("-m", "rx_ops", "stubs")[-1].endswith(": 0 operators of installed distributions")
    assert "rx_one" not in stub.read_text()


def test_an_editable_distribution_has_the_entries_of_its_pyproject(place: Place, tmp_path: Path) -> None:
    place.install_editable("rx-pairs", PAIRS, {"Flowable.old": "rx_pairs._impl:old"})
    written = place.run("-m", "rx_ops", "stubs")
    assert [line.partition(" ")[0] for line in written[:-1]] == ["Flowable.pairs", "Flowable.total"]
    dynamic = tmp_path / "dynamic"
    dynamic.mkdir()
    dynamic.joinpath("pyproject.toml").write_text('[project]\nname = "rx-dynamic"\ndynamic = ["version", "entry-points"]\n')
    place.install_editable("rx-dynamic", dynamic, {"Flowable.found": "rx_dynamic:found"})
    assert any(line.startswith("Flowable.found") for line in place.run("-m", "rx_ops", "stubs"))


def test_of_two_distributions_with_one_operator_the_first_counts(place: Place) -> None:
    for name in ("rx-two", "rx-one"):
        place.install(name, {"Flowable.same": f"{name.replace('-', '_')}:same"}, {})
    assert place.run("-m", "rx_ops", "stubs")[:-1] == ["Flowable.same  rx-one  rx_one:same"]


def test_a_folder_that_cannot_be_written_is_named(place: Place) -> None:
    place.write("taken", "a file")
    with pytest.raises(AssertionError, match="stubs: cannot write into taken: "):  # call() shows what is on stderr
        place.run("-m", "rx_ops", "stubs", "--out", "taken")
