"""Whole batches that are written: those of :func:`rx_spark.batches`, and what functions have made of them.

Light, as rx_spark._columns._rows: Arrow and pandas are imported where there is one of theirs already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rx_spark._columns._nulls import null_inside
from rx_spark._columns._rows import Field, RowType, SchemaError, null_text

if TYPE_CHECKING:
    import pyarrow as pa

#: Of the classes of batches: where they come from, and what they are called.
_CLASSES = frozenset((("pyarrow", "RecordBatch"), ("pyarrow", "Table"), ("pandas", "DataFrame"), ("polars", "DataFrame")))


def is_batch(item: object) -> bool:
    """Whether an item is a batch of rows: of Arrow, pandas or polars."""
    kind = type(item)
    return (kind.__module__.partition(".")[0], kind.__name__) in _CLASSES


def whole_batches(item: Any, row: RowType, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A batch as the columns of ``row``, by their names.

    SchemaError where a column is missing or of another type, or has a value that the wanted type does not hold as it is.
    """
    import pyarrow as pa

    found = _arrow_table(item)
    missing = [name for name in row.names if name not in found.column_names]
    if missing:
        raise SchemaError(
            f"a batch without the column {missing[0]!r} is to be written as {row.name}; it has {', '.join(found.column_names)}"
        )
    columns = [
        _fitted(found.column(field.name), field, wanted.type, row) for field, wanted in zip(row.fields, schema, strict=True)
    ]
    yield from pa.Table.from_arrays(columns, schema=schema).to_batches()


def _fitted(column: Any, field: Field, wanted: pa.DataType, row: RowType) -> Any:
    import pyarrow as pa

    error: object = "it is another type"
    try:
        made = column.cast(wanted) if _alike(column.type, wanted) else None
    except pa.ArrowException as lost:
        made, error = None, lost
    if made is None:
        raise SchemaError(f"column {field.name!r} of a batch is {column.type}, and {row.name} has {wanted} there: {error}")
    if made.null_count and not field.kind.optional:
        raise SchemaError(null_text(field, row))
    if field.kind.nested:
        for chunk in made.chunks:
            if (inner := null_inside(chunk, field, row)) is not None:
                raise SchemaError(f"column {inner.path!r} of a batch holds a null, and {inner.text}")
    return made


def _alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of one type are values of the other; Arrow would also read numbers in text, and cut moments to days."""
    from pyarrow import types

    if types.is_null(found) or found == wanted:
        return True
    if types.is_integer(found):
        return bool(types.is_integer(wanted) or types.is_floating(wanted) or types.is_decimal(wanted))
    same = (
        *(types.is_floating, types.is_boolean, types.is_decimal, types.is_timestamp, types.is_date, types.is_nested),
        *(lambda kind: types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind),),
        *(lambda kind: types.is_binary(kind) or types.is_large_binary(kind),),
    )
    return any(is_one(found) and is_one(wanted) for is_one in same)


def _arrow_table(item: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(item, pa.Table):
        return item
    if isinstance(item, pa.RecordBatch):
        return pa.Table.from_batches([item])
    if type(item).__module__.startswith("polars"):
        return item.to_arrow()
    return pa.Table.from_pandas(item, preserve_index=False)
