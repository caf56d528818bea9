"""Operators that ask another source about each item: when to give it, how long to wait for the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from rx_core import END, Items, Lanes, Publisher, Run, Side, Source, close
from rx_fusion import operator
from rx_ops.coordination._combine import interleave
from rx_ops.coordination._flatten import inner_source
from rx_ops.coordination._switch import Trigger

T = TypeVar("T")


# -- delay -------------------------------------------------------------------------------------------------------------------


@operator
def delay_by(run: Run, source: Source[T], selector: Callable[[T], Any], max_concurrency: int) -> Items[T]:
    """Each item when the source that ``selector`` makes of it signals; one may overtake the other."""
    return interleave(run, _held_back(iter(source), selector), Lanes(run), 1, False, max_concurrency)


def _held_back(outer: Items[T], selector: Callable[[T], Any]) -> Iterator[Any]:
    try:
        for item in outer:
            yield None if item is None else _HeldBack(inner_source("delay", selector, item), item)
    finally:
        close(outer)


class _HeldBack(Generic[T]):
    """One item, given when its indicator has signalled an item or its end."""

    __slots__ = ("_indicator", "_item")

    def __init__(self, indicator: Any, item: T) -> None:
        self._indicator = indicator
        self._item = item

    def _rx_open(self, run: Run, _window: int, /) -> Items[T]:
        return self._released(run, run.open(self._indicator, 1))

    def _released(self, run: Run, signals: Items[Any]) -> Items[T]:
        try:
            for signal in signals:
                if signal is not None:
                    break
                yield None
        finally:
            close(signals)
        run.wake()  # an end needs no demand, but the item does: another turn, when something is wanted
        yield None
        run.poke()  # the end follows and needs no demand
        yield self._item


# -- timeout -----------------------------------------------------------------------------------------------------------------


@operator(eager="none")
def timeout_by(
    run: Run,
    source: Source[T],
    first: Publisher[Any] | None,
    selector: Callable[[T], Any] | None,
    fallback: Publisher[T] | None,
) -> Items[T]:
    """As timeout, but it is a source that says when it has been too long: ``first`` for the first item, then each item's own."""
    limit: Trigger[Any] | None = None if first is None else Trigger(run, first)
    side: Side[T] = Side(run)
    over = limit is not None and limit.fired
    if not over:  # or the source would be asked for what nobody takes
        side.start(source)
    return _limited(run, side, limit, selector, fallback, over)


def _limited(
    run: Run,
    side: Side[T],
    limit: Trigger[Any] | None,
    selector: Callable[[T], Any] | None,
    fallback: Publisher[T] | None,
    over: bool,
) -> Items[T]:
    try:
        while not over:
            item = side.poll() if run.demand or side.urgent else None
            if item is END:
                return
            if item is None:
                if limit is not None and limit.fired:
                    break
                yield None
                continue
            if limit is not None:
                limit.dispose()
                limit = None
            if selector is not None:
                limit = Trigger(run, inner_source("timeout", selector, item))
            yield item
    finally:
        if limit is not None:
            limit.dispose()
        side.dispose()
    if fallback is None:
        raise TimeoutError("timeout(): another source signalled before there was an element")
    yield from run.open(fallback)
