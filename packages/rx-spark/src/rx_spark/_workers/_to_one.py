"""Reductions to one value: a stage makes a partial result of each block, and partial results that are neighbours become one.

The stage is the last of a task's pass, so that it is written into the same loop as the stages before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce as fold
from typing import Any, Protocol, TypeVar

from rx_core._errors import none_produced
from rx_fusion import stage
from rx_ops import stages
from rx_spark._plans._plan import Pass, StageCall
from rx_spark._transport._wire import cells
from rx_spark._workers._runner import FusedRunner
from rx_spark._workers._shuffle import Blocks, Row

T = TypeVar("T")


class Reducer(Protocol):
    """A partial result is a list of 0 or 1."""

    def stage(self) -> StageCall:
        """What makes one of the items of a block."""
        ...

    def empty(self) -> list[Any]:
        """What no items at all come to."""
        ...

    def merge(self, partial: list[Any], others: list[Any]) -> list[Any]: ...


def reducing(passes: list[Pass], reducer: Reducer, before: str) -> list[Pass]:
    """The passes of a task with the reducer's stage behind them. ``before``: the pipeline up to there, for notes on errors."""
    function, args = reducer.stage()
    last = passes[-1] if passes else None
    if last is not None and isinstance(last.runner, FusedRunner):
        runner = replace(last.runner, functions=(*last.runner.functions, function), args=(*last.runner.args, *args))
        return [*passes[:-1], replace(last, stages=(*last.stages, (function, args)), runner=runner)]
    return [*passes, Pass(((function, args),), FusedRunner((function,), args, before))]


@dataclass(frozen=True)
class ReduceWriter:
    """One partial result per block, so that the merge combines neighbours in order: associativity is enough."""

    reducer: Reducer
    #: The blocks of a task are neighbours, as the batches of a partition are: one partial result for all of them.
    in_one: bool = False

    def rows(self, blocks: Blocks) -> Iterator[Row]:
        partial: list[Any] = []
        block = 0
        for block, items in blocks:
            partial = self.reducer.merge(partial, list(items))
            if not self.in_one:
                yield from _cells(block, partial)
                partial = []
        yield from _cells(block, partial)


def _cells(block: int, partial: list[Any]) -> Iterator[Row]:
    for cell in cells(partial):
        yield 0, 0, block, 0, cell


@dataclass(frozen=True)
class ReduceMerger:
    reducer: Reducer

    def merge(self, chunks: Iterator[list[Any]]) -> Iterator[Any]:
        partial: list[Any] = self.reducer.empty()
        for chunk in chunks:
            partial = self.reducer.merge(partial, chunk)
        yield from partial


@dataclass(frozen=True)
class Folding:
    """Partial results are items themselves."""

    function: Callable[[Any, Any], Any]

    def stage(self) -> StageCall:
        return stages.reduce, (self.function,)

    def empty(self) -> list[Any]:
        return []

    def merge(self, partial: list[Any], others: list[Any]) -> list[Any]:
        if not others:
            return partial
        value = fold(self.function, [*partial, *others])
        if value is None:
            raise none_produced("reduce", self.function)
        return [value]


@dataclass(frozen=True)
class Best:
    """min and max; the first of equals wins, as in ``min()`` and ``max()``, which are the functions."""

    pick: Callable[..., Any]
    key: Callable[[Any], Any] | None

    def stage(self) -> StageCall:
        smallest = self.pick is min
        if self.key is None:
            return (stages.min_ if smallest else stages.max_), ()
        return (stages.min_by if smallest else stages.max_by), (self.key,)

    def empty(self) -> list[Any]:
        return []

    def merge(self, partial: list[Any], others: list[Any]) -> list[Any]:
        return [self.pick([*partial, *others], key=self.key)] if others else partial


@stage(later=True, name="sum")
def sum_of_some(source: Iterable[T]) -> Iterator[T]:
    """As ``sum`` from 0 on, and nothing where there was nothing: what was added up before may not go together with a number."""
    total: Any = 0
    item = None
    for item in source:
        total += item
    if item is not None:
        yield total


@dataclass(frozen=True)
class Summing:
    start: Any = 0

    def stage(self) -> StageCall:
        return sum_of_some, ()

    def empty(self) -> list[Any]:
        return [self.start]

    def merge(self, partial: list[Any], others: list[Any]) -> list[Any]:
        return [sum(others, *partial)] if others else partial


@dataclass(frozen=True)
class Counting:
    def stage(self) -> StageCall:
        return stages.count, ()

    def empty(self) -> list[Any]:
        return [0]

    def merge(self, partial: list[Any], others: list[Any]) -> list[Any]:
        return [sum(partial) + sum(others)]
