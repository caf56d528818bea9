"""Expressions as columns: what is translated, what is left to Python and why, and that the answers are the same."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

import rx_spark
from rx_fusion.symbols import call, expression_of, it
from rx_ops import Flowable, Row
from rx_spark._columns._column import Column, NotAColumn, Rows, text_of
from rx_spark._columns._expressions import column_of
from rx_spark._columns._frames import Files, FrameSource, Query, Select, Where, checking
from rx_spark._columns._operators import condition_of
from rx_spark._columns._rows import row_type
from rx_spark._session._session import SparkConfig, engine


@dataclass(frozen=True)
class Numbers:
    a: int
    b: int | None
    x: float
    y: float | None
    s: str
    t: str | None
    f: bool


ROW = row_type(Numbers)
NAMES = frozenset(ROW.names)


def column(symbol: Any) -> Column:
    return column_of(expression_of(symbol), Rows(ROW))


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        (round(it.x), r"round\(\) is evaluated by Python"),
        (it.a**2, r"\*\* of int and int is evaluated by Python"),
        (it.x // 1.0, r"// of float and float"),
        (it.x % 2.0, r"% of float and float"),
        (it.s.upper(), r"\.upper\(\) is evaluated by Python"),
        (it.s.title(), r"\.title\(\) is evaluated by Python"),
        (it.a[0], r"\[0\] of a int is evaluated by Python"),
        (it.a == it.x, "== of int and float is exact in Python"),
        (it.a < it.x, "< of int and float is exact in Python"),
        (it.a == it.s, "== of int and str"),
        (it.f + 1, r"\+ of bool and int"),
        (it.a & 1, "& of int and int"),
        (~it.f, "~ of a bool is a number in Python"),
        (it.a + (1 << 63), "more than 64 bits"),
        (it.s + "\ud800", "no lone surrogates"),
        (it.z, r"Numbers has no column for \.z; there are a, b, x"),
        (it["a"], r"Numbers has no column for \['a'\]"),
        (it, "it is the whole row"),
        (it.b & it.f, "& of int | None and bool"),
    ],
)
def test_what_spark_answers_otherwise_is_left_to_python(symbol: Any, reason: str) -> None:
    with pytest.raises(NotAColumn, match=reason.replace("| None", r"\| None")):
        column(symbol)


def test_a_lambda_is_no_column() -> None:
    with pytest.raises(NotAColumn, match="it is a Python function"):
        column_of(lambda row: row.a, Rows(ROW))


def test_a_null_is_looked_for_once_where_the_class_has_none() -> None:
    assert [guard.error for guard in column(it.a + it.a).guards] == ["SchemaError", "SchemaError"]
    assert column_of(expression_of(it.a + it.a), Rows(ROW, NAMES)).guards == ()


def test_what_the_scan_is_told_lets_rows_through_that_raise_in_any_filter() -> None:
    source = FrameSource(Query("SELECT"), ROW).then(Select(()))
    source = source.filtered(condition_of(column(it.x > 3)), frozenset())
    source = source.filtered(condition_of(column(it.s == "a")), frozenset())
    _, second, first, *exact = source.steps
    assert isinstance(first, Where)
    assert isinstance(second, Where)
    assert first.condition == "(`x` > (3.0D)) OR `x` IS NULL"
    assert second.condition == "(`s` = 'a') OR `x` IS NULL OR `s` IS NULL"
    assert len(exact) == 2


@pytest.mark.parametrize(
    ("symbol", "told", "with_folders"),
    [
        (it.b > 3, True, True),
        (it.a == 2, True, True),
        (it.a != 2, True, True),
        (it.t.startswith("U"), True, True),
        ((it.b > 3) & (it.b % 3 == 1), True, True),
        ((it.b > 3) | (it.b < 1), True, True),
        (it.y > 1, True, True),
        (it.b % 3 == 1, False, True),
        (it.b + 1 > 3, False, True),
        (abs(it.b) == 2, False, True),
        ((it.b > 3) | (it.b % 3 == 1), False, True),
        (it.b > it.a, False, True),
        (it.x * it.y > 3.0, False, False),
    ],
)
def test_the_scan_is_told_what_file_formats_know_and_folders_are_chosen_by(symbol: Any, told: bool, with_folders: bool) -> None:
    """Anything else would be asked of each row twice."""
    found = condition_of(column(symbol))
    for folders, expected in ((frozenset[str](), told), (frozenset({"a", "b"}), with_folders), (frozenset({"f"}), told)):
        source = FrameSource(Files("parquet", ("rows",), folders=folders), ROW).then(Select(()))
        _, *steps = source.filtered(found, frozenset()).steps
        assert len(steps) == (2 if expected else 1), (folders, steps)


@pytest.mark.spark
@pytest.mark.parametrize("text", ["", "a'b", "\\", "\n\t\0", "ä\u2028", "\U0001f600", "%_", '"'])
def test_text_survives_sql(text: str, spark_config: SparkConfig) -> None:
    assert engine(spark_config).frames.sql(f"SELECT {text_of(text)}").collect()[0][0] == text


# --- random expressions over random rows ------------------------------------------------------------------------------

WHOLE = (-5, -2, -1, 0, 1, 2, 3, 7, 2**31, -(2**31), 2**53, 2**53 + 1)
FLOATS = (0.0, -0.0, 1.5, -2.5, 1e300, -1e-300, math.inf, -math.inf, math.nan, 2.0**53, 3.0)
TEXTS = ("", "a", "A", "ab", "ß", "é", "\U0001f600", "a b", "Ä", "\u3000 ab\x85", "a\U0001f600ba")
LEAVES: dict[type, tuple[Any, ...]] = {int: (it.a, it.b, *WHOLE), float: (it.x, it.y, *FLOATS), str: (it.s, it.t, *TEXTS)}
#: What expressions over such rows raise in Python.
RAISED = (TypeError, ZeroDivisionError, AttributeError, IndexError, ValueError)
FIELDS: dict[type, tuple[Any, ...]] = {int: (it.a, it.b), float: (it.x, it.y), str: (it.s, it.t)}


def value(rng: Random, kind: type, depth: int) -> Any:
    """An expression; at least one field of the row is in it, because constants alone are computed when it is built."""
    if not depth:
        return rng.choice(FIELDS[kind])
    first = value(rng, kind, depth - 1)
    second = rng.choice(LEAVES[rng.choice((int, float)) if kind is float else kind])
    if kind is str:
        return of_text(rng, first, second)
    choices: list[Callable[[], Any]] = [lambda: first + second, lambda: second - first, lambda: abs(first), lambda: -first]
    choices += (
        [lambda: first // second, lambda: second % first] if kind is int else [lambda: first * second, lambda: first / second]
    )
    return rng.choice(choices)()


def of_text(rng: Random, first: Any, second: Any) -> Any:
    at, to, known = rng.randrange(-3, 4), rng.choice((None, *range(-3, 5))), rng.choice(TEXTS)
    choices: list[Callable[[], Any]] = [lambda: first + second, lambda: first + second, lambda: first[at], lambda: first[at:to]]
    choices += [lambda: getattr(first, rng.choice(("strip", "lstrip", "rstrip")))(*rng.choice(((), (known,), (None,))))]
    choices += [lambda: getattr(first, rng.choice(("removeprefix", "removesuffix")))(known)]
    choices += [lambda: first.replace(known, rng.choice(TEXTS))]
    return rng.choice(choices)()


def of_texts(rng: Random, left: Any, right: Any) -> list[Callable[[], Any]]:
    known = rng.choice(TEXTS)
    asked: list[Callable[[], Any]] = [lambda: left.startswith(right), lambda: call(len, left) < 3]
    asked += [lambda: call(operator.contains, left, right), lambda: left.find(known) > 0]
    return [*asked, lambda: left.count(known) == 1, lambda: left.index(known) < 2]


def condition(rng: Random, depth: int) -> Any:
    if depth:
        left, right = condition(rng, depth - 1), condition(rng, depth - 1)
        return rng.choice((lambda: left & right, lambda: left | right, lambda: left ^ right))()
    kind = rng.choice((int, float, str))
    left, right = value(rng, kind, rng.randrange(2)), rng.choice(LEAVES[kind])
    choices: list[Callable[[], Any]] = [lambda: left < right, lambda: left <= right, lambda: left > right, lambda: left == right]
    choices += [lambda: left != right, lambda: left == None]  # noqa: E711  # it is an expression
    choices += of_texts(rng, left, right) if kind is str else [lambda: left / right > 1]
    return rng.choice(choices)()


def row(rng: Random) -> Numbers:
    def maybe(among: tuple[Any, ...]) -> Any:
        return None if rng.random() < 0.3 else rng.choice(among)

    texts = rng.choice(TEXTS), maybe(TEXTS)
    return Numbers(rng.choice(WHOLE), maybe(WHOLE), rng.choice(FLOATS), maybe(FLOATS), *texts, rng.random() < 0.5)


def outcome(function: Callable[[Numbers], object], item: Numbers) -> str:
    try:
        return shown(function(item))
    except RAISED as error:
        return type(error).__name__


def shown(made: object) -> str:
    return "nan" if made != made else repr(made + 0.0) if isinstance(made, float) else repr(made)


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(int(os.environ.get("RX_NIGHTLY", "0")) // 250 + 2))
def test_a_column_answers_as_python_does(seed: int, spark_config: SparkConfig) -> None:
    """One job for many expressions: for each the error that its guards name, and its value where there is none."""
    rng = Random(f"{os.environ.get('RX_SEED', '0')} {seed}")
    rows = [row(rng) for _ in range(60)]
    translated = []
    for at in range(100):
        symbol = condition(rng, rng.randrange(3)) if at % 2 else value(rng, rng.choice((int, float, str)), rng.randrange(1, 4))
        try:
            translated.append((expression_of(symbol), column_of(expression_of(symbol), Rows(ROW, NAMES))))
        except NotAColumn:
            pass
    assert len(translated) > 50
    asked = []
    for at, (_, made) in enumerate(translated):
        named = " ".join(f"WHEN {guard.when} THEN '{guard.error}'" for guard in made.guards)
        asked.append(f"{f'CASE {named} END' if named else 'CAST(NULL AS STRING)'} AS e{at}")
        raises = " OR ".join(f"({guard.when})" for guard in made.guards)
        asked.append(f"{f'CASE WHEN {raises} THEN NULL ELSE {made.sql} END' if raises else made.sql} AS v{at}")
    frame = engine(spark_config).frames.createDataFrame([ROW.values(item) for item in rows], ROW.ddl)
    differ = []
    for item, answer in zip(rows, frame.selectExpr(*asked).collect(), strict=True):
        for at, (function, made) in enumerate(translated):
            spark, python = answer[2 * at] or shown(answer[2 * at + 1]), outcome(function, item)
            inexact = spark == "OverflowError" and any("2**53" in guard.message for guard in made.guards)
            if spark != python and not inexact:
                differ.append(f"{function!r} of {item}: Python {python}, Spark {spark}")
    assert not differ, "\n".join(differ[:5])


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(int(os.environ.get("RX_NIGHTLY", "0")) // 25 + 12))
def test_steps_one_after_the_other_answer_as_python_does(seed: int, tmp_path: Path, spark_config: SparkConfig) -> None:
    """Spark moves later filters ahead of earlier steps, down to the scan: a row that raises has to raise all the same."""
    rng = Random(f"steps {os.environ.get('RX_SEED', '0')} {seed}")
    rows = [row(rng) for _ in range(rng.randrange(1, 5))]
    frame = engine(spark_config).frames.createDataFrame([ROW.values(item) for item in rows], ROW.ddl)
    frame.coalesce(1).write.parquet(str(tmp_path / "rows"))
    flow: Flowable[Any] = rx_spark.parquet(tmp_path / "rows", schema=Numbers, config=spark_config)
    filters = [expression_of(condition(rng, rng.randrange(2))) for _ in range(rng.randrange(1, 4))]
    mapper = expression_of(value(rng, rng.choice((int, float, str)), rng.randrange(1, 3)))
    for predicate in filters:
        flow = flow.filter(predicate)
    expected, errors = [], set()
    for item in rows:
        try:
            if all(predicate(item) for predicate in filters):
                expected.append(shown(none_refused(mapper(item))))
        except RAISED as error:
            errors.add(type(error).__name__)
    found: list[str] = []
    raised = ""
    try:
        found += [shown(each) for each in flow.map(mapper)]
    except OverflowError:
        return  # beyond what Spark computes exactly, which has tests of its own
    except RAISED as error:
        raised = type(error).__name__
    if errors:
        assert raised in errors, flow.explain()
    else:
        assert (raised, sorted(found)) == ("", sorted(expected)), flow.explain()


def none_refused(made: Any) -> Any:
    if made is None:
        raise TypeError("None is no item")
    return made


@pytest.mark.spark
def test_control_a_column_that_answers_otherwise_is_seen(spark_config: SparkConfig) -> None:
    """Spark's own remainder has the sign of the dividend; the table has another formula for it."""
    frame = engine(spark_config).frames.createDataFrame([(-5, 3)], "a bigint, b bigint")
    (found,) = frame.selectExpr("a % b AS spark", f"{column(it.a % 3).sql} AS ours").collect()
    assert (found.spark, found.ours) == (-2, -5 % 3)


def test_a_condition_without_guards_is_what_it_is() -> None:
    assert checking((), "a > 1") == "a > 1"


def test_names_that_differ_only_in_case_are_left_to_python(spark_config: SparkConfig) -> None:
    frame = engine(spark_config).application.sql("SELECT id, 'a' AS s FROM range(4)")
    flow = rx_spark.dataframe(frame)
    counted = flow.group_aggregate(it.s, S=it.count())
    assert "s and S are one name to Spark" in counted.explain()
    assert counted.blocking_list() == [Row(s="a", S=4)]
    several = flow.group_aggregate(it.s, m=it.id.min(), M=it.id.max())
    assert several.blocking_list() == [Row(s="a", m=0, M=3)]


def test_an_overflow_that_spark_finds_while_it_plans_is_the_same_error(spark_config: SparkConfig) -> None:
    frame = engine(spark_config).application.sql("SELECT 9223372036854775807L AS a, 1L AS b")
    with pytest.raises(OverflowError):
        rx_spark.dataframe(frame).map(it.a + it.b).blocking_list()


@pytest.mark.spark
@pytest.mark.parametrize("never", [(it.b == None) & (it.b != it.b), it.b != it.b, it.a != it.a])  # noqa: E711  # expressions
def test_a_filter_that_is_never_true_hides_no_error_in_front_of_it(never: Any, tmp_path: Path, spark_config: SparkConfig) -> None:
    """Spark makes no row at all where it knows that none gets through."""
    item = Numbers(1, 2, 0.5, 0.5, "s", None, True)
    frame = engine(spark_config).frames.createDataFrame([ROW.values(item)], ROW.ddl)
    frame.write.parquet(str(tmp_path / "rows"))
    flow: Flowable[Any] = rx_spark.parquet(tmp_path / "rows", schema=Numbers, config=spark_config)
    raising = flow.filter((abs(it.b) < 3) ^ (it.t + it.s == None))  # noqa: E711
    with pytest.raises(TypeError, match="unsupported operand"):
        raising.filter(never).blocking_list()
    with pytest.raises(TypeError, match="unsupported operand"):
        raising.filter(it.b == 2).filter(never).map(it.a).count().blocking_get()
    assert flow.filter(never).map(it.t + it.s).blocking_list() == []
