"""Async iterables and receive channels as publishers: a task in your nursery pulls one item for each one
requested.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, final

import trio

from rx_core.tasks import AsyncAction, AsyncSource, check_action, check_async_iterable
from rx_trio._loop import TrioLoop, owned

if TYPE_CHECKING:
    from rx_core import CompletableBase, FlowableBase

T = TypeVar("T")


def from_async_iterable(
    source: AsyncIterable[T] | Callable[[], AsyncIterable[T]], /, *, nursery: trio.Nursery
) -> FlowableBase[T]:
    """An async iterable as a publisher; a task in ``nursery`` iterates it for each subscription::

        async with trio.open_nursery() as nursery:
            flow = Flowable.wrap(rx_trio.from_async_iterable(lines, nursery=nursery))

    ``source`` is an async iterable or a function that makes one, such as an async generator function. An iterator, for
    example an async generator that was called already, has one life: the second subscriber gets a RuntimeError.

    Demand:  honoured exactly: one step of the iterator for each item requested, never ahead. So the end is found,
    and signalled, by the request after the last item.
    Errors:  what the iterator raises, with its own type. None as an item is refused. When the nursery is cancelled,
    or closed before the subscription, the subscriber gets an RxError. What a subscriber raises goes to the nursery.
    Memory:  nothing is buffered.
    Thread:  signals come from the task; ``request`` and ``cancel`` may be called on any thread. A checkpoint at least
    every 256 items, also when the iterator makes none.
    Cancel:  closes the iterator with ``aclose()``, awaited in the task: an async generator that is suspended at its
    ``yield`` may still await in its ``finally``; one that is waiting gets trio.Cancelled there.
    Raises:  TypeError for bad arguments, RuntimeError outside trio.
    """
    check_async_iterable("rx_trio", source)
    return _source("from_async_iterable", source, nursery)


def from_channel(channel: trio.abc.ReceiveChannel[T], /, *, nursery: trio.Nursery) -> FlowableBase[T]:
    """The receiving end of a channel as a publisher, which takes the end over and closes it.

    Demand:  one ``receive`` for each item requested; the channel's own buffer decides how far the sender is ahead.
    Errors:  the channel's (BrokenResourceError ...), an RxError when the nursery is cancelled; None is refused.
    Memory:  nothing but the channel's buffer.
    Thread:  as :func:`from_async_iterable`, also in everything that is not said here.
    Cancel:  closes the channel, so that the sender gets BrokenResourceError. One subscriber only; for more of them give
    each its ``channel.clone()``, or share the flow.
    Raises:  TypeError for what cannot receive, RuntimeError outside trio.
    """
    if not hasattr(channel, "receive"):
        raise TypeError(
            f"rx_trio.from_channel() needs the receiving end of a channel, got {channel!r}.\n"
            f"  send, receive = trio.open_memory_channel(0);  rx_trio.from_channel(receive, nursery=nursery)"
        )
    source: AsyncIterable[T] = _Received(channel) if isinstance(channel, trio.MemoryReceiveChannel) else channel
    return _source("from_channel", source, nursery)


def from_action(function: Callable[[], Awaitable[object]], /, *, nursery: trio.Nursery) -> CompletableBase:
    """An async function that is called for what it does, in a task for each subscription; what it returns is dropped::

        Flowable.using_when(opened, rows, lambda db: rx_trio.from_action(db.aclose, nursery=nursery))

    Errors:  the function's own, with their type; an RxError when the nursery is cancelled, or closed before the subscription.
    Memory:  none.
    Thread:  as :func:`from_async_iterable`.
    Cancel:  cancels the task.
    Raises:  TypeError for what is no function, RuntimeError outside trio.
    """
    check_action("rx_trio", function)
    loop = TrioLoop.here("rx_trio.from_action()")
    owned("from_action", nursery)
    return AsyncAction(TrioLoop, loop, function, nursery)


def _source(call: str, source: AsyncIterable[T] | Callable[[], AsyncIterable[T]], nursery: trio.Nursery) -> FlowableBase[T]:
    loop = TrioLoop.here(f"rx_trio.{call}()")
    owned(call, nursery)
    return AsyncSource(TrioLoop, loop, call, source, nursery)


@final
class _Received(AsyncIterator[T]):
    """A memory channel whose waiting items are taken without a checkpoint each: the task makes one for many of
    them.
    """

    __slots__ = ("_channel",)

    def __init__(self, channel: trio.MemoryReceiveChannel[T]) -> None:
        self._channel = channel

    async def __anext__(self) -> T:
        try:
            try:
                return self._channel.receive_nowait()
            except trio.WouldBlock:
                return await self._channel.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self._channel.close()

    def __repr__(self) -> str:
        return repr(self._channel)
