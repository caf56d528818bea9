"""Pipelines on Apache Spark: sources whose operators run on executors as far as they can.

Importing this package imports neither pyspark nor pyarrow, nor the rest of it before it is used: executors import it too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_spark._bad_records import BadRecord as BadRecord
    from rx_spark._bad_records import BadRecordError as BadRecordError
    from rx_spark._bad_records import BadRecords as BadRecords
    from rx_spark._bad_records import BadRecordWarning as BadRecordWarning
    from rx_spark._checks._check import Report as Report
    from rx_spark._checks._check import StrictError as StrictError
    from rx_spark._checks._check import check as check
    from rx_spark._checks._check import strict as strict
    from rx_spark._checks._shipping import Shipped as Shipped
    from rx_spark._checks._shipping import ship as ship
    from rx_spark._columns._observed import Observed as Observed
    from rx_spark._columns._rows import SchemaError as SchemaError
    from rx_spark._ends._as_rows import as_rows as as_rows
    from rx_spark._ends._observe import observe as observe
    from rx_spark._ends._results import foreach_partition as foreach_partition
    from rx_spark._ends._results import to_dataframe as to_dataframe
    from rx_spark._ends._write import write_csv as write_csv
    from rx_spark._ends._write import write_jdbc as write_jdbc
    from rx_spark._ends._write import write_json as write_json
    from rx_spark._ends._write import write_parquet as write_parquet
    from rx_spark._ends._write import write_table as write_table
    from rx_spark._errors import BadFileError as BadFileError
    from rx_spark._errors import JavaNotFoundError as JavaNotFoundError
    from rx_spark._errors import NotPortableError as NotPortableError
    from rx_spark._errors import SparkJobError as SparkJobError
    from rx_spark._errors import VersionsError as VersionsError
    from rx_spark._errors import WorkerError as WorkerError
    from rx_spark._jobs._many_rows import ManyRowsWarning as ManyRowsWarning
    from rx_spark._jobs._progress import Progress as Progress
    from rx_spark._jobs._stats import JobStats as JobStats
    from rx_spark._pipelines._steps import Step as Step
    from rx_spark._plans._targets import Written as Written
    from rx_spark._session._session import SparkConfig as SparkConfig
    from rx_spark._sources._files import csv as csv
    from rx_spark._sources._files import json as json
    from rx_spark._sources._files import parquet as parquet
    from rx_spark._sources._items import check_portable as check_portable
    from rx_spark._sources._items import from_iterable as from_iterable
    from rx_spark._sources._items import range as range
    from rx_spark._sources._items import start as start
    from rx_spark._sources._items import text as text
    from rx_spark._sources._read import batches as batches
    from rx_spark._sources._read import dataframe as dataframe
    from rx_spark._sources._read import jdbc as jdbc
    from rx_spark._sources._read import sql as sql
    from rx_spark._sources._read import table as table
    from rx_spark._version import __version__ as __version__

_HOMES: Final = {
    "BadFileError": "_errors",
    "BadRecord": "_bad_records",
    "BadRecordError": "_bad_records",
    "BadRecordWarning": "_bad_records",
    "BadRecords": "_bad_records",
    "JavaNotFoundError": "_errors",
    "JobStats": "_jobs._stats",
    "ManyRowsWarning": "_jobs._many_rows",
    "NotPortableError": "_errors",
    "Observed": "_columns._observed",
    "Progress": "_jobs._progress",
    "observe": "_ends._observe",
    "SparkConfig": "_session._session",
    "SparkJobError": "_errors",
    "VersionsError": "_errors",
    "WorkerError": "_errors",
    "__version__": "_version",
    "check_portable": "_sources._items",
    "from_iterable": "_sources._items",
    "range": "_sources._items",
    "start": "_sources._items",
    "text": "_sources._items",
    "as_rows": "_ends._as_rows",
    "batches": "_sources._read",
    "dataframe": "_sources._read",
    "parquet": "_sources._files",
    "csv": "_sources._files",
    "json": "_sources._files",
    "table": "_sources._read",
    "sql": "_sources._read",
    "jdbc": "_sources._read",
    "foreach_partition": "_ends._results",
    "to_dataframe": "_ends._results",
    "Report": "_checks._check",
    "Step": "_pipelines._steps",
    "StrictError": "_checks._check",
    "Shipped": "_checks._shipping",
    "check": "_checks._check",
    "ship": "_checks._shipping",
    "strict": "_checks._check",
    "SchemaError": "_columns._rows",
    "Written": "_plans._targets",
    "write_parquet": "_ends._write",
    "write_csv": "_ends._write",
    "write_json": "_ends._write",
    "write_table": "_ends._write",
    "write_jdbc": "_ends._write",
}

__all__ = [
    "BadFileError",
    "BadRecord",
    "BadRecordError",
    "BadRecordWarning",
    "BadRecords",
    "JavaNotFoundError",
    "JobStats",
    "ManyRowsWarning",
    "NotPortableError",
    "Observed",
    "Progress",
    "Report",
    "SchemaError",
    "Shipped",
    "SparkConfig",
    "SparkJobError",
    "Step",
    "StrictError",
    "VersionsError",
    "WorkerError",
    "Written",
    "__version__",
    "as_rows",
    "batches",
    "check",
    "check_portable",
    "csv",
    "dataframe",
    "foreach_partition",
    "from_iterable",
    "jdbc",
    "json",
    "observe",
    "parquet",
    "range",
    "ship",
    "sql",
    "start",
    "strict",
    "table",
    "text",
    "to_dataframe",
    "write_csv",
    "write_jdbc",
    "write_json",
    "write_parquet",
    "write_table",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"rx_spark.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})
