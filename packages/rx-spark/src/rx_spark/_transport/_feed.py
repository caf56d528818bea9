"""Items of the driver on their way to the one task that writes them.

The task connects to the job's listener and gets a chunk of pickled items, then one more for each byte that it sends. A thread of
the driver, the *feed*, answers: it asks the stream for a chunk, waits for it, and sends it. So the driver holds the chunk that is
being sent, and what the stream keeps ready, however slow the task is.

What was sent is gone, so an attempt of the task that comes after another one has nothing to write, and the job fails.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from rx_spark._columns._rows import RowType
from rx_spark._transport._wire import DATA, END, FEED, HEADER, FeedClosed, SinkAddress, connect, dump_items, loads, next_size

if TYPE_CHECKING:
    from io import BufferedReader

FIRST_SIZE: Final = 16  #: items of the first chunk; while chunks are small in bytes they grow to CHUNK items

# --- the task ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeedReader:
    """Gives what the driver has, as one block. FeedClosed where the driver hangs up before the end."""

    address: SinkAddress

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        yield 0, self._items()

    def _items(self) -> Iterator[Any]:
        with connect(self.address, FEED, 0) as sock, sock.makefile("rb") as file:
            while True:
                kind, _, _, _, size = HEADER.unpack(_exactly(file, HEADER.size))
                if kind == END:
                    return
                payload = _exactly(file, size)
                try:
                    sock.sendall(b"+")  # before this chunk is worked on: meanwhile the driver makes the next one
                except OSError:
                    pass  # reading says so
                yield from loads(payload)


def _exactly(file: BufferedReader, size: int) -> bytes:
    try:
        data = file.read(size)
    except OSError:
        data = b""
    if len(data) < size:
        raise FeedClosed("the driver gives no more items to this task; it knows why")
    return data


# --- the driver -------------------------------------------------------------------------------------------------------


class Feeding(Protocol):
    """The stream whose items are sent. Called on the feed's thread."""

    def asked(self) -> None:
        """``wants_chunk`` was raised: call :meth:`Feed.give` at once or later, on any thread."""

    def lost(self) -> None:
        """Another attempt of the task asks for items that were sent already."""

    def unsent(self, error: Exception) -> None:
        """A chunk could not be sent, because of its items."""


class Feed:
    """One thread between a stream and a task. Memory: one chunk of at most CHUNK items.

    Thread: any for its methods.
    """

    def __init__(self, stream: Feeding, row: RowType) -> None:
        #: A chunk is due, see :meth:`give`.
        self.wants_chunk = False
        #: How many items it may have.
        self.size = FIRST_SIZE
        self._stream, self._row = stream, row
        self._condition = threading.Condition()
        self._connection: socket.socket | None = None
        self._chunk: list[Any] | None = None
        self._stopped = False
        self.thread = threading.Thread(target=self._run, name="rx-spark-feed", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def connect(self, connection: socket.socket) -> None:
        """The task is there, and has a chunk sent."""
        with self._condition:
            first = self._connection is None and not self._stopped
            if first:
                self._connection = connection
                self._condition.notify()
        if not first:
            connection.close()
            if not self._stopped:
                self._stream.lost()

    def give(self, chunk: list[Any]) -> None:
        """The answer to ``wants_chunk``; an empty chunk is the end."""
        with self._condition:
            self.wants_chunk = False
            self._chunk = chunk
            self._condition.notify()

    def stop(self) -> None:
        """Hang up. Unless the end was sent, the task fails then."""
        with self._condition:
            self._stopped = True
            self._chunk = None
            if self._connection is not None:
                try:
                    self._connection.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it
                except OSError:
                    pass
            self._condition.notify()

    # --- its thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        self._ask()  # the job begins with the first chunk
        with self._condition:
            self._condition.wait_for(lambda: self._stopped or self._connection is not None)
            connection = self._connection
        if connection is None:
            return
        with connection:
            try:
                while self._send(connection) and connection.recv(1):
                    self._ask()
            except OSError:
                pass  # the task has ended, and Spark says why

    def _ask(self) -> None:
        with self._condition:
            self.wants_chunk = not self._stopped
        self._stream.asked()

    def _send(self, connection: socket.socket) -> bool:
        """Send the chunk that was asked for. False: it was the last, or is not wanted any more."""
        with self._condition:
            self._condition.wait_for(lambda: self._stopped or self._chunk is not None)
            chunk, self._chunk = self._chunk, None
        if chunk is None:
            return False
        count = len(chunk)
        try:
            payload = dump_items(list(zip(*self._row.columns(chunk), strict=True))) if count else b""
        except Exception as error:
            self._stream.unsent(error)
            return False
        self.size = next_size(count, self.size, len(payload), 0.0)
        connection.sendall(HEADER.pack(DATA if count else END, 0, 0, count, len(payload)) + payload)
        return count > 0
