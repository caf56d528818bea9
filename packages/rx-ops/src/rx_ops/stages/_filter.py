"""Stages that let some items through."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rx_core import UNBOUNDED, EmptyStreamError, none_produced
from rx_fusion import of_one, stage
from rx_ops._recent_keys import KeyStore

T = TypeVar("T")

_NOTHING: Any = object()


@stage(later=True)
def filter_(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[T]:
    for item in source:
        if predicate(item):
            yield item


@stage(later=True)
def of_type(source: Iterable[object], kind: type[T]) -> Iterator[T]:
    for item in source:
        if isinstance(item, kind):
            yield item


def _at_most(count: int) -> Callable[[int], int]:
    left = count

    def upstream(n: int) -> int:
        nonlocal left
        asked = min(n, left)
        left -= asked
        return asked

    return upstream


@stage(later=True, request=_at_most)
def take(source: Iterable[T], count: int) -> Iterator[T]:
    taken = 0
    if count == 0:
        return
    for item in source:
        taken += 1
        yield item
        if taken == count:
            return


def _once_more(count: int) -> Callable[[int], int]:
    extra = count

    def upstream(n: int) -> int:
        nonlocal extra
        asked, extra = min(n + extra, UNBOUNDED), 0
        return asked

    return upstream


@stage(later=True, request=_once_more)
def skip(source: Iterable[T], count: int) -> Iterator[T]:
    left = count
    for item in source:
        if left > 0:
            left -= 1
        else:
            yield item


@stage(later=True)
def take_while(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[T]:
    for item in source:
        if not predicate(item):
            return
        yield item


@stage(later=True)
def skip_while(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[T]:
    skipping = True
    for item in source:
        if skipping and not predicate(item):
            skipping = False
        if not skipping:
            yield item


@stage(later=True)
def take_last(source: Iterable[T], count: int) -> Iterator[T]:
    last: deque[T] = deque(maxlen=count)
    for item in source:
        last.append(item)
    left = len(last)
    while left:
        left -= 1
        yield last.popleft()
        if left == 0:
            return


@stage(later=True, keeps=("held",))
def skip_last(source: Iterable[T], count: int) -> Iterator[T]:
    held: deque[T] = deque()
    for item in source:
        held.append(item)
        if len(held) > count:
            yield held.popleft()


@stage(later=True)
def distinct(source: Iterable[T]) -> Iterator[T]:
    seen: set[T] = set()
    for item in source:
        if item not in seen:
            seen.add(item)
            yield item


@stage(later=True, name="distinct")
def distinct_by(source: Iterable[T], key: Callable[[T], object]) -> Iterator[T]:
    seen: set[object] = set()
    for item in source:
        found = key(item)
        if found not in seen:
            seen.add(found)
            yield item


@stage(later=True, name="distinct")
def distinct_in(source: Iterable[T], key: Callable[[T], object], store: Callable[[], KeyStore]) -> Iterator[T]:
    seen = store()
    if seen is None:
        raise none_produced("distinct", store)
    for item in source:
        found = key(item)
        if found not in seen:
            seen.add(found)
            yield item


@stage(later=True)
def distinct_until_changed(source: Iterable[T]) -> Iterator[T]:
    previous = _NOTHING
    for item in source:
        if previous is _NOTHING or item != previous:
            previous = item
            yield item


@stage(later=True, name="distinct_until_changed")
def distinct_until_changed_by(source: Iterable[T], key: Callable[[T], object]) -> Iterator[T]:
    previous = _NOTHING
    for item in source:
        found = key(item)
        if previous is _NOTHING or found != previous:
            previous = found
            yield item


@of_one
def _up_to(index: int) -> Callable[[int], int]:
    """Needs the items up to ``index`` and nothing after it, whatever is asked."""
    left = index + 1

    def upstream(_n: int) -> int:
        nonlocal left
        asked, left = left, 0
        return asked

    return upstream


@stage(later=True, request=_up_to)
def element_at(source: Iterable[T], index: int) -> Iterator[T]:
    left = index
    for item in source:
        if left == 0:
            yield item
            if left == 0:
                return
        left -= 1


@of_one
def _one(*_arguments: object) -> Callable[[int], int]:
    return _up_to(0)


@stage(later=True, name="first", request=_one)
def first_or_error(source: Iterable[T]) -> Iterator[T]:
    for item in source:
        yield item
        return
    raise EmptyStreamError("first()")


@stage(later=True, name="first", request=_one)
def first_or(source: Iterable[T], default: T) -> Iterator[T]:
    for item in source:
        yield item
        return
    yield default


@stage(later=True)
def to_single(source: Iterable[T]) -> Iterator[T]:
    """The source is left to its own end: of at most one item nothing is saved by cancelling it."""
    empty = True
    for item in source:
        empty = False
        yield item
    if empty:
        raise EmptyStreamError("to_single()")


@stage(later=True, guard=True)
def not_empty(source: Iterable[T], operator: str) -> Iterator[T]:
    """Stands after an operator of a Single that may end without its item."""
    empty = True
    for item in source:
        empty = False
        yield item
    if empty:
        raise EmptyStreamError(f"{operator}()")
