"""Async functions that are called for what they do: Completables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, final

from rx_core._disposables import BaseDisposable
from rx_core._errors import name_of
from rx_core._reactive import CompletableBase
from rx_core.tasks._sources import AsyncSource

if TYPE_CHECKING:
    from rx_core._protocols import CompletableObserver, Subscription
    from rx_core.tasks._loop import Loop


@final
class AsyncAction(CompletableBase):
    """What ``from_action`` of a package returns: each subscription calls ``function`` in a task of its own."""

    __slots__ = ("_source",)

    def __init__(self, library: type[Loop], loop: Loop | None, function: Callable[[], Awaitable[object]], owner: Any) -> None:
        self._source: AsyncSource[Any] = AsyncSource(library, loop, "from_action", _Acts(library, function), owner)

    def subscribe_actual(self, observer: CompletableObserver, /) -> None:
        self._source.subscribe(_OnlyEnd(observer))

    def __repr__(self) -> str:
        return repr(self._source)


def check_action(package: str, function: Any) -> None:
    if not callable(function):
        if hasattr(function, "close") and hasattr(function, "__await__"):
            function.close()  # a coroutine that will not be awaited
        raise TypeError(
            f"{package}.from_action() needs an async function, got {function!r}.\n"
            f"  Wrong:  {package}.from_action(connection.close())\n"
            f"  Right:  {package}.from_action(connection.close)"
        )


@final
class _Acts:
    """The call as an async iterable without items."""

    __slots__ = ("_function", "_library")

    def __init__(self, library: type[Loop], function: Callable[[], Awaitable[object]]) -> None:
        self._library = library
        self._function = function

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._call()

    async def _call(self) -> AsyncIterator[Any]:
        made: Any = self._function()
        if not hasattr(made, "__await__"):
            raise TypeError(
                f"{self._library.package}.from_action() needs an async function, and {self!r} returned {made!r}.\n"
                f"  For a plain function:  Completable.from_action({self!r})"
            )
        await made
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item  # makes this a generator

    def __repr__(self) -> str:
        return name_of(self._function)


@final
class _OnlyEnd(BaseDisposable):
    """Between the source and the observer."""

    __slots__ = ("_disposed", "_observer", "_up")

    _up: Subscription

    def __init__(self, observer: CompletableObserver) -> None:
        self._observer = observer
        self._disposed = False

    def on_subscribe(self, up: Subscription, /) -> None:
        self._up = up
        self._observer.on_subscribe(self)
        up.request(1)

    def on_next(self, _item: object, /) -> None:
        raise AssertionError("an action gives no item")

    def on_error(self, error: Exception, /) -> None:
        self._disposed = True
        self._observer.on_error(error)

    def on_complete(self) -> None:
        self._disposed = True
        self._observer.on_complete()

    def dispose(self) -> None:
        self._disposed = True
        self._up.cancel()

    @property
    def is_disposed(self) -> bool:
        return self._disposed
