"""A function that cannot be sent to executors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final


def _holding() -> Callable[[int], int]:
    lock = threading.Lock()

    def locked(number: int) -> int:
        with lock:
            return number

    locked.__qualname__ = "locked"
    return locked


LOCKED: Final = _holding()
