"""The short way of items through an operator that gives them on unchanged: the fusion side of :mod:`rx_core._direct`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rx_core import dropped
from rx_core.queue_fusion import fusion_enabled
from rx_fusion._notes import note_failure
from rx_fusion._offers import OfferingDrain
from rx_fusion._push import PUSH, PUSH_WANTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core import Drain, Subscriber, Through
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


def through(head: Head, shape: Shape, args: tuple[Any, ...]) -> Through | None:
    """What takes an item through the stages before the operator and straight on: when it is wanted, and only then. None: nothing
    does, as there are too many of them."""
    factory = shape.form(PUSH_WANTED)
    return None if factory is None else partial(_stepping, factory, head, args)


def _stepping(
    factory: Callable[..., Any], head: Head, args: tuple[Any, ...], fail: Callable[[Exception], object], drain: Drain[Any]
) -> Callable[[Any], object]:
    made: Callable[[Any], object] = factory(_FailedBefore(drain, head, args, fail), drain.dropped, drain.direct, args, drain)
    return made


class _Failed:
    """A stage behind the operator has failed on the short way."""

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
        self._signal(error)

    def _signal(self, error: Exception) -> None:
        self._drain.fail(error)


class _FailedBefore(_Failed):
    """A stage of one of its sources has. That is an error of this source: what comes of it is up to the operator."""

    __slots__ = ("_fail",)

    def __init__(self, drain: Drain[Any], head: Head, args: tuple[Any, ...], fail: Callable[[Exception], object]) -> None:
        super().__init__(drain, head, args)
        self._fail = fail

    def _signal(self, error: Exception) -> None:
        drain = self._drain
        drain.dropped()  # nothing has come of it
        if drain.cancelled:
            dropped(error, drain.origin)
        else:
            self._fail(error)
