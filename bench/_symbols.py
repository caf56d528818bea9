"""Symbolic functions: what a loop gains when a function's body is written into it, and what building one costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench._common import add_one, double, is_odd, often
from bench._measure import Case, at_most
from rx_ops import Flowable, call, it, sym


def symbol_cases(size: int) -> Iterator[Case]:
    yield _to_sum(size)
    yield _rows(size // 4)
    yield _keys(size // 4)
    yield _built(max(size // 400, 1))


def _to_sum(size: int) -> Case:
    def by_hand() -> int:
        total = 0
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                total += double(value)
        return total

    numbers = Flowable.range(size)
    return Case(
        "range, map, filter, map, sum with it",
        size,
        {
            "loop by hand that calls functions": by_hand,
            "rx, functions": numbers.map(add_one).filter(is_odd).map(double).sum().blocking_get,
            "rx, it": numbers.map(it.of(int) + 1).filter(it % 2 == 1).map(it.of(int) * 2).sum().blocking_get,
        },
        [at_most("rx, it", 0.65, 0.55)],
    )


def _price(row: dict[str, Any]) -> bool:
    return bool(row["price"] > 10)


def _total(row: dict[str, Any]) -> int:
    total: int = row["price"] * row["amount"]
    return total


def _rows(size: int) -> Case:
    rows: list[dict[str, Any]] = [{"price": at % 20, "amount": at % 5} for at in range(size)]

    def by_hand() -> int:
        return sum(_total(row) for row in rows if _price(row))

    flow = Flowable.from_iterable(rows)
    return Case(
        "rows: filter, map, sum with it",
        size,
        {
            "generator expression that calls functions": by_hand,
            "rx, functions": flow.filter(_price).map(_total).sum().blocking_get,
            "rx, it": flow.filter(it["price"] > 10).map(sym(lambda row: row["price"] * row["amount"])).sum().blocking_get,
        },
    )


def _remainder(x: int) -> int:
    return x % 1_000


def _keys(size: int) -> Case:
    """Where an expression is called like a function: by an operator that is no stage."""
    numbers = Flowable.range(size)
    return Case(
        "group_by, 1,000 keys, with it",
        size,
        {
            "rx, a function": numbers.group_by(_remainder).flat_map(_counted, max_concurrency=1_000).sum().blocking_get,
            "rx, it": numbers.group_by(it.of(int) % 1_000).flat_map(_counted, max_concurrency=1_000).sum().blocking_get,
        },
    )


def _counted(group: Flowable[int]) -> Flowable[int]:
    return group.count().to_flowable()


def _built(size: int) -> Case:
    """A pipeline assembled anew each time, over one item."""
    factor = 7

    def functions() -> int:
        return Flowable.just(1).map(lambda x: x + factor).filter(lambda x: x > 0).map(_digits).blocking_first()

    def expressions() -> int:
        return Flowable.just(1).map(it.of(int) + factor).filter(it > 0).map(sym(lambda x: call(_digits, x))).blocking_first()

    return Case(
        "just, map, filter, map built anew, blocking_first",
        size,
        {"rx, functions": often(size, functions), "rx, it": often(size, expressions)},
    )


def _digits(value: object) -> int:
    return len(str(value))
