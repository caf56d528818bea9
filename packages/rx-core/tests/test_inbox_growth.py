"""The window of an inbox grows when a source on another thread fills it faster than it is emptied, and for no other reason."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from rx_core import Growing, Inbox, Run, _inbox
from rx_testing import ManualPublisher


@pytest.fixture(autouse=True)
def _no_more_than_20(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inbox, "LARGEST_PREFETCH", 20)


class Polled(Run):
    """A run that is only looked at: who wakes it does nothing for it."""

    @property
    def root(self) -> Polled:
        return self

    @property
    def demand(self) -> int:
        return 1

    def wake(self) -> None:
        pass

    poke = wake


class Boundary:
    """An inbox, its source on another thread, and the thread that polls."""

    def __init__(self, window: int) -> None:
        self.source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
        self.run = Polled()
        self.inbox: Inbox[Any] = Inbox(self.run, window)
        self.inbox.subscribe_to(self.source)
        self.items: Iterator[Any] = self.inbox.stream()
        self.sent = 0

    def send(self, count: int, *, elsewhere: bool = True) -> None:
        items = range(self.sent, self.sent + count)
        self.sent += count
        if elsewhere:
            thread = Thread(target=self.source.next, args=items)
            thread.start()
            thread.join()
        else:
            self.source.next(*items)

    def run_dry(self) -> list[Any]:
        taken = []
        while (item := next(self.items)) is not None:
            taken.append(item)
        return taken

    @property
    def requests(self) -> list[int]:
        return self.source.subscriptions[0].requests

    @property
    def due(self) -> int:
        """What the source may send."""
        return sum(self.requests) - self.sent


def test_it_doubles_up_to_its_limit_while_all_that_was_asked_for_comes_at_once() -> None:
    it = Boundary(Growing(8))
    seen = []
    got = []
    for _ in range(6):
        it.send(it.due)
        got += it.run_dry()
        seen.append(it.inbox._window)
    assert seen == [8, 8, 16, 20, 20, 20]  # filled once it may be a source that is fast, and a consumer that is not
    assert got == [*range(it.sent)]
    assert it.inbox.peak <= 20
    it.items.close()  # type: ignore[attr-defined]  # it is a generator
    assert it.source.cancelled


def test_it_does_not_grow_for_a_source_that_is_slower() -> None:
    it = Boundary(Growing(8))
    for _ in range(20):
        it.send(it.due - 1)
        it.run_dry()
    assert it.inbox._window == 8


def test_it_does_not_grow_for_a_source_on_the_same_thread() -> None:
    it = Boundary(Growing(8))
    for _ in range(20):
        it.send(it.due, elsewhere=False)
        it.run_dry()
    assert it.inbox._window == 8


def test_it_does_not_grow_where_a_bound_was_given() -> None:
    it = Boundary(8)
    for _ in range(20):
        it.send(it.due)
        it.run_dry()
    assert it.inbox._window == 8
    assert it.inbox.peak == 8


def test_what_is_too_much_is_measured_by_the_window_as_it_is() -> None:
    it = Boundary(Growing(8))
    for _ in range(3):
        it.send(it.due)
        it.run_dry()
    assert it.inbox._window == 16
    it.send(16)
    assert not it.source.cancelled
    it.send(1)
    with pytest.raises(Exception, match=r"RS 1\.1"):
        it.run_dry()
