"""Waiting: a thread that iterates what a source pushes."""

from __future__ import annotations

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
