"""The application on a socket of this machine, for as long as a block."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from starlette.applications import Starlette


@asynccontextmanager
async def serving(application: Starlette) -> AsyncIterator[str]:
    """Serve on a free port of loopback, in this loop; gives the address of the server."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = _Server(uvicorn.Config(application, log_level="warning", lifespan="off"))
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listening]))
            await server.begun.wait()
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.begun = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.begun.set()
