"""What is raised for a file that Spark cannot read: with the file's name, what is wrong with it, and what to do."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from rx_spark._columns._rows import SchemaError
from rx_spark._errors import BadFileError, SparkJobError

_FAILED: Final = re.compile(
    r"\[FAILED_READ_FILE\.(?P<kind>\w+)\] Encountered error while reading file (?P<path>.+?)\. (?P<text>.*?) ?SQLSTATE", re.DOTALL
)
_CAUSE: Final = re.compile(r"^Caused by: ([\w.$]+)(?:: (.*?))?(?=\n\tat |\n\t\.\.\. |\nCaused by|\Z)", re.DOTALL | re.MULTILINE)
_COLUMN: Final = re.compile(r"Parquet column \[(.*?)\]\. Expected Spark type (.*?), actual Parquet type (.*?)\.")
_NAMES: Final = re.compile(
    r" Header: (?P<header>.*)\n Schema: (?P<schema>.*)\nExpected: (?P<expected>.*) but found: (?P<found>.*)"
)
_COUNTS: Final = re.compile(r"Header length: (?P<found>\d+), schema size: (?P<expected>\d+)")
_NO_CLASS: Final = re.compile(r"ClassNotFoundException: Class (\S*\.fs\.\S+) not found")
_NO_SCHEME: Final = re.compile(r"No FileSystem for scheme \"?(\w+)")


def file_error(text: str) -> Exception | None:
    """What is to be raised for what Spark says of a file; None where it speaks of something else."""
    found = _FAILED.search(text)
    if found is None or "[MALFORMED_RECORD" in text:  # it is a record that does not fit
        return _no_file_system(text)
    path = shown_path(found["path"])
    cause = _cause(text)
    match found["kind"]:
        case "PARQUET_COLUMN_DATA_TYPE_MISMATCH":
            return _other_type(path, found["text"])
        case "FILE_NOT_EXIST":
            return FileNotFoundError(f"{path} was there when the source was made, and is gone.\n  Right:  make the source anew")
    if "CSV header" in cause:
        return _other_header(path, cause)
    return BadFileError(
        f"{path} cannot be read: {_reason(cause, found['kind'])}.\n"
        f"  It is cut off, damaged, or of another format: fetch or write it again, or leave it out of the paths",
        path=path,
    )


def shown_path(url: str) -> str:
    """A URL of Spark as the path that a user would write."""
    if not url.startswith("file:"):
        return url
    return "/" + unquote(url.removeprefix("file:")).lstrip("/")


def _cause(text: str) -> str:
    """What Java said first."""
    found = list(_CAUSE.finditer(text))
    if not found:
        return ""
    name, said = found[-1].groups()
    return said or str(name).rpartition(".")[2]


def _reason(cause: str, kind: str) -> str:
    if cause:
        return " ".join(cause.split()).rstrip(".")
    return "its footer is no footer of Parquet" if kind == "CANNOT_READ_FILE_FOOTER" else "Spark does not say why"


def _other_type(path: str, text: str) -> SchemaError:
    found = _COLUMN.search(text)
    said = f"column {found[1]!r} is {found[3]} in it, and {found[2]} was expected" if found is not None else text
    return SchemaError(
        f"{path} has another schema than the other files: {said}.\n"
        f"  Right:  a source for each kind of file, with a class of its own, and one map() that makes them alike: "
        f"old.map(anew).merge_with(new)"
    )


def _other_header(path: str, cause: str) -> SchemaError:
    names, counts = _NAMES.search(cause), _COUNTS.search(cause)
    if names is not None:
        said = (
            f"it says {names['found']!r} where {names['expected']!r} was expected ({names['header']}; expected {names['schema']})"
        )
    elif counts is not None:
        said = f"it has {counts['found']} columns, and {counts['expected']} were expected"
    else:
        said = " ".join(cause.split())
    return SchemaError(
        f"{path} has another header: {said}.\n"
        f"  The fields of the row class are the names in the header, all of them in their order; a file without a header is read "
        f"with header=False"
    )


def _no_file_system(text: str) -> Exception | None:
    found = _NO_CLASS.search(text) or _NO_SCHEME.search(text)
    if found is None:
        return None
    return SparkJobError(
        f"Spark has no file system for these paths: {found[1]!r} is not among its jars or its schemes.\n"
        f"  For s3a, with the version of Spark's Hadoop:\n"
        f'    SparkConfig(settings=(("spark.jars.packages", "org.apache.hadoop:hadoop-aws:3.5.0"),))'
    )


def empty_folder(name: str, paths: tuple[str, ...]) -> FileNotFoundError:
    """There is nothing to read."""
    listed = ", ".join(map(repr, paths))
    return FileNotFoundError(
        f"{name}({listed}): there is no data file. Names that begin with '_' or '.' do not count.\n"
        f"  Does the job that writes there write somewhere else, or has it not run yet?"
    )
