"""Sources that count."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

from rx_core import FlowableBase, Subscriber
from rx_core.streams import Stopping, Stream
from tests.tasks.backends import Backend

T = TypeVar("T")


class Generated(Stream[T], FlowableBase[T]):
    """A passive source of this library: iterated without a queue."""

    def __init__(self, items: Callable[[], Iterator[T]]) -> None:
        self.items = items
        self.closed = 0

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        raise AssertionError("a passive source is iterated")

    def _passive_items(self, _run: Stopping | None, _beneath: object = None, /) -> Iterator[T]:
        try:
            yield from self.items()
        finally:
            self.closed += 1


def counted(n: int) -> Generated[int]:
    return Generated(lambda: iter(range(n)))


class Leave(BaseException):
    """Of no library, and of no program."""


class Ticks:
    """An async generator function that counts what is pulled and how it ends."""

    def __init__(self, backend: Backend, n: int | None = None, *, wait: bool = False) -> None:
        self.backend = backend
        self.n = n
        self.wait = wait
        self.pulled = 0
        self.ends: list[str] = []

    async def __call__(self) -> AsyncIterator[int]:
        try:
            while self.n is None or self.pulled < self.n:
                if self.wait:
                    await self.backend.sleep(1)
                self.pulled += 1
                yield self.pulled
        except BaseException as error:
            self.ends.append(type(error).__name__)
            raise
        finally:
            self.ends.append("closed")
