"""How a source of rows is made: the DataFrame is opened, and its columns are compared with the row class.

The session is made for that (about 4 s, once), so what is wrong is an error at the line that says it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rx_ops import Flowable
from rx_spark._columns._frames import Files, FrameSource, Origin, Select, folder_columns, rebound
from rx_spark._columns._json_lines import JsonLines
from rx_spark._columns._rows import RowType, quoted, row_type
from rx_spark._columns._schema import NARROW, checked
from rx_spark._columns._screen import RECORD, Screen
from rx_spark._java_classes import java_class
from rx_spark._jobs._file_checks import check_files, check_sizes
from rx_spark._jobs._file_errors import empty_folder
from rx_spark._jobs._job_errors import read_error
from rx_spark._jobs._stats import JobStats
from rx_spark._session._session import Engine, SparkConfig, engine
from rx_spark._sources._folders import folder_error, with_folders
from rx_spark._sources._items import _source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def open_rows(
    name: str,
    origin: Origin,
    schema: type[Any] | None,
    config: SparkConfig,
    stats: JobStats | None,
    screen: Callable[[RowType], Screen] | None = None,
) -> Flowable[Any]:
    """The rows of ``origin`` as a stream. ``screen`` is given where Spark reads text, and looks for records that do not fit."""
    here = engine(config)
    frame = _opened(name, origin, here, schema)
    if isinstance(origin, Files) and origin.paths:
        typed = with_folders(origin, frame, None if schema is None else row_type(schema))
        if typed is not origin:
            frame = _opened(name, typed, here, schema)
        origin = replace(typed, folders=folder_columns(frame))
    found = without(frame.schema, RECORD)
    row = checked(schema, found, name)
    if screen is not None and not found.fields:
        _check_empty(name, origin, here)
        screen = None
    if isinstance(origin, Files) and (name == "parquet" or screen is not None):
        read = without(origin.schema, RECORD) if origin.computed else found
        origin = replace(origin, schema=read if screen is None else with_record(read))
        if screen is not None and _is_of_lines(origin):
            lines = JsonLines(row if schema is not None else None, screen(row).encoding, RECORD)
            origin = replace(origin, lines=lines)
    if isinstance(origin, Files) and name == "csv" and schema is not None:
        origin = replace(origin, computed=(*origin.computed, *_empty_texts(row, origin.folders)))
    if isinstance(origin, Files) and origin.paths:
        origin = replace(origin, row=row, given=schema is not None)
        check_files(origin, frame, here.application)
    narrow = frozenset(field.name for field in found.fields if type(field.dataType).__name__ in NARROW)
    given = FrameSource(origin, row, narrow=narrow).then(Select(tuple((quoted(name), name) for name in row.names)))
    if screen is not None:
        lined = isinstance(origin, Files) and origin.lines is not None
        made = replace(screen(row), partitioned=origin.folders if isinstance(origin, Files) else frozenset(), lined=lined)
        given = replace(given, screen=made, checked=made.required)
    shown = origin.shown + (f" as {row.name}" if schema is not None else "")
    return _source(name, origin.shown if schema is None else shown, given, config, stats)


def _empty_texts(row: RowType, folders: frozenset[str]) -> list[tuple[str, str]]:
    """CSV has one spelling for an empty text and for none; the class tells which it is."""
    texts = [field.name for field in row.fields if field.kind.python is str and not field.kind.optional]
    return [(name, f"coalesce({quoted(name)}, '')") for name in texts if name not in folders]


def _is_of_lines(origin: Files) -> bool:
    """Whether each record is a line."""
    several = any(name.lower() == "multiline" and value.lower() == "true" for name, value in origin.options)
    return origin.format == "json" and not several


def _check_empty(name: str, origin: Origin, here: Engine) -> None:
    """Of empty files there are neither rows nor bad records; others have records, and not one says what a row is."""
    assert isinstance(origin, Files)
    if not here.application.read.text(list(origin.paths)).isEmpty():
        raise ValueError(
            f"{origin.shown}: not one record says which columns there are.\n"
            f"  With a row class the bad records are told:  {name}(..., schema=Trip)"
        )


def without(schema: StructType, name: str) -> StructType:
    """The columns but one."""
    return type(schema)([field for field in schema.fields if field.name != name])


def with_record(schema: StructType) -> StructType:
    """The columns, and the one for records that Spark cannot read."""
    return type(schema)(list(schema.fields)).add(RECORD, "string")


def _opened(name: str, origin: Origin, here: Engine, schema: type[Any] | None) -> DataFrame:
    paths = origin.paths if isinstance(origin, Files) else ()
    try:
        frame = rebound(origin.open(here.application), here.frames)
    except Exception as error:
        no_schema = str(error).startswith("[UNABLE_TO_INFER_SCHEMA]")
        if paths and (no_schema or "is not a Parquet file" in str(error)):  # the second before Spark 4.2, of one without bytes
            check_sizes(here.application.read.schema("value string").text(list(paths)), name)
        if paths and no_schema:
            raise empty_folder(name, paths) from error
        of_folder = folder_error(error, origin.shown, None if schema is None else row_type(schema))
        if of_folder is not None:
            raise of_folder from error
        raise read_error(error, f"{name}()") from error
    if paths and not _has_files(frame) and not any(_was_written(frame, path) for path in paths):
        raise empty_folder(name, paths)
    return frame


def _has_files(frame: DataFrame) -> bool:
    made: Any = frame
    return len(made._jdf.inputFiles()) > 0


def _was_written(frame: DataFrame, path: str) -> bool:
    """Whether a job of Spark was successful there: then it had no rows to write."""
    context: Any = frame.sparkSession.sparkContext
    try:
        marker = java_class(context._jvm, "org.apache.hadoop.fs.Path")(path, "_SUCCESS")
        return bool(marker.getFileSystem(context._jsc.hadoopConfiguration()).exists(marker))
    except Exception:
        return False  # a glob
