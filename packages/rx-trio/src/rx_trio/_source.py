"""Async iterables and receive channels as publishers: a task in your nursery pulls one element for each one
requested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

import trio
from trio.lowlevel import checkpoint

from rx_core import (
    UNBOUNDED,
    FlowableBase,
    RxError,
    WorkerInterruptedError,
    add_cap,
    dropped,
    invalid_request,
    name_of,
    none_produced,
)
from rx_trio._bell import QUANTUM, Bell, call_in_loop, current_token
from rx_trio._run import polled_here

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Make = Callable[[], AsyncIterator[T]]

_NOBODY: Final[Any] = None


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
        pump = _Pump(self, subscriber, self._token, first)
        subscriber.on_subscribe(pump)  # the task starts after it, so that nothing comes before it returned (RS 1.3)
        if not call_in_loop(self._token, pump.start, self._nursery):
            pump.refuse(_gone(self, "its trio run has ended"))

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
                iterable.close()  # a coroutine that nobody will await
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


def _gone(source: object, why: str) -> RxError:
    return RxError(
        f"{source!r} cannot go on, {why}.\n"
        f"  Open the nursery of a source around everything that uses it; cancel the subscription before the nursery."
    )


def _is_cancellation(failure: BaseException) -> bool:
    if isinstance(failure, BaseExceptionGroup):  # the iterator has a nursery of its own
        return failure.split(trio.Cancelled)[1] is None
    return isinstance(failure, trio.Cancelled)


@final
class _Pump(Generic[T]):
    """One subscription: a task that pulls while something is requested, and the only one that signals (RS 1.3).

    One cancel scope is around everything the iterator does, its first step as well as its ``aclose()``, because the
    iterator may keep scopes and nurseries of its own open between its elements, and scopes have to be left in order.
    """

    __slots__ = (
        "_bell",
        "_cancelled",
        "_demand",
        "_down",
        "_first",
        "_iterator",
        "_over",
        "_pulling",
        "_requests",
        "_scope",
        "_source",
        "_token",
        "_waiting",
        "_wrong",
    )

    def __init__(
        self,
        source: AsyncSource[T],
        subscriber: Subscriber[T],
        token: trio.lowlevel.TrioToken,
        first: bool,
    ) -> None:
        self._source = source
        self._down = subscriber
        self._token = token
        self._waiting = polled_here(token)
        self._first = first
        self._requests: deque[int] = deque()
        self._demand = 0
        self._wrong: list[object] = []
        self._cancelled = False
        # From here on: set and read inside the loop only.
        self._bell: Bell | None = None
        self._scope: trio.CancelScope | None = None
        self._over: trio.Event | None = None
        self._pulling = False
        self._iterator: AsyncIterator[T] | None = None

    # -- Subscription: any thread ------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        if type(n) is int and n > 0:
            self._requests.append(n)
            bell = self._bell
            if bell is not None and not bell.rung:
                bell.ring()
        else:
            self._wrong.append(n)
            self._interrupt()

    def cancel(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            self._interrupt()

    def _interrupt(self) -> None:
        call_in_loop(self._token, _Pump._interrupt_here, self)

    def _interrupt_here(self) -> None:
        bell, scope = self._bell, self._scope
        if bell is None or scope is None:
            return  # not started: the task looks before it does anything
        if self._pulling:
            scope.cancel()
        else:
            bell.ring()  # suspended between two elements: the iterator is closed in peace

    # -- inside the loop ---------------------------------------------------------------------------------------------

    def start(self, nursery: trio.Nursery) -> None:
        self._bell = Bell("a source")
        self._scope = trio.CancelScope()
        try:
            nursery.start_soon(self._live, self._bell, self._scope, name=repr(self._source))
        except RuntimeError:
            self.refuse(_gone(self._source, "its nursery is closed"))
            return
        if self._waiting is not None:
            self._over = trio.Event()
            self._waiting.note(self)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled

    async def ended(self) -> None:
        if self._over is not None:
            await self._over.wait()

    def hurry(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    async def _live(self, bell: Bell, scope: trio.CancelScope) -> None:
        finished = False
        error: Exception | None = None
        task = None if self._waiting is None else self._waiting.attach()
        try:
            with scope:
                try:
                    error = await self._pull(bell)
                    finished = True
                finally:
                    await self._close_iterator()
        except BaseException as failure:
            self._interrupted(failure)
            raise
        else:
            self._end(error, finished)
        finally:
            if self._waiting is not None and self._over is not None and task is not None:
                self._waiting.detach(task)
                self._waiting.forget(self)
                self._over.set()

    async def _pull(self, bell: Bell) -> Exception | None:
        """Pull what is requested up to the end of the source, and return its error if that is how it ended."""
        try:
            iterator = self._iterator = self._source.make(self._first)
        except Exception as error:
            return error
        requests = self._requests
        left = QUANTUM
        while not self._stopped():
            while requests:
                self._demand = add_cap(self._demand, requests.popleft())
            if not self._demand:
                await bell.wait()
                left = QUANTUM
                continue
            self._pulling = True
            try:
                item = await iterator.__anext__()
            except StopAsyncIteration:
                return None
            except Exception as error:
                return error
            finally:
                self._pulling = False
            if item is None:
                return none_produced(f"rx_trio.{self._source.call}", self._source)
            if self._stopped():
                break
            if self._demand < UNBOUNDED:
                self._demand -= 1
            try:
                self._down.on_next(item)
            except BaseException:
                self._cancelled = True  # RS 2.13: who throws is cancelled; the error is for the nursery to see
                raise
            left -= 1
            if not left:
                left = QUANTUM
                await checkpoint()
        return None

    def _stopped(self) -> bool:
        return self._cancelled or bool(self._wrong)

    async def _close_iterator(self) -> None:
        iterator, self._iterator = self._iterator, None
        closer: Callable[[], Any] | None = getattr(iterator, "aclose", None)
        if closer is not None:
            try:
                await closer()
            except Exception as error:  # RS 3.15: somebody's finalizer
                dropped(error, self._source)
            except BaseExceptionGroup as group:
                # A nursery around a yield puts the GeneratorExit, which only says "closed", into a group.
                rest: BaseException | None = group.split(GeneratorExit)[1]
                if isinstance(rest, Exception):
                    dropped(rest, self._source)
                elif rest is not None:
                    raise rest from None

    # -- ends --------------------------------------------------------------------------------------------------------

    def _end(self, error: Exception | None, finished: bool) -> None:
        if self._wrong and not self._cancelled:
            self._signal(invalid_request(self._wrong[0]))  # RS 3.9
        elif not self._cancelled and finished:
            self._signal(error)
        elif not self._cancelled:
            self._signal(_gone(self._source, "its task was cancelled by somebody else"))
        elif error is not None:
            dropped(error, self._source)
        self._down = _NOBODY  # RS 3.13

    def _interrupted(self, failure: BaseException) -> None:
        """The task dies by a subscriber's error, a cancelled nursery or a BaseException: nobody may wait for ever."""
        if not self._cancelled:
            if _is_cancellation(failure):
                self._signal(_gone(self._source, "its nursery was cancelled"))
            else:
                interrupted = WorkerInterruptedError(f"{type(failure).__name__} ended {self._source!r}: {failure}")
                interrupted.__cause__ = failure
                self._signal(interrupted)
        self._down = _NOBODY

    def refuse(self, error: Exception) -> None:
        """No task could be started, so no one else signals."""
        if self._wrong:
            error = invalid_request(self._wrong[0])
        if not self._cancelled:
            self._signal(error)
        self._down = _NOBODY

    def _signal(self, error: Exception | None) -> None:
        self._cancelled = True  # RS 1.6: what comes from here on is too late
        if error is None:
            self._down.on_complete()
        else:
            self._down.on_error(error)

    def __repr__(self) -> str:
        return f"<subscription to {self._source!r}{', cancelled' if self._cancelled else ''}>"


def from_async_iterable(
    source: AsyncIterable[T] | Callable[[], AsyncIterable[T]], /, *, nursery: trio.Nursery
) -> FlowableBase[T]:
    """An async iterable as a publisher; a task in ``nursery`` iterates it for each subscription::

        async with trio.open_nursery() as nursery:
            flow = Flowable.wrap(rx_trio.from_async_iterable(lines, nursery=nursery))

    ``source`` is an async iterable or a function that makes one, such as an async generator function. An iterator, for
    example an async generator that was called already, has one life: the second subscriber gets a RuntimeError.

    Demand:  honoured exactly: one step of the iterator for each element requested, never ahead. So the end is found,
    and signalled, by the request after the last element.
    Errors:  what the iterator raises, with its own type. None as an element is refused. When the nursery is cancelled,
    or closed before the subscription, the subscriber gets an RxError. What a subscriber raises goes to the nursery.
    Memory:  nothing is buffered.
    Thread:  signals come from the task; ``request`` and ``cancel`` may be called on any thread. A checkpoint at least
    every 256 elements, also when the iterator makes none.
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

    Demand:  one ``receive`` for each element requested; the channel's own buffer decides how far the sender is ahead.
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
    """A memory channel whose waiting elements are taken without a checkpoint each: the task makes one for many of
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
