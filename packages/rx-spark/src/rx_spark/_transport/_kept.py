"""What tasks have made for a shuffle, where it is small, as a copy on the driver.

What a task gives to a shuffle lies on its executor's disk. When that is lost, Spark runs the task again, from the source on, for
a result of some kilobytes where items are combined in the tasks. So a task sends a copy, and one that finds its own there gives
that instead.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from rx_spark._transport._wire import KEEP, KEPT, Link, SinkAddress, dumps, loads

#: What one task sends, and what all of a job may: tasks with more are computed again.
COPY_BYTES: Final = 1 << 20
JOB_BYTES: Final = 64 << 20
#: About what a row takes beside its own bytes.
OVERHEAD: Final = 48
#: Seconds until the driver gives up a task that does not read its copy.
PATIENCE: Final = 30.0


def key_of(stage: int, partition: int) -> int:
    return stage << 32 | partition


class Copies:
    """The driver's side, under the lock of the queue that has it. Memory: JOB_BYTES; a copy that goes above it is not taken."""

    def __init__(self) -> None:
        self._of: dict[int, bytes] = {}
        self._bytes = 0

    def get(self, key: int) -> bytes:
        """Empty: there is none."""
        return self._of.get(key, b"")

    def put(self, key: int, copy: bytes) -> None:
        """The first of a task stays: of two attempts both are right."""
        if key not in self._of and self._bytes + len(copy) <= JOB_BYTES:
            self._of[key] = copy
            self._bytes += len(copy)

    def clear(self) -> None:
        self._of.clear()
        self._bytes = 0


def send_copy(connection: socket.socket, copy: bytes) -> None:
    """Runs on a thread of its own, because it waits for the task."""
    with connection, suppress(OSError):  # the task has gone
        connection.settimeout(PATIENCE)
        connection.sendall(copy)
        connection.shutdown(socket.SHUT_WR)


def copied(rows: Iterator[Any], address: SinkAddress, stage: int, partition: int) -> Iterator[Any]:
    """The task's side: the rows that the driver has of an earlier attempt, else ``rows``, with a copy for the driver when all
    have been given. Memory: COPY_BYTES, twice while they are sent. A driver that does not answer has no copy, and gets none."""
    key = key_of(stage, partition)
    try:
        link = Link(address, KEEP, key)
    except OSError:
        yield from rows
        return
    try:
        if link.index:
            earlier = link.read(link.index)
            if earlier is not None:
                yield from loads(earlier)
                return
        some: list[Any] | None = []
        size = 0
        for row in rows:
            if some is not None:
                size += len(row[-1]) + OVERHEAD
                if size > COPY_BYTES:
                    some = None
                else:
                    some.append(row)
            yield row
        if some is not None:
            link.send(KEPT, key, 0, payload=dumps(some))
    finally:
        link.finish()
