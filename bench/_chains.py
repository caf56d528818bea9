"""Synchronous chains: what fusion is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from time import process_time
from typing import Final

from bench._common import Counting, add_one, always, double, is_odd, often, operators, reactivex, subscribed, with_reactivex
from bench._measure import Case, Way, absent, at_most, below, faster
from rx_core import UNBOUNDED
from rx_fusion import fusion_off
from rx_ops import Flowable

#: How many times faster than reactivex ``just.flat_map(just).subscribe`` was with operators in generator form.
RECORDED: Final = 5.2


def chain_cases(size: int) -> Iterator[Case]:
    yield _to_sum(size)
    yield _ten_operators(size // 2)
    yield _iteration(size)
    yield _windows(size // 2)
    yield _unfused(size // 4)
    yield _per_operator(size // 20)
    yield _short_streams(max(size // 200, 1))
    yield _short_inner_streams(max(size // 400, 1))


def _sum_by_hand(size: int) -> int:
    total = 0
    for item in range(size):
        value = add_one(item)
        if is_odd(value):
            total += double(value)
    return total


def _to_sum(size: int) -> Case:
    part = max(size // 10, 1)
    return Case(
        "range, map, filter, map, sum",
        size,
        {
            "loop by hand": lambda: _sum_by_hand(size),
            "rx": Flowable.range(size).map(add_one).filter(is_odd).map(double).sum().blocking_get,
            "itertools": lambda: sum(map(double, filter(is_odd, map(add_one, range(size))))),
            "reactivex": with_reactivex(
                lambda: reactivex.range(part).pipe(
                    operators.map(add_one), operators.filter(is_odd), operators.map(double), operators.sum()
                ),
                part,
                _sum_by_hand(part),
            ),
        },
        [at_most("rx", 1.15, 1.0)],
    )


def _small(x: int) -> bool:
    return x < 1_000_000_000


def _mixed(total: int, item: int) -> int:
    return (total + item) % 1_000_003


def _ten_operators(size: int) -> Case:
    """Ten operators of six kinds into a subscriber's on_next; the loop does what they do in the order they do it."""

    def by_hand() -> int:
        counting = Counting()
        on_next = counting.on_next
        skipped, total = 0, None
        for item in range(size):
            value = add_one(item)
            if not always(value):
                continue
            value = double(value)
            if skipped < 3:
                skipped += 1
                continue
            value = add_one(value)
            if not is_odd(value):
                continue
            total = value if total is None else _mixed(total, value)
            value = double(total)
            if not _small(value):
                break
            on_next(add_one(value))
        return counting.total

    ours = (
        Flowable.range(size)
        .map(add_one)
        .filter(always)
        .map(double)
        .skip(3)
        .map(add_one)
        .filter(is_odd)
        .scan(_mixed)
        .map(double)
        .take_while(_small)
        .map(add_one)
    )
    return Case(
        "ten operators into on_next",
        size,
        {"loop by hand": by_hand, "rx": subscribed(ours), "rx, request(128)": subscribed(ours, 128)},
        [at_most("rx", 1.25, 1.15)],
    )


def _iteration(size: int) -> Case:
    def by_hand() -> int:
        total = 0
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                total += value
        return total

    def generated() -> Iterator[int]:
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                yield value

    ours = Flowable.range(size).map(add_one).filter(is_odd)

    def iterate() -> int:
        total = 0
        for value in ours:
            total += value
        return total

    def generator() -> int:
        total = 0
        for value in generated():
            total += value
        return total

    def itertools() -> int:
        total = 0
        for value in filter(is_odd, map(add_one, range(size))):
            total += value
        return total

    ways = {"loop by hand": by_hand, "rx": iterate, "generator by hand": generator, "itertools": itertools}
    return Case("for x in flow", size, ways, [at_most("rx", 1.25, 1.1)])


def _windows(size: int) -> Case:
    def by_hand() -> int:
        counting = Counting()
        on_next = counting.on_next
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                on_next(double(value))
        return counting.total

    def generated() -> Iterator[int]:
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                yield double(value)

    def in_windows() -> int:
        """What a hand-written source with demand does at least: a generator, read 128 at a time."""
        counting = Counting()
        on_next = counting.on_next
        items = generated()
        more = True
        while more:
            more = False
            for value in islice(items, 128):
                more = True
                on_next(value)
        return counting.total

    ours = Flowable.range(size).map(add_one).filter(is_odd).map(double)
    return Case(
        "chain ending in on_next",
        size,
        {
            "loop by hand": by_hand,
            "rx, unbounded": subscribed(ours),
            "rx, request(128)": subscribed(ours, 128),
            "rx, request(1)": subscribed(ours, 1),
            "generator by hand, 128 at a time": in_windows,
        },
        [at_most("rx, request(128)", 1.15, 1.08)],
    )


def _unfused(size: int) -> Case:
    fused = Flowable.range(size).map(add_one).filter(is_odd).map(double)
    hidden = Flowable.range(size).hide().map(add_one).hide().filter(is_odd).hide().map(double).hide()

    def by_hand() -> int:
        counting = Counting()
        on_next = counting.on_next
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                on_next(double(value))
        return counting.total

    def switched_off() -> int:
        with fusion_off():
            return subscribed(fused)()

    return Case(
        "hide() between all",
        size,
        {
            "loop by hand": by_hand,
            "rx, hidden": subscribed(hidden),
            "rx, fusion off": switched_off,
            "rx, fused": subscribed(fused),
        },
        [at_most("rx, hidden", 2.7, 2.4)],
    )


def _per_operator(size: int) -> Case:
    """The price of one more operator that does not fuse, with its user function: the slope between 2 and 10 of them."""

    def slope(more: Callable[[Flowable[int]], Flowable[int]]) -> Callable[[], float]:
        def nanoseconds(operators: int) -> float:
            flow = Flowable.range(size).hide()
            for _ in range(operators):
                flow = more(flow)
            run = subscribed(flow)
            started = process_time()
            run()
            return (process_time() - started) / max(size, 1) * 1e9

        def measured() -> float:
            few = sorted(nanoseconds(2) for _ in range(3))[1]
            return (sorted(nanoseconds(10) for _ in range(3))[1] - few) / 8

        return measured

    def off() -> float:
        with fusion_off():
            return slope(lambda flow: flow.map(add_one))()

    return Case(
        "one more un-fused operator",
        size,
        {
            "rx, map and hide()": slope(lambda flow: flow.map(add_one).hide()),
            "rx, map, fusion off": off,
            "rx, map, fused": slope(lambda flow: flow.map(add_one)),
        },
        [below("rx, map and hide()", 70)],
        unit="ns",
    )


def _short_streams(times: int) -> Case:
    def with_theirs() -> int:
        got: list[int] = []
        reactivex.just(1).pipe(operators.map(add_one), operators.filter(always)).subscribe(got.append)
        return got[0]

    def ours() -> int:
        counting = Counting(UNBOUNDED)
        Flowable.just(1).map(add_one).filter(always).subscribe(counting)
        return counting.total

    def callbacks() -> int:
        got: list[int] = []
        Flowable.just(1).map(add_one).filter(always).subscribe(got.append)
        return got[0]

    theirs = absent("reactivex") if reactivex is None else Way(often(times, with_theirs))
    return Case(
        "just, map, filter, subscribe",
        times,
        {"rx": often(times, ours), "rx, into a function": often(times, callbacks), "reactivex": theirs},
        [faster("rx", 18, 25, than="reactivex"), faster("rx, into a function", 18, 25, than="reactivex")],
        note="assembly and all, per stream",
    )


def _short_inner_streams(times: int) -> Case:
    """What one stream with an inner stream costs that has a single item: nearly all of it is assembling and subscribing."""

    def with_theirs() -> int:
        got: list[int] = []
        reactivex.just(1).pipe(operators.flat_map(reactivex.just)).subscribe(got.append)
        return got[0]

    def ours() -> int:
        counting = Counting(UNBOUNDED)
        Flowable.just(1).flat_map(Flowable.just).subscribe(counting)
        return counting.total

    def callbacks() -> int:
        got: list[int] = []
        Flowable.just(1).flat_map(Flowable.just).subscribe(got.append)
        return got[0]

    theirs = absent("reactivex") if reactivex is None else Way(often(times, with_theirs))
    return Case(
        "just, flat_map(just), subscribe",
        times,
        {"rx": often(times, ours), "rx, into a function": often(times, callbacks), "reactivex": theirs},
        [faster("rx", RECORDED * 2.5, than="reactivex")],
        note=f"assembly and all, per stream; the target is 2.5 times what was recorded, {RECORDED} times reactivex",
        fastest=True,
    )
