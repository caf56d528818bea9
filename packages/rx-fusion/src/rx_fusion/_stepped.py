"""Stages as calls: for an operator that has an item for an inner pipeline and wants what comes of it, at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

from rx_fusion._heads import Head
from rx_fusion._notes import note_failure
from rx_fusion._pipeline import Pipeline
from rx_fusion._push import STEP
from rx_fusion._shapes import ROOT, Shape


@final
class Stepped:
    """The stages of one run. ``step(item)`` gives the item that comes out, or None; ``finish()`` the one behind the last.

    What they raise is given to :meth:`note` by who called them, and raised again.
    """

    __slots__ = ("_args", "_head", "finish", "last", "late", "step", "stop")

    def __init__(self, factory: Callable[..., Any], head: Head, args: tuple[Any, ...]) -> None:
        self._head = head
        self._args = args
        #: Where the generated functions would say that a stage has had enough, or failed behind its item. These do not.
        self.stop = -1
        self.last = False
        self.late: BaseException | None = None
        self.step: Callable[[Any], Any]
        self.finish: Callable[[], Any]
        try:
            self.step, self.finish = factory(self, args)
        except (Exception, GeneratorExit) as error:  # of what comes before a stage's loop: the supplier of collect
            self.note(error)
            raise

    def note(self, error: BaseException) -> None:
        """Say in ``error`` which stage it comes from. To be called where it was caught from one of the functions."""
        trace = error.__traceback__
        if trace is not None:
            note_failure(error.with_traceback(trace.tb_next), self._head, self._args)


def stages_over(pipeline: object, head: Head) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """What :class:`Stepped` is made with, if ``pipeline`` is nothing but stages over ``head`` that can be called.

    Not those that have enough before the end, nor those that give several items for one.
    """
    if not isinstance(pipeline, Pipeline) or type(pipeline)._rx_open is not Pipeline._rx_open:
        return None
    found, shape, args = pipeline._resolve()
    if found is not head:
        return None
    callable_ = _callable.get(shape)
    if callable_ is None:
        callable_ = _callable[shape] = _can_be_called(shape)
    factory = _nothing_to_do if shape is ROOT else shape.form(STEP) if callable_ else None
    return None if factory is None else (factory, args)


def _nothing_to_do(_run: Stepped, _args: tuple[Any, ...]) -> tuple[Callable[[Any], Any], Callable[[], Any]]:
    return _same, _nothing


def _same(item: Any) -> Any:
    return item


def _nothing() -> None:
    return None


def _can_be_called(shape: Shape) -> bool:
    return shape.steps and not any(stage.stops or stage.works_after for stage in shape.stages)


#: Shapes are kept for ever.
_callable: Final[dict[Shape, bool]] = {}
