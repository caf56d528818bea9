"""``python examples/events``: a server and a client of it in one loop, which reads a few prices and leaves."""

from __future__ import annotations

import argparse
import asyncio
import sys

from events.app import application
from events.client import events
from events.server import serving


async def show(count: int, seconds: float) -> None:
    noted: list[str] = []
    async with serving(application(noted.append)) as address:
        await events(f"{address}/prices/RX?seconds={seconds}").take(count).do_on_next(print).ignore_elements()
    print(noted[-1])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="events", description="Server-sent events from a Flowable, and a client of them.")
    parser.add_argument("--count", type=int, default=5, help="how many prices the client reads before it leaves")
    parser.add_argument("--seconds", type=float, default=0.2, help="between two prices")
    options = parser.parse_args(arguments)
    asyncio.run(show(options.count, options.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
