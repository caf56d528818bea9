"""Events over real sockets: a slow client holds its stream back, one that leaves cancels it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

import rx_asyncio
from events.__main__ import main as program
from events.app import application
from events.client import events
from events.response import EventResponse, data_of, event
from events.server import serving
from rx_ops import Flowable


class Noted:
    """What the application has noted, and waits for it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._changed = asyncio.Event()

    def __call__(self, what: str) -> None:
        self.counts[what] += 1
        self._changed.set()

    async def until(self, what: str) -> None:
        async with asyncio.timeout(30):
            while not self.counts[what]:
                self._changed.clear()
                await self._changed.wait()


def run(main: Callable[[str, Noted], Awaitable[None]], make: Callable[[Noted], object] | None = None) -> None:
    async def served() -> None:
        noted = Noted()
        async with serving(application(noted) if make is None else make(noted)) as address:  # type: ignore[arg-type]
            await main(address, noted)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, f"left behind: {others}"

    asyncio.run(served())


def test_all_rows_arrive_and_the_response_ends() -> None:
    async def main(address: str, noted: Noted) -> None:
        got = await events(f"{address}/rows?count=500").map(json.loads).map(lambda row: row["number"]).to_list()
        assert got == list(range(500))
        await noted.until("/rows complete")
        assert noted.counts["/rows cancelled"] == 0

    run(main)


def test_a_client_that_leaves_cancels_its_stream_and_no_other() -> None:
    async def main(address: str, noted: Noted) -> None:
        other = asyncio.create_task(_numbers(f"{address}/prices/B?seconds=0.01", 30))
        assert _rising(await _numbers(f"{address}/prices/A?seconds=0.001", 3)) == 3
        await noted.until("/prices/A cancelled")
        assert noted.counts["/prices/A complete"] == 0
        assert _rising(await other) == 30
        await noted.until("/prices/B cancelled")

    run(main)


async def _numbers(url: str, count: int) -> list[int]:
    return await events(url).take(count).map(json.loads).map(lambda price: int(price["number"])).to_list()


def _rising(numbers: list[int]) -> int:
    """How many there are. Those that were too old when the client had room for them are left out."""
    assert numbers == sorted(set(numbers))
    return len(numbers)


def test_a_slow_client_holds_its_stream_back() -> None:
    size, most = 64 * 1024, 200  # what sockets and their buffers may hold, generously: 13 MB

    async def main(address: str, noted: Noted) -> None:
        async with _slow(address, f"/rows?count=1000000&size={size}") as read:
            for taken in range(1, 60):
                await read()
                for _ in range(50):  # time for a server that knows no better to run ahead
                    await asyncio.sleep(0)
                assert noted.counts["/rows item"] <= taken + most
            # Another client is not held back meanwhile.
            assert _rising(await _numbers(f"{address}/prices/A?seconds=0.001", 20)) == 20
        await noted.until("/rows cancelled")  # it left while its stream was waiting

    run(main)


def test_the_control_a_server_that_does_not_wait_runs_ahead() -> None:
    """The same client, and a response that asks for everything: what is made is not bounded by what is read."""
    made: list[int] = []

    class Greedy(EventResponse):
        async def __call__(self, scope: object, receive: object, send: Callable[[dict[str, object]], Awaitable[None]]) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            kept: list[str] = []
            async with rx_asyncio.stream(self.flow) as items:
                async for item in items:
                    kept.append(item)
                    made.append(len(item))

    def make(_noted: Noted) -> object:
        from starlette.applications import Starlette
        from starlette.routing import Route

        async def greedy(_request: object) -> Greedy:
            return Greedy(Flowable.range(5_000).map(lambda _: "x" * 64))

        return Starlette(routes=[Route("/rows", greedy)])

    async def main(address: str, _noted: Noted) -> None:
        async with _slow(address, "/rows"):
            async with asyncio.timeout(30):
                while len(made) < 5_000:
                    await asyncio.sleep(0)

    run(main, make)


class _slow:
    """A client that reads an event when it is told to, through a small buffer."""

    def __init__(self, address: str, path: str) -> None:
        self._address = address
        self._path = path

    async def __aenter__(self) -> Callable[[], Awaitable[bytes]]:
        where = urlsplit(self._address)
        assert where.hostname is not None
        assert where.port is not None
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, (where.hostname, where.port))
        reader, self._writer = await asyncio.open_connection(sock=client, limit=256 * 1024)
        self._writer.write(f"GET {self._path} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())

        async def read() -> bytes:
            async with asyncio.timeout(30):
                return await reader.readuntil(b"\n\n")

        return read

    async def __aexit__(self, *_: object) -> None:
        self._writer.transport.abort()


def test_an_event_has_a_line_for_each_of_its_data() -> None:
    assert event("one\ntwo") == b"data: one\ndata: two\n\n"

    async def main() -> list[str]:
        async def lines() -> AsyncIterator[str]:
            for line in [*event("one\ntwo").decode().split("\n"), ": a comment", "", *event("three").decode().split("\n")]:
                yield line

        return [data async for data in data_of(lines())]

    assert asyncio.run(main()) == ["one\ntwo", "three"]


def test_the_program_prints_what_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert program(["--count", "2", "--seconds", "0.001"]) == 0
    *prices, last = capsys.readouterr().out.splitlines()
    assert _rising([json.loads(price)["number"] for price in prices]) == 2
    assert last == "/prices/RX cancelled"
