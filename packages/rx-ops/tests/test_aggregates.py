"""Aggregates: what they compute, in one pass and in parts, and how they compare and travel."""

from __future__ import annotations

import builtins
import copy
import gc
import itertools
import linecache
import pickle
import random
import traceback
import weakref
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import cloudpickle
import pytest

from rx_fusion.symbols import Expression
from rx_ops import _folds, aggregates, call, it, sym
from rx_ops.aggregates import Aggregate, Fold, fold


def computed(parts: Fold, items: Sequence[Any]) -> tuple[Any, ...]:
    partial = parts.first(items[0])
    for item in items[1:]:
        partial = parts.step(partial, item)
    return parts.result(partial)


def in_parts(parts: Fold, items: Sequence[Any], sizes: Sequence[int]) -> tuple[Any, ...]:
    """As a cluster does: each part folded by itself, its partial result sent, and combined with that of the parts before."""
    partials = []
    rest = iter(items)
    for size in sizes:
        part = list(itertools.islice(rest, size))
        partial = parts.first(part[0])
        for item in part[1:]:
            partial = parts.step(partial, item)
        partials.append(pickle.loads(pickle.dumps(partial)))
    whole = partials[0]
    for partial in partials[1:]:
        whole = parts.merge(whole, partial)
    return parts.result(whole)


#: Each aggregate, as an expression and as a function, and what Python computes.
MEANINGS: dict[str, tuple[Aggregate, Aggregate, Callable[[list[Any]], Any]]] = {
    "count": (aggregates.count(), aggregates.count(None), len),
    "count of values": (
        aggregates.count(call({1: None}.get, it, 0)),
        aggregates.count(lambda x: None if x == 1 else 0),
        lambda xs: len(xs) - xs.count(1),
    ),
    "sum": (aggregates.sum(it * 2), aggregates.sum(lambda x: x * 2), lambda xs: sum(x * 2 for x in xs)),
    "min": (aggregates.min(-it), aggregates.min(lambda x: -x), lambda xs: min(-x for x in xs)),
    "max": (aggregates.max(it % 5), aggregates.max(lambda x: x % 5), lambda xs: max(x % 5 for x in xs)),
    "average": (aggregates.average(it + 1), aggregates.average(lambda x: x + 1), lambda xs: sum(x + 1 for x in xs) / len(xs)),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_an_aggregate_is_what_python_computes_in_one_pass_and_in_parts(name: str) -> None:
    expression, function, meaning = MEANINGS[name]
    drawn = random.Random(name)
    for _ in range(30):
        sizes = [drawn.randint(1, 4) for _ in range(drawn.randint(1, 4))]
        items = [drawn.randint(-3, 9) for _ in range(sum(sizes))]
        for each in (expression, function):
            assert computed(fold(each), items) == in_parts(fold(each), items, sizes) == (meaning(items),)


def test_several_aggregates_are_computed_together() -> None:
    every = [aggregate for expression, function, _ in MEANINGS.values() for aggregate in (expression, function)]
    items = [3, 1, 4, 1, 5, 9, 2, 6]
    expected = tuple([meaning(items) for _, _, meaning in MEANINGS.values() for _ in range(2)])
    assert computed(fold(*every), items) == in_parts(fold(*every), items, (3, 1, 4)) == expected


def test_results_have_the_types_of_python() -> None:
    def of(aggregate: Aggregate, *items: object) -> Any:
        return computed(fold(aggregate), items)[0]

    assert repr(of(aggregates.sum(it), True, True)) == "2"
    assert repr(of(aggregates.sum(it), True)) == "1"
    assert repr(of(aggregates.sum(it), 1, 2.5)) == "3.5"
    assert repr(of(aggregates.average(it), 1, 2)) == "1.5"
    assert repr(of(aggregates.average(it), 4)) == "4.0"
    assert of(aggregates.average(it), Fraction(1, 3), Fraction(2, 3)) == Fraction(1, 2)
    assert of(aggregates.average(it), Decimal("0.1"), Decimal("0.3")) == Decimal("0.2")
    assert of(aggregates.average(it), timedelta(1), timedelta(3)) == timedelta(2)
    assert of(aggregates.max(it), "a", "c", "b") == "c"


def test_the_first_of_equal_values_is_kept() -> None:
    assert repr(computed(fold(aggregates.min(it), aggregates.max(it)), [1, 1.0, True])) == "(1, 1)"
    assert repr(in_parts(fold(aggregates.min(it), aggregates.max(it)), [1.0, 1, True], (1, 2))) == "(1.0, 1.0)"


@pytest.mark.parametrize("kind", ["sum", "average", "min", "max"])
def test_a_value_of_none_is_the_error_that_python_raises(kind: Any) -> None:
    parts = fold(Aggregate(kind, it))
    for items in ([1, None], [None, 1], [None, None]):
        with pytest.raises(TypeError, match="NoneType"):
            computed(parts, items)
        with pytest.raises(TypeError, match="NoneType"):
            in_parts(parts, items, (1, 1))


def test_strings_are_not_added_up() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        computed(fold(aggregates.sum(it)), ["a", "b"])


def test_what_the_items_hold_is_not_changed() -> None:
    class Money:
        """Adds up with sum() as many classes do, 0 + money being money itself, and adds to itself in place."""

        def __init__(self, cents: int) -> None:
            self.cents = cents

        def __radd__(self, _other: object) -> Money:
            return self

        def __add__(self, other: Money) -> Money:
            return Money(self.cents + other.cents)

        def __iadd__(self, other: Money) -> Money:
            self.cents += other.cents
            return self

        def __truediv__(self, number: int) -> Money:
            return Money(self.cents // number)

    items = [Money(1), Money(2), Money(6)]
    total, mean = computed(fold(aggregates.sum(it), aggregates.average(it)), items)
    assert (total.cents, mean.cents) == (9, 3)
    assert [each.cents for each in items] == [1, 2, 6]


def test_values_are_computed_once_for_each_item_and_in_order() -> None:
    seen: list[tuple[str, int]] = []

    def noted(name: str) -> Callable[[int], int]:
        def value(x: int) -> int:
            seen.append((name, x))
            return x

        return value

    parts = fold(aggregates.sum(noted("sum")), aggregates.max(noted("max")), aggregates.count(noted("count")))
    assert computed(parts, [1, 2]) == (3, 2, 2)
    assert seen == [("sum", 1), ("max", 1), ("count", 1), ("sum", 2), ("max", 2), ("count", 2)]


def test_aggregates_are_equal_when_they_say_the_same() -> None:
    assert aggregates.sum(it.amount) == aggregates.sum(it.amount) == aggregates.sum(sym(lambda order: order.amount))
    assert hash(aggregates.sum(it.amount)) == hash(aggregates.sum(it.amount))
    assert aggregates.sum(it.amount) != aggregates.sum(it.price)
    assert aggregates.sum(it + 1) != aggregates.sum(it + 2)
    assert aggregates.sum(it.amount) != aggregates.min(it.amount)
    assert aggregates.sum(len) == aggregates.sum(len) != aggregates.sum(abs)
    assert aggregates.count() == aggregates.count() != aggregates.count(it.amount)
    assert aggregates.count() != "count()"


def test_an_aggregate_shows_itself_as_it_is_written() -> None:
    assert repr(aggregates.sum(it.amount * 2)) == "sum(it.amount * 2)"
    assert repr(aggregates.count()) == "count()"
    assert repr(aggregates.max(len)) == "max(len)"


def test_an_aggregate_cannot_be_changed_and_has_its_parts() -> None:
    total: Any = aggregates.sum(it.amount)
    assert total.kind == "sum"
    assert type(total.value) is Expression
    assert aggregates.count().value is None
    with pytest.raises(AttributeError):
        total.kind = "min"


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_aggregates_pickle(pickler: Any) -> None:
    for aggregate in (aggregates.sum(it["amount"] + 1), aggregates.max(len), aggregates.count()):
        assert pickle.loads(pickler.dumps(aggregate)) == copy.deepcopy(aggregate) == aggregate
    shipped = pickle.loads(cloudpickle.dumps(aggregates.sum(lambda x: x + 1)))
    assert computed(fold(shipped), [1, 2]) == (5,)


def test_wrong_calls_are_told_with_the_right_ones() -> None:
    total: Any = aggregates.sum
    with pytest.raises(TypeError, match=r"(?s)sum\(\[1, 2\]\) of rx_ops.aggregates: a function.*Right:  sum\(it.amount\)"):
        total([1, 2])
    with pytest.raises(TypeError, match=r"min\('amount'\) of rx_ops.aggregates"):
        Aggregate("min", "amount")  # type: ignore[arg-type]  # what is tested
    with pytest.raises(TypeError, match=r"max\(None\) of rx_ops.aggregates"):
        Aggregate("max")
    with pytest.raises(ValueError, match="there is no aggregate 'mean': average, count, max, min, sum"):
        Aggregate("mean", it)  # type: ignore[arg-type]  # what is tested


def test_a_traceback_shows_the_expression_that_failed() -> None:
    parts = fold(aggregates.sum(1 // it))
    with pytest.raises(ZeroDivisionError) as caught:
        computed(parts, [1, 0])
    assert "partial[0] = partial[0] + (constant_0 // item)" in "".join(traceback.format_exception(caught.value))


def test_expressions_that_differ_in_constants_share_their_code() -> None:
    one, two = fold(aggregates.sum(it + 1)), fold(aggregates.sum(it + 2))
    assert one.step.__code__ is two.step.__code__
    assert (computed(one, [0]), computed(two, [0])) == ((1,), (2,))


def _compiled_functions_are_freed() -> bool:
    """CPython 3.13 without the GIL keeps the functions of modules, and of exec(), for good once a second thread was started; see
    "Immortalization" in its guide to free threading."""
    namespace: dict[str, Any] = {}
    exec("def function(): pass", namespace)
    made = weakref.ref(namespace.pop("function"))
    gc.collect()
    return made() is None


def test_the_text_of_a_fold_is_kept_as_long_as_the_fold() -> None:
    def paths() -> set[str]:
        gc.collect()
        return {path for path in linecache.cache if path.startswith("<rx fold")}

    _folds._factory.cache_clear()
    before = paths()
    made = [fold(aggregates.sum(call(getattr(builtins, name), it))) for name in ("abs", "len")]
    assert len(paths() - before) == 1  # functions are constants
    _folds._factory.cache_clear()
    assert len(paths() - before) == 1  # a traceback may need it as long as the folds are there
    assert computed(made[1], ["ab", "c"]) == (3,)
    del made
    if _compiled_functions_are_freed():
        assert paths() <= before
