"""Pipelines on Apache Spark: sources whose operators run on executors as far as they can.

Importing this package imports neither pyspark nor pyarrow, nor the rest of it before it is used: executors import it too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_spark._errors import JavaNotFoundError as JavaNotFoundError
    from rx_spark._errors import NotPortableError as NotPortableError
    from rx_spark._errors import SparkJobError as SparkJobError
    from rx_spark._errors import WorkerError as WorkerError
    from rx_spark._facade import check_portable as check_portable
    from rx_spark._facade import from_iterable as from_iterable
    from rx_spark._facade import range as range
    from rx_spark._facade import start as start
    from rx_spark._facade import text as text
    from rx_spark._session import SparkConfig as SparkConfig
    from rx_spark._stats import JobStats as JobStats
    from rx_spark._version import __version__ as __version__

_HOMES: Final = {
    "JavaNotFoundError": "_errors",
    "JobStats": "_stats",
    "NotPortableError": "_errors",
    "SparkConfig": "_session",
    "SparkJobError": "_errors",
    "WorkerError": "_errors",
    "__version__": "_version",
    "check_portable": "_facade",
    "from_iterable": "_facade",
    "range": "_facade",
    "start": "_facade",
    "text": "_facade",
}

__all__ = [
    "JavaNotFoundError",
    "JobStats",
    "NotPortableError",
    "SparkConfig",
    "SparkJobError",
    "WorkerError",
    "__version__",
    "check_portable",
    "from_iterable",
    "range",
    "start",
    "text",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"rx_spark.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
