"""Expressions on Spark: absorbed like functions, written into the executors' loops, sent by value."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import count
from types import CodeType, FrameType
from typing import TYPE_CHECKING

import pytest

import rx_spark
from rx_fusion import _shapes, fusion_enabled, shape_of
from rx_ops import call, it, stages, sym
from rx_spark._workers._runner import FORM, FusedRunner

if TYPE_CHECKING:
    from rx_ops import Flowable

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not fusion_enabled(), reason="without fusion functions run on the driver"),
]


def numbers() -> Flowable[int]:
    return rx_spark.range(10).map(it.of(int) * 2).filter(it % 3 != 0)


def test_spark_runs_expressions() -> None:
    assert numbers().blocking_list() == [x * 2 for x in range(10) if x * 2 % 3 != 0]


def test_spark_groups_by_expressions() -> None:
    expected = [x * 2 for x in range(10) if x * 2 % 3 != 0]
    assert dict(numbers().group_reduce(it % 4, it.of(int) + 1, sym(lambda a, b: a + b)).blocking_list()) == {
        key: sum(x + 1 for x in expected if x % 4 == key) for key in (0, 2)
    }


def test_the_plan_shows_them_as_written() -> None:
    assert "map(it * 2) → filter(it % 3 != 0)" in numbers().explain()


def test_an_expression_that_fails_on_an_executor_says_where() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        rx_spark.range(10).map(1 // (it - 4)).blocking_list()
    assert caught.value.__notes__[0] == "in map(1 // (it - 4)) of rx_spark.range(10).map(1 // (it - 4))"


def test_a_constant_that_cannot_travel_is_refused_at_assembly() -> None:
    with pytest.raises(rx_spark.NotPortableError, match="lock"):
        rx_spark.range(10).map(call(isinstance, it, threading.Lock())).blocking_list()


def test_the_executors_loop_has_no_call() -> None:
    resolved, _, _ = numbers()._resolve()
    (made,) = [step.runner for step in resolved.plan.steps]  # type: ignore[attr-defined]  # Spark's head
    assert isinstance(made, FusedRunner)
    assert list(made([1, 2, 3])) == [2, 4]
    assert all(stage.symbols for stage in shape_of(made.functions, made.args).stages)
    assert shape_of(made.functions, made.args).compiled(FORM)


# --- functions that are read as expressions ---------------------------------------------------------------------------


def calls_of(run: Callable[[], object], code: CodeType) -> int:
    """How often a function of this code is called."""
    times = 0

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal times
        times += event == "call" and frame.f_code is code

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
    return times


def with_a_variable(n: int) -> int:
    twice = n * 2
    return twice


@pytest.mark.parametrize(
    ("function", "calls"),
    [(lambda n: n * 2, 0), (lambda n: n * 2 if n else 0, 0), (with_a_variable, 3)],
    ids=["computes", "has a branch", "has a variable"],
)
def test_a_lambda_that_only_computes_is_not_called(
    function: Callable[[int], int], calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_shapes, "_specials", count())  # earlier tests may have used up how many are written in at all
    run = FusedRunner((stages.map_, stages.filter_), (function, lambda n: n > 2), "numbers")
    assert list(run([1, 2, 3])) == [4, 6]
    assert calls_of(lambda: list(run([1, 2, 3])), function.__code__) == calls


def test_its_error_names_the_operator_and_the_line_of_the_lambda() -> None:
    wrong = lambda n: 1 // (n - 4)  # noqa: E731
    with pytest.raises(ZeroDivisionError) as caught:
        rx_spark.range(10).map(wrong).blocking_list()
    line = wrong.__code__.co_firstlineno
    note = caught.value.__notes__[0]
    assert note.startswith(f"in map(<lambda line {line}>) of rx_spark.range(10).map(<lambda line {line}>)")
    assert note.endswith(f"test_pipeline_symbols.py:{line}")


def test_a_lambda_with_too_many_parameters_says_what_it_said() -> None:
    with pytest.raises(TypeError, match=r"<lambda>\(\) missing 1 required positional argument: 'other'"):
        list(FusedRunner((stages.map_,), (lambda n, other: n + other,), "numbers")([1]))
