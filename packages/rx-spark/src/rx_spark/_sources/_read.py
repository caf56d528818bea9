"""Sources of rows: DataFrames, files and tables that Spark reads.

The session is made when such a source is (about 4 s, once), because the row class is checked against the columns there are.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

from rx_core import none_argument
from rx_ops import Flowable, Row
from rx_spark._columns._frames import Files, FrameSource, Given, Origin, Query, Select, Table, rebound
from rx_spark._columns._rows import quoted, row_type
from rx_spark._columns._schema import NARROW, checked
from rx_spark._jobs._job_errors import read_error
from rx_spark._jobs._stats import JobStats
from rx_spark._pipelines._head import SparkHead
from rx_spark._plans._plan import Plan
from rx_spark._session._session import SparkConfig, engine
from rx_spark._sources._items import _config, _source

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

R = TypeVar("R")
Path = str | os.PathLike[str]


@overload
def dataframe(
    df: DataFrame, /, *, schema: type[R], parallelism: int | None = ..., stats: JobStats | None = ...
) -> Flowable[R]: ...
@overload
def dataframe(
    df: DataFrame, /, *, schema: None = ..., parallelism: int | None = ..., stats: JobStats | None = ...
) -> Flowable[Row]: ...
def dataframe(
    df: DataFrame, /, *, schema: type[Any] | None = None, parallelism: int | None = None, stats: JobStats | None = None
) -> Flowable[Any]:
    """The rows of a DataFrame, as objects of ``schema`` (a dataclass, a NamedTuple or a TypedDict), or as :class:`rx_ops.Row`.

    ::  --Trip(...)--Trip(...)|

    Demand:  decides how far the job runs.
    Errors:  SchemaError at assembly where ``schema`` does not fit, with column, expected and found type; SchemaError for a null
             in a field that is not ``| None``; those of Spark.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  expressions of ``it`` become columns, other functions one pass over Arrow batches.
    """
    if not hasattr(df, "queryExecution") and not hasattr(df, "_jdf"):
        raise TypeError(f"dataframe({df!r}): a DataFrame is needed.\n  Right:  rx_spark.dataframe(spark.table('trips'))")
    return _rows("dataframe", Given(df), schema, _config("dataframe", None, None, parallelism), stats)


@overload
def batches(
    df: DataFrame, /, *, as_: Literal["arrow"] = ..., parallelism: int | None = ..., stats: JobStats | None = ...
) -> Flowable[pa.RecordBatch]: ...
@overload
def batches(
    df: DataFrame, /, *, as_: Literal["pandas", "polars"], parallelism: int | None = ..., stats: JobStats | None = ...
) -> Flowable[Any]: ...
def batches(
    df: DataFrame,
    /,
    *,
    as_: Literal["arrow", "pandas", "polars"] = "arrow",
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of a DataFrame as whole batches: Arrow's ``RecordBatch``, without a copy, or frames of pandas or polars.

    ::  --RecordBatch(10000 rows)--RecordBatch(10000 rows)|

    Functions get a batch where they would get a row, and run on the executors: ``batches(df).map(total).sum()``. A batch has as
    many rows as Spark's ``spark.sql.execution.arrow.maxRecordsPerBatch`` says, at most.

    Demand:  decides how far the job runs.
    Errors:  ValueError at assembly for another name; ModuleNotFoundError where polars is not installed; those of Spark.
    Memory:  two chunks of batches per task, of about 1 MiB.   Thread: the one that requests, or the job's own.
    Fusion:  one pass over Arrow batches.
    """
    if as_ not in _BATCHES:
        raise ValueError(f"batches(as_={as_!r}): one of {', '.join(map(repr, _BATCHES))}")
    if as_ == "polars" and importlib.util.find_spec("polars") is None:
        raise ModuleNotFoundError("batches(as_='polars') needs polars.\n  To install it:  pip install polars", name="polars")
    made = dataframe(df, parallelism=parallelism, stats=stats)
    head = made._head
    assert isinstance(head, SparkHead)
    assert isinstance(head.plan.source, FrameSource)
    plan = Plan(replace(head.plan.source, batches=as_))
    shown = f"rx_spark.batches(df, as_={as_!r})"
    return Flowable._from(replace(head, name="batches", shown=shown, plan=plan))


_BATCHES: Final = ("arrow", "pandas", "polars")


@overload
def parquet(
    *paths: Path,
    schema: type[R],
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[R]: ...
@overload
def parquet(
    *paths: Path,
    schema: None = ...,
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[Row]: ...
def parquet(
    *paths: Path,
    schema: type[Any] | None = None,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of Parquet files: files, folders, globs, or URLs that Spark knows. Rows and errors are those of :func:`dataframe`.

    ::  --Trip(...)--Trip(...)|

    Only the columns that the pipeline uses are read, and filters of ``it`` reach the files' statistics.

    Demand:  decides how far the files are read.   Errors: FileNotFoundError at assembly for a path that is not there.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    return _files("parquet", paths, {}, schema, _config("parquet", config, master, parallelism), stats)


@overload
def csv(
    *paths: Path,
    schema: type[R],
    header: bool = ...,
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[R]: ...
@overload
def csv(
    *paths: Path,
    schema: None = ...,
    header: bool = ...,
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[Row]: ...
def csv(
    *paths: Path,
    schema: type[Any] | None = None,
    header: bool = True,
    options: Mapping[str, str] | None = None,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of CSV files. With ``schema`` its fields say the columns' types; without, every column is text.

    ::  --Trip(...)--Trip(...)|

    A line that does not fit ``schema`` fails the stream. With a header its names must be those of the fields, in their order.
    ``options`` are those of Spark's CSV reader (``sep``, ``quote``, ``dateFormat``, ``encoding``).

    Demand:  decides how far the files are read.   Errors: FileNotFoundError at assembly; SparkJobError, with file and line, for a
             line that does not fit.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    given = {"header": str(header).lower(), "mode": "FAILFAST", "enforceSchema": "false"} | dict(options or {})
    return _files("csv", paths, given, schema, _config("csv", config, master, parallelism), stats, typed=True)


@overload
def json(
    *paths: Path,
    schema: type[R],
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[R]: ...
@overload
def json(
    *paths: Path,
    schema: None = ...,
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[Row]: ...
def json(
    *paths: Path,
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of files with one JSON object a line. With ``schema`` its fields say the columns; else Spark looks at the files.

    ::  --Trip(...)--Trip(...)|

    ``options`` are those of Spark's JSON reader (``multiLine``, ``encoding``).

    Demand:  decides how far the files are read.
    Errors:  FileNotFoundError at assembly; SparkJobError for a line that is no JSON.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    given = {"mode": "FAILFAST"} | dict(options or {})
    return _files("json", paths, given, schema, _config("json", config, master, parallelism), stats, typed=True)


@overload
def table(name: str, /, *, schema: type[R], parallelism: int | None = ..., stats: JobStats | None = ...) -> Flowable[R]: ...
@overload
def table(name: str, /, *, schema: None = ..., parallelism: int | None = ..., stats: JobStats | None = ...) -> Flowable[Row]: ...
def table(
    name: str, /, *, schema: type[Any] | None = None, parallelism: int | None = None, stats: JobStats | None = None
) -> Flowable[Any]:
    """The rows of a table or view that the session knows by name. Rows and errors are those of :func:`dataframe`.

    ::  --Trip(...)--Trip(...)|

    Demand:  decides how far the job runs.   Errors: LookupError at assembly for a name that is not known.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    return _rows("table", Table(name), schema, _config("table", None, None, parallelism), stats)


@overload
def sql(query: str, /, *, schema: type[R], parallelism: int | None = ..., stats: JobStats | None = ...) -> Flowable[R]: ...
@overload
def sql(query: str, /, *, schema: None = ..., parallelism: int | None = ..., stats: JobStats | None = ...) -> Flowable[Row]: ...
def sql(
    query: str, /, *, schema: type[Any] | None = None, parallelism: int | None = None, stats: JobStats | None = None
) -> Flowable[Any]:
    """The rows that a query in SQL gives. Rows and errors are those of :func:`dataframe`.

    ::  --Trip(...)--Trip(...)|

    Demand:  decides how far the job runs.   Errors: ValueError at assembly for a query that Spark does not understand.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    return _rows("sql", Query(query), schema, _config("sql", None, None, parallelism), stats)


@overload
def jdbc(
    url: str,
    table: str,
    /,
    *,
    schema: type[R],
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[R]: ...
@overload
def jdbc(
    url: str,
    table: str,
    /,
    *,
    schema: None = ...,
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[Row]: ...
def jdbc(
    url: str,
    table: str,
    /,
    *,
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
    config: SparkConfig | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of a database's table, read by the executors. Rows and errors are those of :func:`dataframe`.

    ::  --Trip(...)--Trip(...)|

    ``options`` are those of Spark's JDBC reader: ``user``, ``password``, ``driver``, and ``partitionColumn`` with its bounds and
    ``numPartitions`` for more than one task. Filters of ``it`` are sent to the database.

    Demand:  decides how far the table is read.   Errors: ConnectionError at assembly where the database does not answer.
    Memory:  two chunks of at most 1,024 rows per task, and what the driver of the database fetches ahead (``fetchsize``).
    Thread:  the one that requests, or the job's own.   Fusion: as :func:`dataframe`.
    """
    given = tuple(({"url": url, "dbtable": table} | dict(options or {})).items())
    return _rows("jdbc", Files("jdbc", (), given, name=table), schema, _config("jdbc", config, None, None), stats)


def _files(
    name: str,
    paths: tuple[Path, ...],
    options: Mapping[str, str],
    schema: type[Any] | None,
    config: SparkConfig,
    stats: JobStats | None,
    *,
    typed: bool = False,
) -> Flowable[Any]:
    if not paths or None in paths:
        raise none_argument(f"{name}({'None' if paths else ''})", "paths")
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"{name}({path!r}): a path is text.\n  Right:  {name}('trips/2026', 'trips/2027')")
    given = row_type(schema).ddl if typed and schema is not None else None
    return _rows(
        name, Files(name, tuple(os.fspath(path) for path in paths), tuple(options.items()), given), schema, config, stats
    )


def _rows(name: str, origin: Origin, schema: type[Any] | None, config: SparkConfig, stats: JobStats | None) -> Flowable[Any]:
    here = engine(config)
    try:
        found = rebound(origin.open(here.application), here.frames).schema
    except Exception as error:
        raise read_error(error, name) from error
    row = checked(schema, found, name)
    if isinstance(origin, Files) and name == "parquet":
        origin = replace(origin, schema=found)
    narrow = frozenset(field.name for field in found.fields if type(field.dataType).__name__ in NARROW)
    given = FrameSource(origin, row, narrow=narrow).then(Select(tuple((quoted(name), name) for name in row.names)))
    shown = origin.shown + (f" as {row.name}" if schema is not None else "")
    return _source(name, origin.shown if schema is None else shown, given, config, stats)
