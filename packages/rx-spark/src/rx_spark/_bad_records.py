"""Records that do not fit: what is told of one, where they are counted, and what is raised or warned.

Executors import this too, therefore light.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from rx_core._errors import RxError

#: What becomes of a record that does not fit: the stream fails, or goes on without it and counts, or also keeps the first ones.
OnBad: TypeAlias = Literal["fail", "skip", "collect"]
#: Characters of a record that are kept.
SHOWN: Final = 200
#: Of how many a warning tells.
WARNED: Final = 3


@dataclass(frozen=True, order=True)
class BadRecord:
    """A record of a file that does not fit. ``str()`` of it is one line.

    ``position`` is the byte at which it begins, and ``line`` its number, from 1; None where that is not known: the file is not on
    this machine, is compressed (no position), or has more than 1 GiB before it. ``text`` are its first 200 characters.
    """

    path: str
    position: int | None
    line: int | None
    text: str
    reason: str

    def __str__(self) -> str:
        where = ", ".join(
            name
            for name, value in ((f"line {self.line}", self.line), (f"byte {self.position}", self.position))
            if value is not None
        )
        return f"{self.path}{', ' if where else ''}{where}: {self.text!r}: {self.reason}"


class BadRecordError(RxError, ValueError):
    """A record does not fit, and the source was told to fail then. ``record`` is a :class:`BadRecord`."""

    def __init__(self, message: str, *, record: BadRecord | None = None) -> None:
        super().__init__(message)
        self.record = record


class BadRecordWarning(UserWarning):
    """A job has left records out, and no ``bad=`` was given that counts them."""


class BadRecords:
    """Counts the records that sources leave out: ``rx_spark.csv(path, on_bad="collect", bad=bad)``.

    What a job has left out is here before its stream completes. Of a job that fails or is cancelled, by ``take(n)`` too, it is
    not counted. Of CSV and JSON, what a task counted that runs again because its executor was lost may count twice. One object
    may serve several sources and runs; it is readable at any time, from any thread. A copy in another process starts empty.
    """

    __slots__ = ("_count", "_lock", "_records", "limit")

    def __init__(self, limit: int = 100) -> None:
        if type(limit) is not int or limit < 1:
            raise ValueError(f"BadRecords({limit!r}): how many records to keep, at least 1")
        self._lock = threading.Lock()
        self._count = 0
        self._records: list[BadRecord] = []
        #: How many records are kept, at most.
        self.limit = limit

    @property
    def count(self) -> int:
        """How many records were left out."""
        return self._count

    @property
    def records(self) -> Sequence[BadRecord]:
        """The first ones, by file and place, of sources with ``on_bad="collect"``."""
        with self._lock:
            return tuple(self._records)

    def add(self, count: int, records: Iterable[BadRecord] = (), /) -> None:
        with self._lock:
            self._count += count
            self._records += list(records)[: self.limit - len(self._records)]

    def __reduce__(self) -> tuple[type[BadRecords], tuple[int]]:
        return BadRecords, (self.limit,)

    def __repr__(self) -> str:
        return f"<BadRecords count={self.count}>"


def check_policy(name: str, on_bad: str, bad: BadRecords | None) -> None:
    """Refuse what does not go together, at assembly."""
    if on_bad not in ("fail", "skip", "collect"):
        raise ValueError(f"{name}(on_bad={on_bad!r}): one of 'fail', 'skip', 'collect'")
    if bad is not None and not isinstance(bad, BadRecords):
        raise TypeError(f"{name}(bad={bad!r}): a BadRecords is needed.\n  Right:  bad = rx_spark.BadRecords()")
    if on_bad == "collect" and bad is None:
        raise TypeError(
            f"{name}(on_bad='collect'): where are they to be collected?\n"
            f"  Right:  bad = rx_spark.BadRecords()\n"
            f"          {name}(..., on_bad='collect', bad=bad)"
        )
    if on_bad == "fail" and bad is not None:
        raise TypeError(
            f"{name}(bad=...) counts what is left out, and without on_bad= the first bad record fails the stream.\n"
            f"  Right:  {name}(..., on_bad='skip', bad=bad)"
        )


def refused(record: BadRecord) -> BadRecordError:
    """What ``on_bad="fail"`` raises."""
    error = BadRecordError(str(record), record=record)
    error.add_note(
        "To go on without such records:  on_bad='skip'; to see them as well:  on_bad='collect', bad=rx_spark.BadRecords()"
    )
    return error


def told(shown: str, on_bad: OnBad, bad: BadRecords | None, count: int, records: Sequence[BadRecord]) -> None:
    """Count what a run has left out; without an object for the count, warn."""
    if bad is not None:
        bad.add(count, records if on_bad == "collect" else ())
    elif count:
        listed = "".join(f"\n  {record}" for record in records[:WARNED])
        warnings.warn(
            f"{count:,} records of {shown} did not fit and were left out, such as:{listed}\n"
            f"  To count them without this warning:  bad=rx_spark.BadRecords()",
            BadRecordWarning,
            stacklevel=2,
        )
