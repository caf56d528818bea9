"""How sources write themselves in reprs and plans: made when they are asked for, and kept short, whatever the data is like."""

from __future__ import annotations

import reprlib
from functools import partial

from rx_fusion import Text


def written_iterable(items: object) -> Text:
    """``from_iterable([1, 2])``, or its type where it is long or not a plain collection."""
    return partial(_iterable, items)


def _iterable(items: object) -> str:
    if isinstance(items, (list, tuple, set, frozenset, dict, str, bytes)) and len(items) <= 3:
        return f"from_iterable({reprlib.repr(items)})"
    return f"from_iterable(<{type(items).__name__}>)"


def written_wrap(publisher: object) -> Text:
    """``wrap(...)`` with what a foreign object calls itself, or its class where it does not say."""
    return partial(_wrap, publisher)


def _wrap(publisher: object) -> str:
    kind = type(publisher)
    return f"wrap({kind.__name__ if kind.__repr__ is object.__repr__ else repr(publisher)})"
