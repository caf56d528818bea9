"""The forms of operators that open one source after another for a thread that waits: loops over the inner items.

See rx_fusion._freely. ``_opened`` makes of an inner source what is iterated; it belongs to the run. What is in ``_items`` when
the loop is left has to be closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rx_fusion import stage

T = TypeVar("T")
R = TypeVar("R")


@stage(name="concat", guard=True, later=True, waits=True)
def one_after_another(source: Iterable[Any], _opened: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    for item in source:
        _items = _opened(item)
        for inner in _items:
            yield inner
        _items = ()


@stage(name="concat_map", later=True, waits=True)
def concat_mapped(source: Iterable[T], mapper: Callable[[T], Any], _opened: Callable[[Any], Iterable[R]]) -> Iterator[R]:
    for item in source:
        made = mapper(item)
        _items = _opened(made)
        for inner in _items:
            yield inner
        _items = ()


@stage(name="flat_map", later=True, waits=True)
def flat_mapped(source: Iterable[T], mapper: Callable[[T], Any], _opened: Callable[[Any], Iterable[R]]) -> Iterator[R]:
    for item in source:
        made = mapper(item)
        _items = _opened(made)
        for inner in _items:
            yield inner
        _items = ()
