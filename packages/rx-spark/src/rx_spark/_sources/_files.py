"""Sources of rows that are files: Parquet, CSV, JSON."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeVar, overload

from rx_core import none_argument
from rx_ops import Flowable, Row
from rx_spark._bad_records import BadRecords, OnBad, check_policy
from rx_spark._columns._frames import Files
from rx_spark._columns._rows import RowType, quoted, row_type
from rx_spark._columns._screen import RECORD, Screen
from rx_spark._columns._spelling import TIMES_READ, chosen, doubled_quotes, unless_chosen
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
    encoding: str = ...,
    errors: Literal["strict", "replace"] = ...,
    on_bad: OnBad = ...,
    bad: BadRecords | None = ...,
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
    encoding: str = ...,
    errors: Literal["strict", "replace"] = ...,
    on_bad: OnBad = ...,
    bad: BadRecords | None = ...,
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
    encoding: str = "utf-8",
    errors: Literal["strict", "replace"] = "strict",
    on_bad: OnBad = "fail",
    bad: BadRecords | None = None,
    options: Mapping[str, str] | None = None,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of CSV files. With ``schema`` its fields say the columns' types; without, every column is text.

    ::  --Trip(...)--Trip(...)|

    With a header its names must be those of the fields, in their order. A record is bad that has a value of another type, more or
    fewer values than there are columns, none for a field that is no ``| None``, or bytes that are no ``encoding`` (unless
    ``errors="replace"``). Whether it is does not depend on what the pipeline does with it. ``on_bad="fail"`` raises one of them,
    ``"skip"`` leaves them out and counts, in ``bad`` or with a warning, ``"collect"`` also puts the first of them into ``bad``.

    ``options`` are those of Spark's CSV reader (``sep``, ``quote``, ``dateFormat``).

    Demand:  decides how far the files are read.
    Errors:  FileNotFoundError at assembly; BadRecordError, with file and line; BadFileError for a file that is cut off;
             SchemaError for another header.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    given = dict(options or {})
    charset = _charset("csv", encoding, given)
    ours = {"header": str(header).lower(), "enforceSchema": "false", "encoding": charset, **doubled_quotes(given)}
    separator = chosen(given, "sep", "delimiter", otherwise=",")

    def screen(row: RowType) -> Screen:
        return Screen(on_bad, row, encoding=encoding, strict=errors == "strict", separator=separator, report=bad)

    if errors not in ("strict", "replace"):
        raise ValueError(f"csv(errors={errors!r}): 'strict' or 'replace'")
    check_policy("csv", on_bad, bad)
    return _text_files("csv", paths, ours, given, schema, _config("csv", config, master, parallelism), stats, screen)


@overload
def json(
    *paths: Path,
    schema: type[R],
    encoding: str = ...,
    on_bad: OnBad = ...,
    bad: BadRecords | None = ...,
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
    encoding: str = ...,
    on_bad: OnBad = ...,
    bad: BadRecords | None = ...,
    options: Mapping[str, str] = ...,
    config: SparkConfig | None = ...,
    master: str | None = ...,
    parallelism: int | None = ...,
    stats: JobStats | None = ...,
) -> Flowable[Row]: ...
def json(
    *paths: Path,
    schema: type[Any] | None = None,
    encoding: str = "utf-8",
    on_bad: OnBad = "fail",
    bad: BadRecords | None = None,
    options: Mapping[str, str] | None = None,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[Any]:
    """The rows of files with one JSON object a line. With ``schema`` its fields say the columns; else Spark looks at the files.

    ::  --Trip(...)--Trip(...)|

    A record is bad that is no JSON object, or is not of ``encoding``, or has a value of another type or none for a field that is
    no ``| None``. For ``on_bad`` and ``bad`` see :func:`csv`. Where there is no class, Spark takes the type that all files have
    in common: text, where some have numbers and some text. ``options`` are those of Spark's JSON reader (``multiLine``).

    Demand:  decides how far the files are read.
    Errors:  FileNotFoundError at assembly; BadRecordError, with file and line; BadFileError for a file that is cut off.
    Memory:  two chunks of at most 1,024 rows per task.   Thread: the one that requests, or the job's own.
    Fusion:  as :func:`dataframe`.
    """
    given = dict(options or {})
    charset = _charset("json", encoding, given)
    others = charset != "UTF-8"  # of UTF-8 Spark finds by itself what is none

    def screen(row: RowType) -> Screen:
        return Screen(on_bad, row, encoding=codecs.lookup(encoding).name, strict=others, report=bad)

    check_policy("json", on_bad, bad)
    ours: dict[str, str] = {}
    if others:
        ours = {"encoding": charset}
        if charset in _CHARSETS.values():
            ours["lineSep"] = "\n"  # it finds other line ends in UTF-8 only
    return _text_files("json", paths, ours, given, schema, _config("json", config, master, parallelism), stats, screen)


def _files(
    name: str,
    paths: tuple[Path, ...],
    options: Mapping[str, str],
    schema: type[Any] | None,
    config: SparkConfig,
    stats: JobStats | None,
    columns: str | None = None,
    screen: Callable[[RowType], Screen] | None = None,
) -> Flowable[Any]:
    if not paths or None in paths:
        raise none_argument(f"{name}({'None' if paths else ''})", "paths")
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"{name}({path!r}): a path is text.\n  Right:  {name}('trips/2026', 'trips/2027')")
    made = Files(name, tuple(os.fspath(path) for path in paths), tuple(options.items()), columns)
    return open_rows(name, made, schema, config, stats, screen)


def _text_files(
    name: str,
    paths: tuple[Path, ...],
    ours: Mapping[str, str],
    given: Mapping[str, str],
    schema: type[Any] | None,
    config: SparkConfig,
    stats: JobStats | None,
    screen: Callable[[RowType], Screen],
) -> Flowable[Any]:
    for key, value in given.items():
        if key.lower() in _INSTEAD:
            raise ValueError(f"{name}(options={{{key!r}: {value!r}}}): {_INSTEAD[key.lower()]}")
    spelled = unless_chosen({**TIMES_READ, **ours}, given)
    options = {**spelled, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": RECORD, **given}
    columns = None if schema is None else f"{row_type(schema).ddl}, {quoted(RECORD)} string"
    return _files(name, paths, options, schema, config, stats, columns, screen)


_INSTEAD: Final = {
    "mode": "what becomes of a bad record is said by on_bad='fail', 'skip' or 'collect'",
    "columnnameofcorruptrecord": "records that do not fit are collected by on_bad='collect', bad=rx_spark.BadRecords()",
    "badrecordspath": "records that do not fit are collected by on_bad='collect', bad=rx_spark.BadRecords()",
    "encoding": "there is encoding= for it",
    "charset": "there is encoding= for it",
}


def _charset(name: str, encoding: str, options: Mapping[str, str]) -> str:
    """Java's name. LookupError, at assembly, for an encoding that Spark does not read, or not line by line."""
    found = codecs.lookup(encoding).name
    several_lines = chosen(options, "multiline", otherwise="").lower() == "true"
    charset = _CHARSETS.get(found) or (_WIDE_CHARSETS.get(found) if several_lines else None)
    if charset is None:
        raise LookupError(
            f"{name}(encoding={encoding!r}): Spark reads utf-8, latin-1 and ascii line by line, and nothing else.\n"
            f"  For utf-16 and utf-32, a file at a time:  options={{'multiLine': 'true'}}\n"
            f"  For other encodings:                      rx_spark.text(path, encoding={encoding!r}), and a function that "
            f"takes lines apart"
        )
    return charset


_CHARSETS: Final = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "ascii": "US-ASCII", "iso8859-1": "ISO-8859-1"}
_WIDE_CHARSETS: Final = {"utf-16": "UTF-16", "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32"}
