"""A cancel scope, and tasks that end with their block: what asyncio has under other names, or not by itself."""

from __future__ import annotations

from asyncio import CancelledError, Task, current_task, get_running_loop, wait
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from types import TracebackType


@final
class Scope:
    """What runs inside its block can be cancelled, as often as one likes, and with the block that is over.

    It is inside as ``asyncio.timeout`` is: it counts how often it has cancelled the task, takes back as many, and only when no
    other request is left is the CancelledError its own. Every other one goes on.
    """

    __slots__ = ("_before", "_called", "_cancels", "_task")

    def __init__(self) -> None:
        self._task: Task[Any] | None = None
        self._before = 0
        self._cancels = 0
        self._called = False

    def cancel(self) -> None:
        """Cancel what the task awaits in the block; before it is entered, what it will await first."""
        self._called = True
        if self._task is not None:
            self._cancels += 1
            self._task.cancel()

    def __enter__(self) -> Scope:
        task = current_task()
        assert task is not None
        self._task = task
        self._before = task.cancelling()
        if self._called:
            self.cancel()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> bool:
        task, self._task = self._task, None
        assert task is not None
        left = self._before + 1
        for _ in range(self._cancels):
            left = task.uncancel()
        return kind is not None and issubclass(kind, CancelledError) and left <= self._before


@final
class AsyncioCrew:
    """Tasks that end with their block. Unlike a TaskGroup's they may be cancelled together, and failures make no group."""

    __slots__ = ("_called", "_loop", "_tasks")

    def __init__(self) -> None:
        self._loop = get_running_loop()
        self._tasks: set[Task[None]] = set()
        self._called = False

    def start(self, function: Callable[..., Coroutine[Any, Any, None]], /, *arguments: Any) -> None:
        task = self._loop.create_task(function(*arguments))
        if not task.done():  # a loop may run it at once
            self._tasks.add(task)

    def leave(self) -> None:
        """Cheaper than a callback of each task, for which the loop would have to make another turn."""
        task = current_task(self._loop)
        if task is not None:
            self._tasks.discard(task)

    def cancel(self) -> None:
        self._called = True
        for task in list(self._tasks):
            task.cancel()

    @property
    def is_cancelled(self) -> bool:
        return self._called

    async def __aenter__(self) -> AsyncioCrew:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if kind is not None:
            self.cancel()
        cancelled: CancelledError | None = None
        while self._tasks:
            try:
                self._tasks -= (await wait(self._tasks))[0]
            except CancelledError as again:  # they are waited for all the same, as in a TaskGroup
                cancelled = again
                self.cancel()
        if cancelled is not None and error is None:
            raise cancelled
