"""Inboxes without a queue: the source is the queue (see :mod:`rx_core.queue_fusion`).

An :class:`~rx_core._inbox.Inbox` becomes one of these when the Subscription it is given grants a mode. The operator that iterates
its stream sees no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._inbox import Inbox
from rx_core._user_code import OPERATOR_CODES
from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, SYNC, ask

if TYPE_CHECKING:
    from rx_core._run import Run
    from rx_core.queue_fusion import QueueDisposable, QueueSubscription

T = TypeVar("T")


def negotiate(inbox: Inbox[Any], queue: QueueSubscription[Any] | QueueDisposable[Any], run: Run) -> None:
    """Ask ``queue`` to be polled, and make ``inbox`` one that polls if it grants that."""
    if run.threaded:
        mode = ask(queue, inbox, ANY | BOUNDARY)
    else:
        # A synchronous source computes on the thread that requests, which is the one that would poll. One that emits whenever it
        # likes does so on a thread of its own, and what it runs there is to stay there.
        mode = ask(queue, inbox, SYNC) or ask(queue, inbox, ASYNC | BOUNDARY)
    if mode == SYNC:
        inbox.__class__ = SyncInbox
    elif mode == ASYNC:
        inbox.__class__ = AsyncInbox


class _PollingInbox(Inbox[T]):
    """What the two have in common: where the items wait is not here."""

    __slots__ = ()
    polls: ClassVar[bool] = True
    _rx_feed = None  # type: ignore[assignment]  # nothing waits here

    @property
    def source(self) -> Any:
        """The Subscription, as the queue that it is."""
        return self._upstream

    def dispose(self) -> None:
        if not self._cancelled:
            super().dispose()
            try:
                if self.source is not None:  # else it was given up while it was being subscribed
                    self.source.clear()  # called by the owner of the run, so nobody polls meanwhile
            except Exception as error:  # RS 3.15
                _hooks.dropped(error, self._run.origin)


class SyncInbox(_PollingInbox[T]):
    """The source computes an item when it is polled. It is never asked for any, and signals nothing."""

    __slots__ = ()

    def stream(self) -> Iterator[T | None]:
        run, queue = self._run, self.source
        poll, is_empty = queue.poll, queue.is_empty
        try:
            while (item := poll()) is not None:
                if is_empty():
                    run.poke()  # the end is known: it needs no further demand
                yield item
            self._done = True  # nothing to cancel
        finally:
            self.dispose()
            run.disown(self)

    def _promise(self, _subscription: Any) -> None:
        pass  # it sends nothing by itself

    def _ask(self) -> None:
        """Not to be asked in this mode. But an end that is known needs no demand."""
        if self.source.is_empty():
            self._run.poke()


class AsyncInbox(_PollingInbox[T]):
    """The source says when there is something to poll. Requests and ends are as ever."""

    __slots__ = ()

    def on_next(self, _signal: object, /) -> None:
        if not self._done and not self._cancelled:
            self._run.wake()

    def _promise(self, subscription: Any) -> None:
        amount = self._window or self._run.outstanding
        if amount:
            self._outstanding = amount
            subscription.request(amount)  # at once: nothing comes of it on this thread but the word that there is something

    def stream(self) -> Iterator[T | None]:
        run, queue, window, limit = self._run, self.source, self._window, self._limit
        poll, is_empty = queue.poll, queue.is_empty
        taken = 0
        try:
            while not (self._eager_error and self._error is not None):
                done = self._done  # before polling: an end that is signalled from here on comes behind what is polled now
                if done and (not run.demand or is_empty()):
                    if is_empty():
                        break
                    yield None  # resumed because of the end, and items come before it that nobody has asked for
                    continue
                item = poll()
                if item is None:
                    if done:
                        break
                    if self._outstanding < UNBOUNDED:
                        self._ask()
                    yield None
                    continue
                if window:
                    taken += 1
                    if taken == limit:
                        taken = 0
                        self._request(limit)
                elif self._outstanding < UNBOUNDED:
                    self._outstanding -= 1
                if self._done and is_empty():
                    run.poke()
                self._spoke = True
                yield item
            if self._error is not None:
                raise self._error
        finally:
            self.dispose()
            run.disown(self)


# They raise what the source's functions raised, a StopIteration included.
OPERATOR_CODES.add(SyncInbox.stream.__code__)
OPERATOR_CODES.add(AsyncInbox.stream.__code__)
