"""Reactive streams inside asyncio: iterate, await, feed and consume them with backpressure, and schedule on the loop.

Importing this package does not import asyncio, nor the rest of it before it is used: its plugin is loaded by programs without
asyncio too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_asyncio._future import from_future as from_future
    from rx_asyncio._future import from_task as from_task
    from rx_asyncio._operators import filter_async as filter_async
    from rx_asyncio._operators import map_async as map_async
    from rx_asyncio._scheduler import AsyncioScheduler as AsyncioScheduler
    from rx_asyncio._scheduler import open_scheduler as open_scheduler
    from rx_asyncio._scheduler import scheduler as scheduler
    from rx_asyncio._sink import AsyncioSubscription as AsyncioSubscription
    from rx_asyncio._sink import subscribe as subscribe
    from rx_asyncio._source import from_action as from_action
    from rx_asyncio._source import from_async_iterable as from_async_iterable
    from rx_asyncio._source import from_queue as from_queue
    from rx_asyncio._stream import first as first
    from rx_asyncio._stream import stream as stream
    from rx_asyncio._stream import value as value
    from rx_asyncio._version import __version__ as __version__
    from rx_core.tasks import Stream as Stream
    from rx_core.tasks import StreamItems as StreamItems

_HOMES: Final = {
    "AsyncioScheduler": "_scheduler",
    "AsyncioSubscription": "_sink",
    "Stream": "_stream",
    "StreamItems": "_sink",
    "__version__": "_version",
    "filter_async": "_operators",
    "first": "_stream",
    "from_action": "_source",
    "from_async_iterable": "_source",
    "from_future": "_future",
    "from_queue": "_source",
    "from_task": "_future",
    "map_async": "_operators",
    "open_scheduler": "_scheduler",
    "scheduler": "_scheduler",
    "stream": "_stream",
    "subscribe": "_sink",
    "value": "_stream",
}

__all__ = [
    "AsyncioScheduler",
    "AsyncioSubscription",
    "Stream",
    "StreamItems",
    "__version__",
    "filter_async",
    "first",
    "from_action",
    "from_async_iterable",
    "from_future",
    "from_queue",
    "from_task",
    "map_async",
    "open_scheduler",
    "scheduler",
    "stream",
    "subscribe",
    "value",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"rx_asyncio.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})
