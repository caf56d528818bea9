"""Stages as calls: for an operator that has an item for an inner pipeline and wants what comes of it, at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

from rx_core.streams import NULL_SUBSCRIBER
from rx_fusion._heads import Head
from rx_fusion._loops import ContinuedHead
from rx_fusion._pipeline import Pipeline, PlainFlow
from rx_fusion._shapes import ROOT, Shape
from rx_fusion._step_subscriber import StepSubscriber


@final
class Stepped:
    """The stages of one run. ``step(item)`` gives the item that comes out, or None; ``finish()`` the one behind the last.

    What they raise is given to :meth:`noted` where it was caught, and its result is raised or signalled.
    """

    __slots__ = ("finish", "step", "subscriber")

    step: Callable[[Any], Any]
    finish: Callable[[], Any]
    #: Has the state of the stages; None where there are none.
    subscriber: StepSubscriber | None

    def __init__(self, subscriber: StepSubscriber | None) -> None:
        self.subscriber = subscriber
        self.step = _same if subscriber is None else subscriber._step
        self.finish = _nothing if subscriber is None else subscriber._finish

    def noted(self, error: BaseException) -> Exception:
        """``error``, caught where ``step`` or ``finish`` was called, with a note that says which stage it comes from."""
        assert self.subscriber is not None  # else nothing is called that could raise
        trace = error.__traceback__
        return self.subscriber._noted(error if trace is None else error.with_traceback(trace.tb_next))

    def resumed(self, source: Pipeline[Any]) -> Pipeline[Any]:
        """What comes of the items of ``source``, with the stages in the state in which they are. Subscribed once."""
        return source if self.subscriber is None else PlainFlow(ContinuedHead(source, self.subscriber))


def stages_over(pipeline: object, head: Head) -> Stepped | None:
    """The stages of ``pipeline``, if it is nothing but stages over ``head`` that can be called, and None otherwise.

    Not those that have enough before the end, nor those that give several items for one. Raises what comes before a stage's loop:
    the supplier of collect.
    """
    if not isinstance(pipeline, Pipeline):
        return None
    found, shape, args = pipeline._resolve()
    if found is not head:
        return None
    if shape is ROOT:
        return Stepped(None)
    callable_ = _callable.get(shape)
    if callable_ is None:
        callable_ = _callable[shape] = shape.steps and not any(stage.stops or stage.works_after for stage in shape.stages)
    return Stepped(StepSubscriber(NULL_SUBSCRIBER, shape, args, head)) if callable_ else None


def _same(item: Any) -> Any:
    return item


def _nothing() -> None:
    return None


#: Shapes are kept for ever.
_callable: Final[dict[Shape, bool]] = {}
