"""Sources made of items: one at a time, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from rx_core import Items, Lanes, Run, Side, Source, close, name_of, user_call
from rx_fusion import Pipeline, operator
from rx_ops.coordination._combine import interleave

T = TypeVar("T")
R = TypeVar("R")


@operator
def concat_map(run: Run, source: Source[T], mapper: Callable[[T], Any]) -> Items[Any]:
    """Inner sources one at a time, in order, each with the demand that is left."""
    outer = iter(source)
    inner: Side[Any] = Side(run)
    try:
        for item in outer:
            if item is None:
                yield None
                continue
            inner.close()
            inner.start(inner_source("concat_map", mapper, item))
            yield from inner.items
    finally:
        inner.dispose()
        close(outer)


@operator
def flat_map(
    run: Run, source: Source[T], mapper: Callable[[T], Any], max_concurrency: int, prefetch: int, delay_error: bool
) -> Items[Any]:
    """Inner sources at the same time, at most ``max_concurrency`` of them, their items as they come."""
    inners = _mapped(iter(source), mapper)
    return interleave(run, inners, Lanes(run), prefetch, delay_error, max_concurrency)


def _mapped(outer: Items[T], mapper: Callable[[T], Any]) -> Iterator[Any]:
    try:
        for item in outer:
            yield None if item is None else inner_source("flat_map", mapper, item)
    finally:
        close(outer)


def inner_source(operator_name: str, mapper: Callable[[T], Any], item: T) -> Any:
    """What ``mapper`` made of ``item``, refused with both calls shown when it is no source."""
    made = user_call(operator_name, mapper, item)
    if isinstance(made, Pipeline) or hasattr(made, "subscribe"):
        return made
    function = name_of(mapper)
    if made is not None and hasattr(made, "__iter__"):
        right = f".flat_map_iterable({function})   # plain iterables need no {operator_name}"
    else:
        right = f".map({function})   # for a plain value"
    raise TypeError(
        f"{operator_name}() expected a function returning a publisher, but {function} returned {made!r}.\n"
        f"  Wrong:  .{operator_name}({function})\n  Right:  {right}"
    )


@operator
def relay(_run: Run, source: Source[T]) -> Items[T]:
    """Nothing but its source: for sources that are not ours and have no demand."""
    return iter(source)


@operator(eager="none")
def behind_wall(run: Run, source: Source[T]) -> Items[T]:
    """Its source through a queue, although it could be opened without one: what ``hide`` is for."""
    return run.open_queued(source.publisher, 1)


@operator
def ignore_items(_run: Run, source: Source[T]) -> Items[T]:
    """Only the end of its source."""
    for item in source:
        if item is None:
            yield None
