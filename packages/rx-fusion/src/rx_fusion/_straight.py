"""The short way of items through an operator that gives them on unchanged: the fusion side of :mod:`rx_core._direct`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_core.queue_fusion import fusion_enabled
from rx_fusion._notes import note_failure
from rx_fusion._offers import OfferingDrain
from rx_fusion._push import PUSH

if TYPE_CHECKING:
    from rx_core import Drain, Subscriber
    from rx_fusion._heads import Head
    from rx_fusion._shapes import Shape


def shorten(drain: Drain[Any], head: Head, shape: Shape, args: tuple[Any, ...], down: Subscriber[Any]) -> None:
    """Let ``head`` send its items straight to ``down``, by a call of the stages behind it; those that cannot take that way go
    through the generator. The stages have no state, so it is all the same to them."""
    if type(drain) is not OfferingDrain or drain.threaded or not fusion_enabled():
        return  # it is polled, or says of each item whether it was wanted, or runs on a worker
    if not shape:
        drain.direct = down.on_next
    else:
        factory = shape.form(PUSH)
        if factory is None:
            return
        drain.direct = factory(_Failed(drain, head, args), drain.dropped, down.on_next, args)
    drain.passing = head


class _Failed:
    """A stage has failed on the short way."""

    __slots__ = ("_args", "_drain", "_head")

    def __init__(self, drain: Drain[Any], head: Head, args: tuple[Any, ...]) -> None:
        self._drain = drain
        self._head = head
        self._args = args

    def __call__(self, error: BaseException) -> None:
        if not isinstance(error, (Exception, GeneratorExit)):
            self._drain.interrupted(error)
            raise error
        try:
            note_failure(error, self._head, self._args)
        except RuntimeError as instead:  # of a GeneratorExit
            error = instead
        assert isinstance(error, Exception)
        self._drain.fail(error)
