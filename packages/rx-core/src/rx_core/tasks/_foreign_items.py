"""An async operator over the items of a thread that has no loop: one of a process pool, or of a cluster.

The calls are made in a loop that runs on a thread of its own, for all who need one in this process. The thread with the items
pulls them when the operator asks for some, and waits for results meanwhile: so calls go on while it is busy with either.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from rx_core.tasks._mapping import AsyncMapped, AsyncOperator

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber, Subscription
    from rx_core.tasks._loop import Event, Loop

T = TypeVar("T")
R = TypeVar("R")

#: Seconds that the end of the process waits for the calls that are cancelled then.
_PATIENCE: Final = 5.0


@final
class _LoopThread:
    """A thread with a loop of ``library``, which ends with the process: what functions keep for the next call, such as a session
    of connections, belongs to the loop."""

    def __init__(self, library: type[Loop]) -> None:
        self._library = library
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"{library.package} calls", daemon=True)
        self.loop: Loop
        self.owner: Any
        self._over: Event
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure
        atexit.register(self._end)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()  # False in a forked process, where no other thread is

    def _run(self) -> None:
        try:
            self._library.run(self._main)
        except BaseException as failure:
            self._failure = failure
            if self._ready.is_set():
                raise
        finally:
            self._ready.set()

    async def _main(self, owner: Any) -> None:
        self.loop = self._library.here("a thread for calls")
        self.owner = owner
        self._over = self.loop.event()
        self._ready.set()
        await self._over.wait()

    def call(self, function: Callable[[], object]) -> bool:
        """Call it in the loop; False when that has ended."""
        return self.is_alive and self.loop.call(lambda _: function(), None)

    def _end(self) -> None:
        if self.call(self._over.set):
            self._thread.join(_PATIENCE)


_threads: Final[dict[type[Loop], _LoopThread]] = {}
_starting: Final = threading.Lock()


def _thread_of(library: type[Loop]) -> _LoopThread:
    with _starting:
        found = _threads.get(library)
        if found is None or not found.is_alive:
            found = _threads[library] = _LoopThread(library)
        return found


# -- between the two threads ---------------------------------------------------------------------------------------------------

#: What is told to the thread with the items: so many are wanted, a result, the end with its error or None, nothing is left.
_ASKED: Final = "asked"
_RESULT: Final = "result"
_END: Final = "end"
_GONE: Final = "gone"

_Signals = SimpleQueue[tuple[str, Any]]


@final
class _Feed:
    """The items as a publisher: its subscriber asks, and the thread that has them sends them."""

    __slots__ = ("_items", "_signals", "_subscriber", "wanted")

    _subscriber: Subscriber[Any]

    def __init__(self, items: Iterator[Any], signals: _Signals) -> None:
        self._items = items
        self._signals = signals
        #: How many may be sent. 0 after the end.
        self.wanted = 0

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self._subscriber = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self._signals.put((_ASKED, n))

    def cancel(self) -> None:
        self._signals.put((_ASKED, 0))

    def asked(self, n: int) -> None:
        self.wanted = self.wanted + n if n else 0

    def send_one(self) -> None:
        self.wanted -= 1
        try:
            item = next(self._items)
        except StopIteration:
            self.wanted = 0
            self._subscriber.on_complete()
        except Exception as error:
            self.wanted = 0
            self._subscriber.on_error(error)
        else:
            self._subscriber.on_next(item)

    def __repr__(self) -> str:
        return "the items of another thread"


@final
class _Results:
    """The subscriber of the results."""

    __slots__ = ("_signals", "up")

    up: Subscription

    def __init__(self, signals: _Signals) -> None:
        self._signals = signals

    def on_subscribe(self, up: Subscription, /) -> None:
        self.up = up

    def on_next(self, item: Any, /) -> None:
        self._signals.put((_RESULT, item))

    def on_error(self, error: Exception, /) -> None:
        self._signals.put((_END, error))

    def on_complete(self) -> None:
        self._signals.put((_END, None))


def results_of(operator: AsyncOperator[T, R], items: Iterable[T], /) -> Iterator[R]:
    """What ``operator`` makes of ``items``, in their order; for a thread without a loop.

    Demand:  up to ``concurrency`` items are pulled in advance, and calls run ahead as the operator says.
    Errors:  those of the items and of the calls, each behind the results of the items before it.
    Memory:  the operator's, and ``concurrency`` items and results.
    Thread:  items are pulled on this one; calls are tasks of a loop on a thread that lasts as long as the process.
    Cancel:  leaving early cancels the calls and waits for their finalizers.
    """
    return _results_of(operator, items, operator.function)


def _results_of(
    operator: AsyncOperator[Any, Any], items: Iterable[Any], function: Callable[[Any], Any]
) -> Generator[Any, None, None]:
    thread = _thread_of(operator.library)
    signals: _Signals = SimpleQueue()
    feed = _Feed(iter(items), signals)
    results = _Results(signals)
    window = operator.concurrency
    AsyncMapped(operator.inside(thread.loop, thread.owner, function), feed).subscribe_actual(results)
    results.up.request(window)
    taken = 0
    ended = False
    try:
        while True:
            if feed.wanted:
                feed.send_one()
            try:
                kind, value = signals.get(block=not feed.wanted)
            except Empty:
                continue
            if kind is _ASKED:
                feed.asked(value)
            elif kind is _RESULT:
                taken += 1
                if 2 * taken >= window:
                    results.up.request(taken)
                    taken = 0
                yield value
            elif kind is _END:
                ended = True
                if value is not None:
                    raise value
                return
    finally:
        if not ended and thread.is_alive:  # it is over at the end of the process, when a module may be empty already
            _leave(thread, results.up, signals)


def _leave(thread: _LoopThread, pump: Any, signals: _Signals) -> None:
    """Cancel the calls, and wait until they have run their finalizers."""

    async def tell() -> None:
        await pump.ended()
        signals.put((_GONE, None))

    pump.cancel()
    if thread.call(lambda: thread.loop.spawn(thread.owner, tell, lambda: signals.put((_GONE, None)), pump)):
        while thread.is_alive:  # else nothing is left of them
            with suppress(Empty):
                if signals.get(timeout=1.0)[0] is _GONE:
                    return


# -- items in blocks -----------------------------------------------------------------------------------------------------------


class _EndOfBlock:
    """Stands between the results of two blocks."""


_END_OF_BLOCK: Final = _EndOfBlock()


@final
class _OfItems:
    """The user's function for all that is an item."""

    __slots__ = ("__qualname__", "_function")

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        with suppress(AttributeError):
            self.__qualname__ = function.__qualname__

    def __call__(self, item: Any) -> Any:
        return _itself(item) if item is _END_OF_BLOCK else self._function(item)

    def __repr__(self) -> str:
        return repr(self._function)


async def _itself(item: T) -> T:
    return item


def results_of_blocks(
    operator: AsyncOperator[T, R], blocks: Iterator[tuple[int, Iterable[T]]], /
) -> Iterator[tuple[int, Iterator[R]]]:
    """The same for items that come in numbered blocks, whose results stay together: the calls of a block begin while those of
    the block before it still run. A block is iterated before the next one is taken; what is left of it then is skipped.
    """
    numbers: deque[int] = deque()
    opened: deque[Iterable[T]] = deque()

    def opens() -> bool:
        found = next(blocks, None)
        if found is None:
            return False
        numbers.append(found[0])
        opened.append(found[1])
        return True

    def marked() -> Iterator[Any]:
        while opened or opens():
            yield from opened.popleft()
            yield _END_OF_BLOCK

    results = _results_of(operator, marked(), _OfItems(operator.function))
    try:
        while numbers or opens():
            items = takewhile(_is_result, results)
            yield numbers.popleft(), items
            for _ in items:
                pass
    finally:
        results.close()  # the consumer may still hold the items of a block


def _is_result(found: object) -> bool:
    return found is not _END_OF_BLOCK
