"""The growth tables run the right computations; how they grow is not a test."""

from __future__ import annotations

import json

import pytest

from bench import _growth
from bench.__main__ import main
from bench._growth import TRACED, Growth, Point, Work, flatness, growth_table, growths, measure_growth

FIRST, *OTHERS = growths(1_000)


@pytest.mark.parametrize(
    "growth", [FIRST, *(pytest.param(each, marks=pytest.mark.nightly) for each in OTHERS)], ids=lambda growth: growth.name
)
def test_every_line_gives_what_it_should_at_its_first_points(growth: Growth) -> None:
    points = growth.points[:2]
    few = Growth(growth.name, growth.axis, points, growth.lines, growth.unit)
    measured = measure_growth(few, rounds=1)
    assert [(point.line, point.at) for point in measured] == [(line, at) for line in growth.lines for at in points]
    assert all(point.nanoseconds > 0 for point in measured)
    assert all(point.peak_kilobytes is not None for point in measured)


def test_a_line_that_computes_something_else_is_refused() -> None:
    wrong = Growth("wrong", "elements", [1], {"line": lambda size: Work(lambda: 2, size, 1)})
    with pytest.raises(AssertionError, match="line at 1: 2, not 1"):
        measure_growth(wrong, rounds=1)


def test_memory_that_is_held_is_seen() -> None:
    held = Growth("held", "elements", [1], {"line": lambda size: Work(lambda: len(bytearray(1_000_000)), size, 1_000_000)})
    [point] = measure_growth(held, rounds=1)
    assert point.peak_kilobytes is not None
    assert 970 < point.peak_kilobytes < 1_100


def test_where_tracing_would_take_too_long_the_process_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for real: it would have to become larger than all tests before made it."""
    assert 1_000 < _growth._largest() < 1e9
    sizes = [1_000.0]
    monkeypatch.setattr(_growth, "_largest", lambda: sizes[-1])
    held = Growth("held", "elements", [10 * TRACED], {"line": lambda at: Work(lambda: sizes.append(4_000.0), at, None)})
    [point] = measure_growth(held, rounds=1)
    assert (point.peak_kilobytes, point.grown_kilobytes) == (None, 3_000)
    assert "(+3,000)" in growth_table(held, [point])


def test_flatness_compares_the_last_point_with_the_cheapest() -> None:
    points = [Point("line", 1, 30.0, None), Point("line", 10, 10.0, None), Point("line", 100, 15.0, None)]
    assert flatness(points, "line") == 1.5


def test_the_command_prints_growth(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["growth", "--size", "1000", "--rounds", "1", "--only", "elements"]
    assert main(options) == 0
    assert "| elements | loop by hand | fused, sum |" in capsys.readouterr().out
    assert main([*options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == {"schema", "python", "implementation", "build", "cores", "size", "rounds", "growth"}
    [table] = printed["growth"]
    assert table.keys() == {"name", "axis", "unit", "lines"}
    assert all(line.keys() == {"line", "last_to_cheapest", "points"} for line in table["lines"])
    keys = {"at", "nanoseconds", "peak_kilobytes", "grown_kilobytes"}
    assert all(point.keys() == keys for line in table["lines"] for point in line["points"])
