"""Sources of rows: DataFrames, tables, queries and databases; for files see :mod:`rx_spark._sources._files`."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

from rx_ops import Flowable, Row
from rx_spark._columns._frames import Files, FrameSource, Given, Query, Table
from rx_spark._jobs._stats import JobStats
from rx_spark._pipelines._head import SparkHead
from rx_spark._plans._plan import Plan
from rx_spark._session._session import SparkConfig
from rx_spark._sources._items import _config
from rx_spark._sources._opening import open_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

R = TypeVar("R")


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
    return open_rows("dataframe", Given(df), schema, _config("dataframe", None, None, parallelism), stats)


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
    return open_rows("table", Table(name), schema, _config("table", None, None, parallelism), stats)


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
    return open_rows("sql", Query(query), schema, _config("sql", None, None, parallelism), stats)


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
    return open_rows("jdbc", Files("jdbc", (), given, name=table), schema, _config("jdbc", config, None, None), stats)
