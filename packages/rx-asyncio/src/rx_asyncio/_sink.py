"""Where streams end in asyncio: an async function that is called for each item, in a task of a TaskGroup."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, final

from rx_asyncio._loop import AsyncioLoop
from rx_core import DEFAULT_PREFETCH, check_callable, check_prefetch
from rx_core.tasks import StreamItems, TaskSubscription, check_source

if TYPE_CHECKING:
    from rx_core import Publisher

T = TypeVar("T")


@final
class AsyncioSubscription(TaskSubscription):
    """The handle of :func:`subscribe`: ``dispose()`` cancels, from any thread; so does leaving a ``with`` block over
    it.
    """

    __slots__ = ()


def subscribe(
    group: asyncio.TaskGroup,
    publisher: Publisher[T],
    on_next: Callable[[T], Awaitable[object]],
    /,
    *,
    max_concurrency: int = 1,
    prefetch: int = DEFAULT_PREFETCH,
) -> AsyncioSubscription:
    """Call an async function for each item, in a task that the TaskGroup owns::

        async with asyncio.TaskGroup() as group:
            rx_asyncio.subscribe(group, flow, save, max_concurrency=8)

    Demand:  as :func:`stream`: the next item is taken when a call is free.
    Errors:  the publisher's and the function's are raised in the group with their own type, after upstream was
    cancelled and the other calls have ended; several calls that really failed make a group.
    Memory:  ``prefetch`` items of a source that is not iterated, and ``max_concurrency`` in calls.
    Thread:  the loop's. One call at a time and in order, or up to ``max_concurrency`` that start in order.
    Cancel:  the handle, or cancelling the group, cancels calls and upstream; the group waits for their finalizers.
    Raises:  TypeError and ValueError for bad arguments, RuntimeError outside asyncio or when the group is closed.

    The publisher is subscribed to before this returns, so a hot one loses nothing.
    """
    check_source("rx_asyncio", "subscribe", publisher)
    check_callable("rx_asyncio.subscribe", "on_next", on_next)
    check_prefetch("subscribe", max_concurrency, "max_concurrency")
    check_prefetch("subscribe", prefetch)
    loop = AsyncioLoop.here("rx_asyncio.subscribe()")
    if not isinstance(group, asyncio.TaskGroup):
        raise TypeError(
            f"rx_asyncio.subscribe() needs the TaskGroup that is to own the subscription, got {group!r}.\n"
            f"  Right:  rx_asyncio.subscribe(group, flow, on_next)"
        )
    handle = AsyncioSubscription(loop)
    handle.start(group, publisher, StreamItems(loop, publisher, prefetch), on_next, max_concurrency)
    return handle
