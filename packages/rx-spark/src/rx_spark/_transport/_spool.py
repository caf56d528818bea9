"""The driver's temporary file: what tasks had to send before the consumer asked for it.

The file has no name: it is gone with its last descriptor, however this process ends.
"""

from __future__ import annotations

import errno
import os
import tempfile
from typing import Final

from rx_spark._errors import SparkJobError

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Spool:
    """Payloads by their places. The caller's lock holds it together."""

    def __init__(self) -> None:
        self._file: int | None = None
        self._kept = 0  # payloads that were not taken
        #: Bytes up to the end of the last one.
        self.size = 0

    def put(self, payload: bytes) -> tuple[int, int]:
        """Where the payload is now. SparkJobError, with the folder, where it cannot be written."""
        try:
            if self._file is None:
                with tempfile.TemporaryFile(prefix="rx-spark-") as file:
                    self._file = os.dup(file.fileno())
            at, view = self.size, memoryview(payload)
            while view:
                written = os.pwrite(self._file, view, at)
                at, view = at + written, view[written:]
        except OSError as error:
            raise self._no_place(error, len(payload)) from error
        place = self.size, len(payload)
        self.size = at
        self._kept += 1
        return place

    def take(self, at: int, size: int) -> bytes:
        assert self._file is not None
        payload = os.pread(self._file, size, at)
        self._kept -= 1
        if not self._kept:
            self.size = 0
            os.ftruncate(self._file, 0)
        return payload

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._kept = self.size = 0

    def _no_place(self, error: OSError, size: int) -> SparkJobError:
        full = "is full" if error.errno in _FULL else "cannot be written to"
        return SparkJobError(
            f"the disk under {_folder()}, where this process keeps what tasks have sent and the stream has not asked for, "
            f"{full}: {error.strerror or error} ({self.size + size:,} bytes were to be there).\n"
            f"  Another folder:  TMPDIR=/large/tmp, in the environment before this process starts"
        )


def _folder() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # none can be written to
        return os.environ.get("TMPDIR", "/tmp")
