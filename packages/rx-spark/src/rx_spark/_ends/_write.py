"""Writers: the ends of pipelines whose results stay on the cluster.

Each is a function of the stream and an operator of it: ``write_parquet(flow, path)`` is ``flow.write_parquet(path)``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rx_core import hooks
from rx_ops import Flowable, Single
from rx_spark._columns._spelling import TIMES_WRITTEN, doubled_quotes, unless_chosen
from rx_spark._ends._feed_head import FeedHead
from rx_spark._ends._output import check_partitions, columns_of, config_of, end_of, stats_of, written_by
from rx_spark._jobs._stats import JobStats, check_stats
from rx_spark._pipelines._head import SparkHead
from rx_spark._plans._targets import MODES, FileTarget, JdbcTarget, Mode, TableTarget, Target, Written

Path = str | os.PathLike[str]


def write_parquet(
    flow: Flowable[Any],
    path: Path,
    /,
    *,
    partition_by: str | Sequence[str] = (),
    mode: Mode = "error",
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
    stats: JobStats | None = None,
) -> Single[Written]:
    """Write the items as Parquet files, from the executors, and give what was written.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    The columns are the fields of ``schema`` (a dataclass, a NamedTuple or a TypedDict). Without one they are those that the
    pipeline has: of its source, of what expressions of ``it`` made, or of the row class that the last mapper says it returns.
    ``partition_by`` makes a folder for each value of these columns. ``mode`` says what to do with files that are there: "error",
    "append", "overwrite" or "ignore".

    What is overwritten stays until all is written, and stays for good where that fails; it may be the source of the pipeline. The
    new files are written into a hidden folder beside the old one and renamed, which on an object store copies both. With
    ``partition_by`` and ``partitionOverwriteMode`` set to "dynamic", in ``options`` or in the session, Spark replaces only those
    partitions that get rows.

    A stream that does not end on Spark is written too, by one task that takes its items from this process; ``explain()`` says so.
    The job begins with the first of them, and its files are there when the stream is complete. ``stats`` counts the job; without
    them those of the source do, if it has any.

    A write that is cancelled deletes what it has left once Spark has stopped its tasks, which may take a second. Another write of
    this process to the same path waits for that. Several jobs of this process may append to one folder at the same time. Where
    another program writes there, whose Spark deletes the files of all jobs that are not committed yet, this job fails, and some
    of its rows may be there.

    Demand:  the job starts with the request. A stream of this process is asked for what the task takes, and two chunks ahead.
    Errors:  TypeError at assembly where the columns are not known; SchemaError for an item that does not fit, with field and
             value; FileExistsError; those of the functions and of the stream. Nothing is left of a failed job, and what was
             there before is there. SparkJobError where Spark runs a task again whose items came from this process: they cannot be
             given twice; and where the new files could not take the place of the old.
    Memory:  one batch of rows per task; of a stream of this process at most four chunks of 1,024 items here.
    Thread:  the job's own; of this process' items the source's, or the job's for one that is iterated.
    Fusion:  the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.parquet``.
    """
    return _write_files(flow, "parquet", path, partition_by, mode, schema, options, stats)


def write_csv(
    flow: Flowable[Any],
    path: Path,
    /,
    *,
    header: bool = True,
    partition_by: str | Sequence[str] = (),
    mode: Mode = "error",
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
    stats: JobStats | None = None,
) -> Single[Written]:
    """Write the items as CSV files, from the executors, and give what was written; otherwise as :func:`write_parquet`.

    As RFC 4180 says and :func:`csv` reads: quotes are doubled, blanks kept, times have microseconds.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    Demand:  the job starts with the request.
    Errors:  as :func:`write_parquet`; SparkJobError for a column that CSV does not have.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.csv``.
    """
    given = dict(options or {})
    ours = {"header": str(header).lower(), **_BLANKS_STAY, **TIMES_WRITTEN, **doubled_quotes(given)}
    return _write_files(flow, "csv", path, partition_by, mode, schema, unless_chosen(ours, given) | given, stats)


_BLANKS_STAY: Final = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}


def write_json(
    flow: Flowable[Any],
    path: Path,
    /,
    *,
    partition_by: str | Sequence[str] = (),
    mode: Mode = "error",
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
    stats: JobStats | None = None,
) -> Single[Written]:
    """Write the items as files with one JSON object a line, and give what was written; otherwise as :func:`write_parquet`.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    Demand:  the job starts with the request.   Errors: as :func:`write_parquet`.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.json``.
    """
    given = dict(options or {})
    return _write_files(flow, "json", path, partition_by, mode, schema, unless_chosen(TIMES_WRITTEN, given) | given, stats)


def write_table(
    flow: Flowable[Any],
    name: str,
    /,
    *,
    partition_by: str | Sequence[str] = (),
    mode: Mode = "error",
    schema: type[Any] | None = None,
    stats: JobStats | None = None,
) -> Single[Written]:
    """Write the items to a table of the session's catalog, and give what was written; otherwise as :func:`write_parquet`.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    With ``mode="overwrite"`` the items go to a table of another name (``trips__rx_new_...``), and the two are renamed when all is
    written. A table of another catalog than Spark's own is replaced as that catalog does it. Several jobs may append to a table
    at the same time; one that fails takes the others with it.

    Demand:  the job starts with the request.   Errors: as :func:`write_parquet`.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.saveAsTable``.
    """
    return _write(flow, "write_table", TableTarget(name, _mode("write_table", mode), _names(partition_by)), schema, stats)


def write_jdbc(
    flow: Flowable[Any],
    url: str,
    table: str,
    /,
    *,
    mode: Mode = "append",
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
    stats: JobStats | None = None,
) -> Single[Written]:
    """Write the items to a table of a database, from the executors, and give what was written.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=0, rows=2, bytes=0)|

    Each task has a transaction of its own: a job that fails may have written the rows of some tasks, and they stay. With
    ``mode="overwrite"`` the old table is dropped before the first row, or emptied with the option ``truncate``.
    ``options`` are those of Spark's JDBC writer: ``user``, ``password``, ``driver``, ``batchsize``.

    Demand:  the job starts with the request.   Errors: as :func:`write_parquet`; SparkJobError with what the database says.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.jdbc``.
    """
    target = JdbcTarget(url, table, _mode("write_jdbc", mode), tuple((options or {}).items()))
    return _write(flow, "write_jdbc", target, schema, stats)


def _write_files(
    flow: Flowable[Any],
    format: str,
    path: Path,
    partition_by: str | Sequence[str],
    mode: Mode,
    schema: type[Any] | None,
    options: Mapping[str, str] | None,
    stats: JobStats | None,
) -> Single[Written]:
    name = f"write_{format}"
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name}({path!r}): a path is text.\n  Right:  flow.{name}('out/trips')")
    given = tuple((options or {}).items())
    target = FileTarget(format, os.fspath(path), _mode(name, mode), _names(partition_by), given)
    return _write(flow, name, target, schema, stats)


def _mode(name: str, mode: Mode) -> Mode:
    if mode not in MODES:
        raise ValueError(f"{name}(mode={mode!r}): one of {', '.join(map(repr, MODES))}")
    return mode


def _names(partition_by: str | Sequence[str]) -> tuple[str, ...]:
    return (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)


def _write(flow: Flowable[Any], name: str, target: Target, schema: type[Any] | None, stats: JobStats | None) -> Single[Written]:
    check_stats(name, stats)
    hooks.ensure_loaded()
    output = columns_of(flow, name, schema)
    check_partitions(getattr(target, "partition_by", ()), output, name)
    head, why = end_of(flow)
    made: FeedHead | SparkHead
    if head is None:
        made = FeedHead(name, flow, target, output, config_of(flow), why, stats_of(flow) if stats is None else stats)
    else:
        made = written_by(head, name, target, output)
        made = made if stats is None else replace(made, stats=stats)
    single: Single[Written] = Single._from(made)
    return single
