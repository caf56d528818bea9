"""What travels between executors and driver: pickled chunks, errors, and the frames of the credit sink.

Used on both sides, therefore light: no pyspark, no pyarrow.

A task says HELLO, hears WELCOME, which says what the driver has of an earlier attempt, and sends frames; each DATA frame uses up
one credit, and the driver returns one byte per credit. Frames: DATA (a chunk of one block), DONE (the block has no more), ERROR
(pickled), END (the task has no more blocks), LEFT (it has, but the driver asked it to leave its slot to others), and SEEN, ahead
of DONE or END: what was observed of all items of a block, or of a task. Its block is the number of that, its index the stage's.

A task that writes to a shuffle (KEEP) says which it is instead of its attempt. WELCOME says how many bytes follow, the copy of
what an earlier attempt gave; where there is none, the task sends one (KEPT).

A task that is fed by the driver (FEED) gets DATA and END frames instead, and sends one byte for each further one that it wants.
"""

from __future__ import annotations

import os
import pickle
import socket
import struct
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import is_
from typing import Any, Final

from rx_core._errors import WorkerInterruptedError, none_produced
from rx_spark._errors import NotPortableError, WorkerError

CHUNK: Final = 1024  #: items pickled together; 1.18 times the cost of staying in one process, single items 1.33
#: Rows that travel together where the driver makes the items. No function was called for them, and each chunk costs the driver a
#: quarter of a millisecond, as some five hundred rows do.
ROWS: Final = 4096
CELL_BYTES: Final = 8 * 1024 * 1024  #: a pickled chunk above this is split, down to single items
FRAME_BYTES: Final = 1024 * 1024  #: chunks on the way to the driver shrink until they are about this small

HEADER: Final = struct.Struct("!BqqIQ")  # kind, block, index of the first item in its partition, items, payload bytes
HELLO: Final = struct.Struct("!32sqq")  # token, partition (or REPORT), number of the attempt
#: The last block that the driver has whole (or NO_BLOCK), how many items it has up to there, and whether the task is to leave.
WELCOME: Final = struct.Struct("!qq?")
NO_BLOCK: Final = -1
DATA, DONE, ERROR, END, LEFT, SEEN, KEPT = 1, 2, 3, 4, 5, 6, 7
CREDIT: Final = b"+"  #: another chunk is wanted
LEAVE: Final = b"-"  #: the task is to end with the block it is at; a second one: at once
REPORT: Final = -1  #: the partition of tasks that have only an error to tell
FEED: Final = -2  #: the partition of a task that wants the driver's items
WITNESS: Final = -3  #: the partition of tasks that tell what they have seen, and send their items elsewhere
KEEP: Final = -4  #: the partition of tasks that write to a shuffle, and ask for the copy of an earlier attempt or send one
QUICK_SECONDS, SLOW_SECONDS = 0.02, 0.2


@dataclass(frozen=True)
class SinkAddress:
    """Where the driver listens, and the secret that lets a task in."""

    host: str
    port: int
    token: bytes = field(repr=False)


def dumps(value: object) -> bytes:
    """Pickle; cloudpickle where pickle cannot, as for classes that live in ``__main__`` or inside a function."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        import cloudpickle

        return bytes(cloudpickle.dumps(value))


def dump_items(items: Sequence[object]) -> bytes:
    """:func:`dumps` for items; what cannot travel is named by its type."""
    try:
        return dumps(items)
    except Exception as error:
        for item in items:
            try:
                dumps(item)
            except Exception as cause:
                raise NotPortableError(
                    f"an item of type {type(item).__qualname__} cannot be sent between processes: {cause}\n"
                    f"  Turn it into plain values first:  .map(lambda item: ...) before it has to leave the executor"
                ) from cause
        raise NotPortableError(f"items cannot be sent between processes: {error}") from error


def loads(data: bytes | memoryview) -> Any:
    return pickle.loads(data)


def refuse_none(items: Sequence[object], operator: str = "the Spark part of the pipeline") -> None:
    """None is not an item (RS 2.13). 25 ns per item; ``in`` would call the items' own ``__eq__``."""
    if any(map(is_, items, repeat(None))):
        raise none_produced(operator)


def cells(items: Sequence[object]) -> Iterator[bytes]:
    """Pickle in chunks of CHUNK items, in smaller ones where a cell gets above CELL_BYTES."""
    for at in range(0, len(items), CHUNK):
        yield from _split(items[at : at + CHUNK])


def _split(items: Sequence[object]) -> Iterator[bytes]:
    data = dump_items(items)
    if len(data) <= CELL_BYTES or len(items) == 1:
        yield data
        return
    middle = len(items) // 2
    yield from _split(items[:middle])
    yield from _split(items[middle:])


def next_size(count: int, size: int, payload: int, seconds: float, most: int = CHUNK) -> int:
    """How many items the next chunk has, ``most`` at most, when ``count`` of them took ``payload`` bytes and so many seconds."""
    if payload > FRAME_BYTES:
        return max(1, count * FRAME_BYTES // payload)
    if seconds > SLOW_SECONDS:
        return max(1, size // 4)
    if seconds < QUICK_SECONDS and payload < FRAME_BYTES // 4:
        return min(most, size * 4)
    return size


# --- errors -----------------------------------------------------------------------------------------------------------


#: How many causes of an error travel with it.
_CAUSES: Final = 8


def pack_error(error: BaseException) -> bytes:
    """An error as bytes that can be unpacked for sure: it is unpickled here, on the executor, to find out."""
    text = "".join(traceback.format_exception(error))
    cause = error.__cause__
    if type(error) is RuntimeError and isinstance(cause, StopIteration) and "raised StopIteration" in str(error):
        error = cause  # PEP 479 wrapped what the user's function raised inside a generator
    shown, kind = _safe_repr(error), type(error).__qualname__
    data = b""
    causes: list[bytes] = []
    if isinstance(error, Exception):
        data = _portable(error)
        while data and isinstance(error.__cause__, Exception) and len(causes) < _CAUSES:
            error = error.__cause__
            causes.append(_portable(error))
    ordinary = isinstance(error, Exception)
    return pickle.dumps((ordinary, data, causes, kind, shown, text, f"{_host()}, process {os.getpid()}"))


def _portable(error: Exception) -> bytes:
    """An exception pickled; nothing where that cannot be. One whose ``__init__`` takes other arguments than it passes on does not
    come back by its own way: it is made again of its class, its arguments and its attributes."""
    for pickled in (error, _Again(error)):
        try:
            data = dumps(pickled)
            if type(loads(data)) is type(error):
                return data
        except Exception:
            continue
    return b""


class _Again:
    """In the place of an exception where it is pickled."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self.error), self.error.args, vars(self.error))


def _made_again(kind: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]) -> Exception:
    made = kind.__new__(kind, *args)
    made.args = args
    vars(made).update(attributes)
    return made


def unpack_error(payload: bytes | memoryview) -> Exception:
    """The user's exception with its own type and the worker's traceback as a note; a WorkerError where that is
    impossible.
    """
    ordinary, data, causes, kind, shown, text, where = loads(payload)
    error = _unpacked(data)
    effect = error
    for each in causes:
        cause = _unpacked(each)
        if effect is None or cause is None:
            break
        effect.__cause__ = cause
        effect = cause
    if error is None and ordinary:
        error = WorkerError(
            f"{shown} was raised on an executor; a {kind} cannot be pickled, so this stands for it.",
            type_name=kind,
            shown=shown,
        )
    elif error is None:
        error = WorkerInterruptedError(f"{shown} ended the work of a Spark task; only Exceptions travel as signals")
    error.add_note(f"On an executor ({where}):\n{text.rstrip()}")
    return error


def _unpacked(data: bytes) -> Exception | None:
    if not data:
        return None
    try:
        error: Exception = loads(data)
    except Exception:
        return None
    return error


def _safe_repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__qualname__}>"


def _host() -> str:
    return socket.gethostname()


class FeedClosed(Exception):
    """The driver gives this task no more items, and knows why: the task fails, so that Spark commits nothing."""


# --- the executor's end of the sink -----------------------------------------------------------------------------------


def connect(address: SinkAddress, partition: int, attempt: int) -> socket.socket:
    """A task's connection to the driver, with HELLO said."""
    made = socket.create_connection((address.host, address.port), timeout=30)
    made.settimeout(None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        made.sendall(HELLO.pack(address.token, partition, attempt))
    except OSError:
        pass  # the driver has gone, which reading from it will say
    return made


class Link:
    """A task's connection to the driver. Blocks in :meth:`acquire` until the driver wants another chunk.

    Thread: the task's. Memory: one frame. Every method returns False once the driver has gone or has cancelled: then
    the task stops quietly, for the driver knows what it has and what is missing.
    """

    def __init__(self, address: SinkAddress, partition: int, attempt: int, *, resumes: bool = True) -> None:
        self._credits = 0
        self._socket = connect(address, partition, attempt)
        #: What the driver has of earlier attempts: all blocks up to this one, which are so many items. And how often it has asked
        #: this task to leave.
        self.block, self.index, self.leave = self._welcome()
        if not resumes:
            self.block, self.index = NO_BLOCK, 0

    def _welcome(self) -> tuple[int, int, int]:
        got = self.read(WELCOME.size)
        if got is None:
            return NO_BLOCK, 0, 0  # the driver has gone, which reading from it will say again
        block, index, leave = WELCOME.unpack(got)
        return block, index, int(leave)

    def acquire(self) -> bool:
        """Wait for a credit, which the next DATA frame uses up, not this call. False also for a task that is to leave."""
        while not self._credits and self.leave < 2:
            try:
                got = self._socket.recv(64)
            except OSError:
                return False
            if not got:
                return False
            self._credits += got.count(CREDIT)
            self.leave += got.count(LEAVE)
        return self.leave < 2

    def read(self, size: int) -> bytes | None:
        """What the driver sends behind its WELCOME; None when it has gone before the end of that."""
        got = bytearray()
        try:
            while len(got) < size:
                more = self._socket.recv(min(size - len(got), 256 * 1024))
                if not more:
                    return None
                got += more
        except OSError:
            return None
        return bytes(got)

    def send(self, kind: int, block: int, index: int, count: int = 0, payload: bytes = b"") -> bool:
        if kind == DATA:
            self._credits -= 1
        return self._send(HEADER.pack(kind, block, index, count, len(payload)) + payload)

    def _send(self, data: bytes) -> bool:
        try:
            self._socket.sendall(data)
        except OSError:
            return False
        return True

    def finish(self) -> None:
        """Half-close, then read until the driver closes.

        Closing with unread credits would reset the connection and lose what is still on its way.
        """
        try:
            self._socket.shutdown(socket.SHUT_WR)
            while self._socket.recv(64):
                pass
        except OSError:
            pass
        finally:
            self._socket.close()


def extend_path(entries: Sequence[str]) -> None:
    """Let this worker import what the driver can import (local mode: same machine, same interpreter)."""
    known = set(sys.path)
    sys.path.extend(entry for entry in entries if entry not in known)
