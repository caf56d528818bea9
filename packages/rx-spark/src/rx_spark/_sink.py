"""The driver's end of the credit sink: tasks connect, send a chunk per credit, and demand decides how far they run.

A *partition* is one of the job's last stage. It may have WINDOW chunks here or on their way; taking one out returns the
credit. In an ordered job the *front* is the number of the block whose elements come next; partitions that are ahead wait
with their window full. A task that Spark runs again takes its partition over, and elements that came before are dropped by
their index.

When order needs a block whose task has no slot to run in while other tasks wait for credits (fewer slots than partitions, or
streams of other jobs that hold all slots), the waiting tasks get credits all the same and what they send goes to a
temporary file, until the missing task runs: slow, on disk, but never a deadlock and never unbounded memory.

Threads: one I/O thread per job; everything shared is under one lock, held for some microseconds per chunk.
"""

from __future__ import annotations

import hmac
import logging
import math
import os
import secrets
import selectors
import socket
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from rx_spark._errors import SparkJobError
from rx_spark._wire import DATA, DONE, END, ERROR, HEADER, HELLO, REPORT, SinkAddress

WINDOW: Final = 2  #: chunks per partition, here and on their way
TICK: Final = 0.1  #: seconds between looks at jobs that wait or that are being cancelled
STARVED: Final = 1.0  #: seconds without any progress before waiting tasks are relieved
LOG: Final = logging.getLogger("rx.spark")

_live: weakref.WeakSet[CreditSink] = weakref.WeakSet()


@dataclass(slots=True)
class Frame:
    kind: int
    block: int
    count: int = 0
    payload: bytes = b""
    skip: int = 0  # elements at its start that an earlier attempt had sent already
    spooled: tuple[int, int] | None = None  # where the payload is in the temporary file


class _Partition:
    __slots__ = ("attempt", "connection", "done", "ended", "frames", "in_memory", "outstanding", "received")

    def __init__(self) -> None:
        self.attempt = -1
        self.connection: _Connection | None = None
        self.frames: deque[Frame] = deque()
        self.in_memory = 0  # DATA frames in the queue whose payload is in memory
        self.outstanding = 0  # credits given and not yet used
        self.received = 0  # elements of all attempts so far
        self.done = -1  # the last block that was finished
        self.ended = False


class _Connection:
    __slots__ = ("buffer", "partition", "socket")

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.buffer = bytearray()
        self.partition: _Partition | None = None


class CreditSink:
    """``on_ready`` is called, from the I/O thread, when :meth:`take` may give something after it gave None.

    ``max_buffered`` is the largest number of elements held in memory at a time, ``spilled`` how many went to disk.
    """

    def __init__(self, host: str, on_ready: Callable[[], object], kill: Callable[[], object]) -> None:
        self._listener = socket.create_server((host, 0), backlog=128)
        self._listener.setblocking(False)
        self.address = SinkAddress(host, self._listener.getsockname()[1], secrets.token_hex(16).encode())
        self.buffered = self.max_buffered = self.spilled = 0
        self._on_ready, self._kill = on_ready, kill
        self._lock = threading.Lock()
        self._partitions: dict[int, _Partition] = {}
        self._front = 0
        self._total: int | None = None  # blocks of an ordered job
        self._partitions_expected = 0
        self._waiting = True  # polls that came before there was a sink were told to wait
        self._cancelled = False
        self._cancelled_at = math.inf
        self._running = False  # a job was submitted
        self._over = False  # Spark's action has returned
        self._failure: Exception | None = None
        self._progress = monotonic()
        self._relieved_until = 0.0
        self._spool: int | None = None
        self._spool_end = 0
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self.thread = threading.Thread(target=self._loop, name="rx-spark-sink", daemon=True)

    # --- called by the job ---------------------------------------------------------------------------------------

    def expect(self, partitions: int, total: int | None) -> None:
        """Say how many tasks will report and, for an ordered job, how many blocks there are."""
        with self._lock:
            self._partitions_expected, self._total = partitions, total
            self._running = True
            self._progress = monotonic()
        _live.add(self)
        self._wake()  # a job without blocks is complete now

    def job_over(self, failure: Exception | None) -> None:
        """Spark's action has returned: what was sent has arrived, because tasks wait until the driver hangs up."""
        with self._lock:
            self._over, self._failure = True, failure
        self._wake()

    def cancel(self) -> None:
        """Stop everything. Returns at once; the I/O thread hangs up, and asks Spark to cancel until the job is gone."""
        self._cancelled = True
        self._wake()

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
                at, size = frame.spooled
                assert self._spool is not None
                frame.payload = os.pread(self._spool, size, at)
            return frame

    def taken(self, count: int) -> None:
        """The consumer is through with a chunk of ``count`` elements."""
        with self._lock:
            self.buffered -= count

    def dispose(self) -> None:
        """Forget what was not consumed."""
        with self._lock:
            for partition in self._partitions.values():
                partition.frames.clear()
                partition.in_memory = 0
            self.buffered = 0
            if self._spool is not None:
                os.close(self._spool)
                self._spool = None
        _live.discard(self)

    # --- the queue, under the lock ---------------------------------------------------------------------------------

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

    def _next_partition(self) -> _Partition | None:
        """The partition whose first frame is next: the one of the front, or any in an unordered job."""
        for key, partition in self._partitions.items():
            if partition.frames:
                head = partition.frames[0]
                if self._total is None or head.block == self._front or (head.kind == ERROR and head.block < self._front):
                    if self._total is None:
                        self._partitions[key] = self._partitions.pop(key)  # to the end: partitions take turns
                    return partition
        return None

    def _nothing(self) -> Frame | None:
        ended = sum(partition.ended for key, partition in self._partitions.items() if key != REPORT)
        if self._total is None and self._partitions_expected and ended == self._partitions_expected:
            return Frame(END, 0)
        if self._over:
            if self._failure is not None:
                raise self._failure
            raise SparkJobError(
                f"Spark reports success, but only {ended} of {self._partitions_expected} tasks delivered their elements to "
                f"the driver at {self.address.host}:{self.address.port}.\n"
                f"  Can the executors reach that address?  Set spark.driver.host to one they can"
            )
        return None

    def _grant(self, partition: _Partition) -> None:
        """Fill the partition's window with credits."""
        connection = partition.connection
        missing = WINDOW - partition.outstanding - partition.in_memory
        if missing > 0 and connection is not None:
            partition.outstanding += missing
            try:
                connection.socket.send(b"+" * missing)  # a few bytes at a time: they always fit the socket's buffer
            except OSError:
                pass  # the I/O thread sees the end of this connection too

    def _store(self, connection: _Connection, kind: int, block: int, index: int, count: int, payload: bytes) -> None:
        partition = connection.partition
        if partition is None or partition.connection is not connection:
            return  # an older attempt that another one has replaced
        self._progress = monotonic()
        if kind == END:
            partition.ended = True
        elif kind == DONE:
            if self._total is not None and block > partition.done:
                partition.frames.append(Frame(DONE, block))
                partition.done = block
        elif kind == ERROR:
            partition.frames.append(Frame(ERROR, block, 0, payload))
        else:
            self._store_data(partition, Frame(DATA, block, count, payload, max(0, partition.received - index)), index)

    def _store_data(self, partition: _Partition, frame: Frame, index: int) -> None:
        partition.outstanding -= 1
        if frame.skip >= frame.count:
            self._grant(partition)
            return
        partition.received = index + frame.count
        fresh = frame.count - frame.skip
        if partition.in_memory < WINDOW:
            partition.in_memory += 1
            self.buffered += fresh
            self.max_buffered = max(self.max_buffered, self.buffered)
        else:
            frame.spooled = self._to_disk(frame.payload)
            frame.payload = b""
            self.spilled += fresh
        partition.frames.append(frame)
        if self._progress < self._relieved_until:
            self._relieve_partition(partition)

    def _to_disk(self, payload: bytes) -> tuple[int, int]:
        if self._spool is None:
            with tempfile.TemporaryFile(prefix="rx-spark-") as file:
                self._spool = os.dup(file.fileno())
        at = self._spool_end
        view = memoryview(payload)
        while view:
            view = view[os.pwrite(self._spool, view, self._spool_end) :]
            self._spool_end = at + len(payload) - len(view)
        return at, len(payload)

    def _relieve_partition(self, partition: _Partition) -> None:
        connection = partition.connection
        if connection is not None and not partition.outstanding and not partition.ended:
            partition.outstanding = 1
            try:
                connection.socket.send(b"+")
            except OSError:
                pass

    def _relieve(self, until: float) -> None:
        with self._lock:
            self._relieved_until = until
            for partition in self._partitions.values():
                self._relieve_partition(partition)

    # --- the I/O thread ----------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        try:
            self._wake_out.send(b"!")
        except OSError:
            pass  # full: a wake-up is on its way; closed: no thread is left to wake

    def _loop(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wake_in, selectors.EVENT_READ)
            try:
                while not self._finished():
                    for key, _ in selector.select(TICK):
                        self._serve(selector, key)
                    self._tick(selector)
                    self._notify()
            except Exception as error:
                LOG.exception("the credit sink failed")
                with self._lock:
                    self._failure, self._over = self._failure or error, True
            finally:
                for key in list(selector.get_map().values()):
                    if isinstance(key.fileobj, socket.socket):
                        key.fileobj.close()
                self._wake_out.close()
                _live.discard(self)
                if self._cancelled:
                    self.dispose()
                else:
                    self._notify()

    def _finished(self) -> bool:
        with self._lock:
            return self._over

    def _serve(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._listener:
            self._accept(selector)
        elif key.fileobj is self._wake_in:
            self._drain_wakes()
        else:
            self._receive(selector, key.data)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(sock, selectors.EVENT_READ, _Connection(sock))

    def _drain_wakes(self) -> None:
        try:
            while self._wake_in.recv(4096):
                pass
        except OSError:
            pass

    def _receive(self, selector: selectors.BaseSelector, connection: _Connection) -> None:
        try:
            data = connection.socket.recv(256 * 1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        over = not data
        if data and not self._cancelled:
            connection.buffer += data
            with self._lock:
                over = not self._parse(connection)
        if over or self._cancelled:
            self._hang_up(selector, connection)

    def _parse(self, connection: _Connection) -> bool:
        """Store the whole frames of the buffer; False when this connection has said all, or must not say anything."""
        buffer = connection.buffer
        at = 0
        if connection.partition is None:
            if len(buffer) < HELLO.size:
                return True
            token, number, attempt = HELLO.unpack_from(buffer)
            if not hmac.compare_digest(token, self.address.token):
                LOG.warning("a connection without the right token was refused")
                return False
            self._greet(connection, number, attempt)
            at = HELLO.size
        while len(buffer) - at >= HEADER.size:
            kind, block, index, count, size = HEADER.unpack_from(buffer, at)
            if len(buffer) - at < HEADER.size + size:
                break
            at += HEADER.size
            self._store(connection, kind, block, index, count, bytes(buffer[at : at + size]))
            at += size
            if kind in (END, ERROR):
                return False
        del buffer[:at]
        return True

    def _greet(self, connection: _Connection, number: int, attempt: int) -> None:
        partition = self._partitions.setdefault(number, _Partition())
        connection.partition = partition
        if number == REPORT:
            partition.connection = connection
        elif attempt > partition.attempt and not partition.ended:
            partition.attempt, partition.connection, partition.outstanding = attempt, connection, 0
            self._progress = monotonic()
            self._grant(partition)

    def _hang_up(self, selector: selectors.BaseSelector, connection: _Connection) -> None:
        selector.unregister(connection.socket)
        with self._lock:
            connection.socket.close()
            if connection.partition is not None and connection.partition.connection is connection:
                connection.partition.connection = None

    def _tick(self, selector: selectors.BaseSelector) -> None:
        now = monotonic()
        if self._cancelled:
            self._cancelled_at = min(self._cancelled_at, now)
            for key in list(selector.get_map().values()):
                if isinstance(key.data, _Connection):
                    self._hang_up(selector, key.data)
            # Tasks that wait for credits end by themselves now. A task that Spark kills takes its Python worker along,
            # and the next job would have to wait for a new one.
            if now - self._cancelled_at >= TICK:
                self._kill()
            return
        with self._lock:
            idle = self._waiting and self._running and now - self._progress >= STARVED and self._next_partition() is None
            starved = idle and not any(partition.connection for partition in self._partitions.values())
        if starved:  # no task of this job runs: others may be holding all slots
            for other in list(_live):
                if other is not self:
                    other._relieve(now + STARVED)
        elif idle:
            self._relieve(now + STARVED)

    def _notify(self) -> None:
        with self._lock:
            ready = self._waiting and (self._over or self._next_partition() is not None or self._complete())
            if ready:
                self._waiting = False
        if ready:
            try:
                self._on_ready()
            except Exception:
                LOG.exception("on_ready failed")

    def _complete(self) -> bool:
        if self._total is not None:
            return self._front >= self._total
        return (
            bool(self._partitions_expected)
            and sum(partition.ended for key, partition in self._partitions.items() if key != REPORT) == self._partitions_expected
        )
