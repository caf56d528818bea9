"""Stages that go on after their errors: what ``on_error_continue`` makes of those in front of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rx_core import as_signal, composite, user_call
from rx_fusion import Feed, OperatorHead, Shape, shape_of
from rx_fusion._notes import call, calls
from rx_fusion._shapes import VALUE

#: Operators that make a stream of each item. An error of such a stream, or of their function, looks as if it were of one item.
_STREAMS_OF_ITEMS: Final = frozenset(("concat_map", "concat_map_eager", "exhaust_map", "expand", "flat_map", "switch_map"))


def covered(shape: Shape) -> int:
    """From which stage on each handles one item after the other and keeps nothing."""
    stages = shape.stages
    at = len(stages)
    while at and shape_of((stages[at - 1].step,)).stateless:
        at -= 1
    while at < len(stages) and stages[at].guard:
        at += 1  # it belongs to the stage in front of it
    return at


def kept_function(shape: Shape, args: tuple[Any, ...]) -> str:
    """The last of these stages that calls a function of the user, as it is written; "" where there is none."""
    found, at = "", 0
    for stage in shape.stages:
        mine = args[at : at + len(stage.parameters)]
        at += len(mine)
        if any(map(callable, mine)):
            found = call(stage.name, mine)
    return found


def opened_streams(head: object) -> str:
    """The call that makes streams of the items, where these come from such an operator; "" otherwise."""
    return head.shown if isinstance(head, OperatorHead) and head.name in _STREAMS_OF_ITEMS else ""


class Continued:
    """Stages as a function of one item, which gives None where they drop it, and where they fail: ``handler`` is told then.

    They keep nothing from one item to the next, so one such function serves all runs.
    """

    __slots__ = ("args", "handler", "origin", "shape", "when")

    #: What is in front of the stages, for notes.
    origin: object
    shape: Shape
    args: tuple[Any, ...]
    handler: Callable[[Exception, Any], object]
    when: Callable[[Exception], object] | None

    def __init__(
        self,
        origin: object,
        shape: Shape,
        args: tuple[Any, ...],
        handler: Callable[[Exception, Any], object],
        when: Callable[[Exception], object] | None,
    ) -> None:
        self.origin = origin
        self.shape = shape
        self.args = args
        self.handler = handler
        self.when = when

    def __call__(self, item: Any) -> Any:
        function = self.shape._forms.get(VALUE[Feed.CLEAN])
        try:
            if function is None:
                return self.shape.value(iter((item,)), self.origin, self.args, Feed.CLEAN)
            return function((item,), None, self.origin, self.args)
        except (Exception, GeneratorExit) as error:
            failure = as_signal(error)
        try:
            goes_on = self.when is None or user_call("on_error_continue", self.when, failure)
            if goes_on:
                user_call("on_error_continue", self.handler, failure, item)
        except Exception as second:
            raise composite([failure, second]) from None
        if not goes_on:
            raise failure
        return None

    def __reduce__(self) -> tuple[type[Continued], tuple[Any, ...]]:
        return Continued, (self.origin, self.shape, self.args, self.handler, self.when)

    def __repr__(self) -> str:
        return calls(self.shape.stages, self.args).removeprefix(".")
