"""Pipelines in front of ``do_on_discard``: the same, with what they throw away given to its function.

A part runs as an operator by itself, as with fusion switched off: between two that are fused an item belongs to neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, TypeVar

from rx_core import ObservableBase, as_signal, dropped
from rx_core.streams import Failing, Stopping, Stream, subscribe, without_demand
from rx_fusion._expansion import Expansion
from rx_fusion._heads import Head, IterableHead, PublisherHead, PushHead, Resolved, SourceHead
from rx_fusion._kept_steps import KeptSteps
from rx_fusion._notes import call
from rx_fusion._operators import OperatorHead, left_unstarted
from rx_fusion._pipeline import Pipeline, PlainFlow, PlainObserved
from rx_fusion._relay import Kept
from rx_fusion._shapes import ROOT, Shape, shape_of
from rx_fusion._source_run import SourceRun

T_co = TypeVar("T_co", covariant=True)

_new = object.__new__


class Discarding:
    """What is done with an item that is thrown away. Called on any thread, also on several at once."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.function = function

    def __call__(self, item: Any) -> None:
        try:
            self.function(item)
        except (Exception, GeneratorExit) as error:
            dropped(as_signal(error), self)

    def __repr__(self) -> str:
        return call("do_on_discard", (self.function,))


class Reached(PlainFlow[T_co]):
    """A part of a pipeline: an operator, a source, or one stage, with its sources in this form."""

    __slots__ = ("discard",)

    discard: Discarding

    @property
    def _discarding(self) -> Discarding:
        return self.discard

    def _resolve(self) -> Resolved:
        return self._head, self._shape, self._args

    def _rules_applied(self) -> tuple[str, ...]:
        return ()

    def _loop_items(self, run: Stopping | None, /) -> Iterator[T_co] | None:
        return None

    def _subscribe_items(self, down: Any, /) -> None:
        head, shape, args = self._head, self._shape, self._args
        made: Any
        try:
            if isinstance(head, PushHead) and not shape:
                assert head.subscribe_discarding is not None
                head.subscribe_discarding(down, self, self.discard)
                return
            if type(head) is PublisherHead and not shape:
                assert head.publisher is not None
                head.publisher.subscribe(Kept(down, head, self.discard))
                return
            if not shape:
                made = self._operator(down, head) if isinstance(head, OperatorHead) else SourceRun(down, (head, ROOT, ()), self)
            elif shape.steps:
                steps = KeptSteps(down, shape, args, head, self.discard)
                steps.asks_all = self._is_observed(head)
                subscribe(head.publisher, steps)
                return
            else:
                made = Expansion(down, head, shape, args, self)
        except (Exception, GeneratorExit) as error:
            made = Failing(down, as_signal(error))
        made.origin = self
        made.discard = self.discard
        if not made.start():
            left_unstarted(head)

    def _operator(self, down: Any, head: OperatorHead) -> Any:
        sources = (head.upstream,) if head.options.many else head.upstream
        return head.operator.function(down, *sources, *head.args)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _reached, (type(self), self._head, self._shape, self._args, self.discard)


class ReachedObserved(Reached[T_co]):
    """The same, of an Observable."""

    __slots__ = ()

    _takes_requests: ClassVar[bool] = False


def _reached(kind: type[Reached[Any]], head: Head, shape: Shape, args: tuple[Any, ...], discard: Discarding) -> Reached[Any]:
    made = _new(kind)
    made._head = head
    made._shape = shape
    made._args = args
    made.discard = discard
    return made


class NotCovered(Exception):
    """An operator in front of ``do_on_discard`` may throw items away without telling."""

    def __init__(self, operator: str) -> None:
        super().__init__(operator)
        self.operator = operator


def reached(source: Any, discard: Discarding) -> Any:
    """``source`` with all that is described of it, as far as items in it are the stream's own. Raises :class:`NotCovered`.

    That ends at a source, at a wall, at what is shared, and at the types of one item, which keep none.
    """
    if not (isinstance(source, (Stream, ObservableBase)) or without_demand(source)) and hasattr(source, "subscribe"):
        return _reached(Reached, PublisherHead("wrap", source, partial(_wrapped, source)), ROOT, (), discard)
    if not isinstance(source, Pipeline) or isinstance(source, Reached) or without_demand(source):
        return source
    kind: type[Reached[Any]] = Reached if source._takes_requests else ReachedObserved
    head, shape, args = source._head, source._shape, source._args
    known = _reached_head(head, discard)
    made: Any = (
        source
        if known is None and not shape
        else _begun(head, source)
        if known is None
        else _reached(kind, known, ROOT, (), discard)
    )
    at = 0
    for place, stage in enumerate(shape.stages):
        if stage.guard:
            continue  # it went with the one before it
        behind = place + 1
        while behind < len(shape.stages) and shape.stages[behind].guard:
            behind += 1
        part = shape_of([each.step for each in shape.stages[place:behind]])
        size = sum(len(each.parameters) for each in part.stages)
        if not covers(part):
            raise NotCovered(call(stage.name, args[at : at + len(stage.parameters)]))
        wall = PublisherHead(head.name, made, made.__repr__, (made,))
        made = _reached(kind, wall, part, args[at : at + size], discard)
        at += size
    return made


def covers(part: Shape) -> bool:
    """Whether each item that comes to this stage, with the guards behind it, goes on, into what it gives, or is given up."""
    stage = part.stages[0]
    if not all(each.compilable for each in part.stages):
        return False
    if stage.looks or stage.keeps:
        return part.steps
    return part.stateless or stage.keeps is not None


def _reached_head(head: Head, discard: Discarding) -> Head | None:
    """None: the head of a source, which is left as it is."""
    if isinstance(head, OperatorHead):
        upstream = head.upstream
        if not len(upstream) or any(isinstance(arg, Discarding) for arg in head.args):
            return None  # a source, or one more do_on_discard
        kind: Any = head.function
        covers = kind.discards if head.operator.makes_op else False
        if not (covers(*head.args) if callable(covers) else covers):
            raise NotCovered(head.shown)
        from copy import copy  # what programs do without is not imported

        made = copy(head)
        made.upstream = tuple([reached(each, discard) if at < kind.gives_of else each for at, each in enumerate(upstream)])
        return made
    if isinstance(head, IterableHead):
        return None if head.only is not None else head
    if head.upstream and not (isinstance(head, SourceHead) or head.name == "hide"):
        raise NotCovered(f"{head.name}()")
    if isinstance(head, PushHead):
        return None if head.subscribe_discarding is None else head
    return head if type(head) is PublisherHead and not head.upstream else None


def _begun(head: Head, source: Pipeline[Any]) -> PlainFlow[Any]:
    return (PlainFlow if source._takes_requests else PlainObserved)(head)


def _wrapped(source: object) -> str:
    return f"wrap({type(source).__name__})"
