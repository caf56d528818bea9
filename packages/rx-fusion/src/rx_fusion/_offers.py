"""Our runs as queues for somebody else's operators: the producer's side of :mod:`rx_core.queue_fusion`.

Between two operators of ours nothing of this is needed, they share a generator. It is for consumers that are not ours and speak
the fusion protocol: the Subscription of a run grants a mode and becomes a queue.

What is granted follows from one rule: fusion must not move anybody's function to another thread. Un-fused, the functions of a
synchronous source run on the thread that requests; polled, on the one that polls. So SYNC is granted unless these two may be
different (BOUNDARY) and there is a function to move. A coordinating run grants ASYNC on the same terms; a run on a worker
refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import Drain, Items, Run, add_cap, as_signal, close, invalid_request
from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC, fusion_enabled
from rx_fusion._forms import Feed
from rx_fusion._heads import Head, IterableHead

if TYPE_CHECKING:
    from rx_core import Subscriber, Worker
    from rx_fusion._shapes import Shape

    Resolved = tuple[Head, Shape, tuple[Any, ...]]

T = TypeVar("T")

_END: Any = object()

#: Iterables that run nobody's code.
_PLAIN: Final = frozenset({range, list, tuple, str, bytes, bytearray, dict, set, frozenset})


def offered(head: Head, shape: Shape, args: tuple[Any, ...]) -> tuple[int, str]:
    """What a run of this plan grants, as modes (with BOUNDARY: across threads as well), and why not more."""
    if head.scheduler is not None:
        return NONE, f"runs on a worker of {head.scheduler!r}, and polling would take it elsewhere"
    if head.publisher is not None and shape.steps:
        if head.upstream:
            return NONE, f"{head.name} is a wall"
        return ANY, "where its source does; not across threads if there are functions"
    if head.feed is Feed.RUNNING:
        return ASYNC, "not across threads: who polls asks its sources"
    if not (isinstance(head, IterableHead) and head.is_one_of(_PLAIN)):
        return SYNC, f"not across threads: {head.name} may run somebody's code"
    if any(callable(arg) for arg in args):
        return SYNC, "not across threads: its functions would move"
    return SYNC | BOUNDARY, ""


class OfferingDrain(Drain[T]):
    """A Drain whose Subscription may be polled instead of requested from."""

    __slots__ = ("_ended", "_offer", "_opener", "_polls")

    #: The mode that was granted.
    granted: ClassVar[int] = NONE
    _offer: Resolved | int
    _opener: Callable[[Run], Items[T]]
    #: Who takes it out may touch the generator: the poller, or a canceller when nobody polls.
    _polls: dict[int, bool]
    #: The end that is to be signalled, in ASYNC mode.
    _ended: tuple[Exception | None] | None

    def begin(self, offer: Resolved | int, opener: Callable[[Run], Items[T]]) -> bool:
        """:meth:`start` the run that ``opener`` opens. ``offer`` is what it grants, or the plan that this follows from."""
        self._offer = offer
        self._opener = opener
        try:
            return self.start(opener)
        finally:
            self._offer = NONE
            del self._opener  # it refers to this: a circle of references

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self._down

    def request_fusion(self, mode: int, /) -> int:
        offer = self._offer
        if self._gen is not None or self._token:
            return NONE  # it is too late: the Subscription has been given out and things flow
        modes = offer if isinstance(offer, int) else offered(*offer)[0]
        if mode & BOUNDARY and not modes & BOUNDARY:
            return NONE
        granted = mode & modes & ANY
        if granted == SYNC:
            self.__class__ = SyncDrain
        elif granted == ASYNC:
            self.__class__ = AsyncDrain
        else:
            return NONE
        self._polls = {0: True}
        self._ended = None
        try:
            self._gen = self._opener(self)  # now: it may be polled before on_subscribe has returned
        except (Exception, GeneratorExit) as error:
            self._gen = self.failing(as_signal(error))
        return granted


class ConditionalDrain(OfferingDrain[T]):
    """For a subscriber that says whether it wanted an item: one that it dropped does not count as requested."""

    __slots__ = ()

    def _emit_all(self, gen: Items[T]) -> tuple[bool, bool]:
        return self._emit_some(gen)

    def _emit_some(self, gen: Items[T]) -> tuple[bool, bool]:
        wanted: Callable[[T], bool] = self._down.try_on_next  # type: ignore[union-attr]  # who has it is why this class was chosen
        self._poked = False
        turn = None if self._worker is None else self._worker.quantum
        for item in gen:
            if item is None:
                return False, True
            if wanted(item):
                self._spend(1)
            if self.cancelled or not self._demand:
                return False, False
            if turn is not None:
                turn -= 1
                if not turn:  # a cooperative worker wants its turn
                    self._dirty = self._suspended = True
                    return False, True
        return True, False


def drain_for(
    down: Subscriber[Any], *, worker: Worker | None = None, synchronous: bool = False, origin: object
) -> OfferingDrain[Any]:
    """The Drain that suits ``down``."""
    kind = ConditionalDrain if getattr(down, "try_on_next", None) is not None and fusion_enabled() else OfferingDrain
    return kind(down, worker=worker, synchronous=synchronous, origin=origin)


class _PolledDrain(OfferingDrain[T]):
    """A run that somebody polls."""

    __slots__ = ()

    def request_fusion(self, mode: int, /) -> int:
        return NONE

    def cancel(self) -> None:
        self.cancelled = True
        self._shut()

    def _shut(self) -> None:
        """Close, unless somebody polls just now, who does it afterwards. Once: the token is not given back."""
        if self._polls.pop(0, None):
            self._close()

    def _advance(self) -> Any:
        """The next item or None of the generator, _END when it is over. Its error is raised as the user raised it."""
        gen = self._gen
        if gen is None or self.cancelled:
            return _END
        try:
            return next(gen, _END)
        except (Exception, GeneratorExit) as error:
            failure = as_signal(error)
        except BaseException:
            self.cancelled = True  # KeyboardInterrupt and its like: nobody takes the dead generator for a completed one
            raise
        raise failure

    def clear(self) -> None:
        """Nothing waits here; cancelling has closed the source."""


class SyncDrain(_PolledDrain[T]):
    """The items of a synchronous run, each computed by the poll that takes it."""

    __slots__ = ()
    granted: ClassVar[int] = SYNC

    def poll(self) -> T | None:
        if not self._polls.pop(0, None):
            return None  # cancelled, or complete
        item: Any = _END
        try:
            item = self._advance()
        finally:
            self._after_poll(item is not _END)
        return None if item is _END else item

    def poll_many(self, n: int, /) -> list[T]:
        if not self._polls.pop(0, None):
            return []
        batch: list[T] = []
        goes_on = False
        try:
            while len(batch) < n and (item := self._advance()) is not _END:
                batch.append(item)
            goes_on = len(batch) == n
        except Exception as error:
            if not batch:
                raise
            self._gen = self.failing(error)  # behind the items that came before it
            goes_on = True
        finally:
            self._after_poll(goes_on)
        return batch

    def _after_poll(self, goes_on: bool) -> None:
        if not goes_on:
            self._close()  # the token stays out
            return
        self._polls[0] = True
        if self.cancelled:
            self._shut()

    def is_empty(self) -> bool:
        return self._gen is None or self.cancelled or self.last or (self._hint is not None and self._hint() == 0)

    def request(self, n: int, /) -> None:
        """Not to be called in this mode; there is nothing to do."""

    def _drain(self) -> None:
        self._requests.clear()


class AsyncDrain(_PolledDrain[T]):
    """A coordinating run: told by ``on_next(None)`` that there may be something to poll.

    Signals go out under the Drain's token, polls have their own: a consumer polls from inside ``on_next`` and from elsewhere.
    """

    __slots__ = ()
    granted: ClassVar[int] = ASYNC

    def poll(self) -> T | None:
        if not self._polls.pop(0, None):
            return None
        try:
            return self._poll()
        finally:
            self._polls[0] = True
            if self.cancelled:
                self._shut()
            elif self._later:
                self.wake()  # what was put off until the run is not busy

    def poll_many(self, n: int, /) -> list[T]:
        batch: list[T] = []
        while len(batch) < n and (item := self.poll()) is not None:
            batch.append(item)
        return batch

    def is_empty(self) -> bool:
        return self._gen is None or self.cancelled

    def _poll(self) -> T | None:
        """Holds the poll's token. As the Drain's own loop: nothing is computed that nobody has asked for, unless poked."""
        if self._ended is not None:
            return None
        requests = self._requests
        while requests and type(requests[0]) is int and requests[0] > 0:
            self._demand = add_cap(self._demand, requests[0])
            requests.popleft()
        item: Any = self._stash
        if item is not None and self._demand:
            self._stash = None
            self._spend(1)
            return item  # type: ignore[no-any-return]  # what the generator gave
        if item is not None or not (self._demand or self._poked):
            return None
        self._poked = False
        try:
            item = self._advance()
        except Exception as error:
            self._end(error)
            return None
        if item is _END:
            self._end(None)
            return None
        if item is not None and not self._demand:
            self._stash = item  # resumed by a poke: it waits for a request
            return None
        if item is not None:
            self._spend(1)
            if self.last:
                self._end(None)
        return item  # type: ignore[no-any-return]  # what the generator gives

    def _end(self, error: Exception | None) -> None:
        if not self.cancelled:
            close(self._gen)
            self._ended = (error,)
            self.wake()  # signalled under the Drain's token: a notification may be on its way on another thread (RS 1.3)

    def _drain(self) -> None:
        down = self._down
        if self.cancelled or down is None:
            self._requests.clear()
            self._shut()
            return
        if self._ended is not None:
            self._finish(self._ended[0])
            return
        for n in self._requests.copy():
            if type(n) is not int or n < 1:
                self._finish(invalid_request(n))
                self.cancel()
                return
        try:
            down.on_next(None)  # type: ignore[arg-type]  # what this mode says: look
        except BaseException:
            self.cancel()  # RS 2.13
            raise
