"""Waiting: a thread that iterates what a source pushes."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from rx_core.streams import Waiting


class SlowToSubscribe:
    """A source whose Subscription comes when the time is over."""

    def __init__(self) -> None:
        self.cancelled = False
        self.requested = 0

    def subscribe(self, waiting: Any, /) -> None:
        waiting.down.expire()  # as the thread does that watches the time
        waiting.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.requested += n

    def cancel(self) -> None:
        self.cancelled = True


def test_a_subscription_that_comes_after_the_time_is_over_is_cancelled() -> None:
    source = SlowToSubscribe()
    with pytest.raises(TimeoutError):
        next(Waiting[int](16, "waits", seconds=0.001).items(source))
    assert source.cancelled
    assert source.requested == 0


class GivesMany:
    """A source that answers each request with all that was asked for, at once."""

    def __init__(self, count: int) -> None:
        self.left = iter(range(count))
        self.requests: list[int] = []
        self.waiting: Any = None
        self.cancelled = False

    def subscribe(self, waiting: Any, /) -> None:
        self.waiting = waiting.down
        waiting.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.requests.append(n)
        some = list(islice(self.left, n))
        self.waiting.on_next_of_many(some)
        if len(some) < n:
            self.waiting.on_complete()

    def cancel(self) -> None:
        self.cancelled = True


def test_many_items_may_be_given_at_a_time_and_are_asked_for_as_one_by_one() -> None:
    source = GivesMany(30)
    waiting = Waiting[int](8, "many")
    assert waiting.takes_many
    assert list(waiting.items(source)) == list(range(30))
    assert source.requests == [8, 6, 6, 6, 6]


def test_many_items_that_come_after_the_loop_was_left_are_dropped() -> None:
    source = GivesMany(30)
    waiting = Waiting[int](8, "many")
    items: Any = waiting.items(source)
    assert next(items) == 0
    items.close()
    assert source.cancelled
    there = len(waiting.queue)
    waiting.on_next_of_many([100, 101])
    assert len(waiting.queue) == there


def test_who_wants_a_few_items_takes_them_one_by_one() -> None:
    assert not Waiting[int](1, "first", enough=1).takes_many
