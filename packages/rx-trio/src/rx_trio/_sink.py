"""Where streams end in trio: async callbacks in a nursery, and the sending end of a channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, final

import trio

from rx_core import DEFAULT_PREFETCH, BaseDisposable, check_callable, check_prefetch, name_of
from rx_trio._stream import StreamItems, check_source, stream
from rx_trio._wakeup import call_in_loop, current_token

if TYPE_CHECKING:
    from rx_core import Publisher

T = TypeVar("T")


@final
class TrioSubscription(BaseDisposable):
    """The handle of :func:`subscribe`: ``dispose()`` cancels, from any thread; so does leaving a ``with`` block over
    it.
    """

    __slots__ = ("_disposed", "_scope", "_token")

    def __init__(self) -> None:
        self._token = current_token("rx_trio.subscribe()")
        self._scope = trio.CancelScope()
        self._disposed = False

    def dispose(self) -> None:
        """Cancel the callbacks that run and the source. Returns at once; the nursery waits for their finalizers."""
        if not self._disposed:
            self._disposed = True
            call_in_loop(self._token, trio.CancelScope.cancel, self._scope)

    @property
    def is_disposed(self) -> bool:
        """Whether it was cancelled, or has ended."""
        return self._disposed

    async def _live(self, items: StreamItems[T], on_next: Callable[[T], Awaitable[object]], max_concurrency: int) -> None:
        try:
            with self._scope:
                try:
                    if max_concurrency == 1:
                        async for item in items:
                            await _awaitable(on_next, item)
                    else:
                        await _serve(items, on_next, max_concurrency)
                finally:
                    await items.aclose()
        finally:
            self._disposed = True


def _awaitable(on_next: Callable[[T], Awaitable[object]], item: T) -> Awaitable[object]:
    result: Any = on_next(item)
    if not hasattr(result, "__await__"):
        raise TypeError(
            f"rx_trio.subscribe() needs an async function, and {name_of(on_next)} returned {result!r}.\n"
            f"  An async function:            async def {getattr(on_next, '__name__', 'on_next')}(item): ...\n"
            f"  For a plain function rather:  flow.subscribe({name_of(on_next)})"
        )
    awaitable: Awaitable[object] = result
    return awaitable


async def _serve(items: StreamItems[T], on_next: Callable[[T], Awaitable[object]], tasks: int) -> None:
    """Several tasks that take turns at the stream. One failure comes out as itself, several as a group."""
    turn = trio.Lock()
    failures: list[BaseException] = []

    async def serve(scope: trio.CancelScope) -> None:
        task = items._endings.attach()
        try:
            while True:
                async with turn:
                    try:
                        item = await items.__anext__()
                    except StopAsyncIteration:
                        return
                await _awaitable(on_next, item)
        except trio.Cancelled:
            raise
        except BaseException as failure:
            failures.append(failure)
            scope.cancel()
        finally:
            items._endings.detach(task)

    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(serve, nursery.cancel_scope)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} callbacks of rx_trio.subscribe() failed", failures)


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
    check_source("subscribe", publisher)
    check_callable("rx_trio.subscribe", "on_next", on_next)
    check_prefetch("subscribe", max_concurrency, "max_concurrency")
    check_prefetch("subscribe", prefetch)
    handle = TrioSubscription()
    if not isinstance(nursery, trio.Nursery):
        raise TypeError(
            f"rx_trio.subscribe() needs the nursery that is to own the subscription, got {nursery!r}.\n"
            f"  Right:  rx_trio.subscribe(nursery, flow, on_next)"
        )
    items = StreamItems(publisher, prefetch, "rx_trio.subscribe()")
    try:
        nursery.start_soon(handle._live, items, on_next, max_concurrency, name=f"rx_trio.subscribe({name_of(on_next)})")
    except BaseException:
        items.abandon()
        raise
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
