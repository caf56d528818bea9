"""What is computed of builtin numbers alone is not looked at whether it is None; everything else is."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rx_core import none_produced
from rx_fusion import Feed, Form, constants_are_numbers, shape_reading, stage
from rx_fusion.symbols import Expression, it
from rx_fusion.symbols._expression import without_symbols

LOOKED_AT = Form("pull", Feed.CLEAN)
NUMBERS = LOOKED_AT._replace(numbers=True)


@stage
def each(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        value = function(item)
        if value is None:
            raise none_produced("each", function)
        yield value


@stage
def those(source: Iterable[Any], predicate: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        if predicate(item):
            yield item


@stage
def twice(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        value = function(item)
        if value is None:
            raise none_produced("twice", function)
        yield value
        value = function(value)
        if value is None:
            raise none_produced("twice", function)
        yield value


@stage
def another(source: Iterable[Any]) -> Iterator[Any]:
    for item in source:
        item = str(item)
        yield item


@stage
def last(source: Iterable[Any]) -> Iterator[Any]:
    item = None
    for item in source:  # noqa: B007  # as above
        pass
    if item is not None:
        yield item


@stage
def behind(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    item = None
    for item in source:  # noqa: B007  # as above
        pass
    value = function(item)
    if value is None:
        raise none_produced("behind", function)
    yield value


def run(form: Form, *steps: Any) -> tuple[list[Any] | str, int]:
    """What ``range(10)`` becomes, or its error, and how often the function looks for a None."""
    functions = tuple(step[0] for step in steps)
    shape, args = shape_reading(functions, tuple(arg for step in steps for arg in step[1:]))
    assert form is LOOKED_AT or constants_are_numbers(args)
    fused = shape.form(form)
    assert fused is not None
    text = "".join(linecache.getlines(fused.__code__.co_filename))
    try:
        made: list[Any] | str = list(fused(iter(range(10)), None, "range", args))
    except Exception as error:
        made = f"{type(error).__name__}: {error} {getattr(error, '__notes__', [])}"
    return made, text.count("is None:")


def both(*steps: Any) -> tuple[int, int]:
    plain, before = run(LOOKED_AT, *steps)
    made, after = run(NUMBERS, *steps)
    assert made == plain
    return before, after


@pytest.mark.parametrize(
    ("steps", "before", "after"),
    [
        ([(each, lambda n: n + 1)], 1, 0),
        ([(each, lambda n: n + 1), (those, lambda n: n % 3 == 1), (each, lambda n: -n / 2), (last,)], 2, 0),
        ([(each, lambda n: n > 3), (each, lambda b: not b), (each, lambda b: b and 3)], 3, 0),
        ([(each, lambda n: n if n > 3 else 0)], 1, 0),
        ([(each, lambda n: (n,)), (each, lambda pair: pair[0])], 2, 2),  # a tuple is no number, and what is taken of it
        ([(each, lambda n: n.real), (each, lambda n: n + 1)], 2, 2),  # what an attribute gives may be anything
        ([(another,), (each, lambda s: s + s)], 1, 1),
        ([(twice, lambda n: n + 1)], 2, 2),  # its variable is assigned more than once
        ([(each, lambda n: n + 1), (behind, lambda n: n and 3)], 2, 1),  # where no item came it is none
        ([(each, lambda n: 1 // (n - 4))], 1, 0),
        ([(each, lambda n: n @ n)], 1, 0),
    ],
)
def test_only_what_is_not_known_to_be_a_number_is_looked_at(steps: list[Any], before: int, after: int) -> None:
    assert both(*steps) == (before, after)


def missing(n: int) -> int | None:
    return None if n == 3 else n


def test_a_constant_that_is_no_number_is_told() -> None:
    class Odd:
        def __radd__(self, other: object) -> None:
            return None

    for constant, numbers in [(1, True), (2.5, True), (True, True), (1j, True), ("a", False), (Odd(), False), (None, False)]:
        assert constants_are_numbers(without_symbols((it + constant,))) is numbers
    for function in [lambda n: n + constant, lambda n: abs(n), lambda n: n if n > 3 else None, missing]:
        _, args = shape_reading((each,), (function,))
        assert isinstance(args[0], Expression)
        assert not constants_are_numbers(args)  # a variable, and a builtin, may be another one by then


_LEAVES: Any = st.one_of(st.just(it), st.integers(-3, 3), st.sampled_from([0.5, True]))


def _computed(parts: Any) -> Any:
    two = st.tuples(parts, parts)
    return st.one_of(
        two.map(lambda pair: pair[0] + pair[1]),
        two.map(lambda pair: pair[0] - pair[1]),
        two.map(lambda pair: pair[0] * pair[1]),
        st.tuples(parts, st.sampled_from([0, 2, 3])).map(lambda pair: (it * 0 + pair[0]) % pair[1]),
        st.tuples(parts, st.sampled_from([0, 2, 4.0])).map(lambda pair: (it * 0 + pair[0]) // pair[1]),
        two.map(lambda pair: (it * 0 + pair[0]) < pair[1]),
        parts.map(lambda part: -(it * 0 + part)),
    )


EXPRESSIONS: Any = st.recursive(_LEAVES, _computed, max_leaves=6).map(lambda made: it * 0 + made)


@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
@settings(max_examples=60, deadline=None)
def test_it_is_what_comes_of_looking(first: Any, second: Any, third: Any) -> None:
    assert both((each, first), (those, second), (each, third)) == (2, 0)
