"""The errors that only rx-spark raises.

::

    RxError
     ├── BadFileError        (also ValueError)    a file that is cut off or damaged
     ├── JavaNotFoundError   (also RuntimeError)  no Java that Spark can run on
     ├── NotPortableError    (also TypeError)     something in a pipeline cannot travel to the executors
     ├── SparkJobError       (also RuntimeError)  Spark itself failed, not a user's function
     ├── StrictError         (also ValueError)    an operator would run on the driver, where strict() forbids it
     ├── VersionsError       (also RuntimeError)  an executor has other versions than the driver
     └── WorkerError         (also RuntimeError)  stands for a user's exception that cannot be pickled

A user's exception keeps its own type: it is rebuilt on the driver and carries the worker's traceback as a note.
"""

from __future__ import annotations

from rx_core._errors import RxError


class BadFileError(RxError, ValueError):
    """A file of a source cannot be read to its end: it is cut off, damaged, or of another format. ``path`` is the file."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class JavaNotFoundError(RxError, RuntimeError):
    """Spark needs a Java runtime and none was found, or what was found is broken or too old."""


class NotPortableError(RxError, TypeError):
    """A function or an item cannot be sent between the driver and the executors.

    ``operator``, ``parameter`` and ``variable`` name the place ('' where it is not known).
    """

    def __init__(self, message: str, *, operator: str = "", parameter: str = "", variable: str = "") -> None:
        super().__init__(message)
        self.operator, self.parameter, self.variable = operator, parameter, variable


class SparkJobError(RxError, RuntimeError):
    """Spark gave up a job for a reason of its own: a lost executor, no memory, an unreachable driver."""


class VersionsError(RxError, RuntimeError):
    """An executor has another Python, or other versions of what travels, than the driver. Nothing was run there."""


class WorkerError(RxError, RuntimeError):
    """Stands for a user's exception that cannot be pickled; ``type_name`` and ``shown`` are its type and repr."""

    def __init__(self, message: str, *, type_name: str = "", shown: str = "") -> None:
        super().__init__(message)
        self.type_name, self.shown = type_name, shown
