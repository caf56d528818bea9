"""Sources as they are, and what the operators that are still generators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import END, UNBOUNDED, Items, Run, Side, Source, user_call
from rx_fusion import operator
from rx_ops.operators._mapping import named, not_a_source

T = TypeVar("T")


def inner_source(operator_name: str, mapper: Callable[[T], Any], item: T) -> Any:
    """What ``mapper`` made of ``item``, refused with both calls shown when it is no source."""
    operator_name, mapper = named(operator_name, mapper)
    made = user_call(operator_name, mapper, item)
    refused = not_a_source(operator_name, mapper, made)
    if refused is not None:
        raise refused
    return made


@operator
def relay(_run: Run, source: Source[T]) -> Items[T]:
    """Nothing but its source: for sources that are not ours and have no demand."""
    return iter(source)


@operator(eager="none")
def behind_wall(run: Run, source: Source[T]) -> Items[T]:
    """Its source through a queue, although it could be opened without one: what ``hide`` is for."""
    return run.open_queued(source.publisher, 1)


class _Heeded(Side[T]):
    """A source that is listened to whether or not items are wanted: none of its items goes on."""

    __slots__ = ()

    def wake(self) -> None:
        self.poke()


@operator(eager="none")
def ignore_items(run: Run, source: Source[T]) -> Items[T]:
    """Only the end of its source, which needs no demand: everything is asked for."""
    side: Side[T] = _Heeded(run, UNBOUNDED)
    side.start(source)
    side.poke()  # a synchronous one has its items now
    return _only_the_end(run, side)


def _only_the_end(run: Run, side: Side[T]) -> Items[T]:
    try:
        while (item := side.poll()) is not END:
            if item is None:
                yield None
            elif run.is_cancelled:
                return
    finally:
        side.dispose()
