"""Threads that must not wait: those of an event loop, and those that several workers share.

A thread that sleeps until a stream signals does nothing else meanwhile. In an event loop that is everything else, and where the
stream needs the same loop or worker it never wakes. So who is about to sleep asks here first; what is computed without waiting is
never asked about.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rx_core import _hooks
from rx_core._switches import switch

_ALLOWED: Final = switch("RX_BLOCK_IN_LOOPS", default=False)
_here: Final = threading.local()

_IN_ASYNCIO: Final = (
    "an event loop of asyncio runs on it, which would stand still.\n"
    "  One item:     await stream.first(), await single\n"
    "  Many:         async with rx_asyncio.stream(flow) as items: ...      # from rx-asyncio\n"
    "  On a thread:  await asyncio.to_thread(stream.blocking_list)"
)


def waiting_refused(stream: object) -> RuntimeError | None:
    """The error where this thread must not wait for ``stream``, with what to write instead."""
    if _ALLOWED or getattr(_here, "allowed", 0) > 0:
        return None
    _hooks.ensure_loaded()
    refused = None if _hooks.waiting_refused is None else _hooks.waiting_refused()
    if refused is None:
        asyncio = sys.modules.get("asyncio")  # without it none of its loops runs either
        if asyncio is None or asyncio._get_running_loop() is None:
            return None
        refused = _IN_ASYNCIO
    return RuntimeError(
        f"{stream!r}: this thread must not wait for it, {refused}\n"
        f"  If it has to:  with rx_core.blocking_allowed(): ...          # or RX_BLOCK_IN_LOOPS=on in the environment"
    )


@contextmanager
def blocking_allowed() -> Iterator[None]:
    """Inside the block this thread may wait wherever it is, at the risk of who writes it: an event loop stands still meanwhile,
    and a stream that needs it, or a worker on this very thread, never comes."""
    _here.allowed = getattr(_here, "allowed", 0) + 1
    try:
        yield
    finally:
        _here.allowed -= 1
