"""Reactive streams inside trio: iterate, await, feed and consume them with backpressure, and schedule on the loop.

Importing this package does not import trio, nor the rest of it before it is used: its plugin is loaded by programs without trio
too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rx_core.tasks import Stream as Stream
    from rx_core.tasks import StreamItems as StreamItems
    from rx_trio._operators import filter_async as filter_async
    from rx_trio._operators import map_async as map_async
    from rx_trio._scheduler import TrioScheduler as TrioScheduler
    from rx_trio._scheduler import open_scheduler as open_scheduler
    from rx_trio._scheduler import scheduler as scheduler
    from rx_trio._sink import TrioSubscription as TrioSubscription
    from rx_trio._sink import subscribe as subscribe
    from rx_trio._sink import to_channel as to_channel
    from rx_trio._source import from_action as from_action
    from rx_trio._source import from_async_iterable as from_async_iterable
    from rx_trio._source import from_channel as from_channel
    from rx_trio._stream import first as first
    from rx_trio._stream import stream as stream
    from rx_trio._stream import value as value
    from rx_trio._version import __version__ as __version__

_HOMES: Final = {
    "Stream": "_stream",
    "StreamItems": "_sink",
    "TrioScheduler": "_scheduler",
    "TrioSubscription": "_sink",
    "__version__": "_version",
    "filter_async": "_operators",
    "first": "_stream",
    "from_action": "_source",
    "from_async_iterable": "_source",
    "from_channel": "_source",
    "map_async": "_operators",
    "open_scheduler": "_scheduler",
    "scheduler": "_scheduler",
    "stream": "_stream",
    "subscribe": "_sink",
    "to_channel": "_sink",
    "value": "_stream",
}

__all__ = [
    "Stream",
    "StreamItems",
    "TrioScheduler",
    "TrioSubscription",
    "__version__",
    "filter_async",
    "first",
    "from_action",
    "from_async_iterable",
    "from_channel",
    "map_async",
    "open_scheduler",
    "scheduler",
    "stream",
    "subscribe",
    "to_channel",
    "value",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"rx_trio.{home}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})
