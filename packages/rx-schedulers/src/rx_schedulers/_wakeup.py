"""A sleep with a limit, which another thread may end."""

from __future__ import annotations

from threading import TIMEOUT_MAX, Lock
from typing import Final, final


@final
class Wakeup:
    """Ends the sleep of one thread. A wake-up that comes before the sleep is kept; several are one.

    A lock that is free when there is a wake-up. ``SimpleQueue.get(timeout=...)`` would do the same, but CPython computes what is
    left of the timeout after a first look, and waits without a limit when less than nothing is left: a timer that was due within
    microseconds stopped its thread for ever. Releasing a lock never blocks, so a finalizer may wake a thread.
    """

    __slots__ = ("_free",)

    def __init__(self) -> None:
        self._free: Final = Lock()
        self._free.acquire()

    def sleep(self, seconds: float | None) -> bool:
        """Wait for a wake-up and take it; False after ``seconds``, if there is a limit."""
        return self._free.acquire(timeout=-1.0 if seconds is None or seconds > TIMEOUT_MAX else max(seconds, 0.0))

    def wake(self) -> None:
        try:
            self._free.release()
        except RuntimeError:  # it is free: there is a wake-up that was not taken yet
            pass
