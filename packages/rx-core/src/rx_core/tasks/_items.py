"""A publisher as something to iterate in a task, with backpressure.

The task iterates a passive source directly, without a queue, as a blocking ``for`` does in a thread. It subscribes to every other
source, and parks where nothing has arrived. The async generators here hold no task and no cancel scope, so that leaving them
anywhere is safe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar, cast, final

from rx_core._errors import EmptyStreamError
from rx_core._reactive import FlowableBase, ObservableBase
from rx_core._user_code import unwrap_stop
from rx_core.tasks._arrivals import Arrivals
from rx_core.tasks._endings import Endings
from rx_core.tasks._pulled import Pulled, pulled_from

if TYPE_CHECKING:
    from types import AsyncGeneratorType, TracebackType

    from rx_core._protocols import Publisher
    from rx_core.tasks._loop import Loop, Wakeup

T = TypeVar("T")
D = TypeVar("D")

_FIRST_BATCH: Final = 64
_LARGEST_BATCH: Final = 1024
_SHORT: Final = 0.0005  # twice as many are over before it is long
_LONG: Final = 0.001

#: No default was given.
NOTHING: Final[Any] = object()


@final
class Stream(Generic[T]):
    """What ``stream`` of a package returns: a block in which a publisher is iterated. Each entry subscribes anew."""

    __slots__ = ("_items", "_library", "_prefetch", "_publisher")

    def __init__(self, library: type[Loop], publisher: Publisher[T], prefetch: int) -> None:
        self._library = library
        self._publisher = publisher
        self._prefetch = prefetch
        self._items: StreamItems[T] | None = None

    async def __aenter__(self) -> StreamItems[T]:
        if self._items is not None:
            right = f"{self._library.package}.stream(flow)   # another one for each block"
            raise RuntimeError(f"{self!r} is open already.\n  Right:  {right}")
        loop = self._library.here(f"{self._library.package}.stream()")
        self._items = StreamItems(loop, self._publisher, self._prefetch)
        return self._items

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        items, self._items = self._items, None
        if items is not None:
            await items.aclose()

    if not TYPE_CHECKING:  # for type checkers it is simply not iterable

        def __aiter__(self) -> NoReturn:
            stream = f"{self._library.package}.stream(flow)"
            raise RuntimeError(
                "a stream has to be left in order, so that it is cancelled and cleaned up: iterate it in its block.\n"
                f"  Wrong:  async for x in {stream}: ...\n"
                f"  Right:  async with {stream} as items:\n"
                "              async for x in items: ..."
            )

    def __repr__(self) -> str:
        return f"stream({self._publisher!r}, prefetch={self._prefetch})"


@final
class StreamItems(AsyncIterator[T]):
    """The items of an open :class:`Stream`. One task at a time.

    Iterating again goes on where the last loop stopped, also when that was cancelled in the middle: no item is lost.
    """

    __slots__ = ("_arrivals", "_endings", "_generator", "_loop", "_open", "_source")

    def __init__(
        self, loop: Loop, publisher: Publisher[T], prefetch: int, *, exact: bool = False, wakeup: Wakeup | None = None
    ) -> None:
        self._loop = loop
        self._arrivals: Arrivals[T] = Arrivals(prefetch, publisher, wakeup or loop.wakeup(), exact=exact)
        self._endings = Endings(loop)
        self._generator: AsyncGeneratorType[T, None] | None = None
        self._open = True
        #: Where the items come from now.
        self._source: Pulled[T] | Arrivals[T] = self._arrivals
        task = self._endings.attach()
        try:
            pulled = pulled_from(publisher)
            if pulled is None:
                self._arrivals.open(publisher)
            else:
                self._source = pulled
        except BaseException:
            self._arrivals.close()
            raise
        finally:
            self._endings.detach(task)

    def __aiter__(self) -> AsyncIterator[T]:
        """A native generator: its steps cost a third of an ``async def __anext__``."""
        if not self._open:
            raise RuntimeError(
                "the block of this stream was left, which has cancelled it; iterate inside it:\n"
                f"  async with {self._loop.package}.stream(flow) as items:\n      async for x in items: ..."
            )
        self._shut()
        self._generator = cast("AsyncGeneratorType[T, None]", self._iterate())
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
            owner = self._loop.owner.removeprefix("Task").lower()  # as a variable is called
            subscribe = f"{self._loop.package}.subscribe({owner}, flow, function, max_concurrency=n)"
            raise self._loop.busy(f"another task is iterating this stream.\n  For several tasks on one stream:  {subscribe}")
        try:
            generator.aclose().send(None)  # suspended at its yield: nothing is awaited
        except (StopIteration, StopAsyncIteration):
            pass

    @property
    def endings(self) -> Endings:
        """What leaving waits for."""
        return self._endings

    def arrived(self) -> Iterator[T | None]:
        """The items for a task that waits for more than these: None where there is none, which wakes it when it comes."""
        while True:
            found = self._source.take(_FIRST_BATCH)
            if found is None:
                yield None
                continue
            yield from found
            if self._source.over and not self._goes_on():
                return

    def _goes_on(self) -> bool:
        """A source is over: whether it has left the rest to another one."""
        source = self._source
        if not isinstance(source, Pulled) or source.rest is None:
            return False
        rest, source.rest = source.rest, None
        self._source = self._arrivals
        self._arrivals.open(rest)
        return True

    async def _iterate(self) -> AsyncIterator[T]:
        """What one ``async for`` runs: a checkpoint where there is nothing, and one after a batch.

        Batches grow while they are short and shrink when items turn out to take long, so that a checkpoint costs little and
        other tasks get their turn all the same.
        """
        task = self._endings.attach()
        wakeup = self._arrivals.wakeup
        source = self._source
        left = batch = _FIRST_BATCH
        since = perf_counter()
        busy = False
        try:
            while True:
                found = source.take(left)
                if found is None:
                    if busy:
                        busy = False
                        await wakeup.pause()
                    else:
                        await wakeup.wait()
                    left = batch
                    since = perf_counter()
                    continue
                busy = True
                for item in found:
                    yield item
                if source.over:
                    if not self._goes_on():
                        return
                    source = self._source
                    continue
                left -= source.taken
                if not left:
                    spent = perf_counter() - since
                    if spent < _SHORT:
                        batch = min(2 * batch, _LARGEST_BATCH)
                    elif spent > _LONG:
                        batch = max(batch // 2, 1)
                    left = batch
                    await self._loop.checkpoint()
                    since = perf_counter()
        except RuntimeError as error:
            if isinstance(unwrap_stop(error), StopIteration):  # which no coroutine can raise
                raise RuntimeError("a function in the pipeline raised StopIteration") from unwrap_stop(error)
            raise
        except GeneratorExit as error:
            if source.over:  # not ours being closed: then the pipeline would still be there
                raise RuntimeError("a function in the pipeline raised GeneratorExit, which only generators may do") from error
            raise
        finally:
            self._endings.detach(task)

    def abandon(self) -> None:
        """Cancel upstream without waiting for anything. Idempotent."""
        self._open = False
        task = self._endings.attach()
        try:
            self._shut()
        finally:
            try:
                if self._source is not self._arrivals:
                    self._source.close()
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


def check_source(package: str, call: str, source: object) -> None:
    if not hasattr(source, "subscribe"):
        raise TypeError(
            f"{package}.{call}() needs a publisher, got {source!r}.\n"
            f"  For an async iterable:  {package}.from_async_iterable(source, ...)\n"
            f"  For plain items:        Flowable.from_iterable(source)"
        )


def check_one(package: str, source: object) -> None:
    """Refuse what may have many items where the value of a Single or a Maybe is awaited."""
    if isinstance(source, (FlowableBase, ObservableBase)):
        raise TypeError(
            f"{package}.value() awaits a Single or a Maybe, and {source!r} may have many items: say which you want.\n"
            f"  The first:  await {package}.first(flow)\n"
            f"  All:        await {package}.value(flow.to_list())"
        )
    check_source(package, "value", source)


async def single_value(library: type[Loop], call: str, source: Publisher[T], default: D, *, to_end: bool) -> T | D:
    """The first item, or the only one; ``default`` where there is none, unless that is :data:`NOTHING`."""
    found: T | D = default
    called = f"{library.package}.{call}()"
    loop = library.here(called)
    await loop.checkpoint()  # now and not at the end, where being cancelled would lose the value
    items = StreamItems(loop, source, 1, exact=True)
    try:
        async for item in items:
            found = item
            if not to_end:
                break
    finally:
        await items.aclose()
    if found is NOTHING:
        raise EmptyStreamError(f"{library.package}.{call}({source!r})")
    return found
