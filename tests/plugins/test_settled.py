"""On CPython 3.11 a program that makes short pipelines again and again has operators of plugins as methods (decision 0017)."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from rx_ops import Flowable, _plugins
from rx_ops._faces import _plugged
from tests.plugins.cold import cold
from tests.plugins.places import Place

#: Without hooks of plugins: the interpreters of these tests have no pluggy.
HOT = """
import os
os.environ["RX_DISABLE_PLUGINS"] = "1"
from rx_ops import Flowable
flow = Flowable.range(3)
for _ in range(20): flow.map(str).blocking_list()
"""

only_there = pytest.mark.skipif(sys.version_info >= (3, 12), reason="attributes beside a __getattr__ are as fast there")


def with_two(place: Place) -> None:
    operators = {"Flowable.one": "rx_two:one", "Flowable.map": "rx_two:one", "Single.broken": "rx_no_such_module:broken"}
    place.install("rx-two", operators, {"rx_two/__init__.py": "def one(flow, n=1): return flow.map(lambda x: x * n)"})


def test_an_operator_is_found_and_imported_when_used(place: Place) -> None:
    with_two(place)
    place.write(
        "program.py",
        f"{HOT}import sys\n"
        "print('rx_two' in sys.modules, flow.one(2).one().blocking_list(), flow.map(str).blocking_list())\n"
        "print(hasattr(Flowable, 'one'), hasattr(flow.count(), 'one'), hasattr(flow, 'no_such_operator'))\n"
        "try: flow.count().broken\n"
        "except AttributeError as error: print(type(error).__name__, str(error).partition(' (rx')[0])\n",
    )
    assert place.run("program.py") == [
        "False [0, 2, 4] ['0', '1', '2']",
        "False False False",
        "OperatorNotFoundError Single.broken() is offered by rx-two",
    ]


@only_there
def test_nothing_is_looked_up_the_slow_way_any_more(place: Place) -> None:
    with_two(place)
    place.write(
        "program.py",
        "from rx_ops._faces._plugged import _Plugged\nprint(hasattr(_Plugged, '__getattr__'))\n"
        f"{HOT}print(hasattr(_Plugged, '__getattr__'))\n"
        "try: flow.mapp(str)\n"
        "except AttributeError as error: print(error, error.name, error.obj is flow)\n",
    )
    assert place.run("program.py") == ["True", "False", "'Flowable' object has no attribute 'mapp' mapp True"]


def test_what_only_a_lookup_can_find_keeps_the_lookup(place: Place) -> None:
    place.install(
        "rx-group", {"GroupedFlowable.twice": "rx_group:twice"}, {"rx_group/__init__.py": "def twice(g): return g.key * 2"}
    )
    place.write("program.py", f"{HOT}print(flow.group_by(lambda n: n).map(lambda g: g.twice()).blocking_list())\n")
    assert place.run("program.py") == ["[0, 2, 4]"]


def test_metadata_that_cannot_be_read_keeps_the_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> Any:
        raise OSError("no such folder")

    monkeypatch.setattr(_plugins, "entries", fails)
    with cold():
        _plugins.settle(_plugged._Plugged)
        with pytest.raises(OSError, match="no such folder"):
            hasattr(Flowable.range(3), "no_such_operator")
