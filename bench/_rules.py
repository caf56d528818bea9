"""What each rule of macro-fusion saves: the same pipeline without the rules and with them.

Twice for each: a run over many items, of a pipeline that is there, and many short streams, each assembled, subscribed and run to
its end, where finding out that the rule applies is part of the price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from bench._measure import Case
from rx_fusion import without_rules
from rx_ops import Flowable


class _Pair(NamedTuple):
    rule: str
    #: The pipeline over this many items, and one with a handful.
    long: Callable[[int], Flowable[Any]]
    short: Callable[[], Flowable[Any]]


def _identity(x: Any) -> Any:
    return x


def _pairs(items: list[int]) -> tuple[_Pair, ...]:
    def of_list() -> Flowable[int]:
        return Flowable.from_iterable(items)

    random = Random(4)
    weights = [random.random() for _ in items]

    def of_weights() -> Flowable[float]:
        return Flowable.from_iterable(weights)

    few = Flowable.from_iterable([3, 1, 2])
    return (
        _Pair("take.take", lambda n: of_list().take(n + 1).take(n), lambda: few.take(3).take(2)),
        _Pair("distinct.distinct", lambda n: of_list().distinct().distinct(), lambda: few.distinct().distinct()),
        _Pair("sorted.take", lambda n: of_weights().sorted().take(10), lambda: few.sorted().take(2)),
        _Pair(
            "sorted.take, in order before",
            lambda n: of_list().sorted(reverse=True).take(10),
            lambda: few.sorted(reverse=True).take(2),
        ),
        _Pair(
            "sorted(key).take",
            lambda n: of_weights().sorted(_identity).take(10),
            lambda: few.sorted(_identity).take(2),
        ),
        _Pair("range.skip", lambda n: Flowable.range(n).skip(n - 9), lambda: Flowable.range(3).skip(1)),
        _Pair("range.take", lambda n: Flowable.range(2 * n).take(n).map(_identity), lambda: Flowable.range(3).take(2)),
        _Pair("range.count", lambda n: Flowable.range(n).count().to_flowable(), lambda: Flowable.range(3).count().to_flowable()),
        _Pair(
            "merge(just, just)",
            lambda n: Flowable.merge(*map(Flowable.just, range(n // 50))),
            lambda: Flowable.merge(Flowable.just(1), Flowable.just(2)),
        ),
    )


class _Last:
    """A subscriber that counts, as cheap as it gets."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def on_subscribe(self, subscription: Any, /) -> None:
        subscription.request(2**63 - 1)

    def on_next(self, _item: Any, /) -> None:
        self.count += 1

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        pass


def rule_cases(size: int) -> Iterator[Case]:
    """Two cases for each rule."""
    items = list(range(size))
    for rule, long, short in _pairs(items):
        flow, often = long(size), size // 100

        def run(flow: Flowable[Any] = flow) -> int:
            last = _Last()
            flow.subscribe(last)
            return last.count

        def many(short: Callable[[], Flowable[Any]] = short, often: int = often) -> int:
            last = _Last()
            for _ in range(often):
                short().subscribe(last)
            return last.count

        yield Case(f"rule {rule}", size, {"without": _off(run), "with": run})
        yield Case(f"rule {rule}, short streams", often, {"without": _off(many), "with": many})


def _off(run: Callable[[], int]) -> Callable[[], int]:
    def without() -> int:
        with without_rules():
            return run()

    return without
