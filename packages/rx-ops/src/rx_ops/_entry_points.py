"""The entry points by which distributions offer operators."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "rx.operators"


@cache
def entries() -> dict[str, list[EntryPoint]]:
    """All operators that installed distributions offer: ``"Flowable.pairs"`` -> its entry points, by name of distribution.

    More than one means that several distributions offer it; the first counts, for type checkers too.
    """
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=GROUP), key=owner_of):
        found.setdefault(entry.name, []).append(entry)
    return found


def owner_of(entry: EntryPoint) -> str:
    """The distribution that an entry point belongs to, by name."""
    return entry.dist.name if entry.dist is not None else "an unknown distribution"
