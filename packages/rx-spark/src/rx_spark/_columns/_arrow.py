"""Between Arrow's columns and items, on executors and on the driver: a batch becomes items, and items become a batch.

Light, as rx_spark._columns._rows: pyarrow is imported where a task has it already.
"""

from __future__ import annotations

import datetime
import decimal
import struct
import typing
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from rx_spark._columns._cutting import cut
from rx_spark._columns._nulls import null_inside
from rx_spark._columns._rows import Field, Kind, RowType, SchemaError, null_text
from rx_spark._columns._values import column_of, values_of

if TYPE_CHECKING:
    import pyarrow as pa


def read_rows(batch: pa.RecordBatch, row: RowType) -> Iterable[Any]:
    """The items of an Arrow batch whose columns are the fields in their order. SchemaError for a null where none may be."""
    refuse_nulls(batch, row)
    return made_rows(batch, row)


def refuse_nulls(batch: pa.RecordBatch, row: RowType) -> None:
    """SchemaError for a null where none may be."""
    for at, field in enumerate(row.fields):
        column = batch.column(at)
        if column.null_count and not field.kind.optional:
            raise SchemaError(null_text(field, row))
        if field.kind.nested and (found := null_inside(column, field, row)) is not None:
            raise SchemaError(f"column {found.path!r} of {row.name} holds a null, and {found.text}")


def made_rows(batch: pa.RecordBatch, row: RowType) -> Iterable[Any]:
    """The items of a batch that has been looked at for nulls."""
    columns = []
    for at, field in enumerate(row.fields):
        values = values_of(batch.column(at))
        columns.append(values if field.kind.plain else [_python(value, field.kind) for value in values])
    return row.rows(columns)


#: Of a batch on its way: how many bytes its schema takes. Eight, so that what follows is where Arrow wants it.
_SCHEMA_SIZE: Final = struct.Struct("!Q")


def pack_rows(batch: pa.RecordBatch) -> bytes:
    """A batch, or a part of one, as bytes that stand for themselves: the schema is a few of them."""
    schema = batch.schema.serialize()
    return b"".join((_SCHEMA_SIZE.pack(schema.size), schema, batch.serialize()))


def unpack_rows(payload: bytes) -> pa.RecordBatch:
    """What :func:`pack_rows` made. It keeps ``payload``, and copies nothing."""
    import pyarrow as pa

    whole = pa.py_buffer(payload)
    (size,) = _SCHEMA_SIZE.unpack_from(payload)
    schema = pa.ipc.read_schema(whole.slice(_SCHEMA_SIZE.size, size))
    return pa.ipc.read_record_batch(whole.slice(_SCHEMA_SIZE.size + size), schema)


def _python(value: Any, kind: Kind) -> Any:
    if value is None or kind.plain:
        return value
    if kind.row is not None:
        row = kind.row
        return next(iter(row.rows([[_python(value[field.name], field.kind)] for field in row.fields])))
    if kind.python is list:
        return [_python(item, kind.parts[0]) for item in value]
    return {_python(key, kind.parts[0]): _python(item, kind.parts[1]) for key, item in value}


class Fitting(typing.Protocol):
    """What items have to be, besides what their columns need."""

    def check_columns(self, items: Sequence[object], columns: Sequence[Sequence[Any]]) -> None: ...

    def check_each(self, items: Iterable[object]) -> None: ...


def write_fitting(items: Sequence[Any], row: RowType, schema: pa.Schema, fit: Fitting) -> pa.RecordBatch:
    """The same as :func:`write_batch`, of items that are to come back as they are."""
    try:
        fit.check_columns(items, row.columns(items))
        return write_batch(items, row, schema)
    except SchemaError:
        fit.check_each(items)  # says it as it does where there are no columns
        raise


def write_batch(items: Sequence[Any], row: RowType, schema: pa.Schema) -> pa.RecordBatch:
    """An Arrow batch of items. SchemaError, with field and value, for one that does not fit."""
    import pyarrow as pa

    columns = row.columns(items)
    arrays = []
    for field, values, column in zip(row.fields, columns, schema, strict=True):
        plain = values if field.kind.plain else [_cell(value, field.kind) for value in values]
        try:
            array = _column(field, values, plain, column.type)
        except SchemaError:
            raise
        except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError) as error:
            raise _wrong_value(field, plain, column.type, error) from error
        if array.null_count and not field.kind.optional:
            raise SchemaError(
                f"{row.name}.{field.name} is a {field.kind}, and an item has None there.\n"
                f"  Right:  {field.name}: {field.kind} | None"
            )
        if field.kind.nested and (found := null_inside(array, field, row)) is not None:
            raise SchemaError(f"{row.name}.{found.path} is None in an item, and {found.text}")
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


#: Types of which Arrow finds no other one in a column where one value is of it. A text among bytes it takes for bytes.
_TOLD_APART: Final = frozenset((int, float, str, bool, list))


def _column(field: Field, values: Sequence[Any], plain: Sequence[Any], wanted: pa.DataType) -> pa.Array:
    """Arrow's array of a column. Told the type, Arrow cuts what is of another one: 1.9 to 1, a datetime to its day."""
    import pyarrow as pa

    if all(kind.row is not None or kind.python in _TOLD_APART for kind in field.kind.flat):
        try:
            array = pa.array(plain)  # as fast: of most columns the type is found to be the one that is wanted
        except Exception:  # values of several types; or what is said below
            pass
        else:
            if array.type == wanted:
                return array
    elif {field.kind.python, type(None)}.issuperset(map(type, values)) and not field.kind.nested:
        return column_of(plain, wanted)
    for value in values:
        wrong = cut(value, field.kind)
        if wrong is not None:
            raise SchemaError(
                f"{wrong!r} ({type(wrong).__qualname__}) does not fit column {field.name!r} of type {wanted}: a {field.kind} "
                f"cannot hold it as it is.\n  Right:  .map() it to a {field.kind} before it is written"
            )
    return pa.array(plain, wanted)


def _cell(value: Any, kind: Kind) -> Any:
    if value is None or kind.plain:
        return value
    if kind.row is not None:
        fields = kind.row.fields
        return {field.name: _cell(each, field.kind) for field, each in zip(fields, kind.row.values(value), strict=True)}
    if kind.python is list:
        return [_cell(item, kind.parts[0]) for item in value]
    return [(_cell(key, kind.parts[0]), _cell(item, kind.parts[1])) for key, item in value.items()]


def _wrong_value(field: Field, values: Sequence[Any], column: Any, error: Exception) -> SchemaError:
    import pyarrow as pa

    for value in values:
        try:
            pa.array([value], column)
        except Exception:
            return SchemaError(
                f"{value!r} ({type(value).__qualname__}) does not fit column {field.name!r} of type {column}: {error}"
            )
    return SchemaError(f"column {field.name!r} of type {column}: {error}")


def arrow_schema(row: RowType) -> pa.Schema:
    """What the columns are in Arrow, as Spark expects them for :attr:`RowType.ddl`."""
    import pyarrow as pa

    return pa.schema([pa.field(field.name, _arrow(field.kind)) for field in row.fields])


def _arrow(kind: Kind) -> pa.DataType:
    import pyarrow as pa

    if kind.row is not None:
        return pa.struct([pa.field(field.name, _arrow(field.kind)) for field in kind.row.fields])
    if kind.python is list:
        return pa.list_(_arrow(kind.parts[0]))
    if kind.python is dict:
        return pa.map_(_arrow(kind.parts[0]), _arrow(kind.parts[1]))
    made: dict[type, pa.DataType] = {
        int: pa.int64(),
        float: pa.float64(),
        str: pa.string(),
        bool: pa.bool_(),
        bytes: pa.binary(),
        datetime.date: pa.date32(),
        datetime.datetime: pa.timestamp("us", "UTC"),
        decimal.Decimal: pa.decimal128(38, 18),
    }
    return made[kind.python]
