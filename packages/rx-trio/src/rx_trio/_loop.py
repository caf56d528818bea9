"""trio as the shared parts of rx_core.tasks see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, final

import trio
from trio.lowlevel import checkpoint

from rx_core.tasks import Ending, Loop
from rx_trio._wakeup import TrioWakeup, call_in_loop, current_token, in_loop

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

A = TypeVar("A")
T = TypeVar("T")


@final
class TrioLoop(Loop):
    """One trio run."""

    __slots__ = ("_token",)

    package: ClassVar[str] = "rx_trio"
    owner: ClassVar[str] = "nursery"
    cancelled: ClassVar[type[BaseException]] = trio.Cancelled
    busy: ClassVar[type[Exception]] = trio.BusyResourceError

    def __init__(self, token: trio.lowlevel.TrioToken) -> None:
        self._token = token

    @classmethod
    def here(cls, call: str, /) -> TrioLoop:
        return cls(current_token(call))

    @classmethod
    def find(cls) -> TrioLoop | None:
        return cls(trio.lowlevel.current_trio_token()) if trio.lowlevel.in_trio_run() else None

    @classmethod
    def run(cls, main: Callable[[Any], Coroutine[Any, Any, None]], /) -> None:
        async def with_nursery() -> None:
            async with trio.open_nursery() as nursery:
                await main(nursery)
                nursery.cancel_scope.cancel()

        trio.run(with_nursery)

    def is_here(self) -> bool:
        return in_loop(self._token)

    def call(self, function: Callable[[A], object], argument: A, /) -> bool:
        return call_in_loop(self._token, function, argument)

    def task(self) -> Hashable | None:
        return trio.lowlevel.current_task() if trio.lowlevel.in_trio_task() else None

    def wakeup(self) -> TrioWakeup:
        return TrioWakeup(self._token)

    def scope(self) -> trio.CancelScope:
        return trio.CancelScope()

    def event(self) -> trio.Event:
        return trio.Event()

    def turns(self) -> AbstractAsyncContextManager[object]:
        return trio.Lock()

    def crew(self) -> TrioCrew:
        return TrioCrew()

    def spawn(
        self,
        owner: trio.Nursery,
        function: Callable[[], Coroutine[Any, Any, None]],
        lost: Callable[[], None],
        origin: object,
        /,
    ) -> None:
        owner.start_soon(function, name=repr(origin))  # trio begins every task: none is lost

    async def checkpoint(self) -> None:
        await checkpoint()

    async def outlast(self, endings: Sequence[Ending], /) -> None:
        with trio.CancelScope(shield=True):
            for ending in endings:
                await ending.ended()

    async def limited(self, seconds: float, awaitable: Awaitable[T], late: Callable[[], Exception], /) -> T:
        with trio.move_on_after(seconds):
            return await awaitable
        raise late()


@final
class TrioCrew:
    """A nursery whose tasks are cancelled from here only."""

    __slots__ = ("_manager", "_nursery")

    _nursery: trio.Nursery

    def __init__(self) -> None:
        self._manager = trio.open_nursery()

    def start(self, function: Callable[..., Coroutine[Any, Any, None]], /, *arguments: Any) -> None:
        self._nursery.start_soon(function, *arguments)

    def leave(self) -> None:
        pass  # a nursery knows

    def cancel(self) -> None:
        self._nursery.cancel_scope.cancel()

    @property
    def is_cancelled(self) -> bool:
        return self._nursery.cancel_scope.cancel_called

    async def __aenter__(self) -> TrioCrew:
        self._nursery = await self._manager.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None:
        return await self._manager.__aexit__(kind, error, trace)


def owned(call: str, nursery: object) -> None:
    """Refuse what is no nursery."""
    if not isinstance(nursery, trio.Nursery):
        raise TypeError(
            f"rx_trio.{call}() needs the nursery its task is to live in, got {nursery!r}.\n"
            f"  async with trio.open_nursery() as nursery:\n"
            f"      source = rx_trio.{call}(..., nursery=nursery)"
        )
