"""A pass that calls an async function: what ``map_async`` and ``filter_async`` become on the executors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rx_core.tasks import AsyncOperator, results_of, results_of_blocks


def called(items: Iterable[Any], operator: AsyncOperator[Any, Any]) -> Iterator[Any]:
    """As a stage: for who looks at what a pass does."""
    return results_of(operator, items)


@dataclass(frozen=True)
class CallingRunner:
    """Several calls at a time in each task, in a loop that lasts as long as the worker. Results are in the order of the items."""

    operator: AsyncOperator[Any, Any]

    def __call__(self, items: Iterable[Any]) -> Iterator[Any]:
        return results_of(self.operator, items)

    def over_blocks(self, blocks: Iterator[tuple[int, Iterable[Any]]]) -> Iterator[tuple[int, Iterable[Any]]]:
        """So that no call waits for the end of the block before its own."""
        return results_of_blocks(self.operator, blocks)
