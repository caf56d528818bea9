"""Async iterables as publishers: a task pulls one item for each one requested."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeVar, final

from rx_core._context import current_context
from rx_core._errors import RxError, name_of
from rx_core._reactive import FlowableBase
from rx_core.blocks._nobody import CANCELLED_SUBSCRIPTION
from rx_core.tasks._pump import Pump, gone

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core.tasks._loop import Loop

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class TaskSource(FlowableBase[T_co]):
    """A publisher at work in a task of its own for each subscription.

    Its loop is that in which it was made. One made outside of a loop has none; each subscription takes the one it is made in.
    """

    __slots__ = ("_library", "_loop", "_owner")

    def __init__(self, library: type[Loop], loop: Loop | None, owner: Any) -> None:
        self._library = library
        self._loop = loop
        self._owner = owner

    def subscribe_actual(self, subscriber: Subscriber[T_co], /) -> None:
        loop = self._loop or self._library.find()
        if loop is None:
            subscriber.on_subscribe(CANCELLED_SUBSCRIPTION)
            subscriber.on_error(
                RxError(
                    f"{self!r} was made outside of an event loop, and none runs where it is subscribed.\n"
                    f"  Make it in the loop, or subscribe there:  subscribe_on, for one, subscribes on another thread"
                )
            )
            return
        pump = self.pump(subscriber, loop)
        subscriber.on_subscribe(pump)  # the task starts after it, so that nothing comes before it returned (RS 1.3)
        # The task begins in the context of who subscribes: in the loop that is there, from another thread it is copied.
        context = None if loop.is_here() else current_context()
        start = pump.start if context is None else lambda owner: context.run(pump.start, owner)
        if not loop.call(start, self._owner):
            pump.refuse(gone(self, self._library, "its event loop has ended"))

    def pump(self, subscriber: Subscriber[T_co], loop: Loop, /) -> Pump[Any]:
        """What is at work for one subscription."""
        raise NotImplementedError


@final
class AsyncSource(TaskSource[T_co]):
    """What ``from_async_iterable`` of a package and its like return; put it into ``Flowable.wrap``."""

    __slots__ = ("_call", "_hint", "_life", "_once", "_source")

    def __init__(
        self,
        library: type[Loop],
        loop: Loop | None,
        call: str,
        source: AsyncIterable[T_co] | Callable[[], AsyncIterable[T_co]],
        owner: Any,
    ) -> None:
        super().__init__(library, loop, owner)
        self._call = call
        self._source = source
        #: An iterator has one life, which the first subscription takes out of the cell; an iterable or a factory has
        #: many.
        self._once = hasattr(source, "__anext__")
        self._life = {0: True}

    def pump(self, subscriber: Subscriber[T_co], loop: Loop, /) -> Pump[T_co]:
        first = not self._once or self._life.pop(0, None) is not None
        return Pump(self, subscriber, loop, first)

    def make(self, first: bool) -> AsyncIterator[T_co]:
        """The iterator of one subscription, made in its task. What this raises is signalled."""
        source = self._source
        call = f"{self._library.package}.{self._call}"
        if not first:
            raise RuntimeError(
                f"{self!r} was subscribed to before, and {type(source).__name__} can be iterated once only.\n"
                f"  Give a function that makes a new one each time:  {call}(function, ...)"
            )
        iterable: Any = source if hasattr(source, "__aiter__") else source()
        if not hasattr(iterable, "__aiter__"):
            if hasattr(iterable, "close") and hasattr(iterable, "__await__"):
                iterable.close()  # a coroutine that will not be awaited
            raise TypeError(
                f"{call}({name_of(source)}): the function has to return an async iterable, it returned {iterable!r}.\n"
                f"  For example an async generator:  async def {getattr(source, '__name__', 'items')}(): yield 1"
            )
        iterator: AsyncIterator[T_co] = iterable.__aiter__()
        return iterator

    @property
    def call(self) -> str:
        return self._call

    def __repr__(self) -> str:
        return f"{self._call}({name_of(self._source)})"


def check_async_iterable(package: str, source: object) -> None:
    if not hasattr(source, "__aiter__") and not callable(source):
        hint = "  For a plain iterable:  Flowable.from_iterable(source)" if hasattr(source, "__iter__") else ""
        raise TypeError(
            f"{package}.from_async_iterable() needs an async iterable or a function that makes one, got {source!r}.\n"
            f"  For example an async generator function:  async def ticks(): yield 1\n{hint}".rstrip()
        )
