"""``await single``: the async library that runs here, found through its plugin. rx_core knows none itself."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, cast

from rx_core import _hooks


def awaiting(source: object, without: str) -> Generator[object, object, Any]:
    """What ``source.__await__()`` gives; ``without`` is the method that waits on a thread instead."""
    _hooks.ensure_loaded()
    find = _hooks.awaitable
    found = None if find is None else cast("Awaitable[Any] | None", find(source))
    if found is None:
        known = "no plugin for an async library is installed" if find is None else "no async library that is known runs here"
        raise RuntimeError(
            f"{source!r} was awaited, and {known}.\n"
            f"  In asyncio:     install rx-asyncio, and await it in what asyncio.run(...) runs\n"
            f"  In trio:        install rx-trio, and await it in what trio.run(...) runs\n"
            f"  Without async:  {without}"
        )
    return cast("Generator[object, object, Any]", found.__await__())
