"""Keys of two sides as columns: they are equal where Python's are, as keys of a dict."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from rx_fusion.symbols import Expression, expression_of, it, sym
from rx_spark import SparkConfig
from rx_spark._columns._column import NotAColumn
from rx_spark._columns._frames import FrameSource, Query
from rx_spark._columns._rows import row_type
from rx_spark._pipelines._join_keys import JoinKey, join_keys
from rx_spark._session._session import engine


@dataclass(frozen=True)
class Side:
    id: int
    a: int
    b: int | None
    x: float
    s: str
    t: str | None
    f: bool


ROW = row_type(Side)
SOURCE = FrameSource(Query("SELECT"), ROW, checked=frozenset(name for name in ROW.names if name not in ("b", "t")))


def keys(left: Any, right: Any) -> tuple[JoinKey, ...]:
    one, other = (key if isinstance(key, Expression) else expression_of(key) for key in (left, right))
    return join_keys(one, SOURCE, other, SOURCE)


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (it.x, it.x, "a key of type float"),
        (sym(lambda row: (row.a, row.x)), sym(lambda row: (row.a, row.x)), "a key of type float"),
        (it.a, it.x, "a key of type float"),
        (it.a, it.f, "== of int and bool"),
        (it.a, it.s, "== of int and str"),
        (sym(lambda row: (row.a, row.s)), it.a, "keys of 2 and of 1 parts"),
        (it.s.lower(), it.s, r"\.lower\(\) is evaluated by Python"),
    ],
)
def test_what_is_equal_otherwise_is_left_to_python(left: Any, right: Any, reason: str) -> None:
    with pytest.raises(NotAColumn, match=reason):
        keys(left, right)


def test_a_lambda_is_no_key_of_columns() -> None:
    with pytest.raises(NotAColumn, match="it is a Python function"):
        join_keys(lambda row: row.a, SOURCE, expression_of(it.a), SOURCE)


def test_none_is_a_key_that_equals_none() -> None:
    (both,) = keys(it.b, it.b)
    (never,) = keys(it.a, it.a)
    assert both.equal("l", "r") == "(l <=> r)"
    assert never.equal("l", "r") == "(l = r)"


WHOLE = (-2, -1, 0, 1, 2, 2**53, 2**53 + 1)
TEXTS = ("", "a", "A", "a ", "\u00e9", "e\u0301", "\u00df", "ss")
KEYS: dict[type, tuple[Any, ...]] = {
    int: (it.a, it.b, it.a + 1, it.a % 3, abs(it.a), it.a - it.a),
    str: (it.s, it.t, it.s + "a"),
    bool: (it.f, it.a > 0, it.s == "a", it.b == None),  # noqa: E711  # it is an expression
}


def side(rng: Random, at: int) -> Side:
    def maybe(among: tuple[Any, ...]) -> Any:
        return None if rng.random() < 0.3 else rng.choice(among)

    texts = rng.choice(TEXTS), maybe(TEXTS)
    return Side(at, rng.choice(WHOLE), maybe(WHOLE), rng.random(), *texts, rng.random() < 0.5)


def joined(parts: tuple[JoinKey, ...], sides: tuple[list[Side], list[Side]], config: SparkConfig) -> Counter[Any]:
    """The ids of pairs that Spark joins."""
    session = engine(config).frames
    frames = []
    for name, rows in zip("lr", sides, strict=True):
        columns = [(part.left if name == "l" else part.right).sql for part in parts]
        made = [f"{sql} AS {name}{at}" for at, sql in enumerate(columns)]
        frames.append(session.createDataFrame([ROW.values(row) for row in rows], ROW.ddl).selectExpr(f"id AS {name}id", *made))
    condition = " AND ".join(part.equal(f"l{at}", f"r{at}") for at, part in enumerate(parts))
    left, right = (frame.alias(name) for name, frame in zip("lr", frames, strict=True))
    from pyspark.sql.functions import expr

    return Counter((row.lid, row.rid) for row in left.join(right, expr(condition)).collect())


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(int(os.environ.get("RX_NIGHTLY", "0")) // 250 + 4))
def test_spark_joins_what_python_finds_in_a_dict(seed: int, spark_config: SparkConfig) -> None:
    rng = Random(f"join {os.environ.get('RX_SEED', '0')} {seed}")
    sides = [side(rng, at) for at in range(40)], [side(rng, at) for at in range(40)]
    for kind in KEYS:
        left, right, more = rng.choice(KEYS[kind]), rng.choice(KEYS[kind]), rng.choice(KEYS[rng.choice((int, str, bool))])
        one = keys(left, right)
        both = one + keys(more, more)
        key, other, third = expression_of(left), expression_of(right), expression_of(more)
        found: dict[Any, list[int]] = {}
        pairs: dict[Any, list[int]] = {}
        for row in sides[1]:
            found.setdefault(other(row), []).append(row.id)
            pairs.setdefault((other(row), third(row)), []).append(row.id)
        expected = Counter((row.id, match) for row in sides[0] for match in found.get(key(row), ()))
        assert joined(one, sides, spark_config) == expected, (left, right)
        expected = Counter((row.id, match) for row in sides[0] for match in pairs.get((key(row), third(row)), ()))
        assert joined(both, sides, spark_config) == expected, (left, right, more)


@pytest.mark.spark
def test_control_a_plain_equality_loses_none(spark_config: SparkConfig) -> None:
    sides = [Side(0, 1, None, 0.0, "a", "a", True)], [Side(0, 1, None, 0.0, "a", "a", True)]
    (part,) = keys(it.b, it.b)
    assert joined((part,), sides, spark_config) == Counter({(0, 0): 1})
    (never,) = keys(it.a, it.a)
    plain = JoinKey(replace(part.left, kind=never.left.kind), replace(part.right, kind=never.right.kind))
    assert joined((plain,), sides, spark_config) == Counter()
