"""Writers: the ends of pipelines whose results stay on the cluster.

Each is a function of the stream and an operator of it: ``write_parquet(flow, path)`` is ``flow.write_parquet(path)``.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rx_core import hooks
from rx_ops import Flowable, Single, stages
from rx_spark._column import Guard, declared
from rx_spark._frames import FrameSource, Select, Where, checking
from rx_spark._head import SparkHead
from rx_spark._plan import Pass, Plan
from rx_spark._rows import Field, RowType, SchemaError, is_row_class, quoted, row_type
from rx_spark._targets import MODES, FileTarget, JdbcTarget, Mode, TableTarget, Target, Written

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
) -> Single[Written]:
    """Write the items as Parquet files, from the executors, and give what was written.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    The columns are the fields of ``schema`` (a dataclass, a NamedTuple or a TypedDict). Without one they are those that the
    pipeline has: of its source, of what expressions of ``it`` made, or of the row class that the last mapper says it returns.
    ``partition_by`` makes a folder for each value of these columns. ``mode`` says what to do with files that are there: "error",
    "append", "overwrite" or "ignore".

    Demand:  the job starts with the request.
    Errors:  TypeError at assembly where the columns are not known; SchemaError for an item that does not fit, with field and
             value; FileExistsError; those of the functions. Nothing is left of a failed job.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.parquet``.
    """
    return _write_files(flow, "parquet", path, partition_by, mode, schema, options)


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
) -> Single[Written]:
    """Write the items as CSV files, from the executors, and give what was written; otherwise as :func:`write_parquet`.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    Demand:  the job starts with the request.
    Errors:  as :func:`write_parquet`; SparkJobError for a column that CSV does not have.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.csv``.
    """
    given = {"header": str(header).lower()} | dict(options or {})
    return _write_files(flow, "csv", path, partition_by, mode, schema, given)


def write_json(
    flow: Flowable[Any],
    path: Path,
    /,
    *,
    partition_by: str | Sequence[str] = (),
    mode: Mode = "error",
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
) -> Single[Written]:
    """Write the items as files with one JSON object a line, and give what was written; otherwise as :func:`write_parquet`.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    Demand:  the job starts with the request.   Errors: as :func:`write_parquet`.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.json``.
    """
    return _write_files(flow, "json", path, partition_by, mode, schema, options)


def write_table(
    flow: Flowable[Any],
    name: str,
    /,
    *,
    partition_by: str | Sequence[str] = (),
    mode: Mode = "error",
    schema: type[Any] | None = None,
) -> Single[Written]:
    """Write the items to a table of the session's catalog, and give what was written; otherwise as :func:`write_parquet`.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=2, rows=2, bytes=1024)|

    Demand:  the job starts with the request.   Errors: as :func:`write_parquet`.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.saveAsTable``.
    """
    return _write(flow, "write_table", TableTarget(name, _mode("write_table", mode), _names(partition_by)), schema)


def write_jdbc(
    flow: Flowable[Any],
    url: str,
    table: str,
    /,
    *,
    mode: Mode = "append",
    schema: type[Any] | None = None,
    options: Mapping[str, str] | None = None,
) -> Single[Written]:
    """Write the items to a table of a database, from the executors, and give what was written.

    ::  --Trip(...)--Trip(...)|  -->  ----------Written(files=0, rows=2, bytes=0)|

    Each task has a transaction of its own: a job that fails may have written the rows of some tasks, and they stay.
    ``options`` are those of Spark's JDBC writer: ``user``, ``password``, ``driver``, ``batchsize``.

    Demand:  the job starts with the request.   Errors: as :func:`write_parquet`; SparkJobError with what the database says.
    Memory:  one batch of rows per task.   Thread: the job's own.   Fusion: the end of what Spark runs.
    Source:  Spark ``DataFrameWriter.jdbc``.
    """
    target = JdbcTarget(url, table, _mode("write_jdbc", mode), tuple((options or {}).items()))
    return _write(flow, "write_jdbc", target, schema)


def _write_files(
    flow: Flowable[Any],
    format: str,
    path: Path,
    partition_by: str | Sequence[str],
    mode: Mode,
    schema: type[Any] | None,
    options: Mapping[str, str] | None,
) -> Single[Written]:
    name = f"write_{format}"
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name}({path!r}): a path is text.\n  Right:  flow.{name}('out/trips')")
    given = tuple((options or {}).items())
    target = FileTarget(format, os.fspath(path), _mode(name, mode), _names(partition_by), given)
    return _write(flow, name, target, schema)


def _mode(name: str, mode: Mode) -> Mode:
    if mode not in MODES:
        raise ValueError(f"{name}(mode={mode!r}): one of {', '.join(map(repr, MODES))}")
    return mode


def _names(partition_by: str | Sequence[str]) -> tuple[str, ...]:
    return (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)


def _write(flow: Flowable[Any], name: str, target: Target, schema: type[Any] | None) -> Single[Written]:
    hooks.ensure_loaded()
    head, rest, _ = flow._resolve()
    if not isinstance(head, SparkHead) or rest:
        raise NotImplementedError("driver")
    output = _output(head, name, schema)
    _check_partitions(target, output, name)
    plan = head.plan
    if isinstance(plan.source, FrameSource) and not plan.steps:
        head = _as_columns(head, plan.source, output)
    made: Single[Written] = Single._from(head.into(name, target, output))
    return made


def _output(head: SparkHead, name: str, schema: type[Any] | None) -> RowType:
    """The columns of what is written."""
    if schema is not None:
        return row_type(schema)
    plan = head.plan
    if isinstance(plan.source, FrameSource) and all(isinstance(step, Pass) for step in plan.steps):
        found = _last_type([stage for step in plan.steps if isinstance(step, Pass) for stage in step.stages], plan.source.row)
        if found is not None:
            return found
    raise TypeError(
        f"{name}(): which columns {head!r} has is not known, because Python makes its items.\n"
        f"  Right:  .{name}(..., schema=Trip)            with a dataclass, a NamedTuple or a TypedDict\n"
        f"  Or:     def to_trip(row) -> Trip: ...         the last mapper says what it returns"
    )


def _last_type(calls: list[Any], row: RowType) -> RowType | None:
    """What a pass makes of rows: known as long as it only filters, or where its last mapper says so."""
    found: RowType | None = row
    for function, args in calls:
        if function is stages.filter_:
            continue
        kind = args[0] if function is stages.cast else _returned(args[0]) if function is stages.map_ else None
        found = row_type(kind) if isinstance(kind, type) and is_row_class(kind) else None
    return found


def _returned(function: Any) -> Any:
    try:
        return typing.get_type_hints(function).get("return")
    except Exception:
        return None


def _check_partitions(target: Target, output: RowType, name: str) -> None:
    by = getattr(target, "partition_by", ())
    for each in by:
        if output.field(each) is None:
            raise SchemaError(f"{name}(partition_by={each!r}): there is no such column; there are {', '.join(output.names)}")
    if by and len(by) == len(output.fields):
        raise SchemaError(f"{name}(partition_by={by}): that is every column, and none would be left in the files")


def _as_columns(head: SparkHead, source: FrameSource, output: RowType) -> SparkHead:
    """Columns under the names of ``output``. SchemaError where they are others."""
    there = source.row.fields
    named = {field.name: field for field in there}
    by_place = source.row.make is None and source.row.form in ("tuple", "value")
    if by_place and len(there) != len(output.fields):
        raise SchemaError(f"{output.name} has the columns {', '.join(output.names)}, and the items have {len(there)} values")
    columns: list[tuple[str, str]] = []
    guards: list[Guard] = []
    for at, field in enumerate(output.fields):
        found = there[at] if by_place else named.get(field.name)
        if found is None:
            raise SchemaError(f"{output.name}.{field.name}: there is no such column; there are {', '.join(named)}")
        if found.kind.python is not field.kind.python and field.kind.python is not object:
            raise SchemaError(f"{output.name}.{field.name} is a {field.kind}, and the column is a {found.kind}")
        columns.append((quoted(found.name), field.name))
        guards += _nulls(found, field, source, output)
    steps: list[Any] = [Where(checking(tuple(guards)))] if guards else []
    if columns != [(quoted(name), name) for name in source.row.names]:
        steps.append(Select(tuple(columns)))
    return replace(head, plan=Plan(source.then(*steps, row=output)))


def _nulls(found: Field, field: Field, source: FrameSource, output: RowType) -> tuple[Guard, ...]:
    if found.name in source.checked or field.kind.optional:
        return ()
    return declared(field, output, quoted(found.name))
