"""Streams inside streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from bench._common import add_one, operators, reactivex, with_reactivex
from bench._measure import Case, at_most, faster
from rx_ops import Flowable

KEYS = 1_000


def inner_cases(size: int) -> Iterator[Case]:
    yield _concat_map(max(size // 50, 1))
    yield _flat_map_just(max(size // 20, 1))
    yield _zip(size // 4)
    yield _group_by(size // 4)


def into_a_function(flow: Flowable[int]) -> Callable[[], int]:
    """The sum of the items that a callback takes."""

    def run() -> int:
        total = 0

        def take(item: int) -> None:
            nonlocal total
            total += item

        flow.subscribe(take)
        return total

    return run


def _concat_map(size: int) -> Case:
    part = max(size // 10, 1)

    def by_hand(times: int) -> int:
        total = 0
        for _ in range(times):
            for inner in range(10):
                total += inner
        return total

    def inner(_item: int) -> Flowable[int]:
        return Flowable.range(10)

    def digits(_item: int) -> range:
        return range(10)

    return Case(
        "concat_map and flat_map to range(10)",
        size * 10,
        {
            "nested loop": lambda: by_hand(size),
            "rx, concat_map": Flowable.range(size).concat_map(inner).sum().blocking_get,
            "rx, flat_map": Flowable.range(size).flat_map(inner).sum().blocking_get,
            "itertools": lambda: sum(chain.from_iterable(map(digits, range(size)))),
            "reactivex, concat_map": with_reactivex(
                lambda: reactivex.range(part).pipe(operators.concat_map(lambda _item: reactivex.range(10)), operators.sum()),
                part * 10,
                by_hand(part),
            ),
        },
        [at_most("rx, concat_map", 2.6), faster("rx, concat_map", 20, than="reactivex, concat_map")],
    )


def _flat_map_just(size: int) -> Case:
    part = max(size // 10, 1)

    def one(item: int) -> tuple[int]:
        return (add_one(item),)

    def by_hand(times: int) -> int:
        total = 0
        for item in range(times):
            for inner in one(item):
                total += inner
        return total

    ours = Flowable.range(size).flat_map(lambda item: Flowable.just(add_one(item)))
    return Case(
        "flat_map to just",
        size,
        {
            "nested loop": lambda: by_hand(size),
            "rx": ours.sum().blocking_get,
            "rx, into a function": into_a_function(ours),
            "reactivex": with_reactivex(
                lambda: reactivex.range(part).pipe(
                    operators.flat_map(lambda item: reactivex.just(add_one(item))), operators.sum()
                ),
                part,
                by_hand(part),
            ),
        },
        [at_most("rx", 8), faster("rx", 20, than="reactivex")],
    )


def _zip(size: int) -> Case:
    part = max(size // 10, 1)

    def by_hand(times: int) -> int:
        total = 0
        for one, other in zip(range(times), range(times, 2 * times), strict=False):
            total += one * other
        return total

    def product(one: int, other: int) -> int:
        return one * other

    def theirs() -> object:
        zipped = reactivex.zip(reactivex.range(part), reactivex.range(part, 2 * part))
        return zipped.pipe(operators.starmap(product), operators.sum())

    ours = Flowable.zip(Flowable.range(size), Flowable.range(size, 2 * size))
    return Case(
        "zip of two ranges",
        size,
        {
            "loop by hand": lambda: by_hand(size),
            "rx": ours.starmap(product).sum().blocking_get,
            "rx, into a function": into_a_function(ours.starmap(product)),
            "rx, combiner": Flowable.zip(Flowable.range(size), Flowable.range(size, 2 * size), combiner=product)
            .sum()
            .blocking_get,
            "reactivex": with_reactivex(theirs, part, by_hand(part)),
        },
        [at_most("rx", 4), faster("rx", 20, than="reactivex")],
    )


def _group_by(size: int) -> Case:
    """A thousand keys, each group added up, and the sums of the groups added up with their keys' weight."""
    part = max(size // 10, 1)

    def key(item: int) -> int:
        return item % KEYS

    def by_hand(times: int) -> int:
        groups: dict[int, int] = {}
        for item in range(times):
            group = key(item)
            if group in groups:
                groups[group] += item
            else:
                groups[group] = item
        total = 0
        for group, value in groups.items():
            total += group * value
        return total

    ours = (
        Flowable.range(size)
        .group_by(key)
        .flat_map(lambda group: group.sum().map(lambda value: group.key * value), max_concurrency=KEYS)
    )
    folded = Flowable.range(size).group_reduce(key, lambda item: item, lambda total, item: total + item)
    return Case(
        "group_by with 1,000 keys",
        size,
        {
            "nested loop": lambda: by_hand(size),
            "rx": ours.sum().blocking_get,
            "rx, into a function": into_a_function(ours),
            "rx, group_reduce": folded.starmap(lambda group, value: group * value).sum().blocking_get,
            "reactivex": with_reactivex(
                lambda: reactivex.range(part).pipe(
                    operators.group_by(key),
                    operators.flat_map(lambda group: group.pipe(operators.sum(), operators.map(lambda value: group.key * value))),
                    operators.sum(),
                ),
                part,
                by_hand(part),
            ),
        },
        [at_most("rx", 5), faster("rx", 20, than="reactivex")],
    )
