"""Where streams end in trio: async callbacks in a nursery, and the sending end of a channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, final

import trio

from rx_core import DEFAULT_PREFETCH, check_callable, check_prefetch
from rx_core.tasks import StreamItems, TaskSubscription, check_source
from rx_trio._loop import TrioLoop
from rx_trio._stream import stream

if TYPE_CHECKING:
    from rx_core import Publisher

T = TypeVar("T")


@final
class TrioSubscription(TaskSubscription):
    """The handle of :func:`subscribe`: ``dispose()`` cancels, from any thread; so does leaving a ``with`` block over
    it.
    """

    __slots__ = ()


def subscribe(
    nursery: trio.Nursery,
    publisher: Publisher[T],
    on_next: Callable[[T], Awaitable[object]],
    /,
    *,
    max_concurrency: int = 1,
    prefetch: int = DEFAULT_PREFETCH,
) -> TrioSubscription:
    """Call an async function for each item, in a task that the nursery owns::

        async with trio.open_nursery() as nursery:
            rx_trio.subscribe(nursery, flow, save, max_concurrency=8)

    Demand:  as :func:`stream`: the next item is taken when a callback is free.
    Errors:  the publisher's and the callbacks' are raised in the nursery with their own type, after upstream was
    cancelled and the other callbacks have ended; several callbacks that really failed make a group.
    Memory:  ``prefetch`` items of a source that is not iterated, and ``max_concurrency`` in callbacks.
    Thread:  the loop's. One callback at a time and in order, or up to ``max_concurrency`` that start in order.
    Cancel:  the handle, or cancelling the nursery, cancels callbacks and upstream; the nursery waits for their
    finalizers.
    Raises:  TypeError and ValueError for bad arguments, RuntimeError outside trio or when the nursery is closed.

    The publisher is subscribed to before this returns, so a hot one loses nothing.
    """
    check_source("rx_trio", "subscribe", publisher)
    check_callable("rx_trio.subscribe", "on_next", on_next)
    check_prefetch("subscribe", max_concurrency, "max_concurrency")
    check_prefetch("subscribe", prefetch)
    loop = TrioLoop.here("rx_trio.subscribe()")
    if not isinstance(nursery, trio.Nursery):
        raise TypeError(
            f"rx_trio.subscribe() needs the nursery that is to own the subscription, got {nursery!r}.\n"
            f"  Right:  rx_trio.subscribe(nursery, flow, on_next)"
        )
    handle = TrioSubscription(loop)
    handle.start(nursery, publisher, StreamItems(loop, publisher, prefetch), on_next, max_concurrency)
    return handle


async def to_channel(publisher: Publisher[T], channel: trio.abc.SendChannel[T], /, *, prefetch: int = DEFAULT_PREFETCH) -> bool:
    """Send all items into a channel and close it; True when it took all of them, False when its receiver went away.

    Demand:  the next item is taken when the channel has taken the last one; a source that is not iterated is
    asked for ``prefetch`` items ahead of that.
    Errors:  the publisher's, with their own type, after closing the channel, whose receiver just sees its end: a
    channel carries no errors. A receiver that closed its end, or a caller that closed this one, cancels upstream.
    Memory:  the channel's buffer, and ``prefetch`` items of a source that is not iterated.
    Thread:  upstream runs in this task; a checkpoint whenever the channel is full, and as :func:`stream`.
    Cancel:  being cancelled cancels upstream, waits for its finalizers and closes the channel.
    """
    if not hasattr(channel, "send"):
        raise TypeError(
            f"rx_trio.to_channel() needs the sending end of a channel, got {channel!r}.\n"
            f"  send, receive = trio.open_memory_channel(8);  await rx_trio.to_channel(flow, send)"
        )
    send_nowait = channel.send_nowait if isinstance(channel, trio.MemorySendChannel) else None
    async with channel, stream(publisher, prefetch=prefetch) as items:
        async for item in items:
            try:
                if send_nowait is not None:
                    try:
                        send_nowait(item)
                        continue
                    except trio.WouldBlock:
                        pass
                await channel.send(item)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return False
    return True
