"""Files that Spark would pass over in silence: those of no bytes, where such a file has some, and Parquet files without a column.

Runs on the driver, when a source is made and when a job begins, with Spark's own list of the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rx_spark._columns._frames import Files, file_index
from rx_spark._columns._rows import Kind, RowType, SchemaError
from rx_spark._errors import BadFileError
from rx_spark._java_classes import java_class
from rx_spark._jobs._file_errors import shown_path
from rx_spark._workers._compression import packed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Names of columns, and of what is inside their values.
Names: TypeAlias = "Mapping[str, Names]"
#: Of a file: where it is, its bytes, and when it was changed.
Listed: TypeAlias = tuple[str, int, int]
#: Of how many files the footers are looked at: a fifth of a second on a machine with a disk.
MOST_FILES: Final = 1_000


def check_files(origin: Files, frame: DataFrame, application: SparkSession) -> None:
    """Both, for a DataFrame that begins with these files."""
    files = _listed(frame)
    _check_sizes(files, origin.format)
    if origin.format == "parquet" and origin.row is not None and len(files) <= MOST_FILES and not _merges(application):
        check_columns(files, origin.row, origin.folders, given=origin.given)


def check_sizes(frame: DataFrame, form: str) -> None:
    """BadFileError for a file of no bytes that was cut off: Parquet and packed files have some at least. Spark leaves it out."""
    _check_sizes(_listed(frame), form)


def _check_sizes(files: Sequence[Listed], form: str) -> None:
    for path, size, _ in files:
        check_size(path, size, form)


def check_size(path: str, size: int, form: str = "text") -> None:
    if size == 0 and (form == "parquet" or packed(path)):
        raise BadFileError(
            f"{path} cannot be read: it has no bytes.\n"
            f"  It is cut off or damaged: fetch or write it again, or leave it out of the paths",
            path=path,
        )


def check_columns(files: Sequence[Listed], row: RowType, folders: frozenset[str], *, given: bool) -> None:
    """SchemaError for a Parquet file that does not have all columns of ``row``: Spark would give None. Where no class was given,
    for one that has more, too: of which columns there are one of the files was asked.

    Files of this machine, up to MOST_FILES: a footer elsewhere takes as long as a small job, and there may be many.
    """
    expected = {field.name: field.kind for field in row.fields if field.name not in folders}
    names = {name: _names_of_kind(kind) for name, kind in expected.items()}
    for path, found in _columns_of_files(files):
        missing = next(_missing(names, found), None)
        if missing is not None:
            kind = expected.get(missing)
            said = f"it has no column {missing!r}" + (f", expected {kind}" if kind is not None else "")
        elif not given and (more := next(_missing(found, names), None)) is not None:
            said = f"it has the column {more!r}, and they have not"
        else:
            continue
        raise SchemaError(
            f"{path} has another schema than the other files: {said}; found {', '.join(found)}.\n"
            f"  Right:  a source for each kind of file, with a class of its own:  old.map(anew).merge_with(new)\n"
            f"  Or:     session.conf.set('spark.sql.parquet.mergeSchema', 'true')    None where a file has no such column"
        )


def _merges(application: SparkSession) -> bool:
    """Whether the application wants None where a file has no such column."""
    return str(application.conf.get("spark.sql.parquet.mergeSchema", "false")).lower() == "true"


def _listed(frame: DataFrame) -> list[Listed]:
    """All files, in a few calls: there may be thousands. Those of this machine are asked here for their sizes: what Hadoop
    tells of one takes half a millisecond.
    """
    index = file_index(frame)
    arrays = java_class(frame.sparkSession.sparkContext._jvm, "scala.collection.immutable.ArraySeq")
    urls = str(arrays.unsafeWrapArray(index.inputFiles()).mkString("\n")).splitlines()
    if all(url.startswith("file:") for url in urls):
        return [each for each in map(_status_of, map(shown_path, urls)) if each is not None]
    listed = _STATUS.findall(index.allFiles().mkString("\n"))
    return [(shown_path(url), int(size), int(changed)) for url, size, changed in listed]


def _status_of(path: str) -> Listed | None:
    """None where it is gone: then Spark says so."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return path, found.st_size, found.st_mtime_ns


_STATUS: Final = re.compile(
    r"Status\{path=(.*?); isDirectory=false; length=(\d+);(?: [a-z]+=\d+;)* modification_time=(\d+)", re.DOTALL
)


# --- columns of Parquet files -----------------------------------------------------------------------------------------


def _columns_of_files(files: Sequence[Listed]) -> Iterator[tuple[str, Names]]:
    for path, size, changed in files:
        found = _names_in(path, size, changed) if os.path.isfile(path) else None
        if found is not None:  # else Spark says what is wrong with it
            yield path, found


@lru_cache(10_000)
def _names_in(path: str, _size: int, _changed: int) -> Names | None:
    """What a file's footer says; the last ones are kept."""
    import pyarrow.parquet as pq

    try:
        return _names_of_arrow(pq.read_schema(path))
    except (OSError, ValueError):  # ArrowInvalid is a ValueError
        return None


def _names_of_kind(kind: Kind) -> Names:
    if kind.row is not None:
        return {field.name: _names_of_kind(field.kind) for field in kind.row.fields}
    if kind.python is dict:
        return {name: _names_of_kind(part) for name, part in zip(("key", "value"), kind.parts, strict=False)}
    return _names_of_kind(kind.parts[0]) if kind.parts else {}


def _names_of_arrow(found: Any) -> Names:
    """Of a schema or a type."""
    import pyarrow as pa

    if isinstance(found, pa.Schema | pa.StructType):
        return {field.name: _names_of_arrow(field.type) for field in found}
    if isinstance(found, pa.MapType):
        return {"key": _names_of_arrow(found.key_type), "value": _names_of_arrow(found.item_type)}
    return _names_of_arrow(found.value_type) if isinstance(found, pa.ListType | pa.LargeListType) else {}


def _missing(expected: Names, found: Names, prefix: str = "") -> Iterator[str]:
    """Names that are not found, as Spark looks for them: capital letters are small ones."""
    there = {name.lower(): inner for name, inner in found.items()}
    for name, inner in expected.items():
        if name.lower() not in there:
            yield prefix + name
        else:
            yield from _missing(inner, there[name.lower()], f"{prefix}{name}.")
