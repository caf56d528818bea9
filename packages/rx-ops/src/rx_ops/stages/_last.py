"""Stages that give the last item, or the only one: when the source is over, as only then it is known to be that.

The ``return`` behind their item says that it is the last one, so that the end comes with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rx_core import EmptyStreamError
from rx_fusion import stage

T = TypeVar("T")


@stage(later=True, name="last")
def last_or_error(source: Iterable[T]) -> Iterator[T]:
    last: Any = None
    for item in source:
        last = item
    if last is None:
        raise EmptyStreamError("last()")
    yield last
    return


@stage(later=True, name="last")
def last_or(source: Iterable[T], default: T) -> Iterator[T]:
    last = default
    for item in source:
        last = item
    yield last
    return


@stage(later=True)
def last_element(source: Iterable[T]) -> Iterator[T]:
    last: Any = None
    for item in source:
        last = item
    if last is not None:
        yield last
        return


@stage(later=True, name="single")
def single_or_error(source: Iterable[T]) -> Iterator[T]:
    only: Any = None
    for item in source:
        if only is not None:
            raise more_than_one("single")
        only = item
    if only is None:
        raise EmptyStreamError("single()")
    yield only
    return


@stage(later=True, name="single")
def single_or(source: Iterable[T], default: T) -> Iterator[T]:
    only: Any = None
    for item in source:
        if only is not None:
            raise more_than_one("single")
        only = item
    yield default if only is None else only
    return


@stage(later=True)
def single_element(source: Iterable[T]) -> Iterator[T]:
    only: Any = None
    for item in source:
        if only is not None:
            raise more_than_one("single_element")
        only = item
    if only is not None:
        yield only
        return


def more_than_one(operator: str) -> ValueError:
    """The error for a second item where there may be one."""
    return ValueError(
        f"{operator}(): the stream has more than one item.\n"
        f"  For the first of them:  .first() or .first_element()\n"
        f"  For the last of them:   .last() or .last_element()"
    )
