"""Columns whose values are the names of folders, ``day=2026-01-01``: their types, and what is in them.

Spark guesses a type from the names, which makes a number of ``01067``. A row class says the type; without one a guess holds only
where each name is how such a value is written.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from rx_spark._columns._column import MARK, text_of
from rx_spark._columns._frames import Files, file_index, folder_columns
from rx_spark._columns._rows import Kind, RowType, SchemaError, quoted
from rx_spark._columns._schema import kind_of_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


def with_folders(origin: Files, frame: DataFrame, row: RowType | None) -> Files:
    """The same files, with the types of the columns that are folders as ``row`` says, or as all of the names allow."""
    names = folder_columns(frame)
    if not names:
        return origin
    texts = {} if row is not None else _names_of_folders(frame)
    fields, computed = [], []
    for field in frame.schema.fields:
        if field.name in names:
            declared = None if row is None else row.field(field.name)
            if row is None:
                kind = _guessed(field.dataType, texts.get(field.name, set()))
            else:
                kind = Kind(str, optional=True) if declared is None else declared.kind
            fields.append(type(field)(field.name, _type(_read_as(kind)), True))
            if sql := _computed(kind, field.name):
                computed.append((field.name, sql))
        else:
            fields.append(field)
    return replace(origin, schema=type(frame.schema)(fields), computed=tuple(computed))


def folder_error(error: Exception, shown: str, row: RowType | None) -> SchemaError | None:
    """What is raised where the name of a folder is no value of the column's type; None for other errors."""
    found = _INVALID.search(str(error))
    if found is None:
        return None
    value, kind, name = found.groups()
    field = None if row is None else row.field(name)
    expected = kind.lower() if field is None else str(field.kind)
    return SchemaError(
        f"{shown}: the folder {f'{name}={value}'!r} gives no {expected} for column {name!r}.\n"
        f"  Right:  {name}: str    or leave the folder out of the paths"
    )


_INVALID: Final = re.compile(
    r"\[INVALID_PARTITION_VALUE\] Failed to cast value '(.*?)' to data type \"(.*?)\" for partition column `(.*?)`"
)


def _read_as(kind: Kind) -> str:
    """How Spark is to read the names of folders. It takes bytes with their escapes, and times in the application's zone; they
    were written in UTC. So these are computed of text."""
    return "string" if kind.nested or kind.python in (object, bytes, datetime.datetime) else kind.ddl


def _computed(kind: Kind, column: str) -> str:
    """What the value is, where it is not what Spark reads. An empty text and no value are one folder: the class tells them
    apart."""
    name = quoted(column)
    if kind.python is bytes:
        return f"CAST({name} AS binary)" if kind.optional else f"coalesce(CAST({name} AS binary), X'')"
    if kind.python is datetime.datetime:
        made = f"coalesce(try_cast(concat({name}, 'Z') AS timestamp), try_cast({name} AS timestamp))"
        before, after = text_of(f"{MARK}SchemaError|the folder {column}="), text_of(f" gives no datetime for column {column!r}")
        said = f"concat({before}, {name}, {after})"
        return f"IF({name} IS NULL, NULL, coalesce({made}, raise_error({said})))"
    return f"coalesce({name}, '')" if kind.python is str and not kind.optional else ""


def _type(ddl: str) -> DataType:
    from pyspark.sql.types import StructType

    whole: Any = StructType.fromDDL(f"value {ddl}")
    found: DataType = whole.fields[0].dataType
    return found


# --- without a class --------------------------------------------------------------------------------------------------


def _names_of_folders(frame: DataFrame) -> dict[str, set[str]]:
    """Of each column the values as the folders are called. One call: there may be thousands of folders."""
    listed = file_index(frame).partitionSpec().partitions().mkString(_BETWEEN)
    found: dict[str, set[str]] = {}
    for path in listed.split(_BETWEEN):
        for part in path.removesuffix(")").split("/"):
            name, equals, value = part.partition("=")
            if equals and value != _NO_VALUE:
                found.setdefault(unquote(name), set()).add(unquote(value))
    return found


_BETWEEN: Final = "\0/\0"
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"


def _guessed(found: DataType, texts: set[str]) -> Kind:
    """The type that Spark has guessed, if no text is lost where these are taken for values of it."""
    again = _AGAIN.get(type(found).__name__)
    keeps = again is not None and all(_same(again, text) for text in texts)
    return kind_of_type(found, optional=True) if keeps else Kind(str, optional=True)


def _same(again: Callable[[str], str], text: str) -> bool:
    try:
        return again(text) == text
    except (ValueError, ArithmeticError):
        return False


def _time(text: str) -> str:
    """Spark writes as many digits behind the second as there are."""
    seconds, point, part = text.partition(".")
    made = str(datetime.datetime.fromisoformat(f"{seconds}.{part:0<6}" if point else seconds))
    return made.rstrip("0") if point else made


#: A text read as a value, and the value written.
_AGAIN: Final[dict[str, Callable[[str], str]]] = {
    "IntegerType": lambda text: str(int(text)),
    "LongType": lambda text: str(int(text)),
    "DecimalType": lambda text: str(decimal.Decimal(text).to_integral_exact()),
    "DoubleType": lambda text: repr(float(text)),
    "DateType": lambda text: datetime.date.fromisoformat(text).isoformat(),
    "TimestampType": _time,
}
