"""Unicast: each item is counted once, either by push() or by the call-back for items that had to wait."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_core.streams import Unicast


class Down:
    """A subscriber that requests ``at_once`` when it is subscribed, and fails for the item ``fails_for``."""

    def __init__(self, at_once: int = 0, fails_for: object = None) -> None:
        self.at_once = at_once
        self.fails_for = fails_for
        self.items: list[object] = []
        self.ends: list[object] = []

    def on_subscribe(self, subscription: Any, /) -> None:
        self.subscription = subscription
        if self.at_once:
            subscription.request(self.at_once)

    def on_next(self, item: object, /) -> None:
        if item == self.fails_for:
            raise LookupError(item)
        self.items.append(item)

    def on_error(self, error: Exception, /) -> None:
        self.ends.append(error)

    def on_complete(self) -> None:
        self.ends.append("complete")


def test_items_that_waited_are_counted_when_they_are_taken() -> None:
    taken: list[int] = []
    queue = Unicast[int]("queue", taken.append)
    assert [queue.push(item) for item in (1, 2, 3)] == [False, False, False]
    down = Down(2)
    queue.attach(down)
    assert down.items == [1, 2]
    assert taken == [2]
    down.subscription.request(UNBOUNDED)
    assert queue.push(4)
    assert down.items == [1, 2, 3, 4]
    assert taken == [2, 1]


def test_items_given_up_by_a_cancel_are_counted() -> None:
    taken: list[int] = []
    queue = Unicast[int]("queue", taken.append)
    down = Down(1)
    queue.attach(down)
    pushed = [queue.push(item) for item in (1, 2, 3)]
    down.subscription.cancel()
    assert pushed.count(True) + sum(taken) == 3
    assert queue.push(4)  # the subscriber has left: the item does not wait


@pytest.mark.parametrize("fails_for", [1, 3])
def test_items_given_up_because_the_subscriber_raised_are_counted(fails_for: int) -> None:
    taken: list[int] = []
    queue = Unicast[int]("queue", taken.append)
    for item in range(1, 6):
        queue.push(item)
    down = Down(fails_for=fails_for)
    queue.attach(down)
    with pytest.raises(LookupError):
        down.subscription.request(UNBOUNDED)
    assert sum(taken) == 5
    assert not down.ends


def test_what_is_pushed_behind_the_end_is_dropped() -> None:
    queue = Unicast[int]("queue")
    queue.push(1)
    queue.end()
    assert queue.push(2)
    down = Down(UNBOUNDED)
    queue.attach(down)
    assert down.items == [1]
    assert down.ends == ["complete"]


def test_a_second_subscriber_gets_an_error_that_names_the_queue() -> None:
    queue = Unicast[int]("my queue")
    first, second = Down(), Down()
    queue.attach(first)
    queue.attach(second)
    (error,) = second.ends
    assert isinstance(error, RuntimeError)
    assert "my queue' allows one subscriber" in str(error)
    assert not first.ends
