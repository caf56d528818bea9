"""Two streams over HTTP: prices, of which a slow client gets the newest, and rows, of which every client gets all."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route

import rx_asyncio
from events.response import EventResponse
from rx_ops import Flowable

if TYPE_CHECKING:
    from starlette.requests import Request

#: What becomes of the streams of requests; a program would write it to its log.
Note = Callable[[str], object]


def prices(symbol: str, seconds: float) -> Flowable[str]:
    """A price each ``seconds``. Nothing is kept for a client that is too slow: it goes on with the newest."""
    walk = Random(symbol)

    def quote(number: int) -> str:
        return json.dumps({"number": number, "symbol": symbol, "price": round(100 + walk.gauss(0, 5), 2)})

    return Flowable.interval(seconds, scheduler=rx_asyncio.scheduler()).map(quote).on_backpressure_latest()


def rows(count: int, size: int) -> Flowable[str]:
    """``count`` rows of ``size`` characters. The next one is made when the client has room for it."""
    return Flowable.range(count).map(lambda number: json.dumps({"number": number, "row": "x" * size}))


def application(note: Note = print) -> Starlette:
    def watched(request: Request, flow: Flowable[str]) -> EventResponse:
        where = request.url.path
        return EventResponse(
            flow.do_on_next(lambda _item: note(f"{where} item"))
            .do_on_cancel(lambda: note(f"{where} cancelled"))
            .do_on_complete(lambda: note(f"{where} complete"))
        )

    async def send_prices(request: Request) -> EventResponse:
        seconds = float(request.query_params.get("seconds", "1"))
        return watched(request, prices(request.path_params["symbol"], seconds))

    async def send_rows(request: Request) -> EventResponse:
        count, size = (int(request.query_params.get(name, default)) for name, default in (("count", "10"), ("size", "10")))
        return watched(request, rows(count, size))

    return Starlette(routes=[Route("/prices/{symbol}", send_prices), Route("/rows", send_rows)])
