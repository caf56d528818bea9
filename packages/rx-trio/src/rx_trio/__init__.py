"""Reactive streams inside trio: iterate, await, feed and consume them with backpressure, and schedule on the loop."""

from __future__ import annotations

from rx_trio._scheduler import TrioScheduler, open_scheduler, scheduler
from rx_trio._sink import TrioSubscription, subscribe, to_channel
from rx_trio._source import from_async_iterable, from_channel
from rx_trio._stream import Stream, StreamItems, first, stream, value
from rx_trio._version import __version__

__all__ = [
    "Stream",
    "StreamItems",
    "TrioScheduler",
    "TrioSubscription",
    "__version__",
    "first",
    "from_async_iterable",
    "from_channel",
    "open_scheduler",
    "scheduler",
    "stream",
    "subscribe",
    "to_channel",
    "value",
]
