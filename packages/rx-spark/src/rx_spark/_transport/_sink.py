"""The driver's end of the credit sink: tasks connect, send a chunk per credit, and demand decides how far they run.

One I/O thread per job puts what arrives into the queue (:mod:`rx_spark._transport._credits`), and the consumer takes it out.
"""

from __future__ import annotations

import hmac
import logging
import math
import selectors
import socket
import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any, Final, NamedTuple

from rx_spark._transport._credits import Connection, CreditQueue, Frame, Partition
from rx_spark._transport._kept import send_copy
from rx_spark._transport._place import Place
from rx_spark._transport._wire import DATA, END, ERROR, FEED, HEADER, HELLO, KEPT, LEFT, dumps

TICK: Final = 0.1  #: seconds between looks at jobs that wait or that are being cancelled
STARVED: Final = 1.0  #: seconds without any progress before waiting tasks are relieved
COUNTED: Final = 5.0  #: seconds between looks at how many cores there are
LOG: Final = logging.getLogger("rx.spark")

_live: weakref.WeakSet[CreditSink] = weakref.WeakSet()


class Tasks(NamedTuple):
    """How many tasks of a job run, and how many wait for a slot."""

    running: int
    waiting: int


class CreditSink(CreditQueue):
    """``on_ready`` is called, from the I/O thread, when :meth:`take` may give something after it gave None."""

    def __init__(
        self,
        place: Place,
        on_ready: Callable[[], object],
        kill: Callable[[], object],
        *,
        holds_errors: bool = False,
        feed: Callable[[socket.socket], object] | None = None,
        tasks: Callable[[], Tasks] | None = None,
        grown: Callable[[], bool] | None = None,
    ) -> None:
        self._listener = place.listen()
        self._listener.setblocking(False)
        super().__init__(place.host, self._listener.getsockname()[1], holds_errors=holds_errors)
        self._on_ready, self._kill, self._feed, self._tasks, self._grown = on_ready, kill, feed, tasks, grown
        self._cancelled = False
        self._ended = False  # the I/O thread
        self._cancelled_at = math.inf
        self._asked = self._counted = 0.0  # when Spark was asked for tasks without a slot, and for its cores
        #: How many tasks ran at a time when some had no slot; 0: that has not happened.
        self.slots = 0
        self._running = False  # a job was submitted
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self.thread = threading.Thread(target=self._loop, name="rx-spark-sink", daemon=True)

    # --- called by the job ---------------------------------------------------------------------------------------

    def expect(self, partitions: int | None, total: int | None, *, rounds: bool = False, in_turn: bool = False) -> None:
        """Say how many tasks will report (None: as many as Spark makes of it), how many blocks an ordered job has, whether tasks
        may leave theirs to those of a further round, and whether items come task by task."""
        with self._lock:
            self._partitions_expected, self._total, self._rounds, self._in_turn = partitions, total, rounds, in_turn
            self._running = True
            self._progress = monotonic()
        _live.add(self)
        self._wake()  # a job without blocks is complete now

    def job_over(self, failure: Exception | None) -> None:
        """Spark's action has returned: what was sent has arrived, because tasks wait until the driver hangs up."""
        with self._lock:
            self._over, self._failure = True, self._lost or self._given_up or failure
        self._wake()

    def give_up(self, error: Exception) -> None:
        """Have Spark cancel the job, and tell ``error`` when it has cleaned up. Does nothing once a task has failed."""
        with self._lock:
            if not self._failed:
                self._failed, self._given_up = True, error
        self._wake()

    def deliver(self, items: list[Any]) -> None:
        """Items that the job's thread has, as if a task had sent them; there are no others."""
        with self._lock:
            partition = self._partitions.setdefault(0, Partition())
            if items:
                partition.frames.append(Frame(DATA, 0, len(items), dumps(items)))
                partition.in_memory += 1
                self.buffered += len(items)
                self.max_buffered = max(self.max_buffered, self.buffered)
            partition.ended = True
        self._wake()

    @property
    def silent(self) -> bool:
        """Whether no task has sent anything."""
        with self._lock:
            return not self._partitions

    @property
    def failed(self) -> bool:
        """Whether a task has told an error, or the job was given up."""
        with self._lock:
            return self._failed

    @property
    def lost(self) -> bool:
        """Whether items that were sent could not be kept: what the tasks tell is not whole, though they end as if it were."""
        with self._lock:
            return self._lost is not None

    def cancel(self) -> None:
        """Stop everything. Returns at once; the I/O thread hangs up, and asks Spark to cancel until the job is gone."""
        with self._lock:
            self._cancelled = True
            ended = self._ended
        self._wake()
        if ended:
            self.dispose()  # that thread is not there to do it

    def dispose(self) -> None:
        super().dispose()
        _live.discard(self)

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
                self._kill()  # no thread is left that would do it when the consumer cancels
            finally:
                for key in list(selector.get_map().values()):
                    if isinstance(key.fileobj, socket.socket):
                        key.fileobj.close()
                self._wake_out.close()
                _live.discard(self)
                with self._lock:
                    self._ended, cancelled = True, self._cancelled
                if cancelled:
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
        selector.register(sock, selectors.EVENT_READ, Connection(sock))

    def _drain_wakes(self) -> None:
        try:
            while self._wake_in.recv(4096):
                pass
        except OSError:
            pass

    def _receive(self, selector: selectors.BaseSelector, connection: Connection) -> None:
        try:
            data = connection.socket.recv(256 * 1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        over = not data
        if data and not self._stopped():
            connection.buffer += data
            with self._lock:
                over = not self._parse(connection)
            if connection.feeds and self._feed is not None:
                selector.unregister(connection.socket)
                connection.socket.setblocking(True)
                self._feed(connection.socket)
                return
            if connection.answer:
                selector.unregister(connection.socket)
                sent = (connection.socket, connection.answer)
                threading.Thread(target=send_copy, args=sent, name="rx-spark-copy", daemon=True).start()
                return
        if over or self._stopped():
            self._hang_up(selector, connection)

    def _parse(self, connection: Connection) -> bool:
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
            if number == FEED:
                connection.feeds = True
                return self._feed is not None
            self._greet(connection, number, attempt)
            at = HELLO.size
        while len(buffer) - at >= HEADER.size:
            kind, block, index, count, size = HEADER.unpack_from(buffer, at)
            if len(buffer) - at < HEADER.size + size:
                break
            at += HEADER.size
            self._store(connection, kind, block, index, count, bytes(buffer[at : at + size]))
            at += size
            if kind in (END, ERROR, LEFT, KEPT):
                return False
        del buffer[:at]
        return True

    def _hang_up(self, selector: selectors.BaseSelector, connection: Connection) -> None:
        selector.unregister(connection.socket)
        with self._lock:
            connection.socket.close()
            self._gone(connection)

    def _stopped(self) -> bool:
        """Whether nothing more is wanted: the consumer has cancelled, or what comes cannot be kept."""
        return self._cancelled or self._lost is not None

    def _tick(self, selector: selectors.BaseSelector) -> None:
        now = monotonic()
        if self._stopped():
            self._cancelled_at = min(self._cancelled_at, now)
            for key in list(selector.get_map().values()):
                if isinstance(key.data, Connection):
                    self._hang_up(selector, key.data)
            # Tasks that wait for credits end by themselves now. A task that Spark kills takes its Python worker along,
            # and the next job would have to wait for a new one.
            if now - self._cancelled_at >= TICK:
                self._kill()
            return
        if self._holds_errors and self._failed:
            self._kill()
            return
        try:
            self._adapt(now)
        except Exception:  # Spark is asked, and its session may have stopped: the job's thread gets to know that
            LOG.debug("Spark does not say what tasks and cores there are", exc_info=True)

    def _adapt(self, now: float) -> None:
        """Look whether tasks have to make room for others, or there is room for more of them."""
        with self._lock:
            idle = self._waiting and self._running and now - self._progress >= STARVED and self._next_partition() is None
        if idle and now - self._asked >= STARVED:
            self._asked = now
            self._make_room(now + STARVED)
        if self._rounds and self._grown is not None and now - self._counted >= COUNTED:
            before, self._counted = self._counted, now
            if before and self._grown():
                with self._lock:
                    self.slots = 0
                    self._leave()  # and go on with more tasks

    def _make_room(self, until: float) -> None:
        """The consumer waits and nothing comes: let tasks that wait for credits make room for those that wait for a slot."""
        tasks = self._tasks() if self._tasks is not None else Tasks(0, 0)
        with self._lock:
            partitions = [each for each in self._partitions.values() if not each.ended]
            here = [each.connection for each in partitions if each.connection is not None]
            # A task that was asked for a chunk computes it, one that runs and is not here yet starts.
            running = sum(len(each.connections) for each in partitions)
            held = tasks.running == running and not any(each.outstanding for each in here)
            if held and here and tasks.waiting and self._rounds:
                self.slots = len(here)
                self._leave()
                return
        if held and tasks.waiting:
            for other in [self] if here else [each for each in list(_live) if each is not self]:
                other._relieve(until)

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
