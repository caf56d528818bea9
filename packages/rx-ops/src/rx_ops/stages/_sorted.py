"""Items in order: all of them, or the first few of that order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isnan
from typing import Any, Final, TypeVar

from rx_fusion import stage

T = TypeVar("T")

#: Built-in types any two objects of which can be compared, in an order without surprises. A float may also be NaN.
_TOTAL: Final = frozenset((int, str, bytes, float))
#: So many keys are looked at together: few enough to be sorted in the processor's cache, many enough to pay for the call.
_BLOCK: Final = 4096


class Reverse(int):
    """``reverse`` as an argument of a stage, which shows itself as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"reverse={bool(self)}"


@stage(later=True)
def sorted_(source: Iterable[T], reverse: bool) -> Iterator[T]:
    items: list[Any] = []
    for item in source:
        items.append(item)
    items.sort(reverse=reverse)
    left = len(items)
    for each in items:
        left -= 1
        yield each
        if not left:
            return


@stage(later=True, name="sorted")
def sorted_by(source: Iterable[T], key: Callable[[T], Any], reverse: bool) -> Iterator[T]:
    """``key`` is called as the items come, in the order they come."""
    items: list[T] = []
    keys: list[Any] = []
    for item in source:
        keys.append(key(item))
        items.append(item)
    order = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    left = len(order)
    for at in order:
        left -= 1
        yield items[at]
        if not left:
            return


@stage(later=True, name="sorted.take")
def smallest(source: Iterable[T], reverse: bool, count: int) -> Iterator[T]:
    """The first ``count`` of ``sorted_``: what the macro-fusion rule puts in the place of both."""
    items: list[Any] = []
    for item in source:
        items.append(item)
    first = first_of(items, count, reverse)
    left = len(first)
    for each in first:
        left -= 1
        yield each
        if not left:
            return


@stage(later=True, name="sorted.take")
def smallest_by(source: Iterable[T], key: Callable[[T], Any], reverse: bool, count: int) -> Iterator[T]:
    """The first ``count`` of ``sorted_by``."""
    items: list[T] = []
    keys: list[Any] = []
    for item in source:
        keys.append(key(item))
        items.append(item)
    order = first_places_of(keys, count, reverse)
    left = len(order)
    for at in order:
        left -= 1
        yield items[at]
        if not left:
            return


def first_of(items: list[Any], count: int, reverse: bool) -> list[Any]:
    """``sorted(items, reverse=reverse)[:count]``, its errors included; at least one is wanted.

    Only where every comparison has the answer that the order of its type gives may comparisons be left out. Elsewhere (of items
    that cannot be compared, NaN, classes of the user's) the result depends on which pairs are compared, so all is sorted.
    """
    if not _worth_choosing(items, count):
        return sorted(items, reverse=reverse)[:count]
    best = sorted(items[:_BLOCK], reverse=reverse)[:count]
    for start in range(_BLOCK, len(items), _BLOCK):
        worst = best[-1]
        block = items[start : start + _BLOCK]
        # what equals the worst is behind it, coming later
        passing = [each for each in block if each > worst] if reverse else [each for each in block if each < worst]
        if passing:
            best = sorted(best + passing, reverse=reverse)[:count]
    return best


def first_places_of(keys: list[Any], count: int, reverse: bool) -> list[int]:
    """The same for the places of the keys: ``sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)[:count]``."""
    if not _worth_choosing(keys, count):
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)[:count]
    best = sorted(range(_BLOCK), key=keys.__getitem__, reverse=reverse)[:count]
    for start in range(_BLOCK, len(keys), _BLOCK):
        worst = keys[best[-1]]
        block = enumerate(keys[start : start + _BLOCK], start)
        passing = [at for at, key in block if key > worst] if reverse else [at for at, key in block if key < worst]
        if passing:
            best = sorted(best + passing, key=keys.__getitem__, reverse=reverse)[:count]
    return best


def _worth_choosing(keys: list[Any], count: int) -> bool:
    """Whether the first few can be found without sorting all, and sooner."""
    if len(keys) <= _BLOCK or count > _BLOCK or type(keys[0]) not in _TOTAL:
        return False
    begin = keys[:_BLOCK]
    if set(map(type, begin)) != {type(keys[0])}:
        return False
    order = sorted(begin)
    if order == begin or order == begin[::-1]:
        return False  # what is in order before is sorted in no time
    return _in_total_order(keys)


def _in_total_order(keys: list[Any]) -> bool:
    """Whether all of them are of one and the same type of those whose order is total, and none is NaN."""
    kind = type(keys[0])
    if set(map(type, keys)) != {kind}:
        return False
    return kind is not float or not isnan(sum(keys))  # two infinities can make it NaN as well: that costs time and no more
