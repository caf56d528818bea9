"""zip over passive sources: its rows in one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import OPERATOR_CODES, none_produced
from rx_core.streams import EXACT, Stream, close
from rx_fusion import Loop
from rx_ops.operators._mapping import mapper_failure

if TYPE_CHECKING:
    from rx_core.streams import Stopping
    from rx_fusion import OperatorHead

R = TypeVar("R")


def row_of(*items: Any) -> tuple[Any, ...]:
    """The combiner of an operator that was given none."""
    return items


def rows_of(sources: Sequence[Iterator[Any]], combiner: Callable[..., R], operator: str) -> Iterator[R]:
    """The rows of sources that are all passive."""
    rows = zip(*sources, strict=False)
    return rows if combiner is row_of else _combined(rows, combiner, operator)  # type: ignore[return-value]  # row_of gives the row


def _combined(rows: Iterator[tuple[Any, ...]], combiner: Callable[..., R], operator: str) -> Iterator[R]:
    failed: list[Exception] = []  # a variable for it would make a cycle with its traceback
    for row in rows:
        try:
            value = combiner(*row)
        except (Exception, GeneratorExit) as error:
            failed.append(mapper_failure(operator, combiner, error))
            break
        if value is None:
            failed.append(none_produced(operator, combiner))
            break
        yield value
    if failed:
        raise failed.pop()


OPERATOR_CODES.add(_combined.__code__)


def passive_items(sources: Sequence[Any], run: Stopping | None) -> list[tuple[Iterator[Any] | None, Any]]:
    """The items of each source that is passive, and what is exhausted when they are, where that is known without asking."""
    found: list[tuple[Iterator[Any] | None, Any]] = []
    for source in sources:
        beneath: list[Any] = []
        items = source._passive_items(run, beneath) if isinstance(source, Stream) else None
        found.append((items, beneath[0] if beneath else items))
    return found


def zip_loop(head: OperatorHead, run: Stopping | None) -> Loop | None:
    """Rows where all sources are passive."""
    if not all(isinstance(source, Stream) and source._computes for source in head.upstream):
        return None
    found = passive_items(head.upstream, run)
    columns = [items for items, _ in found if items is not None]
    if len(columns) == len(found):
        return _closing(rows_of(columns, head.args[0], head.name), columns), None, None
    for items in columns:
        close(items)
    return None


def _closing(rows: Iterator[R], columns: Sequence[Iterator[Any]]) -> Iterator[R]:
    """Close the sources behind the rows, where that means anything."""
    if all(type(items) in EXACT for items in columns):
        return rows
    return _closed(rows, columns)


def _closed(rows: Iterator[R], columns: Sequence[Iterator[Any]]) -> Iterator[R]:
    try:
        yield from rows
    finally:
        for items in columns:
            close(items)


OPERATOR_CODES.add(_closed.__code__)
