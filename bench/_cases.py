"""What is measured: the same work by hand, with this library, and with reactivex from PyPI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import reactivex
from reactivex import operators as ops

from bench._blocks import block_cases
from bench._measure import Case
from rx_core import UNBOUNDED, Subscription
from rx_ops import Flowable


def add_one(x: int) -> int:
    return x + 1


def is_odd(x: int) -> bool:
    return x % 2 == 1


def double(x: int) -> int:
    return x * 2


class Counting:
    """A subscriber that adds up what it gets, asking for ``window`` at a time."""

    def __init__(self, window: int = UNBOUNDED) -> None:
        self.total = 0
        self._window = window
        self._left = window

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self._subscription = subscription
        subscription.request(self._window)

    def on_next(self, item: int, /) -> None:
        self.total += item
        self._left -= 1
        if not self._left:
            self._left = self._window
            self._subscription.request(self._window)

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        pass


def cases(size: int) -> Iterator[Case]:
    """All cases, for ``size`` elements in the cheap ones."""
    yield _chain_to_sum(size // 4)
    yield _iteration(size)
    yield _callbacks(size)
    yield _unfused(size // 4)
    yield _short_streams(size // 200)
    yield _concat_map(size // 50)
    yield from block_cases(size // 4)


def _chain_to_sum(size: int) -> Case:
    def by_hand() -> int:
        total = 0
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                total += double(value)
        return total

    return Case(
        "range, map, filter, map, sum",
        size,
        {
            "loop by hand": by_hand,
            "rx": Flowable.range(size).map(add_one).filter(is_odd).map(double).sum().blocking_get,
            "reactivex": _last(reactivex.range(size).pipe(ops.map(add_one), ops.filter(is_odd), ops.map(double), ops.sum())),
        },
    )


def _last(stream: reactivex.Observable[Any]) -> Callable[[], int]:
    """Subscribe on this thread: their ``run()`` goes through another thread and takes fifteen times as long."""

    def run() -> int:
        got: list[Any] = []
        stream.subscribe(got.append)
        return int(got[-1])

    return run


def _iteration(size: int) -> Case:
    def by_hand() -> int:
        total = 0
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                total += value
        return total

    ours = Flowable.range(size).map(add_one).filter(is_odd)

    def iterate() -> int:
        total = 0
        for value in ours:
            total += value
        return total

    return Case("for x in flow", size, {"loop by hand": by_hand, "rx": iterate})


def _subscribed(flow: Flowable[int], window: int = UNBOUNDED) -> Callable[[], int]:
    def run() -> int:
        counting = Counting(window)
        flow.subscribe(counting)
        return counting.total

    return run


def _callbacks(size: int) -> Case:
    def by_hand() -> int:
        counting = Counting()
        on_next = counting.on_next
        for item in range(size):
            value = add_one(item)
            if is_odd(value):
                on_next(double(value))
        return counting.total

    ours = Flowable.range(size).map(add_one).filter(is_odd).map(double)
    return Case(
        "chain ending in on_next",
        size,
        {
            "loop by hand": by_hand,
            "rx, unbounded": _subscribed(ours),
            "rx, request(128)": _subscribed(ours, 128),
            "rx, request(1)": _subscribed(ours, 1),
        },
    )


def _unfused(size: int) -> Case:
    fused = Flowable.range(size).map(add_one).filter(is_odd).map(double)
    hidden = Flowable.range(size).hide().map(add_one).hide().filter(is_odd).hide().map(double).hide()
    return Case("hide() between all", size, {"rx, fused": _subscribed(fused), "rx, hidden": _subscribed(hidden)})


def _short_streams(size: int) -> Case:
    def repeat(run: Callable[[], int]) -> Callable[[], int]:
        def often() -> int:
            total = 0
            for _ in range(size):
                total += run()
            return total

        return often

    def with_reactivex() -> int:
        got: list[int] = []
        reactivex.just(1).pipe(ops.map(add_one), ops.filter(_always)).subscribe(got.append)
        return got[0]

    def ours() -> int:
        counting = Counting()
        Flowable.just(1).map(add_one).filter(_always).subscribe(counting)
        return counting.total

    return Case("just, map, filter, subscribe", size, {"rx": repeat(ours), "reactivex": repeat(with_reactivex)})


def _always(_item: Any) -> bool:
    return True


def _concat_map(size: int) -> Case:
    def by_hand() -> int:
        total = 0
        for _ in range(size):
            for inner in range(10):
                total += inner
        return total

    def inner(_item: int) -> Flowable[int]:
        return Flowable.range(10)

    ours = Flowable.range(size).concat_map(inner).sum()
    flat = Flowable.range(size).flat_map(inner).sum()
    theirs = reactivex.range(size).pipe(ops.concat_map(lambda _item: reactivex.range(10)), ops.sum())
    return Case(
        "concat_map and flat_map to range(10)",
        size * 10,
        {
            "nested loop": by_hand,
            "rx, concat_map": ours.blocking_get,
            "rx, flat_map": flat.blocking_get,
            "reactivex": _last(theirs),
        },
    )
