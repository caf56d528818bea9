"""Files as bytes, whatever they are packed with: the end of the name says it, as it does to Spark."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zlib
from typing import IO, Any, Final, cast

from rx_spark._errors import BadFileError

#: Names' ends to what packed the file.
PACKED: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


def packed(path: str) -> bool:
    """Whether a file has to be read from its start, so that one task reads all of it."""
    return os.path.splitext(path)[1] in PACKED


def open_bytes(path: str) -> IO[bytes]:
    """A file's bytes, unpacked. Errors: those of ``open``; when it is read those for which :func:`bad_file` has an error."""
    match PACKED.get(os.path.splitext(path)[1]):
        case "gzip":
            return cast("IO[bytes]", gzip.open(path, "rb"))  # for the caller
        case "bz2":
            return cast("IO[bytes]", bz2.open(path, "rb"))
        case "zstd":
            import pyarrow as pa

            # Python has a reader of its own since 3.14; pyarrow is there anyway, and also says so when the end is missing.
            stream: Any = pa.CompressedInputStream(pa.OSFile(path), "zstd")
            return cast("IO[bytes]", io.BufferedReader(stream, 1 << 16))
        case _:
            return open(path, "rb")


def bad_file(path: str, error: Exception) -> BadFileError | None:
    """What is to be raised for an error in the middle of a packed file; None for one that says enough."""
    if not packed(path) or (isinstance(error, OSError) and error.filename is not None) or not isinstance(error, _DAMAGED):
        return None
    return BadFileError(
        f"{path} cannot be read: {str(error).rstrip('.')}.\n"
        f"  It is cut off or damaged: fetch or write it again, or leave it out of the paths",
        path=path,
    )


#: zlib.error is an Exception of its own, and what pyarrow raises is an OSError.
_DAMAGED: Final = (EOFError, OSError, zlib.error)
