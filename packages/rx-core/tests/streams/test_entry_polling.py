"""The border to a foreign source that lets itself be polled (micro-fusion)."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC
from rx_core.streams import Entry, subscribe


class Queue:
    """A foreign source that is its own Subscription, or Disposable."""

    def __init__(self, grants: int, *, disposable: bool = False) -> None:
        self.grants = grants
        self.items = deque([1, 2])
        self.disposable = disposable
        self.left = 0

    def subscribe(self, subscriber: Any, /) -> None:
        self.subscriber = subscriber
        if self.disposable:
            queue = Disposable(self)
            subscriber.on_subscribe(queue)
        else:
            subscriber.on_subscribe(self)

    def request_fusion(self, mode: int, /) -> int:
        return self.grants & mode & ANY

    def poll(self) -> int | None:
        return self.items.popleft() if self.items else None

    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        self.left += 1


class Disposable:
    """The same without demand."""

    def __init__(self, queue: Queue) -> None:
        self.request_fusion = queue.request_fusion
        self.poll = queue.poll
        self.dispose = queue.cancel


class Asking:
    """Stands for an operator's input."""

    def __init__(self, mode: int = ANY | BOUNDARY) -> None:
        self.mode = mode
        self.items: list[Any] = []
        self.error: Exception | None = None

    def on_subscribe(self, up: Any, /) -> None:
        assert type(up) is Entry
        self.up = up
        self.granted = up.ask_to_poll(self.mode)

    def on_next(self, item: Any, /) -> None:
        self.items.append(item)

    def on_error(self, error: Exception, /) -> None:
        self.error = error

    def on_complete(self) -> None:
        pass


@pytest.mark.parametrize("disposable", [False, True])
@pytest.mark.parametrize("mode", [SYNC, ASYNC])
def test_a_source_is_polled_by_the_mode_that_it_grants(mode: int, disposable: bool) -> None:
    source, asking = Queue(mode, disposable=disposable), Asking()
    subscribe(source, asking)
    assert asking.granted == mode
    assert asking.up.queue.poll() == 1
    asking.up.cancel()
    assert source.left == 1


def test_what_a_notice_carries_is_neither_refused_nor_counted() -> None:
    source, asking = Queue(ASYNC), Asking()
    subscribe(source, asking)
    source.subscriber.on_next(None)
    source.subscriber.on_next("look")  # not requested, and no item
    assert asking.items == [None, "look"]
    assert asking.error is None


def test_a_source_that_grants_nothing_is_checked_as_ever() -> None:
    source, asking = Queue(NONE), Asking()
    subscribe(source, asking)
    assert asking.granted == NONE
    with pytest.raises(TypeError):
        source.subscriber.on_next(None)
    assert isinstance(asking.error, TypeError)
