"""A publisher as something to iterate in a trio task, with backpressure.

The task iterates a passive source directly, without a queue, as a blocking ``for`` does in a thread. It subscribes to every other
source, and parks where nothing has arrived. The async generators here hold no nursery and no cancel scope, so that leaving them
anywhere is safe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar, cast, final, overload

import trio
from trio.lowlevel import checkpoint

from rx_core import (
    GROWING_PREFETCH,
    OPERATOR_CODES,
    EmptyStreamError,
    FlowableBase,
    ObservableBase,
    check_prefetch,
    hooks,
    unwrap_stop,
)
from rx_core.streams import Handover, close
from rx_core.streams import Stream as RxStream
from rx_trio._arrivals import Arrivals
from rx_trio._endings import Endings
from rx_trio._wakeup import current_token

if TYPE_CHECKING:
    from types import AsyncGeneratorType, TracebackType

    from rx_core import MaybeSource, Publisher, SingleSource

T = TypeVar("T")
D = TypeVar("D")

_FIRST_BATCH: Final = 64
_LARGEST_BATCH: Final = 1024
_SHORT: Final = 0.0002
_LONG: Final = 0.001

_NOTHING: Any = object()


@final
class Stream(Generic[T]):
    """What :func:`stream` returns: a block in which a publisher is iterated. Each entry subscribes anew."""

    __slots__ = ("_items", "_prefetch", "_publisher")

    def __init__(self, publisher: Publisher[T], prefetch: int) -> None:
        self._publisher = publisher
        self._prefetch = prefetch
        self._items: StreamItems[T] | None = None

    async def __aenter__(self) -> StreamItems[T]:
        if self._items is not None:
            raise RuntimeError(f"{self!r} is open already; make another one:  rx_trio.stream(...)")
        self._items = StreamItems(self._publisher, self._prefetch)
        return self._items

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        items, self._items = self._items, None
        if items is not None:
            await items.aclose()

    if not TYPE_CHECKING:  # for type checkers it is simply not iterable

        def __aiter__(self) -> NoReturn:
            raise RuntimeError(
                "a stream has to be left in order, so that it is cancelled and cleaned up: iterate it in its block.\n"
                "  Wrong:  async for x in rx_trio.stream(flow): ...\n"
                "  Right:  async with rx_trio.stream(flow) as items:\n"
                "              async for x in items: ..."
            )

    def __repr__(self) -> str:
        return f"stream({self._publisher!r}, prefetch={self._prefetch})"


@final
class StreamItems(AsyncIterator[T]):
    """The items of an open :func:`stream`. One task at a time.

    Iterating again goes on where the last loop stopped, also when that was cancelled in the middle: no item is lost.
    """

    __slots__ = ("_arrivals", "_endings", "_generator", "_items", "_open")

    def __init__(self, publisher: Publisher[T], prefetch: int, call: str = "rx_trio.stream()", *, exact: bool = False) -> None:
        self._arrivals: Arrivals[T] = Arrivals(prefetch, publisher, call, exact=exact)
        self._endings = Endings()
        self._generator: AsyncGeneratorType[T, None] | None = None
        self._open = True
        task = self._endings.attach()
        try:
            items = _opened(publisher, self._arrivals)
        except BaseException:
            self._arrivals.close()
            raise
        finally:
            self._endings.detach(task)
        self._items: Iterator[T | None] = items

    def __aiter__(self) -> AsyncIterator[T]:
        """A native generator: its steps cost a third of an ``async def __anext__``."""
        if not self._open:
            raise RuntimeError(
                "the block of this stream was left, which has cancelled it; iterate inside it:\n"
                "  async with rx_trio.stream(flow) as items:\n      async for x in items: ..."
            )
        self._shut()
        self._generator = cast("AsyncGeneratorType[T, None]", _iterate(self._items, self._arrivals, self._endings))
        return self._generator

    async def __anext__(self) -> T:
        generator = self._generator
        if generator is None or generator.ag_frame is None:
            self.__aiter__()
            generator = cast("AsyncGeneratorType[T, None]", self._generator)
        return await generator.__anext__()

    def _shut(self) -> None:
        """End the last loop's generator, which holds nothing but its place."""
        generator, self._generator = self._generator, None
        if generator is None:
            return
        if generator.ag_running:
            self._generator = generator
            raise trio.BusyResourceError(
                "another task is iterating this stream.\n"
                "  For several tasks on one stream:  rx_trio.subscribe(nursery, flow, function, max_concurrency=n)"
            )
        try:
            generator.aclose().send(None)  # suspended at its yield: nothing is awaited
        except (StopIteration, StopAsyncIteration):
            pass

    def abandon(self) -> None:
        """Cancel upstream without waiting for anything. Idempotent."""
        self._open = False
        task = self._endings.attach()
        try:
            self._shut()
        finally:
            try:
                close(self._items)
            finally:
                try:
                    self._arrivals.close()
                finally:
                    self._endings.detach(task)

    async def aclose(self) -> None:
        """Cancel upstream and wait until asynchronous sources have run their finalizers. Idempotent."""
        try:
            self.abandon()
        finally:
            await self._endings.ended()


def _opened(source: object, arrivals: Arrivals[T]) -> Iterator[T | None]:
    """Start ``source``: what iterates it, a generator, which tells by itself whether it is over."""
    hooks.ensure_loaded()
    if hooks.on_subscribe is None and isinstance(source, RxStream):
        items: Iterator[T] | None = source._passive_items(None)
        if items is not None:
            return items if hasattr(items, "gi_frame") else _relay(items)
        items = source._loop_items(None)
        if items is not None:
            return _handed_over(items, arrivals)
    return arrivals.open(source)


def _relay(items: Iterator[T]) -> Iterator[T | None]:
    try:
        yield from items
    finally:
        close(items)


def _handed_over(items: Iterator[T], arrivals: Arrivals[T]) -> Iterator[T | None]:
    """The items of an operator over passive sources, up to the first one that pushes; the rest is subscribed to."""
    try:
        yield from items
        return
    except Handover as handover:
        rest = handover.rest
    yield from arrivals.open(rest)


OPERATOR_CODES.update((_relay.__code__, _handed_over.__code__))  # what an operator raises passes through them


async def _iterate(items: Iterator[T | None], arrivals: Arrivals[T], endings: Endings) -> AsyncIterator[T]:
    """What one ``async for`` runs: a checkpoint where there is nothing, and one after a batch.

    Batches grow while they are short and shrink when items turn out to take long, so that a checkpoint costs little and
    other tasks get their turn all the same.
    """
    task = endings.attach()
    wakeup = arrivals.wakeup
    batch = _FIRST_BATCH
    since = perf_counter()
    busy = False
    try:
        while True:
            for item in islice(items, batch):
                if item is None:
                    if busy:
                        busy = False
                        await wakeup.pause()
                    else:
                        await wakeup.wait()
                    since = perf_counter()
                    break
                busy = True
                yield item
            else:
                if _ended(items):
                    return
                spent = perf_counter() - since
                if spent < _SHORT:
                    batch = min(2 * batch, _LARGEST_BATCH)
                elif spent > _LONG:
                    batch = max(batch // 2, 1)
                await checkpoint()
                since = perf_counter()
    except RuntimeError as error:
        if isinstance(unwrap_stop(error), StopIteration):  # which no coroutine can raise
            raise RuntimeError("a function in the pipeline raised StopIteration") from unwrap_stop(error)
        raise
    except GeneratorExit as error:
        if _ended(items):  # not ours being closed: then the pipeline would still be there
            raise RuntimeError("a function in the pipeline raised GeneratorExit, which only generators may do") from error
        raise
    finally:
        endings.detach(task)


def _ended(items: object) -> bool:
    return getattr(items, "gi_frame", items) is None


def check_source(call: str, source: object) -> None:
    if not hasattr(source, "subscribe"):
        raise TypeError(
            f"rx_trio.{call}() needs a publisher, got {source!r}.\n"
            f"  For an async iterable:  rx_trio.from_async_iterable(source, nursery=nursery)\n"
            f"  For plain items:        Flowable.from_iterable(source)"
        )


def stream(publisher: Publisher[T], *, prefetch: int = GROWING_PREFETCH) -> Stream[T]:
    """Iterate a publisher in this task, with backpressure::

        async with rx_trio.stream(flow) as items:
            async for x in items:
                await work(x)

    Demand:  a cold synchronous source (an iterable, a range, stages over them) is iterated item by item, as the loop takes
    them; everything else is asked for ``prefetch`` items, and again whenever 75 % of them were taken.
    Errors:  raised in the loop with their own type, never in a group; they cancel the stream.
    Memory:  at most ``prefetch`` items, besides what operators keep. When it is not given, 128, and more step by step, up to
    1024, for a source on another thread that has sent all of them each time the loop ran dry.
    Thread:  what is requested is computed in this task up to the next boundary; a function that takes long holds up the loop,
    move it with ``observe_on`` or ``subscribe_on``. A checkpoint where there is nothing, and one each
    millisecond or 1024 items.
    Cancel:  leaving the block (end, break, exception, cancellation) cancels upstream and waits for the finalizers of
    async sources: in peace when the task is not cancelled, with their awaits cancelled when it is. Threads finish the
    item they are at by themselves.
    Raises:  TypeError and ValueError here for bad arguments, RuntimeError outside trio.
    """
    check_source("stream", publisher)
    check_prefetch("stream", prefetch)
    return Stream(publisher, prefetch)


@overload
async def first(publisher: Publisher[T]) -> T: ...
@overload
async def first(publisher: Publisher[T], default: D) -> T | D: ...
async def first(publisher: Publisher[T], default: D = _NOTHING) -> T | D:
    """Await the first item of a publisher and cancel the rest.

    Demand:  one item.
    Errors:  the publisher's own; EmptyStreamError when it ends without an item and there is no ``default``.
    Memory:  one item.   Thread: upstream runs in this task. Always a checkpoint.
    """
    check_source("first", publisher)
    return await _single_value("first", publisher, default, to_end=False)


@overload
async def value(source: SingleSource[T] | MaybeSource[T]) -> T: ...
@overload
async def value(source: SingleSource[T] | MaybeSource[T], default: D) -> T | D: ...
async def value(source: SingleSource[T] | MaybeSource[T], default: D = _NOTHING) -> T | D:
    """Await the value of a Single or a Maybe.

    Demand:  one item.
    Errors:  the source's own; EmptyStreamError when a Maybe is empty and there is no ``default``.
    Memory:  one item.   Thread: upstream runs in this task. Always a checkpoint.
    """
    given: object = source
    if isinstance(given, (FlowableBase, ObservableBase)):
        raise TypeError(
            f"rx_trio.value() awaits a Single or a Maybe, and {source!r} may have many items: say which you want.\n"
            f"  The first:  await rx_trio.first(flow)\n"
            f"  All:        await rx_trio.value(flow.to_list())"
        )
    check_source("value", source)
    return await _single_value("value", cast("Publisher[T]", source), default, to_end=True)


async def _single_value(call: str, source: Publisher[T], default: D, *, to_end: bool) -> T | D:
    found: T | D = default
    called = f"rx_trio.{call}()"
    current_token(called)
    await checkpoint()  # now and not at the end, where being cancelled would lose the value
    items = StreamItems(source, 1, called, exact=True)
    try:
        async for item in items:
            found = item
            if not to_end:
                break
    finally:
        await items.aclose()
    if found is _NOTHING:
        raise EmptyStreamError(f"rx_trio.{call}({source!r})")
    return found
