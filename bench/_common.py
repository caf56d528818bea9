"""The small functions and subscribers that several cases share, and what of the peers is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from bench._measure import Way, absent
from rx_core import UNBOUNDED, Publisher, Subscription


def add_one(x: int) -> int:
    return x + 1


def is_odd(x: int) -> bool:
    return x % 2 == 1


def double(x: int) -> int:
    return x * 2


def always(_item: object) -> bool:
    return True


class Counting:
    """A subscriber that adds up what it gets, asking for ``window`` at a time."""

    __slots__ = ("_left", "_subscription", "_window", "total")

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

    def cancel(self) -> None:
        self._subscription.cancel()


def subscribed(flow: Publisher[int], window: int = UNBOUNDED) -> Callable[[], int]:
    """A way: subscribe a :class:`Counting`, give its total."""

    def run() -> int:
        counting = Counting(window)
        flow.subscribe(counting)
        return counting.total

    return run


def often(times: int, run: Callable[[], int]) -> Callable[[], int]:
    """``run`` so many times, for what is short; the sum of what it gives."""

    def repeat() -> int:
        total = 0
        for _ in range(times):
            total += run()
        return total

    return repeat


def installed(package: str) -> Any:
    """The package, or None. A peer is never needed: without it the table says that it is missing."""
    try:
        return importlib.import_module(package)
    except ImportError:
        return None


reactivex: Any = installed("reactivex")
operators: Any = installed("reactivex.operators")


def with_reactivex(make: Callable[[], Any], elements: int | None = None, expected: object = None) -> Way:
    """A way that subscribes the Observable that ``make`` builds with reactivex, and gives its last item."""
    if reactivex is None:
        return absent("reactivex")
    stream = make()

    def run() -> object:
        # Not with their run(): it goes through another thread and takes fifteen times as long.
        got: list[object] = []
        stream.subscribe(got.append)
        return got[-1]

    return Way(run, slow=True) if elements is None else Way(run, elements, expected, slow=True)
