"""A Flowable as the body of a response: server-sent events, at the pace of the client.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.responses import Response

import rx_asyncio
from rx_ops import Flowable, Single

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class EventResponse(Response):
    """Sends each item as an event.

    ``send`` waits while the connection takes no more, and the next item is asked for behind it: so a slow client holds its own
    stream back and no other. A client that leaves completes ``left``, which cancels the stream, also while ``send`` waits.
    """

    media_type = "text/event-stream"

    def __init__(self, flow: Flowable[str]) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self.flow = flow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        left = Single.wrap(rx_asyncio.from_task(lambda: _left(receive)))
        async with rx_asyncio.stream(self.flow.take_until(left.to_flowable()), prefetch=1) as items:
            async for item in items:
                await send({"type": "http.response.body", "body": event(item), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> str:
    """Return when the client has closed the connection."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return "left"


def event(data: str) -> bytes:
    return b"".join(f"data: {line}\n".encode() for line in data.split("\n")) + b"\n"


async def data_of(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """What the events of a response's ``lines`` carry."""
    data: list[str] = []
    async for line in lines:
        if line.startswith("data: "):
            data.append(line.removeprefix("data: "))
        elif not line and data:
            yield "\n".join(data)
            data = []
