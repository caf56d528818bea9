"""What the processes of a pool and their parent send one another: pickles, each behind its length."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any, Final

_LENGTH: Final = struct.Struct(">Q")


def write_frame(file: IO[bytes], data: bytes) -> None:
    file.write(_LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def read_frame(file: IO[bytes]) -> bytes:
    """EOFError when the other side has gone."""
    (length,) = _LENGTH.unpack(_exactly(file, _LENGTH.size))
    return _exactly(file, length)


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data


def dumps(value: Any) -> bytes:
    """Pickle; cloudpickle for lambdas and for what is defined in the program itself, which a new process does not load.

    ImportError where that is needed and not installed.
    """
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        data = b"__main__"
    if b"__main__" not in data:
        return data
    import cloudpickle

    return bytes(cloudpickle.dumps(value, pickle.HIGHEST_PROTOCOL))
