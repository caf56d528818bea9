"""A URL as a Flowable of its events, with a client of its own for each subscription."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

import rx_asyncio
from events.response import data_of
from rx_ops import Flowable


def events(url: str) -> Flowable[str]:
    """The data of the server-sent events of ``url``. Cancelling closes the connection; what is not asked for is not read."""

    async def received() -> AsyncIterator[str]:
        async with httpx.AsyncClient(timeout=None) as client, client.stream("GET", url) as response:
            response.raise_for_status()
            async for data in data_of(response.aiter_lines()):
                yield data

    return Flowable.wrap(rx_asyncio.from_async_iterable(received))
