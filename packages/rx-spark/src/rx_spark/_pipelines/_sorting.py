"""``sorted`` as ORDER BY: rows come back task by task, each with the next part of the order.

Rows of a DataFrame have no order of their own, so there is none that equal keys could keep. Their other columns decide, because a
task that runs again has to give its rows in the same order.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from rx_fusion.symbols import Expression, Item
from rx_ops import stages
from rx_spark._columns._column import Column, NotAColumn, not_null
from rx_spark._columns._expressions import column_of, columns_of
from rx_spark._columns._frames import FrameSource, Sort, guarded

#: What Python and Spark order alike, NaN aside: Spark puts it behind all other numbers, and Python leaves it where it falls.
_ORDERED: Final = (int, float, bool, str, datetime.date, decimal.Decimal)
_ITSELF: Final = Expression[Any](Item())


def _sorted(source: FrameSource, key: object, reverse: object, count: int | None = None) -> FrameSource:
    several = columns_of(key, source.rows)
    columns = (column_of(key, source.rows),) if several is None else several
    guards = [guard for column in columns for guard in (*column.guards, *not_null(column, _no_order(column)))]
    made = source.then(*guarded(tuple(guards)), Sort(tuple(column.sql for column in columns), bool(reverse), count))
    return replace(made, raising=None, shuffled=True, ordered=True)


def _no_order(column: Column) -> str:
    if column.python not in _ORDERED:
        raise NotAColumn(f"a {column.kind} is ordered by Python")
    kind = column.python.__name__
    return f"'<' not supported between instances of 'NoneType' and '{kind}'"


SORTS: Final[dict[Callable[..., Any], Callable[..., FrameSource]]] = {
    stages.sorted_: lambda source, reverse: _sorted(source, _ITSELF, reverse),
    stages.sorted_by: _sorted,
    stages.smallest: lambda source, reverse, count: _sorted(source, _ITSELF, reverse, count),
    stages.smallest_by: _sorted,
}
