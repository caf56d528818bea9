"""The emitter of ``create`` for a subscriber that gets every item, which needs no Op between the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import (
    CallbackObserver,
    SerialDisposable,
    add_cap,
    dropped,
    dropped_late,
    invalid_request,
    none_produced,
    tell_interrupted,
)
from rx_core.streams import ignore
from rx_ops.operators._emitter import Emitter, clean_up, signalled

T = TypeVar("T")


class StraightEmitter(Emitter[T]):
    """For a subscriber that gets every item, asked for or not. It is the Subscription as well.

    It is the only signaller, so its items pass no gate.
    """

    __slots__ = ("_discard", "_down", "_emit", "_left", "_open", "_origin", "_requested")

    _down: Any
    #: What takes an item; nothing does once the end was signalled or the subscriber has left.
    _emit: Callable[[Any], object]
    #: What becomes of an item then, see ``Op.discard``.
    _discard: Callable[[Any], object]
    #: Holds one entry until the end or a cancel takes it out.
    _open: Any
    #: It was the subscriber that did.
    _left: bool
    _requested: Any
    _origin: object

    def __init__(self, down: Any, origin: object) -> None:
        self._down = down
        self._emit = down.on_next
        self._discard = ignore
        self._open = [True]
        self._left = False
        self._requested = []
        self._origin = origin
        self._cleanup = SerialDisposable()

    def on_next(self, item: T, /) -> None:
        if item is None:
            self.try_on_error(none_produced("create"))
            return
        emit = self._emit
        try:
            emit(item)
        except BaseException:
            self.cancel()  # RS 2.13
            raise

    def _interrupted(self, error: BaseException) -> None:
        down = self._down
        self.cancel()
        tell_interrupted(down, error)

    def _over(self) -> bool:
        """Take the right to end it; False: someone else has."""
        try:
            self._open.pop()  # atomic
        except IndexError:
            return False
        self._emit = self._discard
        return True

    def on_error(self, error: Exception, /) -> None:
        if not self.try_on_error(error):
            (dropped_late if self._left else dropped)(error, self._origin)  # as above

    def try_on_error(self, error: Exception, /) -> bool:
        if not self._over():
            return False
        try:
            self._down.on_error(signalled(error))
        finally:
            clean_up(self._cleanup, self._origin)
        return True

    def on_complete(self) -> None:
        if self._over():
            try:
                self._down.on_complete()
            finally:
                clean_up(self._cleanup, self._origin)

    @property
    def is_cancelled(self) -> bool:
        return not self._open

    @property
    def requested(self) -> int:
        demand = 0
        for n in self._requested.copy():
            demand = add_cap(demand, n)
        return demand

    def request(self, n: int, /) -> None:
        """It changes nothing, but for what the emitter is told; a wrong one ends the stream (RS 3.9)."""
        if type(n) is not int or n < 1:
            self.try_on_error(invalid_request(n))
            return
        requested = self._requested
        while requested:
            try:
                n = add_cap(n, requested.pop())
            except IndexError:  # taken by another thread, which puts it back with its own
                break
        requested.append(n)

    def cancel(self) -> None:
        if self._over():
            self._left = True
            clean_up(self._cleanup, self._origin)

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return not self._open


class CallbackEmitter(StraightEmitter[T]):
    """For callbacks: they want everything, and an item goes to the user's function without a call between."""

    __slots__ = ()

    def __init__(self, down: CallbackObserver[T], origin: object) -> None:
        super().__init__(down, origin)
        if down.function is not None:
            self._emit = down.function

    def on_next(self, item: T, /) -> None:
        if item is None:
            self.try_on_error(none_produced("create"))
            return
        emit = self._emit
        try:
            emit(item)
        except BaseException as error:
            self._down.callback_failed(error)
