"""How many keys the map side of a shuffle holds, before it sends on what it has combined and starts again.

Each key that is met again here is one that is not pickled, moved and sorted; so a task holds as many as it has room for. Where
keys hardly ever come again, holding them is only slower: then it holds few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from rx_spark._transport._wire import dumps
from rx_spark._workers import _shuffle

#: What the keys of a task and their values may take up. Spark gives aggregations in Python 512 MiB (spark.python.worker.memory).
#: With whole numbers that is a million keys and more.
MAP_SIDE_BYTES: Final = 160 << 20
_SAMPLE: Final = 64
#: What an entry of a dict takes besides what key and value hold, and how many bytes an object has for each of its pickle.
_ENTRY: Final = 100
_TIMES_PICKLED: Final = 4
#: When it is full and of the last items fewer than half had a key that was there, it holds few keys for so many times; then it
#: tries again, twice as patient if that was in vain.
_PATIENCE: Final = 16


class Room:
    """For one task. ``held`` is a dict that the task fills: of keys with values, or of items."""

    __slots__ = ("_counted", "_few", "_limit", "_patience", "_watched")

    def __init__(self) -> None:
        self._limit = _shuffle.MAP_SIDE_KEYS
        self._patience = _PATIENCE
        self._few = 0  # how many times more it holds few
        self._watched = 0  # keys there were in front of the items that are counted
        self._counted = 0

    def watching(self, items: Iterable[Any], held: Mapping[Any, Any]) -> Iterable[Any]:
        """The items of a block; counted where it may be the last one that fits."""
        self._watched, self._counted = len(held), 0
        return self._counting(items) if len(held) * 2 > self._limit and not self._few else items

    def watch(self, count: int, held: Mapping[Any, Any]) -> None:
        """:meth:`watching` for so many items, which come all at once."""
        self._watched, self._counted = len(held), count

    def is_full(self, held: Mapping[Any, Any]) -> bool:
        """Whether to send on what is there, behind a block."""
        if len(held) < self._limit:
            return False
        if self._few:
            self._few -= 1
        elif _size(held) < MAP_SIDE_BYTES:
            self._limit += self._limit // 4 + 1
            return False
        elif self._counted < 2 * (len(held) - self._watched):
            self._few, self._patience = self._patience, self._patience * 2
        else:
            self._patience = _PATIENCE
        self._limit = _shuffle.MAP_SIDE_KEYS
        return True

    def _counting(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._counted += 1
            yield item


def _size(held: Mapping[Any, Any]) -> int:
    """About how many bytes; what cannot be pickled has no room, which sending it tells."""
    some = list(islice(held.items(), _SAMPLE))
    try:
        each = len(dumps(some)) // len(some)
    except Exception:
        return MAP_SIDE_BYTES
    return len(held) * (_ENTRY + _TIMES_PICKLED * each)
