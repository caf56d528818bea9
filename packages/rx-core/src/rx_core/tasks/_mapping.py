"""``map_async`` and ``filter_async``: an async function at work on several items at a time, in a task for each."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

from rx_core._demand import UNBOUNDED, add_cap, check_prefetch
from rx_core._errors import RxError, check_callable, name_of, none_produced
from rx_core._user_code import as_signal, user_error
from rx_core.tasks._items import StreamItems, check_source
from rx_core.tasks._pump import QUANTUM, Pump
from rx_core.tasks._sources import TaskSource
from rx_core.tasks._subscriptions import not_awaitable

if TYPE_CHECKING:
    from rx_core._protocols import Publisher, Subscriber
    from rx_core._reactive import FlowableBase
    from rx_core.tasks._loop import Crew, Loop, Wakeup

T = TypeVar("T")
R = TypeVar("R")

_END: Final[Any] = object()


@final
class AsyncOperator(Generic[T, R]):
    """What ``map_async`` and ``filter_async`` of a package return, for ``compose``: it makes the stream of one of a source."""

    __slots__ = ("buffer", "call", "concurrency", "function", "library", "loop", "name", "ordered", "owner", "seconds", "selects")

    def __init__(
        self,
        library: type[Loop],
        call: str,
        function: Callable[[T], Awaitable[Any]],
        concurrency: int,
        ordered: bool,
        buffer: int,
        seconds: float | None,
        owner: Any,
        *,
        selects: bool = False,
    ) -> None:
        #: The call, as users write it.
        self.name = name = f"{library.package}.{call}"
        check_callable(name, "function", function)
        check_prefetch(name, concurrency, "concurrency")
        if type(buffer) is not int or buffer < 0:
            raise ValueError(
                f"{name}(buffer={buffer!r}): it is how many results may wait, 0 or more.\n"
                f"  Usually:  {name}({name_of(function)}, ..., buffer=16)"
            )
        if seconds is not None and not seconds > 0:
            raise ValueError(f"{name}(seconds={seconds!r}): a call needs some time.\n  Without a limit leave it out")
        self.library = library
        self.loop = library.find()
        self.call = call
        self.function = function
        self.concurrency = concurrency
        self.ordered = ordered
        self.buffer = buffer
        self.seconds = seconds
        self.owner = owner
        #: The function says which items to keep.
        self.selects = selects

    def __call__(self, source: Publisher[T], /) -> FlowableBase[R]:
        check_source(self.library.package, self.call, source)
        return AsyncMapped(self, source)

    def inside(self, loop: Loop, owner: Any, function: Callable[[Any], Any]) -> AsyncOperator[Any, Any]:
        """The same in another loop, calling another function. Results come in order."""
        make, arguments = self.__reduce__()
        made: AsyncOperator[Any, Any] = make(*arguments)
        made.loop, made.owner, made.function, made.ordered = loop, owner, function, True
        return made

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Without its loop and owner: they belong to this process."""
        settings = (self.function, self.concurrency, self.ordered, self.buffer, self.seconds, None)
        return partial(AsyncOperator, selects=self.selects), (self.library, self.call, *settings)

    def __repr__(self) -> str:
        return f"{self.call}({name_of(self.function)}, concurrency={self.concurrency})"


@final
class AsyncMapped(TaskSource[R]):
    """A publisher of what an async function makes of the items of another one."""

    __slots__ = ("operator", "upstream")

    def __init__(self, operator: AsyncOperator[Any, R], upstream: Publisher[Any]) -> None:
        super().__init__(operator.library, operator.loop, operator.owner)
        self.operator = operator
        self.upstream = upstream

    def pump(self, subscriber: Subscriber[R], loop: Loop, /) -> Pump[R]:
        return _MapPump(self, subscriber, loop)

    def make(self, first: bool) -> AsyncIterator[R]:
        raise AssertionError("its pump pulls the upstream")

    @property
    def call(self) -> str:
        return self.operator.call

    def __repr__(self) -> str:
        return f"{self.upstream!r} → {self.operator!r}"


class _Result:
    """The place of one item: first it is waited for, then it has a value or an error."""

    __slots__ = ("error", "over", "value")

    def __init__(self) -> None:
        self.value: Any = _END
        self.error: Exception | None = None
        self.over = False


@final
class _MapPump(Pump[R]):
    """One subscription. Its task starts calls while there is room, and emits what they give while something is requested.

    A call occupies one of ``concurrency`` places while it runs. Its result then waits for demand, or in order for its turn, and
    only ``buffer`` of them may: so a slow call keeps no other place empty before as many wait behind it.
    """

    __slots__ = ("_operator", "_results", "_running", "_upstream")

    def __init__(self, source: AsyncMapped[R], subscriber: Subscriber[R], loop: Loop) -> None:
        super().__init__(source, subscriber, loop)
        self._operator = source.operator
        self._upstream = source.upstream
        #: In order: all places, as their items came. Otherwise: those that are over.
        self._results: deque[_Result] = deque()
        self._running = 0

    async def _pull(self, wakeup: Wakeup) -> Exception | None:
        try:
            items = StreamItems(self._loop, self._upstream, self._operator.concurrency, wakeup=wakeup)
        except Exception as error:
            return error
        failure: Exception | None = None
        ending: Exception | None = None
        try:
            async with self._loop.crew() as crew:
                try:
                    ending = await self._work(crew, items, wakeup)
                except Exception as raised:  # the subscriber's; out of a nursery it would come in a group
                    failure = raised
                finally:
                    crew.cancel()
        finally:
            await items.aclose()
        if failure is not None:
            self._cancelled = True  # RS 2.13: who throws is cancelled; the error is for the owner
            raise failure
        return ending

    async def _work(self, crew: Crew, items: StreamItems[Any], wakeup: Wakeup) -> Exception | None:
        """Go on until the stream is over, and return its error if that is how it ended."""
        results, requests, ordered = self._results, self._requests, self._operator.ordered
        arrived = items.arrived()
        ended = False
        ending: Exception | None = None
        left = QUANTUM
        while not self._stopped():
            while requests:
                self._demand = add_cap(self._demand, requests.popleft())
            while results and results[0].over:
                result = results[0]
                if result.error is not None:
                    return result.error
                if result.value is not _END:
                    if not self._demand:
                        break
                    if self._demand < UNBOUNDED:
                        self._demand -= 1
                    self._down.on_next(result.value)
                    if self._stopped():
                        return None
                    left -= 1
                results.popleft()
                while requests:
                    self._demand = add_cap(self._demand, requests.popleft())
                if not left:
                    left = QUANTUM
                    await self._loop.checkpoint()
            if not ended:
                task = items.endings.attach()  # what the upstream opens belongs to this stream, not to that of the subscriber
                try:
                    ended = self._take(crew, arrived)
                except Exception as error:
                    ended, ending = True, as_signal(error)
                finally:
                    items.endings.detach(task)
            if ended and not results and (not self._running or (ending is not None and not ordered)):
                return ending
            await wakeup.wait()
            left = QUANTUM
        return None

    def _take(self, crew: Crew, arrived: Iterator[Any]) -> bool:
        """Start calls while there is room and an item; True at the end of the items."""
        operator, results = self._operator, self._results
        ordered, concurrency, most = operator.ordered, operator.concurrency, operator.concurrency + operator.buffer
        while self._running < concurrency and len(results) + (0 if ordered else self._running) < most:
            item = next(arrived, _END)
            if item is _END:
                return True
            if item is None:
                break
            result = _Result()
            if ordered:
                results.append(result)
            self._running += 1
            crew.start(self._call, crew, result, item)
        return False

    async def _call(self, crew: Crew, result: _Result, item: Any) -> None:
        operator = self._operator
        try:
            waiting = operator.function(item)
            if not hasattr(waiting, "__await__"):
                raise not_awaitable(operator.name, operator.function, waiting, "filter" if operator.selects else "map")
            if operator.seconds is None:
                value = await waiting
            else:
                value = await self._loop.limited(operator.seconds, waiting, self._late)
            if operator.selects:
                if value:
                    result.value = item
            elif value is None:
                result.error = none_produced(operator.name, operator.function)
            else:
                result.value = value
        except Exception as error:
            user_error(operator.call, operator.function, error)  # notes where
            result.error = error
        except BaseException as failure:
            # One that this pump has cancelled is looked at no more. Otherwise the subscriber would wait for it.
            result.error = RxError(f"{type(failure).__name__} ended a call of {operator!r}, which has no result.")
            result.error.__cause__ = failure
            raise
        finally:
            crew.leave()
            result.over = True
            self._running -= 1
            if not operator.ordered:
                self._results.append(result)
            assert self._wakeup is not None
            if not self._wakeup.woken:
                self._wakeup.wake()

    def _late(self) -> Exception:
        operator = self._operator
        return TimeoutError(f"a call of {operator!r} took longer than {operator.seconds} s")
