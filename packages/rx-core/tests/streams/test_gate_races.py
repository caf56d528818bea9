"""Several threads at one gate: signals are serial, and nothing is lost or doubled. Each race has a control that is caught."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import UNBOUNDED, gate, streams
from rx_core.streams import MergedInput, Op
from rx_testing.racing import caught, race, rounds

WATCHED = [streams.__path__[0], gate.__file__]
THREADS = 3
ITEMS = 20

pytestmark = pytest.mark.stress


class Down:
    """Records, and notices a second signal that comes while one is being delivered."""

    def __init__(self) -> None:
        self.items: list[tuple[int, int]] = []
        self.busy = False
        self.overlapped = False

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up

    def on_next(self, item: tuple[int, int], /) -> None:
        if self.busy:
            self.overlapped = True
        self.busy = True
        self.items.append(item)
        self.busy = False

    def on_error(self, error: Exception, /) -> None:
        raise AssertionError(error)

    def on_complete(self) -> None:
        pass


class Merging(Op[tuple[int, int]]):
    __slots__ = ("ended", "inputs", "ready")

    def __init__(self, down: Down) -> None:
        super().__init__(down)
        self.ready: deque[Any] = deque()
        self.ended: deque[Any] = deque()
        self.inputs = [MergedInput[tuple[int, int]](self, 1 << 30) for _ in range(THREADS)]

    def step(self, demand: int) -> int:
        while self.ready and demand:
            entry = self.ready.popleft()
            self.emit(entry.queue.popleft())
            if demand != UNBOUNDED:
                demand -= 1
        return demand

    def close(self) -> None:
        for entry in self.inputs:
            entry.close()


class Unguarded(Merging):
    """The control: whoever publishes works at once, whether or not another thread does."""

    __slots__ = ()

    def drain(self) -> None:
        self.dirty = True
        demand = self.token[0] if self.token else UNBOUNDED
        while self.dirty:
            self.dirty = False
            self.look(demand)


def merged(kind: Callable[[Down], Merging], asks: bool) -> None:
    """One race: threads that send, and one that asks for items one by one."""
    down = Down()
    op = kind(down)
    op.start()
    if not asks:
        op.request(UNBOUNDED)

    def feed(key: int) -> Callable[[], None]:
        entry = op.inputs[key]

        def send() -> None:
            for at in range(ITEMS):
                entry.on_next((key, at))

        return send

    def ask() -> None:
        for _ in range(THREADS * ITEMS):
            op.request(1)

    workers = [feed(key) for key in range(THREADS)] + ([ask] if asks else [])
    try:
        race(*workers, watch=WATCHED)
    except IndexError as error:  # two took the same item out of a queue
        raise AssertionError(error) from error
    assert not down.overlapped
    assert len(down.items) == THREADS * ITEMS
    for key in range(THREADS):
        assert [at for found, at in down.items if found == key] == list(range(ITEMS))


@pytest.mark.parametrize("asks", [False, True])
def test_items_of_several_threads_come_one_at_a_time_and_in_the_order_of_each(asks: bool) -> None:
    for _ in rounds(20):
        merged(Merging, asks)


def test_the_race_can_fail() -> None:
    assert caught(lambda _number: merged(Unguarded, True))


def test_a_cancel_from_another_thread_closes_once_and_no_item_follows() -> None:
    for _ in rounds(20):
        down = Down()
        op = Merging(down)
        op.start()
        op.request(UNBOUNDED)
        left = threading.Event()

        def send(op: Merging = op) -> None:
            for at in range(ITEMS):
                op.inputs[0].on_next((0, at))

        def leave(op: Merging = op, left: threading.Event = left) -> None:
            op.cancel()
            left.set()

        race(send, leave, watch=WATCHED)
        assert left.is_set()
        before = len(down.items)
        op.inputs[0].on_next((0, ITEMS))
        assert len(down.items) == before
        assert all(entry.closed for entry in op.inputs)
