from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import add, itemgetter
from typing import Any

import pytest

from rx_spark._transport._wire import loads
from rx_spark._workers import _shuffle
from rx_spark._workers._groups import DistinctMerger, DistinctWriter, GroupMerger, GroupWriter
from rx_spark._workers._shuffle import Merger, Row, TakeMerger, TakeWriter, Writer, bucket_of
from rx_spark._workers._to_one import Best, Counting, Folding, ReduceMerger, Reducer, ReduceWriter, Summing, reducing


def exchange(writer: Writer, merger: Merger, tasks: list[list[tuple[int, Iterable[Any]]]], buckets: int) -> list[Any]:
    """What Spark does between the two sides."""
    rows: list[Row] = [row for task in tasks for row in writer.rows(iter(task))]
    result: list[Any] = []
    for bucket in range(buckets):
        mine = sorted(row for row in rows if row[0] == bucket)
        assert len({row[1:4] for row in mine}) == len(mine), "rows must have one order only"
        parts = groupby(mine, itemgetter(1)) if mine else [(0, iter(()))]
        for _, several in parts:
            result += merger.merge(loads(row[4]) for row in several)
    return result


def striped(items: list[Any], size: int, partitions: int) -> list[list[tuple[int, Iterable[Any]]]]:
    blocks: list[tuple[int, Iterable[Any]]] = [(at // size, items[at : at + size]) for at in range(0, len(items), size)]
    return [blocks[partition::partitions] for partition in range(partitions)]


def reduced(tasks: list[list[tuple[int, Iterable[Any]]]], reducer: Reducer) -> list[Any]:
    """What tasks come to, each of which has run the reducer's stage over its blocks."""
    (last,) = reducing([], reducer, "items")
    run = last.to_runner()
    done: list[list[tuple[int, Iterable[Any]]]] = [[(block, run(items)) for block, items in task] for task in tasks]
    return exchange(ReduceWriter(reducer), ReduceMerger(reducer), done, 1)


WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"] * 60


@pytest.mark.parametrize("keys", [4, 100_000], ids=["flushes often", "never flushes"])
def test_distinct_and_group_by_agree_with_plain_python(monkeypatch: pytest.MonkeyPatch, keys: int) -> None:
    monkeypatch.setattr(_shuffle, "MAP_SIDE_KEYS", keys)
    tasks = striped(WORDS, 7, 2)
    assert sorted(exchange(DistinctWriter(3), DistinctMerger(), tasks, 3)) == sorted(set(WORDS))
    tasks = striped(WORDS, 7, 2)
    groups = exchange(GroupWriter(3, str, lambda word: 1, add), GroupMerger(add), tasks, 3)
    assert dict(groups) == Counter(WORDS)
    assert len(groups) == len(set(WORDS))


@pytest.mark.parametrize("items", [[], [5], list(range(100, 0, -1))])
def test_single_results_agree_with_plain_python(items: list[int]) -> None:
    def single(reducer: Reducer) -> list[Any]:
        return reduced(striped(items, 7, 3), reducer)

    assert single(Counting()) == [len(items)]
    assert single(Summing()) == [sum(items)]
    assert single(Best(min, None)) == ([min(items)] if items else [])
    assert single(Best(max, lambda item: -item)) == ([min(items)] if items else [])
    text = [str(item) for item in items]
    tasks = striped(text, 7, 3)
    assert reduced(tasks, Folding(add)) == (["".join(text)] if text else [])  # not commutative: the order is the source's


def test_the_first_of_equals_wins() -> None:
    pairs = [(2, "a"), (1, "b"), (1, "c"), (2, "d")]
    for size in (1, 4):
        assert reduced(striped(pairs, size, 2), Best(min, itemgetter(0))) == [(1, "b")]
        assert reduced(striped(pairs, size, 2), Best(max, itemgetter(0))) == [(2, "a")]


class Coins:
    """Goes together with its like, and with the 0 that a sum begins with."""

    def __init__(self, worth: int) -> None:
        self.worth = worth

    def __add__(self, other: Coins) -> Coins:
        return Coins(self.worth + other.worth)

    def __radd__(self, nothing: int) -> Coins:
        assert nothing == 0
        return self


def test_a_block_without_items_adds_nothing_to_a_sum() -> None:
    tasks: list[list[tuple[int, Iterable[Any]]]] = [[(0, []), (2, [Coins(1), Coins(2)])], [(1, [Coins(4)]), (3, [])]]
    (total,) = reduced(tasks, Summing())
    assert total.worth == 7
    assert reduced([[(0, [])]], Summing(5)) == [5]


@pytest.mark.parametrize("n", [0, 1, 10, 5000])
def test_take_gathers_the_first_in_order(n: int) -> None:
    items = list(range(3000))
    assert exchange(TakeWriter(n), TakeMerger(n), striped(items, 700, 2), 1) == items[:n]


def test_none_is_refused_with_the_function_that_made_it() -> None:
    with pytest.raises(TypeError, match=r"RS 2\.13"):
        list(DistinctWriter(1).rows(iter([(0, [1, None])])))
    with pytest.raises(TypeError, match="group_by"):
        list(GroupWriter(1, str, lambda item: None, add).rows(iter([(0, [1])])))
    with pytest.raises(TypeError, match=r"reduce\(<lambda"):
        list(GroupWriter(1, lambda item: 0, abs, lambda a, b: None).rows(iter([(0, [1, 2])])))
    with pytest.raises(TypeError, match="reduce"):
        reduced([[(0, [1, 2])]], Folding(lambda a, b: None))
    with pytest.raises(TypeError, match="reduce"):
        reduced([[(0, [1])], [(1, [2])]], Folding(lambda a, b: None))


@dataclass(frozen=True)
class Point:
    x: int


class Identity:
    pass


def test_buckets_agree_between_processes_for_everything_that_hashes_by_address() -> None:
    program = (
        "from rx_spark._workers._shuffle import bucket_of\n"
        "print([bucket_of(key, 1 << 40) for key in ('a', 1, 1.5, None, (None, 'a'), frozenset([None]), int, len)])"
    )
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": ":".join(sys.path)}
    said = {
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(said) == 1


def test_equal_keys_share_a_bucket_and_identity_keys_are_refused() -> None:
    assert bucket_of(1, 97) == bucket_of(1.0, 97) == bucket_of(True, 97)
    assert bucket_of((1, "a"), 97) == bucket_of((1.0, "a"), 97)
    assert bucket_of(Point(3), 97) == bucket_of(Point(3), 97)
    with pytest.raises(TypeError, match=r"Identity objects are equal only to themselves"):
        bucket_of(Identity(), 2)
    with pytest.raises(TypeError, match="unhashable"):
        bucket_of([1], 2)  # type: ignore[arg-type]  # the point
