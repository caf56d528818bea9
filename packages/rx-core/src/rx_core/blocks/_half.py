"""Half-serialization: one thread emits items, others may end the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, final

from rx_core import _hooks
from rx_core._errors import ProtocolViolationError
from rx_core.blocks._errors import AtomicErrors
from rx_core.blocks._nobody import NOBODY
from rx_core.gate import Gate

if TYPE_CHECKING:
    from rx_core._protocols import Observer, Subscriber

T = TypeVar("T")


@final
class HalfSerializer(Gate, Generic[T]):
    """Signals ``down`` for an operator whose items come from one source, and whose end may come from another.

    take_until is one: the other source ends the stream while the first may be in the middle of ``on_next``. There is no queue:
    an end that comes meanwhile is signalled by the emitting thread when ``on_next`` returns. Items after the end are
    dropped, errors that come before it was signalled are signalled together, errors that come later go to the error hook.

    Thread: ``on_next`` one at a time, as RS 1.3 says (overlapping calls are reported and dropped); the others any.
    Memory: errors until the end. Forgets ``down`` with the end.
    Relies on: the gate (``rx_core.gate``).
    Rule: RS 1.3, 1.7; the specs' section "Half-serialization".
    """

    __slots__ = ("_down", "_ended", "_ending", "_errors")

    def __init__(self, down: Subscriber[T] | Observer[T], /) -> None:
        super().__init__()
        self._down: Subscriber[T] | Observer[T] = down
        #: The end was announced.
        self._ending = False
        #: The end was signalled, or must not be any more.
        self._ended = False
        self._errors = AtomicErrors()

    def on_next(self, item: T, /) -> None:
        """Signal ``item``, and after it an end that came meanwhile."""
        token = self.token
        try:
            token.pop()
        except IndexError:
            if not self._ending:  # raised before the token is taken for the end
                _hooks.dropped(ProtocolViolationError(f"RS 1.3: on_next({item!r}) while another on_next was running"), self)
            return
        if not self._ending:
            try:
                self._down.on_next(item)
            except BaseException as error:
                try:
                    self.look_failed(error)
                finally:
                    token.append(0)
                raise
        token.append(0)
        if self.dirty:  # an end came meanwhile
            self.drain()

    def on_error(self, error: Exception, /) -> None:
        """End with ``error``, and with those that others bring at the same moment."""
        if self._errors.add_or_drop(error, self):
            self._ending = True
            self.drain()

    def on_complete(self) -> None:
        """End, with an error if there is one."""
        self._ending = True
        self.drain()

    def cancel(self) -> None:
        """Signal nothing any more; errors that come go to the error hook. The operator cancels its sources itself."""
        self._errors.terminate()
        self._ending = True
        self._ended = True
        self._down = NOBODY  # a thread that is in on_next now has nothing to signal when it comes back

    @property
    def is_ended(self) -> bool:
        """Whether items are not wanted any more."""
        return self._ending

    def look(self, held: int, /) -> int:
        if self._ending and not self._ended:
            self._ended = True
            down, self._down = self._down, NOBODY
            error = self._errors.terminate()
            if error is None:
                down.on_complete()
            else:
                down.on_error(error)
        return held

    def look_failed(self, _error: BaseException, /) -> BaseException | None:
        """RS 2.13: a subscriber that raised has cancelled."""
        self._ending = True
        self._ended = True
        self._down = NOBODY
        lost = self._errors.terminate()
        if lost is not None:
            _hooks.dropped_late(lost, self)
        return None
