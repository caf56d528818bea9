"""What is awaited and iterated in asyncio: a stream's items, its first one, the value of a Single."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast, overload

from rx_asyncio._loop import AsyncioLoop
from rx_core import GROWING_PREFETCH, check_prefetch
from rx_core.tasks import NOTHING, Stream, check_one, check_source, single_value

if TYPE_CHECKING:
    from rx_core import MaybeSource, Publisher, SingleSource

T = TypeVar("T")
D = TypeVar("D")


def stream(publisher: Publisher[T], *, prefetch: int = GROWING_PREFETCH) -> Stream[T]:
    """Iterate a publisher in this task, with backpressure::

        async with rx_asyncio.stream(flow) as items:
            async for x in items:
                await work(x)

    Demand:  a cold synchronous source (an iterable, a range, stages over them) is iterated item by item, as the loop takes
    them; everything else is asked for ``prefetch`` items, and again whenever 75 % of them were taken.
    Errors:  raised in the loop with their own type, never in a group; they cancel the stream.
    Memory:  at most ``prefetch`` items, besides what operators keep. When it is not given, 128, and more step by step, up to
    4096, for a source on another thread that has sent all of them each time the loop ran dry, within a millisecond.
    Thread:  what is requested is computed in this task up to the next boundary; a function that takes long holds up the loop,
    move it with ``observe_on`` or ``subscribe_on``. A checkpoint where there is nothing, and one each
    millisecond or 1024 items.
    Cancel:  leaving the block (end, break, exception, cancellation) cancels upstream and waits for the finalizers of
    async sources. A task that is cancelled again while it waits has their awaits cancelled, too. Threads finish the item they
    are at by themselves.
    Raises:  TypeError and ValueError here for bad arguments, RuntimeError outside asyncio.
    """
    check_source("rx_asyncio", "stream", publisher)
    check_prefetch("stream", prefetch)
    return Stream(AsyncioLoop, publisher, prefetch)


@overload
async def first(publisher: Publisher[T]) -> T: ...
@overload
async def first(publisher: Publisher[T], default: D) -> T | D: ...
async def first(publisher: Publisher[T], default: D = NOTHING) -> T | D:
    """Await the first item of a publisher and cancel the rest.

    Demand:  one item.
    Errors:  the publisher's own; EmptyStreamError when it ends without an item and there is no ``default``.
    Memory:  one item.   Thread: upstream runs in this task. Always a checkpoint.
    """
    check_source("rx_asyncio", "first", publisher)
    return await single_value(AsyncioLoop, "first", publisher, default, to_end=False)


@overload
async def value(source: SingleSource[T] | MaybeSource[T]) -> T: ...
@overload
async def value(source: SingleSource[T] | MaybeSource[T], default: D) -> T | D: ...
async def value(source: SingleSource[T] | MaybeSource[T], default: D = NOTHING) -> T | D:
    """Await the value of a Single or a Maybe.

    Demand:  one item.
    Errors:  the source's own; EmptyStreamError when a Maybe is empty and there is no ``default``.
    Memory:  one item.   Thread: upstream runs in this task. Always a checkpoint.
    """
    check_one("rx_asyncio", source)
    return await single_value(AsyncioLoop, "value", cast("Publisher[T]", source), default, to_end=True)
