"""A future of the item of a Single or Maybe, or of the end of a Completable.

Imported when the first one is made: concurrent.futures is large.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, TypeVar

from rx_core import CompletableBase, Disposable, MaybeBase, SingleBase, dropped_late

T = TypeVar("T")


class StreamFuture(Future[T]):
    """Pending until the source ends, so that it can be cancelled until then, which disposes the source."""

    def __init__(self, source: object) -> None:
        super().__init__()
        self._source = source
        #: Holds one entry, until an end or a cancel takes it out.
        self._open = [True]
        self._handle: Disposable | None = None

    def follow(self, handle: Disposable) -> None:
        """``handle`` disposes the source."""
        self._handle = handle

    def cancel(self) -> bool:
        """Dispose the source; False when it has ended."""
        if not self._claimed():
            return self.cancelled()
        super().cancel()
        self.set_running_or_notify_cancel()  # wakes who waits for several futures
        if self._handle is not None:
            self._handle.dispose()
        return True

    def give(self, item: T) -> None:
        if self._claimed():
            self.set_result(item)

    def fail(self, error: Exception) -> None:
        if self._claimed():
            self.set_exception(error)
        else:
            dropped_late(error, self._source)

    def _claimed(self) -> bool:
        try:
            self._open.pop()  # atomic
        except IndexError:
            return False
        return True


def future_of(source: SingleBase[T] | MaybeBase[T] | CompletableBase) -> StreamFuture[Any]:
    """Subscribe."""
    future: StreamFuture[Any] = StreamFuture(source)
    if isinstance(source, SingleBase):
        future.follow(source.subscribe(future.give, future.fail))
    elif isinstance(source, MaybeBase):  # which completes behind its item as well: that is claimed by then
        future.follow(source.subscribe(future.give, future.fail, lambda: future.give(None)))
    else:
        future.follow(source.subscribe(lambda: future.give(None), future.fail))
    return future
