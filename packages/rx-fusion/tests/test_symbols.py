"""Expressions by themselves: they compute what the lambda of the same text does, and what cannot be built says so."""

from __future__ import annotations

import collections
import linecache
import math
import operator
import pickle
import re
import sys
import threading
import traceback
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_fusion import symbols
from rx_fusion.symbols import (
    SymbolError,
    call,
    expression_of,
    it,
    sym,
)
from rx_fusion.symbols import _expression as inside


class Point(NamedTuple):
    x: int
    y: int


# -- the same as the lambda --------------------------------------------------------------------------------------------


LITERALS = ["0", "1", "2", "-1", "7", "2.5", "-0.5", "'a'", "'price'", "'7'", "()", "(1, 2)", "True"]


ITEMS: tuple[Any, ...] = (
    0, 1, -3, 5, True, 2.5, -0.0, float("inf"), 1j, "a", "price", "",
    (1, 2), (), [1, 2], {"a": 1, "price": 2.5}, {1: "a"}, Point(3, 4),
)  # fmt: skip


BINARY = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "@"]


COMPARE = ["<", "<=", "==", "!=", ">", ">="]


CALLS = [
    "abs({})",
    "round({})",
    "divmod({}, 3)",
    "divmod(3, {})",
    "{}.upper()",
    "{}.x",
    "{}.get('a', 2)",
    "{}.count(1)",
    "-{}",
    "~{}",
    "+{}",
]


CALLS += [
    "{}[0]",
    "{}['a']",
    "{}[1:]",
    "{}[::-1]",
    "pow({}, 2, 5)",
    "{} ** -1",
    "0.5 ** {}",
    "{} << 1",
    "8 >> {}",
    "call(len, {})",
    "call(str, {})",
]


CALLS += [
    "{}.real",
    "{}.replace('a', 'b')",
    "{}.split(sep='i')",
    "math.floor({})",
    "reversed({})",
    "call(sorted, {}, reverse=True)",
]


def texts() -> st.SearchStrategy[str]:
    """Python text that has ``it`` in it, with and without parentheses, and nothing that Python would compute beforehand."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        some = st.one_of(inner, inner.map("({})".format))
        return st.one_of(
            st.tuples(some, st.sampled_from(BINARY), some).map(" ".join),
            st.tuples(some, st.sampled_from(BINARY), st.sampled_from(LITERALS)).map("(({0[0]}) {0[1]} {0[2]})".format),
            # no text: "..." % it formats at once
            st.tuples(st.sampled_from(["0", "3", "-2", "1.5"]), st.sampled_from(BINARY), inner).map(
                "({0[0]} {0[1]} ({0[2]}))".format
            ),
            st.tuples(inner, st.sampled_from(COMPARE), st.one_of(inner, st.sampled_from(LITERALS))).map(
                "(({0[0]}) {0[1]} ({0[2]}))".format
            ),
            st.tuples(st.sampled_from(CALLS), inner).map(lambda t: t[0].format(f"({t[1]})")),
            st.tuples(inner, inner).map("({0[0]})[({0[1]})]".format),
        )

    return st.recursive(st.just("it"), larger, max_leaves=6)


ADDRESS = re.compile(r"0x[0-9a-f]+")


KNOWN = {"call": call, "math": math}


def outcome(function: Callable[[Any], Any], item: Any) -> tuple[object, ...]:
    try:
        value = function(item)
    except Exception as error:
        return type(error), ADDRESS.sub("", str(error))
    if hasattr(value, "__next__"):
        return type(value), list(value)
    return type(value), ADDRESS.sub("", repr(value))


@given(texts())
@settings(max_examples=400, deadline=None)
def test_an_expression_computes_what_the_lambda_of_its_text_does(text: str) -> None:
    plain = eval(f"lambda it: {text}", {**KNOWN, "call": lambda function, *args, **named: function(*args, **named)})
    built = sym(eval(text, {**KNOWN, "it": it}))
    for item in ITEMS:
        assert outcome(built, item) == outcome(plain, item), f"{text} of {item!r}, built as {built!r}"


@given(texts())
@settings(max_examples=200, deadline=None)
def test_a_repr_is_python_that_builds_the_same(text: str) -> None:
    built = expression_of(eval(text, {**KNOWN, "it": it}))
    shown = repr(built)
    if "call(" not in text and "." not in shown.replace("0.5", "").replace("2.5", "").replace("1.5", ""):
        again = expression_of(eval(shown, {**KNOWN, "it": it, "floor": math.floor}))
        assert (again.node, repr(again)) == (built.node, shown)
    travelled = pickle.loads(pickle.dumps(built))
    assert (travelled.node, repr(travelled)) == (built.node, shown)
    assert travelled.structure is built.structure


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        (it + 1, "it + 1"),
        (1 - it, "1 - it"),
        (it["price"] * 2 > 10, "it['price'] * 2 > 10"),
        ((it + 1) * (it - 1), "(it + 1) * (it - 1)"),
        (-(it**2), "-it ** 2"),
        ((-it) ** 2, "(-it) ** 2"),
        ((-1) ** it, "(-1) ** it"),
        (it - -1, "it - -1"),
        (it - (it - 1), "it - (it - 1)"),
        (it**it**2, "it ** it ** 2"),
        ((it**it) ** 2, "(it ** it) ** 2"),
        (~it & 3 | 4, "~it & 3 | 4"),
        (it[1:3], "it[1:3]"),
        (it[it.at :], "it[it.at:]"),
        (it[::2][0], "it[::2][0]"),
        (it[it.x, 1], "it[it.x, 1]"),
        (it.name.upper(), "it.name.upper()"),
        (it.f(1, key=it.z), "it.f(1, key=it.z)"),
        (it.größe, "it.größe"),
        (getattr(it, "a b"), "getattr(it, 'a b')"),
        (getattr(it, "class"), "getattr(it, 'class')"),
        (it.f(**{"a b": 1}), "it.f(**{'a b': 1})"),
        (abs(it), "abs(it)"),
        (round(it, 2), "round(it, 2)"),
        (divmod(7, it), "divmod(7, it)"),
        (call(str.upper, it), "str.upper(it)"),
        (call(dict, a=it), "dict(a=it)"),
        (it > 1, "it > 1"),
    ],
)
def test_an_expression_reads_as_written(symbol: Any, text: str) -> None:
    assert repr(symbol) == text
    assert repr(sym(symbol)) == text


def test_names_that_are_no_identifiers_cannot_smuggle_code_in() -> None:
    evil = getattr(it, "real; import os")
    assert repr(sym(evil)) == "getattr(it, 'real; import os')"
    with pytest.raises(AttributeError, match="real; import os"):
        sym(evil)(1)


def test_attributes_are_taken_by_the_name_that_was_asked_for() -> None:
    class Odd:
        pass

    odd = Odd()
    setattr(odd, "ﬁ", 3)  # noqa: B010  # source text would make "fi" of it
    assert sym(getattr(it, "ﬁ"))(odd) == 3  # noqa: B009


# -- constants ---------------------------------------------------------------------------------------------------------


def test_constants_are_the_objects_themselves() -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise RuntimeError("no text")

        def __radd__(self, other: int) -> tuple[int, Unprintable]:
            return other, self

    mine = Unprintable()
    assert sym(it + mine)(3) == (3, mine)
    assert "Unprintable" in repr(it + mine)
    assert sym(it == None)(3) is False  # noqa: E711  # the expression
    assert sym(it + Decimal("0.1"))(1) == Decimal("1.1")
    assert math.isnan(sym(it * float("nan"))(1))


def test_expressions_that_differ_in_constants_share_their_code() -> None:
    first, second = expression_of(it["a"] > 1), expression_of(it["b"] > 10**9)
    assert first.structure is second.structure
    assert first.func is second.func
    assert (first({"a": 2}), second({"b": 2})) == (True, False)
    assert expression_of(it["a"] >= 1).structure is not first.structure


def test_a_long_constant_is_shortened_in_texts() -> None:
    assert len(repr(it + "x" * 10_000)) < 200
    assert len(repr(call(operator.contains, list(range(10_000)), it))) < 200


def test_containers_with_expressions_inside_are_made_anew() -> None:
    pair = sym(lambda o: [o, (o + 1, 2)])
    assert pair(1) == [1, (2, 2)]
    assert pair(1) is not pair(1)
    assert sym(lambda o: {"a": o.x, "b": {"c": o.y}})(Point(1, 2)) == {"a": 1, "b": {"c": 2}}
    assert sym(it[it[0] : it[1]])([1, 2, 3]) == [2]


def test_an_object_made_of_expressions_is_refused() -> None:
    with pytest.raises(SymbolError, match=r"call\(Point, it.x, it.y\)"):
        sym(lambda o: Point(o, o))

    class Plain:
        def __init__(self, x: object) -> None:
            self.x = x

    with pytest.raises(SymbolError, match="Plain"):
        sym(lambda o: Plain(o))  # it is what is refused
    with pytest.raises(SymbolError, match="deque"):
        sym(lambda o: collections.deque([1, o]))
    assert sym(lambda o: call(Point, o, y=o + 1))(1) == Point(1, 2)


# -- errors, caches, threads -------------------------------------------------------------------------------------------


def test_a_traceback_shows_the_expression() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        sym(1 / (it - 3))(3)
    assert "return c0 / (item - c1)" in "".join(traceback.format_exception(caught.value))


def test_structures_are_bounded_and_forgotten_ones_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "_STRUCTURES", {})
    monkeypatch.setattr(inside, "MAX_STRUCTURES", 5)
    kept = expression_of(it.kept)
    before = len([path for path in linecache.cache if path.startswith("<rx expression")])
    for number in range(50):
        assert expression_of(getattr(it, f"name{number}"))(type("O", (), {f"name{number}": 1})) == 1
    assert len(inside._STRUCTURES) == 5
    after = len([path for path in linecache.cache if path.startswith("<rx expression")])
    assert after - before <= 5
    again = expression_of(it.kept)  # made anew: equal, which is what shapes go by
    assert again.structure is not kept.structure
    assert again.structure == kept.structure
    assert hash(again.structure) == hash(kept.structure)


def test_threads_that_build_the_same_get_one_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "_STRUCTURES", {})
    monkeypatch.setattr(inside, "MAX_STRUCTURES", 40)  # evicting all the time
    start = threading.Barrier(4)
    found: list[list[inside.Structure]] = [[] for _ in range(4)]
    failures: list[BaseException] = []

    def build(at: int) -> None:
        try:
            start.wait(10)
            for number in range(300):
                expression = expression_of(getattr(it, f"n{number}") + number)
                assert expression(type("O", (), {f"n{number}": 1})) == 1 + number
                found[at].append(expression.structure)
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=build, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not failures
    assert len(inside._STRUCTURES) <= 40
    assert all(len(set(same)) == 1 for same in zip(*found, strict=True))


def test_everything_public_is_there() -> None:
    assert all(hasattr(symbols, name) for name in symbols.__all__)
