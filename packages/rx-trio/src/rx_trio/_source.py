"""Async iterables and receive channels as publishers: a task in your nursery pulls one item for each one
requested.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeVar, final

import trio

from rx_core import FlowableBase, name_of
from rx_trio._pump import Pump, gone
from rx_trio._wakeup import call_in_loop, current_token

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@final
class AsyncSource(FlowableBase[T_co]):
    """What :func:`from_async_iterable` and :func:`from_channel` return; put it into ``Flowable.wrap``."""

    __slots__ = ("_call", "_life", "_nursery", "_once", "_source", "_token")

    def __init__(self, call: str, source: AsyncIterable[T_co] | Callable[[], AsyncIterable[T_co]], nursery: trio.Nursery) -> None:
        self._token = current_token(f"rx_trio.{call}()")
        if not isinstance(nursery, trio.Nursery):
            raise TypeError(
                f"rx_trio.{call}() needs the nursery its task is to live in, got {nursery!r}.\n"
                f"  async with trio.open_nursery() as nursery:\n"
                f"      source = rx_trio.{call}(..., nursery=nursery)"
            )
        self._call = call
        self._source = source
        self._nursery = nursery
        #: An iterator has one life, which the first subscription takes out of the cell; an iterable or a factory has
        #: many.
        self._once = hasattr(source, "__anext__")
        self._life = {0: True}

    def subscribe_actual(self, subscriber: Subscriber[T_co], /) -> None:
        first = not self._once or self._life.pop(0, None) is not None
        pump = Pump(self, subscriber, self._token, first)
        subscriber.on_subscribe(pump)  # the task starts after it, so that nothing comes before it returned (RS 1.3)
        if not call_in_loop(self._token, pump.start, self._nursery):
            pump.refuse(gone(self, "its trio run has ended"))

    def make(self, first: bool) -> AsyncIterator[T_co]:
        """The iterator of one subscription, made in its task. What this raises is signalled."""
        source = self._source
        if not first:
            raise RuntimeError(
                f"{self!r} was subscribed to before, and {type(source).__name__} can be iterated once only.\n"
                f"  Give a function that makes a new one each time:  rx_trio.{self._call}(function, nursery=nursery)"
            )
        iterable: Any = source if hasattr(source, "__aiter__") else source()
        if not hasattr(iterable, "__aiter__"):
            if hasattr(iterable, "close") and hasattr(iterable, "__await__"):
                iterable.close()  # a coroutine that will not be awaited
            raise TypeError(
                f"rx_trio.{self._call}({name_of(source)}): the function has to return an async iterable, "
                f"it returned {iterable!r}.\n"
                f"  For example an async generator:  async def {getattr(source, '__name__', 'items')}(): yield 1"
            )
        iterator: AsyncIterator[T_co] = iterable.__aiter__()
        return iterator

    @property
    def call(self) -> str:
        return self._call

    def __repr__(self) -> str:
        return f"{self._call}({name_of(self._source)})"


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
    given: object = source
    if not hasattr(given, "__aiter__") and not callable(given):
        hint = "  For a plain iterable:  Flowable.from_iterable(source)" if hasattr(source, "__iter__") else ""
        raise TypeError(
            f"rx_trio.from_async_iterable() needs an async iterable or a function that makes one, got {source!r}.\n"
            f"  For example an async generator function:  async def ticks(): yield 1\n{hint}".rstrip()
        )
    return AsyncSource("from_async_iterable", source, nursery)


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
    return AsyncSource("from_channel", source, nursery)


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
