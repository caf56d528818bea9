"""How a run ends: with a signal, without one when it was cancelled, or by what somebody's code raised.

Whoever calls this holds the token of the run. Everything is given back before the end is signalled, and every end comes here
once: a generator that raised is told from a subscriber that did, and an exit from a failure.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import _hooks
from rx_core._errors import WorkerInterruptedError
from rx_core._lending import LendingRun
from rx_core._run import Items, close
from rx_core._user_code import as_signal

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")

_END: Any = object()


class EndingRun(LendingRun, Generic[T]):
    """A run with one subscriber and one generator, both of which it lets go when it ends."""

    __slots__ = ("_bare", "_down", "_gen", "_hint", "_stash", "cancelled", "direct")

    #: Read by running stages and operators: stop, nobody listens. Set from any thread.
    cancelled: bool
    _down: Subscriber[T] | None
    _gen: Items[T] | None
    #: See :meth:`~rx_core._delivery.DeliveringRun.set_hint`.
    _hint: Callable[[], int] | None
    _bare: Iterator[T] | None
    #: An item that came while nothing was wanted.
    _stash: T | None
    #: Where an item may go that need not pass through the generator (see _direct.py): the subscriber's ``on_next``, or the
    #: stages before it. None: every item passes through.
    direct: Callable[[Any], object] | None

    @property
    def is_disposed(self) -> bool:
        return self.cancelled or self._done

    def _finish(self, error: Exception | None) -> None:
        """Signal the end, once; give everything back first, so that nothing of ours outlives the signal (RS 3.13)."""
        down, self._down, self._gen, self._hint = self._down, None, None, None
        self._bare = self.direct = None
        if self._done or down is None:
            return
        self._done = True
        self.release()
        try:
            if error is None:
                down.on_complete()
            else:
                down.on_error(error)
        finally:
            self.finalize()
            self._retire()

    def _close(self) -> None:
        """Cancelled: close the generator on the owner's thread and drop every reference to the subscriber (RS 3.13)."""
        gen, self._gen, self._down, self._hint = self._gen, None, None, None
        self._bare = self.direct = None
        self._stash = None
        if gen is not None:
            close(gen)
        if not self._done:
            self._done = True
            self.release()
            self.finalize()
            self._retire()

    def _failed(self, gen: Items[T], error: BaseException) -> None:
        """Tell the pipeline's errors from the subscriber's: a generator that raised is dead, one that yielded is not."""
        if isinstance(error, ValueError) and getattr(gen, "gi_running", False):
            # The run was dropped and is being collected: its generator's own ``finally`` woke it. Nobody is left to tell.
            self.cancelled = True
            self._gen = self._down = self.direct = None
            return
        if not has_ended(gen):
            self.cancelled = True  # RS 2.13
            self._close()
            raise error
        error = as_signal(error)
        if isinstance(error, Exception):
            if self.cancelled:
                self._gen = None
                self._close()
                _hooks.dropped(error, self.origin)
            else:
                self._finish(error)
            return
        # KeyboardInterrupt, SystemExit and their like are nobody's signal. Close before they propagate, so that no later
        # request finds a dead generator and takes it for a completed one.
        self.interrupted(error)
        raise error

    def interrupted(self, error: BaseException) -> None:
        """A function of the pipeline was left by ``error``, which is nobody's signal. Holds the token."""
        down = self._down
        self.cancelled = True
        self._close()
        if down is not None:
            tell_interrupted(down, error, self._worker is not None)

    def _on_own_thread(self, error: BaseException) -> bool:
        """On a worker a subscriber's exception has no caller that could see it: it goes to the hook (RS 2.13)."""
        if self._worker is not None and isinstance(error, Exception):
            _hooks.dropped(error, self.origin)
            return True
        return False


def tell_interrupted(down: Subscriber[Any], error: BaseException, on_worker: bool = False) -> None:
    """``error`` is nobody's signal. But where nobody can act on it, who waits for the stream must not wait for ever."""
    if on_worker or threading.current_thread() is not threading.main_thread():
        interrupted = WorkerInterruptedError(f"{type(error).__name__} ended the stream: {error}")
        interrupted.__cause__ = error
        down.on_error(interrupted)


def has_ended(gen: object) -> bool:
    """Whether a generator is over. Not a flag of ours: one killed by an exception must look dead, whatever killed it."""
    return getattr(gen, "gi_frame", _END) is None
