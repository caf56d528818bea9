"""Sources of rows that are files: Parquet, CSV, JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeVar, overload

from rx_core import none_argument
from rx_ops import Flowable, Row
from rx_spark._columns._frames import Files
from rx_spark._columns._rows import row_type
from rx_spark._jobs._stats import JobStats
from rx_spark._session._session import SparkConfig
from rx_spark._sources._items import _config
from rx_spark._sources._opening import open_rows

R = TypeVar("R")
Path = str | os.PathLike[str]


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
    return open_rows(
        name, Files(name, tuple(os.fspath(path) for path in paths), tuple(options.items()), given), schema, config, stats
    )
