"""Async iterables and queues as publishers: a task pulls one item for each one requested."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from rx_asyncio._loop import AsyncioLoop, owned
from rx_core.tasks import AsyncAction, AsyncSource, check_action, check_async_iterable

if TYPE_CHECKING:
    from rx_core import CompletableBase, FlowableBase

T = TypeVar("T")

_NEVER: Final[Any] = object()
#: What ``Queue.shutdown()`` of Python 3.13 makes ``get`` raise.
_SHUT_DOWN: Final[tuple[type[Exception], ...]] = tuple(
    kind for kind in (getattr(asyncio, "QueueShutDown", None),) if kind is not None
)


def _source(
    call: str, source: AsyncIterable[T] | Callable[[], AsyncIterable[T]], group: asyncio.TaskGroup | None
) -> FlowableBase[T]:
    owned(call, group)
    loop = AsyncioLoop.find() if group is None else AsyncioLoop.here(f"rx_asyncio.{call}()")
    return AsyncSource(AsyncioLoop, loop, call, source, group)


def from_async_iterable(
    source: AsyncIterable[T] | Callable[[], AsyncIterable[T]], /, *, group: asyncio.TaskGroup | None = None
) -> FlowableBase[T]:
    """An async iterable as a publisher; a task iterates it for each subscription::

        flow = Flowable.wrap(rx_asyncio.from_async_iterable(lines))

    ``source`` is an async iterable or a function that makes one, such as an async generator function. An iterator, for
    example an async generator that was called already, has one life: the second subscriber gets a RuntimeError.

    The task belongs to ``group``; without one to the subscription, which keeps it alive and ends it. It runs in the loop in
    which this is called; when that is none, in the one in which it is subscribed.

    Demand:  honoured exactly: one step of the iterator for each item requested, never ahead. So the end is found,
    and signalled, by the request after the last item.
    Errors:  what the iterator raises, with its own type. None as an item is refused. When the task is cancelled from elsewhere,
    with its group for example, the subscriber gets an RxError. What a subscriber raises goes to the group, else to the
    ``rx_on_error`` hooks.
    Memory:  nothing is buffered.
    Thread:  signals come from the task; ``request`` and ``cancel`` may be called on any thread. Other tasks get a turn at least
    every 256 items, also when the iterator awaits nothing.
    Cancel:  closes the iterator with ``aclose()``, awaited in the task: an async generator that is suspended at its
    ``yield`` may still await in its ``finally``; one that is waiting gets a CancelledError there.
    Raises:  TypeError for bad arguments, RuntimeError for a group outside asyncio.
    """
    check_async_iterable("rx_asyncio", source)
    return _source("from_async_iterable", source, group)


def from_queue(queue: asyncio.Queue[T], /, *, end: object = _NEVER, group: asyncio.TaskGroup | None = None) -> FlowableBase[T]:
    """What is put into an ``asyncio.Queue``, as a publisher. Several subscribers share the items out among them.

    It completes with the item that is ``end``, if one is given, and when the queue is shut down (Python 3.13).

    Demand:  one ``get`` for each item requested; the queue's own size decides how far who puts is ahead.
    Errors:  None is refused; an RxError when the task is cancelled from elsewhere.
    Memory:  nothing but the queue.
    Thread:  as :func:`from_async_iterable`, also in everything that is not said here.
    Cancel:  what is not taken stays in the queue. ``task_done()`` is called for each item that was, behind its ``on_next``.
    Raises:  TypeError for what is no queue.
    """
    if not (hasattr(queue, "get_nowait") and hasattr(queue, "task_done")):
        raise TypeError(
            f"rx_asyncio.from_queue() needs an asyncio.Queue, got {queue!r}.\n"
            f"  queue = asyncio.Queue(8);  rx_asyncio.from_queue(queue)"
        )
    return _source("from_queue", _Taking(queue, end), group)


@final
class _Taking(AsyncIterable[T]):
    __slots__ = ("_end", "_queue")

    def __init__(self, queue: asyncio.Queue[T], end: object) -> None:
        self._queue = queue
        self._end = end

    def __aiter__(self) -> AsyncIterator[T]:
        return _Taken(self._queue, self._end)

    def __repr__(self) -> str:
        return repr(self._queue)


@final
class _Taken(AsyncIterator[T]):
    """One subscriber's items. Those that wait are taken without awaiting: the task lets others have a turn for many of them."""

    __slots__ = ("_end", "_queue", "_took")

    def __init__(self, queue: asyncio.Queue[T], end: object) -> None:
        self._queue = queue
        self._end = end
        self._took = False

    async def __anext__(self) -> T:
        self._done()
        try:
            try:
                item = self._queue.get_nowait()
            except asyncio.QueueEmpty:
                item = await self._queue.get()
        except _SHUT_DOWN:
            raise StopAsyncIteration from None
        self._took = True
        if item is self._end:
            raise StopAsyncIteration
        return item

    def _done(self) -> None:
        if self._took:
            self._took = False
            self._queue.task_done()

    async def aclose(self) -> None:
        self._done()


def from_action(function: Callable[[], Awaitable[object]], /, *, group: asyncio.TaskGroup | None = None) -> CompletableBase:
    """An async function that is called for what it does, in a task for each subscription; what it returns is dropped::

        Flowable.using_when(opened, rows, lambda db: rx_asyncio.from_action(db.close))

    Errors:  the function's own, with their type; an RxError when its task is cancelled from elsewhere.
    Memory:  none.
    Thread:  the loop's, as of :func:`from_async_iterable`, and so is whose the task is.
    Cancel:  cancels the task.
    Raises:  TypeError for what is no function, RuntimeError for a group outside asyncio.
    """
    check_action("rx_asyncio", function)
    owned("from_action", group)
    loop = AsyncioLoop.find() if group is None else AsyncioLoop.here("rx_asyncio.from_action()")
    return AsyncAction(AsyncioLoop, loop, function, group)
