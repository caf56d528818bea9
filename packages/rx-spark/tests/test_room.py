"""How many keys a task holds on the map side of a shuffle."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from operator import add
from typing import Any

import pytest

from rx_spark._workers import _room, _shuffle
from rx_spark._workers._groups import CountMerger, CountWriter, DistinctWriter, GroupWriter

FEW = 16
BLOCK = 10


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shuffle, "MAP_SIDE_KEYS", FEW)
    monkeypatch.setattr(_room, "MAP_SIDE_BYTES", 100 * (100 + 4 * 20))  # some hundred of whole numbers


def blocks(items: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    every = list(items)
    return ((at // BLOCK, every[at : at + BLOCK]) for at in range(0, len(every), BLOCK))


def written(items: Iterable[int]) -> list[tuple[int, int]]:
    """The pairs that a task sends, in their order."""
    writer = GroupWriter(2, lambda key: key, lambda _key: 1, add)
    return [pair for row in writer.rows(blocks(items)) for pair in pickle.loads(row[-1])]


def holds(items: Iterable[int]) -> list[int]:
    """How many keys there were each time when they were sent on."""
    sizes: list[int] = []
    room = _room.Room()
    held: dict[Any, Any] = {}
    for _, block in blocks(items):
        for item in room.watching(block, held):
            held[item] = 1
        if room.is_full(held):
            sizes.append(len(held))
            held.clear()
    return sizes


def test_keys_that_come_again_are_sent_once() -> None:
    pairs = written(number % 60 for number in range(6_000))
    assert sorted(pairs) == [(key, 100) for key in range(60)]


def test_more_keys_than_there_is_room_for_are_sent_on_and_nothing_is_lost() -> None:
    pairs = written(number % 1_000 for number in range(5_000))
    counts: Counter[int] = Counter()
    for key, count in pairs:
        counts[key] += count
    assert counts == dict.fromkeys(range(1_000), 5)
    assert len(pairs) > 1_000


def test_keys_that_never_come_again_are_held_in_few_and_sometimes_it_tries_again() -> None:
    sizes = holds(range(40_000))
    tries = [at for at, size in enumerate(sizes) if size > FEW + BLOCK]
    assert tries[:3] == [0, 17, 50]  # 16 times few, then 32
    assert max(sizes) < 400
    assert len(sizes) > 1_000


def test_keys_that_mostly_come_again_are_held_in_many_each_time() -> None:
    def skewed() -> Iterator[int]:
        for number in range(20_000):
            yield number if number % 5 == 0 else 7

    sizes = holds(skewed())
    assert len(sizes) > 5
    assert min(sizes) > FEW + BLOCK


def test_large_values_leave_room_for_few() -> None:
    room = _room.Room()
    assert room.is_full({key: bytes([key]) * 1_000 for key in range(FEW)})
    assert not _room.Room().is_full(dict.fromkeys(range(FEW), 1))
    assert not _room.Room().is_full({key: bytes([key]) * 1_000 for key in range(FEW - 1)})


def test_what_cannot_be_pickled_is_sent_on_which_says_so() -> None:
    assert _room.Room().is_full(dict.fromkeys(range(FEW), threading.Lock()))


def test_distinct_items_that_come_again_are_sent_once() -> None:
    rows = DistinctWriter(2).rows(blocks(number % 60 for number in range(6_000)))
    assert sorted(item for row in rows for item in pickle.loads(row[-1])) == list(range(60))


def test_counts_that_come_again_are_sent_once_and_more_than_there_is_room_for_are_sent_on() -> None:
    def counted(items: Iterable[int]) -> list[tuple[int, int]]:
        return [pair for row in CountWriter(2, None).rows(blocks(items)) for pair in pickle.loads(row[-1])]

    assert sorted(counted(number % 60 for number in range(6_000))) == [(key, 100) for key in range(60)]
    pairs = counted(number % 1_000 for number in range(5_000))
    assert len(pairs) > 1_000
    assert dict(CountMerger().merge(iter([pairs]))) == dict.fromkeys(range(1_000), 5)
