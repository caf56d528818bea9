"""A row class against the columns there are: on the driver, when a source is made.

Spark's types become the kinds of rx_spark._columns._rows; a row class is checked column by column.
"""

from __future__ import annotations

import datetime
import decimal
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from rx_spark._columns._rows import Field, Kind, RowType, SchemaError, alike, plain_row, row_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.types import DataType, StructType

#: By the names of Spark's types, because importing them takes longer than all of this package.
_PYTHON: Final[dict[str, type]] = {
    "ByteType": int,
    "ShortType": int,
    "IntegerType": int,
    "LongType": int,
    "FloatType": float,
    "DoubleType": float,
    "StringType": str,
    "CharType": str,
    "VarcharType": str,
    "BooleanType": bool,
    "BinaryType": bytes,
    "DateType": datetime.date,
    "TimestampType": datetime.datetime,
    "TimestampNTZType": datetime.datetime,
    "DecimalType": decimal.Decimal,
}

#: Numbers with fewer bits than Python has.
NARROW: Final = frozenset(("ByteType", "ShortType", "IntegerType", "FloatType"))
#: Where Spark's type has those of its parts.
_PARTS: Final[dict[type, tuple[str, ...]]] = {list: ("elementType",), dict: ("keyType", "valueType")}


def kind_of_type(found: DataType, *, optional: bool) -> Kind:
    """The kind of a column; ``object`` for a type that has no name here, such as an interval."""
    made: Any = found  # each kind of type has attributes of its own
    match type(found).__name__:
        case "ArrayType":
            return Kind(list, optional, (kind_of_type(made.elementType, optional=made.containsNull),))
        case "MapType":
            parts = (kind_of_type(made.keyType, optional=False), kind_of_type(made.valueType, optional=made.valueContainsNull))
            return Kind(dict, optional, parts)
        case "StructType":
            return Kind(tuple, optional, row=row_of(made))
        case name:
            return Kind(_PYTHON.get(name, object), optional)


def row_of(schema: StructType) -> RowType:
    """Rows with all columns that there are, for data without a class."""
    _told_apart(schema.names, schema.names)
    return plain_row(tuple(Field(field.name, kind_of_type(field.dataType, optional=field.nullable)) for field in schema.fields))


def checked(schema: type | None, found: StructType, where: str) -> RowType:
    """The rows of a source: of ``schema`` if one is given and fits, of all columns otherwise.

    Raises SchemaError for a column that is missing or of another type, with both types.
    """
    if schema is None:
        return row_of(found)
    row = row_type(schema)
    wrong = list(_differences(row, found, ""))
    if wrong:
        listed = "\n  ".join(wrong)
        raise SchemaError(f"{where}: {row.name} does not fit the data.\n  {listed}\n  There is:  {found.simpleString()}")
    _told_apart(row.names, found.names)
    return row


def _told_apart(names: Sequence[str], found: Sequence[str]) -> None:
    """Columns are asked for by name, and Spark takes names that differ only in case for one."""
    for name in names:
        same = sorted(alike(name, found))
        if len(same) == 1:
            continue
        if len(set(same)) == 1:
            said = f"two columns are called {name!r}, so a row cannot tell them apart."
        else:
            said = f"two columns are called {same[0]!r} and {same[1]!r}: Spark takes names that differ only in case for one."
        raise SchemaError(f"{said}\n  Right:  df.toDF(*names), with a name of its own for each column")


def _differences(row: RowType, found: StructType, prefix: str) -> list[str]:
    wrong = []
    columns = {field.name: field.dataType for field in found.fields}
    for field in row.fields:
        name = f"{prefix}{field.name}"
        if field.name not in columns:
            close = get_close_matches(field.name, columns, 1)
            wrong.append(f"column {name!r} is missing" + (f"; there is {close[0]!r}" if close else ""))
            continue
        wrong += _misfits(name, field.kind, columns[field.name])
    return wrong


def _misfits(name: str, kind: Kind, found: DataType) -> list[str]:
    if kind.python is object:
        return []
    made: Any = found
    there = kind_of_type(found, optional=False)
    if kind.row is not None and type(found).__name__ == "StructType":
        return _differences(kind.row, made, f"{name}.")
    if kind.row is None and there.row is None and kind.python is there.python:
        inner = _PARTS.get(kind.python, ())
        names = ("[]",) if kind.python is list else (" (key)", " (value)")
        return [
            text
            for part, attribute, suffix in zip(kind.parts, inner, names, strict=False)
            for text in _misfits(f"{name}{suffix}", part, getattr(made, attribute))
        ]
    return [f"column {name!r}: expected {kind} ({_expected(kind)}), found {found.simpleString()}"]


def _expected(kind: Kind) -> str:
    names = {int: "a whole number of up to 64 bits", float: "float or double", str: "string", tuple: "struct", object: "any"}
    return names.get(kind.python, "") or ("struct" if kind.row is not None else kind.python.__name__)
