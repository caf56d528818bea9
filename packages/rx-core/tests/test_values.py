"""Values compare, hash, print, pickle and match by their fields, as frozen dataclasses do."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

from rx_core._values import Value, put


class Point(Value, compared=("x", "y")):
    __slots__ = ("label", "x", "y")
    x: int
    y: int
    label: str

    def __init__(self, x: int, y: int = 0, label: str = "") -> None:
        put(self, "x", x)
        put(self, "y", y)
        put(self, "label", label)


class Size(Value):
    __slots__ = ("x", "y")
    x: int
    y: int

    def __init__(self, x: int, y: int) -> None:
        put(self, "x", x)
        put(self, "y", y)


class Nothing(Value):
    __slots__ = ()


def test_the_fields_that_are_compared_make_values_equal() -> None:
    assert Point(1, 2, "a") == Point(1, 2, "b")
    assert hash(Point(1, 2, "a")) == hash(Point(1, 2, "b"))
    assert Point(1, 2) != Point(2, 1)
    assert len({Point(1, 2), Point(1, 2, "again"), Size(1, 2), Nothing(), Nothing()}) == 3


def test_another_class_with_the_same_fields_is_something_else() -> None:
    assert Point(1, 2) != Size(1, 2)
    assert Size(1, 2) != (1, 2)
    assert Nothing() != ()


def test_it_prints_the_call_that_makes_it() -> None:
    assert repr(Point(1, label="a")) == "Point(x=1, y=0, label='a')"
    assert repr(Nothing()) == "Nothing()"


def test_nothing_can_be_changed_or_added() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot assign to field 'x': Point is immutable"):
        point.x = 2  # type: ignore[misc]  # the mistake
    with pytest.raises(AttributeError, match="cannot delete field 'x'"):
        del point.x
    assert not hasattr(point, "__dict__")


@pytest.mark.parametrize("value", [Point(1, 2, "a"), Size(1, 2), Nothing()], ids=repr)
def test_it_travels(value: Value) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert repr(again) == repr(value)


def test_its_fields_match_by_position_in_their_order() -> None:
    match Point(1, 2, "a"):
        case Point(x, y, label):
            assert (x, y, label) == (1, 2, "a")


def test_importing_the_library_brings_nothing_that_only_compiling_or_failing_needs() -> None:
    modules = "'ast', 'copy', 'dataclasses', 'difflib', 'dis', 'importlib.metadata', 'inspect', 'linecache', 'logging',"
    modules += "'pluggy', 'rx_fusion._compiler', 'tokenize'"
    program = f"import sys; before = set(sys.modules); import rx_ops; print(*sorted({{{modules}}} & sys.modules.keys() - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
