"""One subscription to an async iterable: the task that pulls it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from rx_core._demand import UNBOUNDED, add_cap, invalid_request
from rx_core._errors import RxError, WorkerInterruptedError, none_produced
from rx_core._hooks import dropped, dropped_late
from rx_core.tasks._endings import Endings, working_here

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber
    from rx_core.tasks._loop import Event, Loop, Scope, Wakeup

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Items a task sends between two checkpoints at the most.
QUANTUM: Final = 256

#: In the place of a subscriber that is referred to no more.
_GONE: Final[Any] = None


class Iterated(Protocol[T_co]):
    """What a pump asks of the source that it pulls. The source's repr is in the messages."""

    @property
    def call(self) -> str:
        """The function that the user made the source with."""
        ...

    def make(self, first: bool) -> AsyncIterator[T_co]:
        """The iterator of one subscription."""
        ...


def gone(source: object, library: type[Loop], why: str) -> RxError:
    owner = library.owner
    return RxError(
        f"{source!r} cannot go on, {why}.\n"
        f"  Open the {owner} of a source around everything that uses it; cancel the subscription before the {owner}."
    )


def _is_cancellation(failure: BaseException, cancelled: type[BaseException]) -> bool:
    if isinstance(failure, BaseExceptionGroup):  # the iterator has a nursery of its own
        return failure.split(cancelled)[1] is None
    return isinstance(failure, cancelled)


class Pump(Generic[T]):
    """One subscription: a task that pulls while something is requested, and the only one that signals (RS 1.3).

    One cancel scope is around everything the iterator does, its first step as well as its ``aclose()``, because the
    iterator may keep scopes and nurseries of its own open between its items, and scopes have to be left in order.
    """

    __slots__ = (
        "_cancelled",
        "_cancelled_with",
        "_demand",
        "_down",
        "_endings",
        "_first",
        "_iterator",
        "_loop",
        "_over",
        "_pulling",
        "_requests",
        "_scope",
        "_source",
        "_wakeup",
        "_wrong",
    )

    def __init__(self, source: Iterated[T], subscriber: Subscriber[T], loop: Loop, first: bool = True) -> None:
        self._source = source
        self._down = subscriber
        self._loop = loop
        self._endings: Endings | None = working_here(loop)
        self._first = first
        self._requests: deque[int] = deque()
        self._demand = 0
        self._wrong: list[object] = []
        self._cancelled = False
        self._cancelled_with = "its task was cancelled"
        # From here on: set and read inside the loop only.
        self._wakeup: Wakeup | None = None
        self._scope: Scope | None = None
        self._over: Event | None = None
        self._pulling = False
        self._iterator: AsyncIterator[T] | None = None

    # -- Subscription: any thread ------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        if type(n) is int and n > 0:
            self._requests.append(n)
            wakeup = self._wakeup
            if wakeup is not None and not wakeup.woken:
                wakeup.wake()
        else:
            self._wrong.append(n)
            self._interrupt()

    def cancel(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            if self._endings is None:
                self._belong()
            self._interrupt()

    def _belong(self) -> None:
        """A source that was subscribed elsewhere, on a worker for example, belongs to the stream that cancels it."""
        endings = working_here(self._loop)
        if endings is not None:
            self._endings = endings
            if self._over is not None and not self._over.is_set():  # else start() notes it, or it has ended
                endings.note(self)

    def _interrupt(self) -> None:
        self._loop.call(Pump._interrupt_here, self)

    def _interrupt_here(self) -> None:
        wakeup, scope = self._wakeup, self._scope
        if wakeup is None or scope is None:
            return  # not started: the task looks before it does anything
        if self._pulling:
            scope.cancel()
        else:
            wakeup.wake()  # suspended between two items: the iterator is closed in peace

    # -- inside the loop ---------------------------------------------------------------------------------------------

    def start(self, owner: Any) -> None:
        """Start the task in what is to own it. Called in the loop."""
        loop = self._loop
        if owner is not None:
            self._cancelled_with = f"its {loop.owner} was cancelled"
        self._wakeup = loop.wakeup()
        self._scope = loop.scope()
        over = self._over = loop.event()
        try:
            loop.spawn(owner, self._live, self._lost, self._source)
        except RuntimeError:
            self._over = None
            self.refuse(self._gone(f"its {loop.owner} is closed"))
            return
        if self._endings is not None and not over.is_set():
            self._endings.note(self)

    def _gone(self, why: str) -> RxError:
        return gone(self._source, type(self._loop), why)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled

    async def ended(self) -> None:
        if self._over is not None:
            await self._over.wait()

    def hurry(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    async def _live(self) -> None:
        wakeup, scope, over = self._wakeup, self._scope, self._over
        assert wakeup is not None
        assert scope is not None
        assert over is not None
        finished = False
        error: Exception | None = None
        endings = self._endings  # as long as the task lives; see _belong
        task = None if endings is None else endings.attach()
        try:
            with scope:
                try:
                    error = await self._pull(wakeup)
                    finished = True
                finally:
                    await self._close_iterator()
        except BaseException as failure:
            self._interrupted(failure)
            raise
        else:
            self._end(error, finished)
        finally:
            if endings is not None and task is not None:
                endings.detach(task)
            if self._endings is not None:
                self._endings.forget(self)
            over.set()

    def _lost(self) -> None:
        """The task has ended; if it was given up before its first step, nothing has been done about it yet."""
        over = self._over
        if over is None or over.is_set():
            return
        if not self._cancelled:
            self._signal(self._gone(self._cancelled_with))
        self._down = _GONE
        if self._endings is not None:
            self._endings.forget(self)
        over.set()

    async def _pull(self, wakeup: Wakeup) -> Exception | None:
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
                await wakeup.wait()
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
                return none_produced(f"{self._loop.package}.{self._source.call}", self._source)
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
                await self._loop.checkpoint()
        return None

    def _stopped(self) -> bool:
        return self._cancelled or bool(self._wrong)

    async def _close_iterator(self) -> None:
        iterator, self._iterator = self._iterator, None
        closer: Callable[[], Any] | None = getattr(iterator, "aclose", None)
        if closer is not None:
            try:
                await closer()
            except Exception as error:  # RS 3.15: a user's finalizer
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
            self._signal(self._gone("its task was cancelled from elsewhere"))
        elif error is not None:
            dropped_late(error, self._source)
        self._down = _GONE  # RS 3.13

    def _interrupted(self, failure: BaseException) -> None:
        """The task dies by a subscriber's error, a cancelled nursery or a BaseException: the subscriber must not hang."""
        if not self._cancelled:
            if _is_cancellation(failure, self._loop.cancelled):
                self._signal(self._gone(self._cancelled_with))
            else:
                interrupted = WorkerInterruptedError(f"{type(failure).__name__} ended {self._source!r}: {failure}")
                interrupted.__cause__ = failure
                self._signal(interrupted)
        self._down = _GONE

    def refuse(self, error: Exception) -> None:
        """No task could be started, so no one else signals."""
        if self._wrong:
            error = invalid_request(self._wrong[0])
        if not self._cancelled:
            self._signal(error)
        self._down = _GONE

    def _signal(self, error: Exception | None) -> None:
        self._cancelled = True  # RS 1.6: what comes from here on is too late
        if error is None:
            self._down.on_complete()
        else:
            self._down.on_error(error)

    def __repr__(self) -> str:
        return f"<subscription to {self._source!r}{', cancelled' if self._cancelled else ''}>"
