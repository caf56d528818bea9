"""The values of an Arrow column as Python has them, what ``to_pylist`` gives without an Arrow object for each; and the way back.

Arrow makes numbers and text of a column at once. Of moments, days and decimals it makes one scalar after the other, some
microseconds each. So they are made here of what a column has of them, numbers or text, in lists, maps and structs too.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_EPOCH_IN_UTC: Final = _EPOCH.replace(tzinfo=datetime.UTC)
_DAY_OF_THE_EPOCH: Final = _EPOCH.toordinal()


def values_of(column: pa.Array) -> list[Any]:
    """None for a null. Errors: those of ``to_pylist``, for a moment or a day that Python does not have."""
    try:
        made = _made(column)
    except (OverflowError, ValueError):
        made = None  # which Arrow says in its way
    return column.to_pylist() if made is None else made


def _made(column: pa.Array) -> list[Any] | None:
    """None where Arrow does it, because it is fast or knows better."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_timestamp(kind):
        if kind.unit != "us" or kind.tz not in (None, "UTC"):
            return None
        epoch = _EPOCH if kind.tz is None else _EPOCH.replace(tzinfo=_zone(column))
        return _each(column.view(pa.int64()), lambda number: epoch + datetime.timedelta(0, 0, number))
    if types.is_date32(kind):
        day = datetime.date.fromordinal
        return _each(column.view(pa.int32()), lambda number: day(number + _DAY_OF_THE_EPOCH))
    if types.is_decimal128(kind):
        return _each(column.cast(pa.string()), Decimal)
    if types.is_list(kind):
        return _cut(column, column.values)
    if types.is_map(kind):
        return _cut(column, column.keys, column.items)
    if types.is_struct(kind):
        names = [field.name for field in kind]
        columns = _columns(column.field(at) for at in range(len(names)))
        if columns is None or len({*names}) < len(names):
            return None
        return _with_nulls(column, [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)])
    return None


def _columns(parts: Iterable[pa.Array]) -> list[list[Any]] | None:
    """The values of several columns, where those of one at least are made here."""
    columns = [(part, _made(part)) for part in parts]
    if all(made is None for _, made in columns):
        return None
    return [part.to_pylist() if made is None else made for part, made in columns]


def _cut(column: pa.Array, *parts: pa.Array) -> list[Any] | None:
    """A list for each place: of the values, all of them in one list, those that are its own. Pairs of the keys and values of a
    map."""
    offsets = column.offsets.to_pylist()
    start = offsets[0]
    columns = _columns(part.slice(start, offsets[-1] - start) for part in parts)
    if columns is None:
        return None
    made = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    return _with_nulls(column, [made[first - start : end - start] for first, end in pairwise(offsets)])


def _with_nulls(column: pa.Array, made: list[Any]) -> list[Any]:
    if not column.null_count:
        return made
    return [value if valid else None for value, valid in zip(made, column.is_valid().to_pylist(), strict=True)]


def _each(column: pa.Array, make: Callable[[Any], Any]) -> list[Any]:
    plain = column.to_pylist()
    if column.null_count:
        return [None if value is None else make(value) for value in plain]
    return [make(value) for value in plain]


def _zone(column: pa.Array) -> datetime.tzinfo | None:
    """Arrow's own object for UTC, which depends on what is installed."""
    import pyarrow as pa

    zone: datetime.tzinfo | None = pa.scalar(0, column.type).as_py().tzinfo
    return zone


def column_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """``pa.array(values, kind)``. Of moments Arrow asks each for its distance from UTC, by its attributes; here they subtract."""
    import pyarrow as pa

    if kind == pa.timestamp("us", "UTC"):
        try:
            since = [None if value is None else value - _EPOCH_IN_UTC for value in values]
        except TypeError:  # some have no zone, which Arrow takes for UTC
            pass
        else:
            return pa.array(since, pa.duration("us")).view(pa.int64()).view(kind)
    return pa.array(values, kind)
