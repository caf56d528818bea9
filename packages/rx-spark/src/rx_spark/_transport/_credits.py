"""What tasks sent and the consumer has not taken, and the credits that say how much more they may send.

A *partition* is one of the job's last stage. It may have WINDOW chunks here or on their way; taking one out returns the
credit. In an ordered job the *front* is the number of the block whose items come next; partitions that are ahead wait
with their window full. A task that Spark runs again takes its partition over, begins at the first block that is not here as a
whole, and items that came before are dropped by their index.

Tasks that wait for credits hold slots that others may need. Two things are done about it, so that there is never a deadlock and
never unbounded memory:

- When order needs a block whose task has no slot (fewer slots than partitions), the waiting tasks are asked to leave at the end
  of their block, and what is left is cut anew for as many tasks as there are slots: a further Spark job, a *round*.
- When streams of other jobs hold all slots, their waiting tasks get credits all the same, and what they send goes to a
  temporary file. A job that can go on in a further round leaves when that file has SPOOLED_BYTES; others, behind a shuffle or
  over a DataFrame, send all they have. Sorted rows come task by task: they go to the file as well when the task whose turn it is
  has no slot.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import Final

from rx_spark._errors import SparkJobError
from rx_spark._transport._kept import Copies
from rx_spark._transport._rounds import Finished, Remaining
from rx_spark._transport._spool import Spool
from rx_spark._transport._wire import (
    CREDIT,
    DATA,
    DONE,
    END,
    ERROR,
    KEEP,
    KEPT,
    LEAVE,
    LEFT,
    NO_BLOCK,
    REPORT,
    SEEN,
    WELCOME,
    WITNESS,
    SinkAddress,
)

WINDOW: Final = 2  #: chunks per partition, here and on their way
SPOOLED_BYTES: Final = 32 * 1024 * 1024


@dataclass(slots=True)
class Frame:
    kind: int
    block: int
    count: int = 0
    payload: bytes = b""
    skip: int = 0  # items at its start that an earlier attempt had sent already
    spooled: tuple[int, int] | None = None  # where the payload is in the temporary file


class Partition:
    __slots__ = ("block", "connection", "connections", "done", "ended", "frames", "in_memory", "received", "whole")

    def __init__(self) -> None:
        self.block = NO_BLOCK  # of the last DATA frame
        self.connections: dict[int, Connection] = {}  # of attempts that are here, by their numbers
        self.connection: Connection | None = None  # the one that gets credits: that of the latest of them
        self.frames: deque[Frame] = deque()
        self.in_memory = 0  # DATA frames in the queue whose payload is in memory
        self.received = 0  # items of all attempts so far
        self.done = NO_BLOCK  # the last block that was finished
        self.whole = 0  # items up to its end
        self.ended = False  # or its task has left


class Connection:
    __slots__ = ("answer", "attempt", "buffer", "feeds", "outstanding", "partition", "socket")

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.buffer = bytearray()
        self.partition: Partition | None = None
        self.attempt = -1
        self.outstanding = 0  # credits given and not yet used
        self.feeds = False  #: it wants items, and belongs to the feed from now on
        self.answer = b""  #: the copy that it gets, and then nothing more


def tell(connection: Connection, signals: bytes) -> None:
    try:
        connection.socket.send(signals)  # a few bytes at a time: they always fit the socket's buffer
    except OSError:
        pass  # the I/O thread sees the end of this connection too


class CreditQueue:
    """The chunks of all partitions. One lock holds everything together; it is held for some microseconds per chunk.

    ``max_buffered`` is the largest number of items held in memory at a time, ``spilled`` how many went to disk.
    """

    def __init__(self, host: str, port: int, *, holds_errors: bool = False) -> None:
        self._host, self._port = host, port
        self._token = secrets.token_hex(16).encode()
        #: What was seen, by the number of the stage and that of the block or task: the same when one of them ran twice.
        self.seen: dict[tuple[int, int], bytes] = {}
        self._copies = Copies()
        #: A job that writes is over when Spark has cleaned up: an error waits for that.
        self._holds_errors = holds_errors
        self._failed = False
        self.buffered = self.max_buffered = self.spilled = 0
        self._lock = threading.Lock()
        #: Those of the round, by their numbers in Spark.
        self._partitions: dict[int, Partition] = {}
        self._earlier: list[Partition] = []  # of other rounds, with frames that were not taken
        self._done_blocks = Finished()
        self._partial: dict[int, int] = {}  # blocks that a task left in their middle -> items of them that are here
        self._rounds = False  # the job can go on in a further one
        self._leaving = False
        self._in_turn = False  # items come task by task
        self._front = 0  # the block whose items are next, or the task
        self._total: int | None = None  # blocks of an ordered job
        self._partitions_expected: int | None = 0  # None: known when the job is over
        self._waiting = True  # polls that came before there was a sink were told to wait
        self._over = False  # Spark's action has returned
        self._failure: Exception | None = None
        self._given_up: Exception | None = None
        self._lost: Exception | None = None  # why items that were sent could not be kept
        self._progress = monotonic()
        self._relieved_until = 0.0
        self._spool = Spool()

    @property
    def address(self) -> SinkAddress:
        """Where the tasks of this round connect to. Those of another one are refused."""
        return SinkAddress(self._host, self._port, self._token)

    # --- the consumer's side -----------------------------------------------------------------------------------------

    def take(self) -> Frame | None:
        """The next DATA, ERROR or END frame, or None when there is none now. The job failed: raises. Never blocks.

        Thread: the consumer's, one at a time.
        """
        with self._lock:
            frame = self._pop()
            if frame is None:
                self._waiting = True
                return None
            if frame.spooled is not None:
                frame.payload = self._spool.take(*frame.spooled)
            return frame

    def taken(self, count: int) -> None:
        """The consumer is through with a chunk of ``count`` items."""
        with self._lock:
            self.buffered -= count

    def dispose(self) -> None:
        """Forget what was not consumed."""
        with self._lock:
            for partition in (*self._partitions.values(), *self._earlier):
                partition.frames.clear()
                partition.in_memory = 0
            self.buffered = 0
            self._copies.clear()
            self._spool.close()

    # --- the job's side ----------------------------------------------------------------------------------------------

    def next_round(self) -> Remaining | None:
        """The blocks for a further round, whose tasks connect from now on. None: no task was asked to leave, or all is done.

        Thread: the job's, when Spark's job is over.
        """
        with self._lock:
            if not self._leaving or self._total is None or not self._partitions or self._lost is not None:
                return None  # tasks that could not connect would not be able to in a further round
            remaining = self._done_blocks.remaining(self._total)
            if not len(remaining):
                return None
            for partition in self._partitions.values():
                if partition.received > partition.whole:
                    here = partition.received - partition.whole
                    self._partial[partition.block] = max(here, self._partial.get(partition.block, 0))
                if partition.frames:
                    self._earlier.append(partition)
            self._partitions = {}
            self._leaving = False
            self._token = secrets.token_hex(16).encode()
            self._progress = monotonic()
            return remaining

    # --- under the lock ----------------------------------------------------------------------------------------------

    def _pop(self) -> Frame | None:
        while True:
            if self._total is not None and self._front >= self._total:
                return Frame(END, self._front)
            partition = self._next_partition()
            if partition is None:
                return self._nothing()
            frame = partition.frames.popleft()
            if frame.kind == DONE:
                self._front += 1
                continue
            if frame.kind == DATA:
                if frame.spooled is None:
                    partition.in_memory -= 1
                else:
                    self.buffered += frame.count - frame.skip
                    self.max_buffered = max(self.max_buffered, self.buffered)
                self._grant(partition)
            return frame

    def _next_partition(self) -> Partition | None:
        """The partition whose first frame is next: the one of the front, or any in an unordered job."""
        self._earlier = [partition for partition in self._earlier if partition.frames]
        for partition in self._earlier:  # of an ordered job
            if partition.frames[0].block == self._front:
                return partition
        if self._in_turn:
            return self._next_in_turn()
        for key, partition in self._partitions.items():
            if partition.frames:
                head = partition.frames[0]
                if head.kind == ERROR and self._holds_errors and not self._over:
                    continue
                if self._total is None or head.block == self._front or (head.kind == ERROR and head.block < self._front):
                    if self._total is None:
                        self._partitions[key] = self._partitions.pop(key)  # to the end: partitions take turns
                    return partition
        return None

    def _next_in_turn(self) -> Partition | None:
        reports = self._partitions.get(REPORT)
        if reports is not None and reports.frames:
            return reports
        while (partition := self._partitions.get(self._front)) is not None:
            if partition.frames or not partition.ended:
                return partition if partition.frames else None
            self._front += 1
        return None

    def _nothing(self) -> Frame | None:
        if self._total is None and self._all_ended():
            return Frame(END, 0)
        if self._over:
            if self._failure is not None:
                raise self._failure
            ended = sum(partition.ended for key, partition in self._partitions.items() if key != REPORT)
            raise SparkJobError(
                f"Spark reports success, but only {ended} of {self._partitions_expected or len(self._partitions)} tasks "
                f"delivered their items to the driver at {self.address.host}:{self.address.port}.\n"
                f"  Can the executors reach that address?  Set spark.rx.driver.host and spark.rx.driver.port"
            )
        return None

    def _grant(self, partition: Partition) -> None:
        """Fill the partition's window with credits."""
        connection = partition.connection
        if connection is None:
            return
        missing = WINDOW - connection.outstanding - partition.in_memory
        if missing > 0:
            connection.outstanding += missing
            tell(connection, CREDIT * missing)

    def _store(self, connection: Connection, kind: int, block: int, index: int, count: int, payload: bytes) -> None:
        partition = connection.partition
        if self._lost is not None:
            return
        if kind == SEEN:
            self.seen[index, block] = payload
            return
        if kind == KEPT:
            self._copies.put(block, payload)
            return
        if partition is None or (partition.connection is not connection and kind in (ERROR, LEFT)):
            return  # that of an older attempt: the one that has replaced it goes on. Its items are the same, and come once
        self._progress = monotonic()
        if kind in (END, LEFT):
            partition.ended = True
        elif kind == DONE:
            if block > partition.done:
                partition.done, partition.whole = block, index
                if self._total is not None:
                    partition.frames.append(Frame(DONE, block))
                    self._done_blocks.add(block)
                    self._partial.pop(block, None)
        elif kind == ERROR:
            self._failed = True
            if self._given_up is None:
                partition.frames.append(Frame(ERROR, block, 0, payload))
        else:
            left = partition.whole + self._partial.get(block, 0)  # where a task left in the middle of this block
            skip = max(0, partition.received - index, left - index)
            connection.outstanding -= 1
            self._store_data(partition, Frame(DATA, block, count, payload, skip), index)

    def _store_data(self, partition: Partition, frame: Frame, index: int) -> None:
        if index + frame.count > partition.received:
            partition.received, partition.block = index + frame.count, frame.block
        if frame.skip < frame.count:
            self._keep(partition, frame)
        if self._leaving:
            self._relieve_partition(partition)  # to the end of the block
        elif self._progress < self._relieved_until and not self._may_leave():
            self._relieve_partition(partition)
        else:
            self._grant(partition)

    def _keep(self, partition: Partition, frame: Frame) -> None:
        fresh = frame.count - frame.skip
        if partition.in_memory < WINDOW:
            partition.in_memory += 1
            self.buffered += fresh
            self.max_buffered = max(self.max_buffered, self.buffered)
        else:
            try:
                frame.spooled = self._spool.put(frame.payload)
            except SparkJobError as error:
                self._lost = error  # and what comes later is not stored: the items end here
                return
            frame.payload = b""
            self.spilled += fresh
        partition.frames.append(frame)

    def _full(self) -> bool:
        return self._spool.size >= SPOOLED_BYTES

    def _may_leave(self) -> bool:
        """Whether tasks leave instead of sending more to the temporary file."""
        return self._rounds and self._full()

    def _relieve_partition(self, partition: Partition) -> None:
        connection = partition.connection
        if connection is not None and not connection.outstanding and not partition.ended:
            if self._leaving and self._full():
                tell(connection, LEAVE)  # at once: this block is too large to be kept
            else:
                connection.outstanding = 1
                tell(connection, CREDIT)

    def _relieve(self, until: float) -> None:
        with self._lock:
            self._relieved_until = until
            if self._may_leave():
                self._leave()
            else:
                for partition in self._partitions.values():
                    self._relieve_partition(partition)

    def _leave(self) -> None:
        """Ask all tasks to leave: those that are here, and those that will come."""
        if not self._leaving:
            self._leaving = True
            for partition in self._partitions.values():
                for connection in partition.connections.values():
                    tell(connection, LEAVE)
                self._relieve_partition(partition)

    def _greet(self, connection: Connection, number: int, attempt: int) -> None:
        if number == WITNESS:
            connection.partition = Partition()  # its items are elsewhere
            tell(connection, WELCOME.pack(NO_BLOCK, 0, False))
            return
        if number == KEEP:
            connection.partition = Partition()
            connection.answer = self._copies.get(attempt)
            tell(connection, WELCOME.pack(NO_BLOCK, len(connection.answer), False))
            return
        partition = self._partitions.setdefault(number, Partition())
        connection.partition = partition
        tell(connection, WELCOME.pack(partition.done, partition.whole, self._leaving))
        if number == REPORT:
            partition.connection = connection
            return
        connection.attempt = attempt
        partition.connections[attempt] = connection
        self._serve_latest(partition)

    def _serve_latest(self, partition: Partition) -> None:
        """Give credits to the latest attempt that is here. Where Spark runs two at the same time the earlier one waits, whichever
        came first, and goes on should the later one be lost."""
        latest = partition.connections[max(partition.connections)] if partition.connections else None
        if latest is partition.connection or partition.ended:
            return
        partition.connection = latest
        self._progress = monotonic()
        if self._leaving:
            self._relieve_partition(partition)
        else:
            self._grant(partition)

    def _gone(self, connection: Connection) -> None:
        partition = connection.partition
        if partition is None:
            return
        if partition.connections.get(connection.attempt) is connection:
            del partition.connections[connection.attempt]
        if partition.connection is connection:
            partition.connection = None
            if not self._failed:
                self._serve_latest(partition)

    def _complete(self) -> bool:
        if self._total is not None:
            return self._front >= self._total
        return self._all_ended()

    def _all_ended(self) -> bool:
        """Whether every task has sent its last item. Adaptive execution decides late how many tasks there are."""
        tasks = [partition for key, partition in self._partitions.items() if key != REPORT]
        if self._partitions_expected is None:
            return self._over and self._failure is None and REPORT not in self._partitions and all(each.ended for each in tasks)
        return bool(self._partitions_expected) and sum(each.ended for each in tasks) == self._partitions_expected
