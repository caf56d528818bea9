"""The user's own modules on their way to a cluster: which go along, and as what."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from rx_spark._session._session import OURS
from rx_spark._session._ship import Shipment, is_own, own_modules


class Session:
    """Notes what it is given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def addArtifacts(self, path: str, *, pyfile: bool) -> None:
        assert pyfile
        self.given.append(path)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "path" / "shop_of_test"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "model.py").write_text(
        "import json\nfrom helpers_of_test import double\n\n\ndef fare(km):\n    return double(km)\n"
    )
    (package / "prices.txt").write_text("1")
    (tmp_path / "path" / "helpers_of_test.py").write_text("def double(x):\n    return x * 2\n")
    (tmp_path / "path" / "not_needed.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "path")
    yield tmp_path
    for name in ("shop_of_test", "shop_of_test.model", "helpers_of_test"):
        sys.modules.pop(name, None)
    is_own.cache_clear()


def test_what_a_pickle_names_goes_along_with_what_it_imports(modules: Path) -> None:
    from shop_of_test.model import fare  # type: ignore[import-not-found]  # it is made by the fixture

    names = own_modules(pickle.dumps(fare))
    assert names == {"shop_of_test", "helpers_of_test"}
    session = Session()
    shipment = Shipment([session], modules)  # type: ignore[list-item]  # all that is asked of a session
    shipment.send(names)
    shipment.send(names)
    (packed,) = session.given
    with zipfile.ZipFile(packed) as archive:
        assert sorted(archive.namelist()) == [
            "helpers_of_test.py",
            "shop_of_test/",
            "shop_of_test/__init__.py",
            "shop_of_test/model.py",
            "shop_of_test/prices.txt",
        ]


def test_of_a_package_without_init_goes_along_what_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = tmp_path / "path" / "company_of_test" / "team"
    (team / "shop").mkdir(parents=True)
    (team / "shop" / "__init__.py").write_text("")
    (team / "shop" / "model.py").write_text("from company_of_test.team import tax\n\n\ndef fare(km):\n    return tax.RATE * km\n")
    (team / "tax.py").write_text("RATE = 3\n")
    (team / "other.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "path")
    from company_of_test.team.shop.model import fare  # type: ignore[import-not-found]  # it was made above

    payload = pickle.dumps(fare)
    names = own_modules(payload)
    assert names == {"company_of_test.team.shop", "company_of_test.team.tax"}
    session = Session()
    Shipment([session], tmp_path).send(names)  # type: ignore[list-item]  # all that is asked of a session
    # A fresh Python that has nothing but the zip.
    program = f"import pickle, sys; sys.path.insert(0, {session.given[0]!r}); print(pickle.loads({payload!r})(7))"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "21\n"


def test_a_package_put_into_sys_modules_by_hand_is_found_by_its_path(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shop_of_test.model import fare

    monkeypatch.setitem(sys.modules, "shop_of_test", ModuleType("shop_of_test"))  # without a spec, as pytest makes them
    assert own_modules(pickle.dumps(fare)) == {"shop_of_test", "helpers_of_test"}


def test_a_module_that_changed_is_sent_again(modules: Path) -> None:
    session = Session()
    shipment = Shipment([session], modules)  # type: ignore[list-item]  # all that is asked of a session
    shipment.send({"helpers_of_test"})
    (modules / "path" / "helpers_of_test.py").write_text("def double(x):\n    return x + x\n")
    shipment.send({"helpers_of_test"})
    assert len(set(session.given)) == 2


def test_what_is_installed_stays(modules: Path) -> None:
    assert own_modules(pickle.dumps([Path, pytest.fixture])) == frozenset()
    assert not is_own("json")
    assert not is_own("pyarrow")
    assert not is_own("__main__")
    assert is_own("rx_spark") == ("site-packages" not in sys.modules["rx_spark"].__path__[0])


def test_a_package_full_of_data_is_refused(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rx_spark._session._ship.MOST_BYTES", 10)
    with pytest.raises(ValueError, match=r"the package shop_of_test has .* bytes of files, and at most 10 travel"):
        Shipment([], modules).send({"shop_of_test"})


def test_our_own_packages_go_along_without_what_was_compiled(tmp_path: Path) -> None:
    session = Session()
    Shipment([session], tmp_path).send(OURS)  # type: ignore[list-item]  # all that is asked of a session
    with zipfile.ZipFile(session.given[0]) as archive:
        names = archive.namelist()
    assert {"rx_spark/_workers/_passes.py", "rx_core/_errors.py"} <= set(names)
    assert not [name for name in names if "__pycache__" in name]
