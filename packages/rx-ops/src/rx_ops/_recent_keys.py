"""Where ``distinct`` keeps the keys that it has seen."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, final


class KeyStore(Protocol):
    """What ``distinct`` asks and tells: a set has both methods."""

    def __contains__(self, key: object, /) -> bool: ...

    def add(self, key: Hashable, /) -> object: ...


@final
class RecentKeys:
    """The ``count`` keys that were seen last; an older one is forgotten, and counts as new when it comes again.

    For one run of a stream: ``distinct`` takes a function that makes one, ``flow.distinct(store=lambda: RecentKeys(1_000))``.
    """

    __slots__ = ("_count", "_keys")

    def __init__(self, count: int, /) -> None:
        if type(count) is not int or count < 1:
            raise ValueError(f"RecentKeys({count!r}): a whole number of at least 1 is needed, for example RecentKeys(1_000)")
        self._count = count
        self._keys: dict[object, None] = {}

    def __contains__(self, key: object, /) -> bool:
        """Whether it was seen; then it counts as seen just now."""
        keys = self._keys
        if key not in keys:
            return False
        del keys[key]
        keys[key] = None
        return True

    def add(self, key: Hashable, /) -> None:
        keys = self._keys
        keys[key] = None
        if len(keys) > self._count:
            del keys[next(iter(keys))]

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"RecentKeys({self._count})"
