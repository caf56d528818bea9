"""Futures and tasks as Singles."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, final

from rx_asyncio._loop import AsyncioLoop, owned
from rx_asyncio._wakeup import call_in_loop
from rx_core import BaseDisposable, RxError, SingleBase, WorkerInterruptedError, name_of, none_produced
from rx_core.tasks import AsyncSource

if TYPE_CHECKING:
    from rx_core import FlowableBase, SingleObserver, Subscription

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

AnyFuture = asyncio.Future[T] | concurrent.futures.Future[T]


def from_future(future: AnyFuture[T], /) -> SingleBase[T]:
    """The result of a future, of asyncio or of ``concurrent.futures``; a task is one, too.

    Errors:  the future's own, with its type; an RxError when it was cancelled; None as a result is refused.
    Memory:  the result, which the future has.
    Thread:  that of the future: the loop's, or the thread that sets the result. A result that is there already comes at once.
    Cancel:  the future is left alone; others may be waiting for it. A task that is to be cancelled is for :func:`from_task`.
    Raises:  TypeError for what is no future.
    """
    if not isinstance(future, (asyncio.Future, concurrent.futures.Future)):
        raise TypeError(
            f"rx_asyncio.from_future() needs a future or a task, got {future!r}.\n"
            f"  For an async function:  rx_asyncio.from_task(function)"
        )
    return _FutureSingle("from_future", future, owned=False)


def from_task(task: asyncio.Task[T] | Callable[[], Awaitable[T]], /, *, group: asyncio.TaskGroup | None = None) -> SingleBase[T]:
    """The result of a task, which the subscription owns: an async function that is called for each, or a task that runs already.

    Errors:  the task's own, with their type; an RxError when it is cancelled from elsewhere; None as a result is refused.
    Memory:  the result.
    Thread:  the loop's: that in which this is called, or when that is none the one in which it is subscribed.
    Cancel:  cancels the task; leaving a stream waits for its finalizers. A task that runs already has one result for all
    subscribers, and the first one that cancels cancels it for all.
    Raises:  TypeError for bad arguments.
    """
    if isinstance(task, asyncio.Task):
        return _FutureSingle("from_task", task, owned=True)
    given: Any = task
    if not callable(given):
        if asyncio.iscoroutine(given):
            given.close()
        raise TypeError(
            f"rx_asyncio.from_task() needs an async function or a task, got {task!r}.\n"
            f"  Wrong:  rx_asyncio.from_task(fetch(url))\n"
            f"  Right:  rx_asyncio.from_task(lambda: fetch(url))"
        )
    owned("from_task", group)
    loop = AsyncioLoop.find() if group is None else AsyncioLoop.here("rx_asyncio.from_task()")
    return _TaskSingle(AsyncSource(AsyncioLoop, loop, "from_task", _Calls(task), group))


@final
class _FutureSingle(SingleBase[T_co]):
    __slots__ = ("_call", "_future", "_owned")

    def __init__(self, call: str, future: AnyFuture[T_co], *, owned: bool) -> None:
        self._call = call
        self._future = future
        self._owned = owned

    def subscribe_actual(self, observer: SingleObserver[T_co], /) -> None:
        watch = _Watch(self, self._future, self._owned, observer)
        observer.on_subscribe(watch)
        watch.start()

    def none(self) -> TypeError:
        return none_produced(f"rx_asyncio.{self._call}", self._future)

    def __repr__(self) -> str:
        return f"{self._call}({self._future!r})"


@final
class _Watch(BaseDisposable):
    """One observer of a future. What takes it out of the cell may signal it."""

    __slots__ = ("_future", "_observer", "_owned", "_source")

    def __init__(self, source: _FutureSingle[Any], future: AnyFuture[Any], owned: bool, observer: SingleObserver[Any]) -> None:
        self._source = source
        self._future = future
        self._owned = owned
        self._observer = {0: observer}

    def start(self) -> None:
        future = self._future
        if future.done():
            self._tell(future)
        elif isinstance(future, concurrent.futures.Future):
            future.add_done_callback(self._tell)
        elif not call_in_loop(future.get_loop(), future.add_done_callback, self._tell):
            self._fail(RxError(f"{self._source!r} cannot go on, its event loop has ended."))

    def _tell(self, future: AnyFuture[Any]) -> None:
        """Signal how the future ended. On the thread where it did."""
        observer = self._observer.pop(0, None)
        if observer is None:
            return
        error: BaseException | None = None
        value: Any = None
        if future.cancelled():
            error = RxError(f"{self._source!r} was cancelled, and has no result.")
        else:
            error = future.exception()
            if error is None:
                value = future.result()
                if value is None:
                    error = self._source.none()
        if error is None:
            observer.on_success(value)
        elif isinstance(error, Exception):
            observer.on_error(error)
        else:
            interrupted = WorkerInterruptedError(f"{type(error).__name__} ended {self._source!r}: {error}")
            interrupted.__cause__ = error
            observer.on_error(interrupted)

    def _fail(self, error: Exception) -> None:
        observer = self._observer.pop(0, None)
        if observer is not None:
            observer.on_error(error)

    def dispose(self) -> None:
        if self._observer.pop(0, None) is None:
            return
        future = self._future
        if isinstance(future, concurrent.futures.Future):
            return
        call_in_loop(future.get_loop(), _Watch._leave, self)

    def _leave(self) -> None:
        future = self._future
        assert isinstance(future, asyncio.Future)
        future.remove_done_callback(self._tell)  # it may live much longer than who waited
        if self._owned:
            future.cancel()

    @property
    def is_disposed(self) -> bool:
        return not self._observer


@final
class _Calls:
    """An async function as an async iterable of what one call of it gives."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[], Awaitable[Any]]) -> None:
        self._function = function

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._call()

    async def _call(self) -> AsyncIterator[Any]:
        result: Any = self._function()
        if not hasattr(result, "__await__"):
            raise TypeError(
                f"rx_asyncio.from_task() needs an async function, and {name_of(self._function)} returned {result!r}.\n"
                f"  For a plain function:  Single.from_callable({name_of(self._function)})"
            )
        yield await result

    def __repr__(self) -> str:
        return name_of(self._function)


@final
class _TaskSingle(SingleBase[T_co]):
    """The only item of a publisher, in the place of which a task is at work."""

    __slots__ = ("_source",)

    def __init__(self, source: FlowableBase[T_co]) -> None:
        self._source = source

    def subscribe_actual(self, observer: SingleObserver[T_co], /) -> None:
        self._source.subscribe(_OnlyItem(observer))

    def __repr__(self) -> str:
        return repr(self._source)


@final
class _OnlyItem(BaseDisposable):
    """Between such a publisher and the observer."""

    __slots__ = ("_disposed", "_observer", "_up")

    _up: Subscription

    def __init__(self, observer: SingleObserver[Any]) -> None:
        self._observer = observer
        self._disposed = False

    def on_subscribe(self, up: Subscription, /) -> None:
        self._up = up
        self._observer.on_subscribe(self)
        up.request(1)

    def on_next(self, item: Any, /) -> None:
        self._up.cancel()  # there is no second one
        if not self._disposed:
            self._disposed = True
            self._observer.on_success(item)

    def on_error(self, error: Exception, /) -> None:
        if not self._disposed:
            self._disposed = True
            self._observer.on_error(error)

    def on_complete(self) -> None:
        raise AssertionError("a call gives an item or an error")

    def dispose(self) -> None:
        self._disposed = True
        self._up.cancel()

    @property
    def is_disposed(self) -> bool:
        return self._disposed
