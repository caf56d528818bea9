"""group_aggregate: rows of keys and aggregates, from expressions and functions."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cloudpickle
import pytest

from rx_core import UNBOUNDED
from rx_fusion import fusion_off
from rx_ops import Flowable, Observable, Row, aggregates, it, stages, sym
from rx_ops.aggregates import average, count, max, sum
from rx_testing import TestSubscriber


@dataclass
class Order:
    city: str
    year: int
    amount: Any


ORDERS = [Order("Ulm", 1, 10), Order("Bonn", 1, 5), Order("Ulm", 2, 1), Order("Ulm", 1, 4)]
orders = Flowable.from_iterable(ORDERS)
dicts = Flowable.from_iterable([vars(order) for order in ORDERS])


def rows(flow: Flowable[Row]) -> list[str]:
    return [repr(row) for row in flow.blocking_list()]


def test_a_row_for_each_key_in_the_order_in_which_they_came_first() -> None:
    assert rows(orders.group_aggregate(it.city, total=it.amount.sum(), n=count())) == [
        "Row(city='Ulm', total=15, n=3)",
        "Row(city='Bonn', total=5, n=1)",
    ]


def test_expressions_and_functions_say_the_same() -> None:
    expected = rows(
        dicts.group_aggregate(it["city"], total=it["amount"].sum(), low=it["amount"].min(), mean=it["year"].average())
    )
    assert expected == ["Row(city='Ulm', total=15, low=1, mean=1.3333333333333333)", "Row(city='Bonn', total=5, low=5, mean=1.0)"]
    functions = orders.group_aggregate(
        sym(lambda order: order.city),
        total=sum(lambda order: order.amount),
        low=aggregates.min(lambda order: order.amount),
        mean=average(lambda order: order.year),
    )
    assert rows(functions) == expected


@pytest.mark.parametrize(
    ("key", "field"),
    [
        (it.city, "city"),
        (it["city"], "city"),
        (sym(lambda order: order.city), "city"),
        (it["unit price"], "unit price"),
        (it.home.city, "key"),
        (it[0], "key"),
        (it.city.upper(), "key"),
        (it % 10, "key"),
        (it, "key"),
        (lambda order: order.city, "key"),
        (len, "key"),
    ],
)
def test_the_field_of_the_key_is_called_as_the_attribute_or_item_that_it_is(key: Any, field: str) -> None:
    assert spec_of(orders.group_aggregate(key, n=count())).fields == (field, "n")


def test_a_tuple_of_keys_gives_a_field_of_each() -> None:
    assert rows(orders.group_aggregate((it.city, it.year), total=it.amount.sum())) == [
        "Row(city='Ulm', year=1, total=14)",
        "Row(city='Bonn', year=1, total=5)",
        "Row(city='Ulm', year=2, total=1)",
    ]
    assert rows(dicts.group_aggregate((it["year"],), n=it.count())) == ["Row(year=1, n=3)", "Row(year=2, n=1)"]


def test_a_function_that_gives_tuples_gives_one_field() -> None:
    assert rows(orders.group_aggregate(lambda order: (order.city, order.year), n=count()).take(1)) == ["Row(key=('Ulm', 1), n=2)"]


def test_the_methods_of_an_expression_are_aggregates_of_it() -> None:
    mean: Any = sym(it.year.average())
    flow = orders.group_aggregate(it.city, a=it.amount.sum(), b=it.count(), c=it.amount.count(), d=(it.amount * 2).max(), e=mean)
    assert spec_of(flow).aggregates == (
        ("a", sum(it.amount)),
        ("b", count()),
        ("c", count(it.amount)),
        ("d", max(it.amount * 2)),
        ("e", average(it.year)),
    )


def test_count_of_an_expression_leaves_none_out() -> None:
    few = Flowable.of(Order("Ulm", 1, None), Order("Ulm", 1, 2), Order("Bonn", 1, None))
    assert rows(few.group_aggregate(it.city, n=it.count(), paid=it.amount.count())) == [
        "Row(city='Ulm', n=2, paid=1)",
        "Row(city='Bonn', n=1, paid=0)",
    ]


def test_any_name_can_be_that_of_an_aggregate() -> None:
    flow = orders.group_aggregate(lambda order: 0, self=count(), count=count(), index=it.year.max())
    assert rows(flow) == ["Row(key=0, self=4, count=4, index=2)"]
    assert rows(orders.group_aggregate(it.city, key=count()).take(1)) == ["Row(city='Ulm', key=3)"]


def test_an_empty_source_gives_no_rows() -> None:
    assert Flowable[Order].empty().group_aggregate(it.city, total=it.amount.sum()).blocking_list() == []


def test_none_and_nan_are_keys_as_for_a_dict() -> None:
    nan = math.nan
    flow = Flowable.of((None, 1), (nan, 2), (None, 3), (nan, 4), (1, 5), (True, 6))
    assert rows(flow.group_aggregate(it[0], total=it[1].sum())) == [
        "Row(key=None, total=4)",
        "Row(key=nan, total=6)",
        "Row(key=1, total=11)",
    ]


@pytest.mark.parametrize(
    ("build", "kind", "text"),
    [
        (lambda f: f.group_aggregate(it.town, n=count()), AttributeError, "in group_aggregate(it.town, n=count())"),
        (lambda f: f.group_aggregate(it.city, n=it.price.sum()), AttributeError, "in group_aggregate(it.city, n=sum(it.price))"),
        (lambda f: f.group_aggregate(it.city, n=it.city.sum()), TypeError, "in group_aggregate(it.city, n=sum(it.city))"),
        (lambda f: f.group_aggregate(it.city, n=it.city.average()), TypeError, "in group_aggregate(it.city, n=average(it.city))"),
        (lambda f: f.group_aggregate(lambda order: [order], n=count()), TypeError, "in group_aggregate(<lambda"),
    ],
)
@pytest.mark.parametrize("fused", [True, False])
def test_an_error_is_noted_with_the_operator(build: Callable[[Any], Any], kind: type[Exception], text: str, fused: bool) -> None:
    got = TestSubscriber[Row]()
    flow = build(orders)
    if fused:
        flow.subscribe(got)
    else:
        with fusion_off():
            flow.subscribe(got)
    assert got.values == []
    assert type(got.error) is kind
    assert text in got.error.__notes__[0]


def test_rows_are_given_as_they_are_requested() -> None:
    got = TestSubscriber[Any](request=1)
    orders.group_aggregate(it.city, n=count()).subscribe(got)
    assert got.values == [("Ulm", 3)]
    assert not got.is_terminated
    got.request(UNBOUNDED)
    got.assert_result(("Ulm", 3), ("Bonn", 1))


def test_two_subscriptions_know_nothing_of_each_other() -> None:
    flow = orders.group_aggregate(it.city, total=it.amount.sum())
    assert rows(flow) == rows(flow)


def test_an_observable_has_it() -> None:
    got = Observable.from_iterable(ORDERS).group_aggregate(it.city, total=it.amount.sum()).to_list().blocking_get()
    assert repr(got) == "[Row(city='Ulm', total=15), Row(city='Bonn', total=5)]"


def spec_of(flow: Flowable[Row]) -> stages.GroupAggregate:
    (spec,) = [arg for arg in flow._args if isinstance(arg, stages.GroupAggregate)]
    return spec


def test_the_stage_knows_what_it_was_asked() -> None:
    flow = orders.group_aggregate((it.city, it.year), total=it.amount.sum())
    spec = spec_of(flow)
    assert spec == stages.GroupAggregate(("city", "year"), True, (("total", sum(it.amount)),))
    assert spec != spec_of(orders.group_aggregate(it.city, total=it.amount.sum()))
    assert pickle.loads(pickle.dumps(spec)) == spec
    key = pickle.loads(pickle.dumps(flow._args[0]))
    assert list(map(repr, stages.group_aggregate(ORDERS[:1], key, spec))) == ["Row(city='Ulm', year=1, total=10)"]


def test_a_pipeline_shows_it_as_it_is_written() -> None:
    flow = orders.group_aggregate((it.city, it.year), total=it.amount.sum(), n=count())
    assert repr(flow).endswith(".group_aggregate((it.city, it.year), total=sum(it.amount), n=count())")


def test_a_pipeline_with_it_travels() -> None:
    flow = orders.group_aggregate(it.city, total=sum(lambda order: order.amount))
    assert rows(pickle.loads(cloudpickle.dumps(flow))) == rows(flow)


#: Wrong calls, the error, and what its text says.
WRONG: dict[str, tuple[Callable[[Any], object], type[Exception], tuple[str, ...]]] = {
    "no aggregate": (
        lambda f: f.group_aggregate(it.city),
        TypeError,
        ("group_aggregate(it.city): no aggregate", ".group_aggregate(it.city, total=", ".map(it.city).distinct()"),
    ),
    "the key's name": (
        lambda f: f.group_aggregate(it.city, city=it.amount.sum()),
        ValueError,
        ("city=sum(it.amount)): the key's field is called 'city' already", "Right:  .group_aggregate(it.city, city_sum="),
    ),
    "the name of a key without one": (
        lambda f: f.group_aggregate(len, key=count()),
        ValueError,
        ("the key's field is called 'key' already",),
    ),
    "a value": (
        lambda f: f.group_aggregate(it.city, total=it.amount),
        TypeError,
        ("total=it.amount): that is no aggregate", "total=it.amount.sum())"),
    ),
    "a method with arguments": (
        lambda f: f.group_aggregate(it.city, total=it.amount.sum(1)),
        TypeError,
        ("total=it.amount.sum(1)): that is no aggregate", "total=it.amount.sum())"),
    ),
    "another method": (
        lambda f: f.group_aggregate(it.city, mean=it.amount.mean()),
        TypeError,
        ("mean=it.amount.mean()): that is no aggregate", "There are sum, count, min, max and average"),
    ),
    "a function": (
        lambda f: f.group_aggregate(it.city, total=abs),
        TypeError,
        ("total=abs): that is no aggregate", "total=aggregates.sum(abs))"),
    ),
    "an aggregate's function": (
        lambda f: f.group_aggregate(it.city, total=sum),
        TypeError,
        ("total=sum): that is no aggregate", "total=aggregates.sum(it.amount))"),
    ),
    "count without brackets": (
        lambda f: f.group_aggregate(it.city, n=count),
        TypeError,
        ("n=count): that is no aggregate", "n=aggregates.count())"),
    ),
    "a name": (
        lambda f: f.group_aggregate(it.city, total="sum"),
        TypeError,
        ("total='sum'): that is no aggregate", "total=aggregates.sum(it.amount))"),
    ),
    "a name as the key": (
        lambda f: f.group_aggregate("city", n=count()),
        TypeError,
        ("group_aggregate('city'): the key is", "(it['city'], n=", "(it.city, n="),
    ),
    "a number as the key": (
        lambda f: f.group_aggregate(3, n=count()),
        TypeError,
        ("group_aggregate(3): the key is", "(it.city, n="),
    ),
    "no key": (lambda f: f.group_aggregate((), n=count()), TypeError, ("a key has at least one part", "Right:")),
    "a key twice": (
        lambda f: f.group_aggregate((it.city, it["city"]), n=count()),
        ValueError,
        ("group_aggregate((it.city, it['city'])): two fields of a row cannot both be called 'city'", "Right:"),
    ),
    "a part without a name": (
        lambda f: f.group_aggregate((it.city, it.year % 10), n=count()),
        TypeError,
        ("it.year % 10 names no field of the item", "(it.city, it.year)", "As one field key:"),
    ),
    "a function as a part": (
        lambda f: f.group_aggregate((it.city, repr), n=count()),
        TypeError,
        ("group_aggregate((it.city, repr)): repr names no field of the item", "Right:"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_told_with_the_right_one(name: str) -> None:
    call, kind, texts = WRONG[name]
    with pytest.raises(kind) as caught:
        call(orders)
    for text in texts:
        assert text in str(caught.value)
