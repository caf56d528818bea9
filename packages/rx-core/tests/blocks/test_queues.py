"""The queues."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep

import pytest

from rx_core.blocks import ItemQueue, MpscQueue, SpscArrayQueue, SpscLinkedQueue

from .racing import caught, every_round, race, rounds

QUEUES: list[Callable[[], ItemQueue[int]]] = [lambda: SpscArrayQueue(8), SpscLinkedQueue, MpscQueue]


@pytest.mark.parametrize("make", QUEUES)
def test_items_come_in_order_and_none_means_nothing_now(make: Callable[[], ItemQueue[int]]) -> None:
    queue = make()
    assert queue.is_empty()
    assert queue.poll() is None
    assert all(queue.offer(item) for item in (0, 1, 2))
    assert not queue.is_empty()
    assert [queue.poll() for _ in range(4)] == [0, 1, 2, None]
    queue.offer(3)
    queue.clear()
    assert queue.is_empty()


@pytest.mark.parametrize("make", QUEUES)
def test_none_is_refused(make: Callable[[], ItemQueue[int]]) -> None:
    with pytest.raises(TypeError, match=r"RS 2\.13"):
        make().offer(None)  # type: ignore[arg-type]  # what a source that is not typed may do


def test_the_bound_is_exact() -> None:
    queue = SpscArrayQueue[int](3)
    assert [queue.offer(item) for item in range(4)] == [True, True, True, False]
    assert (len(queue), queue.capacity) == (3, 3)
    queue.poll()
    assert queue.offer(9)
    assert repr(queue) == "<SpscArrayQueue 3 items>"


@pytest.mark.parametrize(("capacity", "kind"), [(0, ValueError), (-1, ValueError), (1.5, TypeError)])
def test_a_bound_must_be_a_positive_number(capacity: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="capacity"):
        SpscArrayQueue(capacity)


def feed(queue: ItemQueue[tuple[int, int]], producers: int, count: int) -> list[tuple[int, int]]:
    """What one consumer gets while so many producers offer; who finds no room tries again."""
    got: list[tuple[int, int]] = []
    running = [True] * producers

    def produce(who: int) -> None:
        for number in range(count):
            while not queue.offer((who, number)):
                sleep(0)
        running[who] = False

    def consume() -> None:
        while True:
            over = not any(running)  # before polling
            item = queue.poll()
            if item is not None:
                got.append(item)
            elif over:
                return
            else:
                sleep(0)

    race(consume, *[lambda who=who: produce(who) for who in range(producers)])
    return got


def check_order(got: list[tuple[int, int]], producers: int, count: int) -> None:
    for who in range(producers):
        assert [number for one, number in got if one == who] == list(range(count))
    assert len(got) == producers * count


@pytest.mark.stress
@pytest.mark.parametrize("make", [lambda: SpscArrayQueue[tuple[int, int]](4), SpscLinkedQueue[tuple[int, int]]])
def test_one_producer_and_one_consumer(make: Callable[[], ItemQueue[tuple[int, int]]]) -> None:
    for _ in rounds():
        check_order(feed(make(), 1, 50), 1, 50)


@pytest.mark.stress
def test_many_producers_and_one_consumer() -> None:
    for number in rounds():
        producers = 2 + number % 6
        check_order(feed(MpscQueue(), producers, 20), producers, 20)


class RacyQueue:
    """The control: builds a new list instead of appending."""

    def __init__(self) -> None:
        self.items: list[tuple[int, int]] = []

    def offer(self, item: tuple[int, int], /) -> bool:
        items = self.items
        for _ in range(2):
            pass
        self.items = [*items, item]
        return True

    def poll(self) -> tuple[int, int] | None:
        items = self.items
        if not items:
            return None
        self.items = items[1:]
        return items[0]

    def is_empty(self) -> bool:
        return not self.items

    def clear(self) -> None:
        self.items = []


@pytest.mark.stress
def test_the_control_loses_items() -> None:
    assert caught(lambda _: check_order(feed(RacyQueue(), 3, 20), 3, 20))


@pytest.mark.stress
def test_the_bound_holds_in_a_race() -> None:
    def once(_: int) -> None:
        queue = SpscArrayQueue[int](3)
        sizes: list[int] = []

        def produce() -> None:
            for item in range(60):
                queue.offer(item)

        def consume() -> None:
            for _ in range(60):
                sizes.append(len(queue))
                queue.poll()

        race(produce, consume)
        assert max(sizes) <= 3

    every_round(once)
