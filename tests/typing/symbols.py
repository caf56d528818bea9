"""Types of symbolic functions. Type-checked only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, assert_type

from rx_ops import Flowable, Observable, Single, call, it, sym


class Order(NamedTuple):
    name: str
    price: float
    amount: int


numbers = Flowable.range(10)
words = Flowable.of("a", "b")
orders = Flowable.of(Order("pen", 1.5, 3))
rows = Flowable.of({"a": 1}, {"a": 2})

# it alone says nothing of its own type, and nothing wrong
assert_type(numbers.map(it), Flowable[Any])
assert_type(numbers.map(it + 1), Flowable[Any])
assert_type(numbers.filter(it > 1), Flowable[int])
assert_type(words.filter(it.startswith("a")), Flowable[str])
assert_type(orders.filter((it.price > 10) & (it.amount < 3)), Flowable[Order])
assert_type(orders.take_while(it[1] > 1), Flowable[Order])
assert_type(orders.distinct(it.name), Flowable[Order])
assert_type(orders.max(it.price * it.amount).blocking_get(), Order | None)
assert_type(Observable.of(1).filter(~it & 1), Observable[int])
assert_type(Single.just(1).map(it * 2), Single[Any])

# it.of(T) is exact
assert_type(numbers.map(it.of(int)), Flowable[int])
assert_type(numbers.map(it.of(int) + 1), Flowable[int])
assert_type(numbers.map(1 + it.of(int)), Flowable[int])
assert_type(numbers.map(it.of(int) * 2.5), Flowable[float])
assert_type(numbers.map(2.5 * it.of(int)), Flowable[float])
assert_type(numbers.map(it.of(int) / 2), Flowable[float])
assert_type(numbers.map(it.of(int) // 2 % 3), Flowable[int])
assert_type(numbers.map(it.of(int) + it), Flowable[Any])
assert_type(numbers.filter((it.of(int) > 1) & (it.of(int) < 9)), Flowable[int])
assert_type(numbers.map(it.of(int)).map(it.of(int) + it.of(int)), Flowable[int])
assert_type(numbers.map(it.of(int) * 0.5).map(it.of(float) + 1), Flowable[float])
assert_type(numbers.map(-it.of(int)), Flowable[int])
assert_type(numbers.map(abs(it.of(int))), Flowable[int])
assert_type(numbers.map(it.of(int) > 3), Flowable[bool])
assert_type(numbers.map(3 < it.of(int)), Flowable[bool])  # noqa: SIM300  # the reflected one
assert_type(numbers.map(it.of(int) == 3), Flowable[bool])
assert_type(words.map(it.of(str) + "b"), Flowable[str])
assert_type(words.map("b" + it.of(str)), Flowable[str])
assert_type(rows.map(it.of(dict[str, int])["a"]), Flowable[int])
assert_type(rows.map(it.of(dict[str, int])["a"] + 1), Flowable[int])
assert_type(orders.map(it.of(Order).price), Flowable[Any])
assert_type(words.map(it.of(str).upper()), Flowable[Any])

# sym is typed as the function it is given
assert_type(orders.map(sym(lambda o: o.price * 2)), Flowable[float])
assert_type(orders.map(sym(lambda o: (o.name, o.price * o.amount))), Flowable[tuple[str, float]])
assert_type(orders.map(sym(lambda o: call(len, o.name) + 1)), Flowable[int])
assert_type(numbers.scan(sym(lambda total, n: total + n), 0), Flowable[int])
assert_type(numbers.reduce(sym(lambda a, b: a * b)).blocking_get(), int | None)


@sym
def total(order: Order) -> float:
    return order.price * order.amount


assert_type(orders.map(total), Flowable[float])
assert_type(total(Order("pen", 1.5, 3)), float)

# call
assert_type(call(len, "abc"), int)
assert_type(numbers.filter(call(len, it.name) > 3), Flowable[int])
key: Callable[[Order], float] = sym(it.price)
assert_type(sorted([Order("pen", 1.5, 3)], key=key), list[Order])
