"""asyncio as the shared parts of rx_core.tasks see it."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError, Task, current_task, sleep
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, final

from rx_asyncio._scope import AsyncioCrew, Scope
from rx_asyncio._wakeup import AsyncioWakeup, call_in_loop, current_loop, running_loop
from rx_core import dropped
from rx_core.tasks import Ending, Loop

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

A = TypeVar("A")
T = TypeVar("T")

#: Tasks that no TaskGroup owns: an event loop refers to them weakly.
_tasks: Final[set[Task[Any]]] = set()


@final
class AsyncioLoop(Loop):
    """One event loop of asyncio, or of what takes its place."""

    __slots__ = ("loop",)

    package: ClassVar[str] = "rx_asyncio"
    owner: ClassVar[str] = "TaskGroup"
    cancelled: ClassVar[type[BaseException]] = CancelledError
    busy: ClassVar[type[Exception]] = RuntimeError

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    @classmethod
    def here(cls, call: str, /) -> AsyncioLoop:
        return cls(current_loop(call))

    @classmethod
    def find(cls) -> AsyncioLoop | None:
        loop = running_loop()
        return None if loop is None else cls(loop)

    @classmethod
    def run(cls, main: Callable[[Any], Coroutine[Any, Any, None]], /) -> None:
        asyncio.run(main(None))

    def is_here(self) -> bool:
        return running_loop() is self.loop

    def call(self, function: Callable[[A], object], argument: A, /) -> bool:
        return call_in_loop(self.loop, function, argument)

    def task(self) -> Hashable | None:
        loop = running_loop()
        return None if loop is None else current_task(loop)

    def wakeup(self) -> AsyncioWakeup:
        return AsyncioWakeup(self.loop)

    def scope(self) -> Scope:
        return Scope()

    def event(self) -> asyncio.Event:
        return asyncio.Event()

    def turns(self) -> AbstractAsyncContextManager[object]:
        return asyncio.Lock()

    def crew(self) -> AsyncioCrew:
        return AsyncioCrew()

    def spawn(
        self,
        owner: asyncio.TaskGroup | None,
        function: Callable[[], Coroutine[Any, Any, None]],
        lost: Callable[[], None],
        origin: object,
        /,
    ) -> None:
        coroutine = function()
        try:
            if owner is None:
                task = self.loop.create_task(coroutine, name=repr(origin))
                _tasks.add(task)
            else:
                task = owner.create_task(coroutine, name=repr(origin))
        except BaseException:
            coroutine.close()  # or it would warn that it was never awaited
            raise
        task.add_done_callback(partial(_ended, lost, owner is None, origin))

    async def checkpoint(self) -> None:
        await sleep(0)

    async def outlast(self, endings: Sequence[Ending], /) -> None:
        for ending in endings:
            while True:
                try:
                    await ending.ended()
                    break
                except CancelledError:  # the caller raises the first one
                    for each in endings:
                        each.hurry()

    async def limited(self, seconds: float, awaitable: Awaitable[T], late: Callable[[], Exception], /) -> T:
        try:
            async with asyncio.timeout(seconds) as limit:
                return await awaitable
        except TimeoutError:
            if limit.expired():
                raise late() from None
            raise


def _ended(lost: Callable[[], None], alone: bool, origin: object, task: Task[Any]) -> None:
    _tasks.discard(task)
    lost()
    if alone and not task.cancelled():
        failure = task.exception()
        if isinstance(failure, Exception):  # the others have left the loop already
            dropped(failure, origin)


def owned(call: str, group: object) -> None:
    """Refuse what is no TaskGroup."""
    if group is not None and not isinstance(group, asyncio.TaskGroup):
        raise TypeError(
            f"rx_asyncio.{call}() takes the TaskGroup that its task is to belong to, or none, got {group!r}.\n"
            f"  async with asyncio.TaskGroup() as group:\n"
            f"      source = rx_asyncio.{call}(..., group=group)"
        )
