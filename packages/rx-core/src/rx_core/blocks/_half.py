"""Half-serialization: one thread emits elements, others may end the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, final

from rx_core import _hooks
from rx_core._errors import ProtocolViolationError
from rx_core.blocks._errors import AtomicErrors
from rx_core.blocks._nobody import NOBODY

if TYPE_CHECKING:
    from rx_core._protocols import Observer, Subscriber

T = TypeVar("T")


@final
class HalfSerializer(Generic[T]):
    """Signals ``down`` for an operator whose elements come from one source, and whose end may come from another.

    take_until is one: the other source ends the stream while the first may be in the middle of ``on_next``. There is no queue:
    an end that comes meanwhile is signalled by the emitting thread when ``on_next`` returns. Elements after the end are
    dropped, errors that come before it was signalled are signalled together, errors that come later go to the error hook.

    Thread: ``on_next`` one at a time, as RS 1.3 says (overlapping calls are reported and dropped); the others any.
    Memory: errors until the end. Forgets ``down`` with the end.
    Relies on: ``dict.pop`` being atomic.
    Rule: RS 1.3, 1.7; the specs' section "Half-serialization".
    """

    __slots__ = ("_down", "_ending", "_errors", "_token")

    def __init__(self, down: Subscriber[T] | Observer[T], /) -> None:
        self._down: Subscriber[T] | Observer[T] = down
        self._token = {0: True}
        self._ending = False
        self._errors = AtomicErrors()

    def on_next(self, item: T, /) -> None:
        """Signal ``item``, and after it an end that came meanwhile."""
        token = self._token
        if token.pop(0, None) is None:
            if not self._ending:  # set before the token is taken for good
                _hooks.dropped(ProtocolViolationError(f"RS 1.3: on_next({item!r}) while another on_next was running"), self)
            return
        try:
            self._down.on_next(item)
        except BaseException:
            # RS 2.13: the subscriber counts as cancelled. The token is not put back, so nothing is signalled any more.
            self._ending = True
            self._down = NOBODY
            lost = self._errors.terminate()
            if lost is not None:
                _hooks.dropped(lost, self)
            raise
        token[0] = True
        if self._ending:  # it came meanwhile and did not get the token
            self._try_end()

    def on_error(self, error: Exception, /) -> None:
        """End with ``error``, and with those that others bring at the same moment."""
        if self._errors.add_or_drop(error, self):
            self._ending = True
            self._try_end()

    def on_complete(self) -> None:
        """End, with an error if there is one."""
        self._ending = True
        self._try_end()

    def cancel(self) -> None:
        """Signal nothing any more; errors that come go to the error hook. The operator cancels its sources itself."""
        self._errors.terminate()
        self._ending = True
        self._token.pop(0, None)
        self._down = NOBODY  # who is in on_next now signals the end to nobody when it comes back

    @property
    def is_ended(self) -> bool:
        """Whether elements are not wanted any more."""
        return self._ending

    def _try_end(self) -> None:
        if self._token.pop(0, None) is not None:
            self._end()

    def _end(self) -> None:
        """Holds the token and keeps it."""
        down, self._down = self._down, NOBODY
        error = self._errors.terminate()
        if error is None:
            down.on_complete()
        else:
            down.on_error(error)
