"""What a failed job raises: the error that a column was told to raise, what Spark's arithmetic says, or that Spark gave up."""

from __future__ import annotations

import builtins
import os
import re
import sys
from typing import Final

from rx_spark._columns._column import MARK
from rx_spark._columns._rows import SchemaError
from rx_spark._errors import SparkJobError
from rx_spark._jobs._account import bad_record_error
from rx_spark._jobs._disk_errors import disk_error
from rx_spark._jobs._file_errors import file_error

_RAISED: Final = re.compile(re.escape(MARK) + r"(\w+)\|(.*?)(?= SQLSTATE: P0001|\n\tat |\Z)", re.DOTALL)
_KNOWN: Final[dict[str, type[Exception]]] = {"SchemaError": SchemaError}
#: Beginnings of what Spark says of numbers, and what Python would say.
_ARITHMETIC: Final = (
    ("[ARITHMETIC_OVERFLOW]", OverflowError, "a whole number left the 64 bits that a column has; Python's have no such end"),
    (
        "[BINARY_ARITHMETIC_OVERFLOW]",
        OverflowError,
        "a whole number left the 64 bits that a column has; Python's have no such end",
    ),
)
_VERSIONS: Final = re.compile(
    r"\[PYTHON_VERSION_MISMATCH\] Python in worker has different version: (\S+) than that in driver: ([\d.]+)"
)
#: The Python that a worker was started with cannot read the first thing it is sent, before any function of the user's is called.
_WITHOUT_US: Final = re.compile(r"^ModuleNotFoundError: No module named '(rx_spark|cloudpickle|pyarrow)\b", re.MULTILINE)
#: What is said where nothing was to be replaced and something is there: files, a table, a table of a database.
_THERE: Final = ("[PATH_ALREADY_EXISTS]", "[TABLE_OR_VIEW_ALREADY_EXISTS]")
_LAMBDA: Final = "Instead of an expression of it, a lambda computes it in Python:  lambda row: row.x * row.y"


def job_error(error: Exception) -> Exception:
    """What is to be raised for what Spark raised."""
    if isinstance(error, SparkJobError):
        return error  # it is ours already
    text = str(error)
    found = _RAISED.search(text)
    if found is not None and found[1] == "BadRecordError":
        return bad_record_error(text[found.start(2) :])
    if found is not None:
        return _rebuilt(found[1], found[2])
    of_numbers = _arithmetic_error(text)
    if of_numbers is not None:
        return of_numbers
    versions = _VERSIONS.search(text)
    if versions is not None:
        return _other_python(*versions.groups())
    missing = _WITHOUT_US.search(text)
    if missing is not None:
        return _python_without(missing[1])
    of_file = file_error(text) or disk_error(text)
    if of_file is not None:
        return of_file
    if text.startswith(_THERE):
        return FileExistsError(
            f"{_first_lines(text)}\n  To replace what is there:  mode='overwrite'\n  To add to it:  mode='append'"
        )
    return SparkJobError(f"Spark gave up the job: {_first_lines(text)}")


def _arithmetic_error(text: str) -> Exception | None:
    for beginning, kind, message in _ARITHMETIC:
        if beginning in text:
            made = kind(message)
            made.add_note(_LAMBDA)
            return made
    return None


def _other_python(theirs: str, ours: str) -> SparkJobError:
    named = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return SparkJobError(
        f"the executors run Python {theirs}, and this program runs {ours}: functions do not travel from one to the other.\n"
        f"  On each executor {named!r} has to be a Python {ours}; PYSPARK_PYTHON, in the environment before the session is\n"
        f"  made, names another path"
    )


def _python_without(module: str) -> ModuleNotFoundError:
    named = os.environ.get("PYSPARK_PYTHON")
    started = (
        f"{named!r}, as PYSPARK_PYTHON says" if named else "the first 'python3' on the path, as PYSPARK_PYTHON names no other"
    )
    return ModuleNotFoundError(
        f"the Python that the session starts on executors has no module {module!r}. It is {started}.\n"
        f"  On this machine:  os.environ['PYSPARK_PYTHON'] = sys.executable  before the session is made. A session that\n"
        f"                    rx_spark makes, where there is none, starts this program's Python\n"
        f"  On a cluster:     install it there, or send an environment along (spark.archives, PYSPARK_PYTHON=./env/bin/python)",
        name=module,
    )


def _rebuilt(name: str, message: str) -> Exception:
    kind = _KNOWN.get(name, getattr(builtins, name, None))
    if isinstance(kind, type) and issubclass(kind, Exception):
        made = kind(message)
        made.add_note("Raised by a column of Spark, where Python would have raised the same.")
        return made
    return SparkJobError(message)


def _first_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("\tat ", "\t... "))]  # Java's frames
    return "\n".join(lines[:12])


#: Spark's names for what is wrong with a source, and what Python calls it.
_READING: Final = (
    ("[PATH_NOT_FOUND]", FileNotFoundError),
    ("[TABLE_OR_VIEW_NOT_FOUND]", LookupError),
    ("[PARSE_SYNTAX_ERROR]", ValueError),
    ("[UNRESOLVED_COLUMN", ValueError),
    ("[UNABLE_TO_INFER_SCHEMA]", ValueError),
)


def read_error(error: Exception, shown: str) -> Exception:
    """What is to be raised for a source that Spark cannot open; ``shown`` is the source."""
    said = file_error(str(error)) or _arithmetic_error(str(error))  # Spark computes with constants while it plans
    if said is not None:
        return said
    text = _first_lines(str(error))
    if "No suitable driver" in text or "java.lang.ClassNotFoundException" in text:
        return LookupError(
            f"{shown}: {text}\n"
            f"  The database's driver is a jar that Spark has to have from its start on, by its name in Maven or as a file:\n"
            f"  SparkConfig(settings=(('spark.jars.packages', 'org.postgresql:postgresql:42.7.4'),)), or 'spark.jars'"
        )
    if "[JDBC_EXTERNAL_ENGINE_SYNTAX_ERROR" in text:  # it names the query that the database refused
        return LookupError(f"{shown}: {text}")
    kind = next((kind for beginning, kind in _READING if text.startswith(beginning)), None)
    return SparkJobError(f"{shown}: {text}") if kind is None else kind(f"{shown}: {text}")
