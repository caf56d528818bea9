"""A stream that ends in an async function: it is called for each item, in a task that a nursery or a TaskGroup owns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core._disposables import BaseDisposable
from rx_core._errors import name_of

if TYPE_CHECKING:
    from rx_core._protocols import Publisher
    from rx_core.tasks._items import StreamItems
    from rx_core.tasks._loop import Crew, Loop, Scope

T = TypeVar("T")


def not_awaitable(call: str, function: object, result: object, otherwise: str) -> TypeError:
    """For a user's function that returned what cannot be awaited; ``otherwise`` is the operator for plain functions."""
    return TypeError(
        f"{call}() needs an async function, and {name_of(function)} returned {result!r}.\n"
        f"  An async function:            async def {getattr(function, '__name__', 'function')}(item): ...\n"
        f"  For a plain function rather:  flow.{otherwise}({name_of(function)})"
    )


def _called(call: str, function: Callable[[T], Awaitable[object]], item: T) -> Awaitable[object]:
    result = function(item)
    if not hasattr(result, "__await__"):
        raise not_awaitable(call, function, result, "subscribe")
    return result


class TaskSubscription(BaseDisposable):
    """The handle of a subscription that a task serves: ``dispose()`` cancels, from any thread; so does leaving a ``with`` block
    over it.
    """

    __slots__ = ("_disposed", "_items", "_loop", "_scope")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._scope: Scope = loop.scope()
        self._items: StreamItems[Any] | None = None
        self._disposed = False

    def dispose(self) -> None:
        """Cancel the functions that run and the source. Returns at once; the owner waits for their finalizers."""
        if not self._disposed:
            self._disposed = True
            self._loop.call(TaskSubscription._cancel, self)

    def _cancel(self) -> None:
        self._scope.cancel()

    @property
    def is_disposed(self) -> bool:
        """Whether it was cancelled, or has ended."""
        return self._disposed

    def start(
        self, owner: Any, publisher: Publisher[T], items: StreamItems[T], on_next: Callable[[T], Awaitable[object]], tasks: int
    ) -> None:
        """Start the task, with ``items`` of ``publisher`` that is subscribed to already."""
        self._items = items

        async def live() -> None:
            await self._live(items, on_next, tasks)

        try:
            self._loop.spawn(owner, live, self._lost, publisher)
        except BaseException:
            items.abandon()
            raise

    def _lost(self) -> None:
        """The task has ended, perhaps before its first step."""
        self._disposed = True
        items, self._items = self._items, None
        if items is not None:
            items.abandon()

    async def _live(self, items: StreamItems[T], on_next: Callable[[T], Awaitable[object]], tasks: int) -> None:
        call = f"{self._loop.package}.subscribe"
        try:
            with self._scope:
                try:
                    if tasks == 1:
                        async for item in items:
                            await _called(call, on_next, item)
                    else:
                        await _serve(self._loop, call, items, on_next, tasks)
                finally:
                    self._items = None
                    await items.aclose()
        finally:
            self._disposed = True


async def _serve(loop: Loop, call: str, items: StreamItems[T], on_next: Callable[[T], Awaitable[object]], tasks: int) -> None:
    """Several tasks that take turns at the stream. One failure comes out as itself, several as a group."""
    turn = loop.turns()
    failures: list[BaseException] = []

    async def serve(crew: Crew) -> None:
        task = items.endings.attach()
        try:
            while True:
                async with turn:
                    try:
                        item = await items.__anext__()
                    except StopAsyncIteration:
                        return
                await _called(call, on_next, item)
        except loop.cancelled as failure:
            if not crew.is_cancelled:  # or the others would go on without the item that this one had
                failures.append(failure)
                crew.cancel()
            raise
        except BaseException as failure:
            failures.append(failure)
            crew.cancel()
        finally:
            items.endings.detach(task)

    async with loop.crew() as crew:
        for _ in range(tasks):
            crew.start(serve, crew)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} functions of {call}() failed", failures)
