"""Operators over passive sources, pulled: the one fast path for sources of sources.

concat_map, flat_map, concat and zip have a second, short form for a consumer that wants everything anyway: unbounded demand, or a
thread that waits. It needs no queue and no subscription. The operator gives a :class:`Loop`, the items of its outer source and a
function that opens the inner source of one, and these two loops and all stages behind them are compiled into one function.

When it meets a source that pushes, it raises ``Handover``: all the rest as a pipeline, which its consumer subscribes once. Stages
behind the operator go on with the state they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, final

from rx_core import OPERATOR_CODES, UNBOUNDED
from rx_core.streams import NULL_SUBSCRIBER, Handover, Stopping, Waiting, close
from rx_fusion._forms import Feed, Form
from rx_fusion._heads import Head, PushHead, Resolved
from rx_fusion._operators import Loop, OperatorHead
from rx_fusion._shapes import ROOT, Shape, shape_of, tell_hot
from rx_fusion._stacked import first_of
from rx_fusion._stages import stage, stage_of
from rx_fusion._step_subscriber import StepSubscriber

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Pump
    from rx_fusion._described import Described
    from rx_fusion._stage import Stage


class RestOf(Handover):
    """A Handover that has all that is left of an operator already, and not of one of its inner sources."""


@stage(name="", later=True)
def inner_items(source: Iterable[Any], opener: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """The inner sources of a :class:`Loop`, in front of the stages behind its operator."""
    for item in source:
        for inner in opener(item):  # noqa: UP028  # the compiler reads it
            yield inner


_PULL: Final = Form("pull", Feed.CLEAN, resumes=True)
_PULL_INSIDE: Final = Form("pull", Feed.CLEAN, cancel=True, resumes=True)
_EMIT: Final = Form("emit", Feed.CLEAN, cancel=True, resumes=True)
_VALUE: Final = Form("value", Feed.CLEAN, resumes=True)

#: Of each shape: the same with ``inner_items`` in front, and how it goes on after a Handover. Shapes are kept for ever.
_with_inner: Final[dict[Shape, Shape]] = {}
_with_state: Final[dict[Shape, tuple[int, int] | None]] = {}
_NOT_ASKED: Final[Any] = ...


def loop_of(plan: Resolved, run: Stopping | None) -> Iterator[Any] | None:
    """The items of a pipeline for a consumer that wants everything; None where it has to be subscribed."""
    found = _compiled(plan, run, _PULL if run is None else _PULL_INSIDE)
    if found is None:
        return None
    function, arguments = found
    items: Iterator[Any] = function(*arguments)
    return items


def open_loop(pump: Pump[Any], plan: Resolved) -> bool:
    """Let ``pump``, of which everything is requested, give the items of a pipeline. False: it has to be subscribed."""
    found = _compiled(plan, pump, _EMIT)
    if found is None:
        return False
    function, arguments = found
    pump.items = function(*arguments)
    pump.emits = function is not iter
    return True


def first_of_loop(plan: Resolved) -> list[Any] | None:
    """The first of them, or None where there is none, in a list. No list where it has to be subscribed. Raises Handover, too."""
    found = _compiled(plan, None, _VALUE)
    if found is None:
        return None
    function, arguments = found
    return [function(*arguments)]


def _compiled(plan: Resolved, run: Stopping | None, form: Form) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """The operator's loop and the stages behind it in one function, with what it is to be called with, once; None where there is
    none."""
    head, shape, args = plan
    if shape is not ROOT and with_state(shape) is None:
        return None
    loop = inner_loop(head, run)
    if loop is None:
        return None
    items, opener, _ = loop
    if opener is None:
        whole = shape
        if shape is ROOT:
            return (first_of if form is _VALUE else iter), (items,)
    else:
        whole = _behind_inner(shape)
        args = (opener,) + args  # noqa: RUF005  # they may know the lines they were built in
    function = whole._forms.get(form)
    if function is None:
        tell_hot()
        function = whole.form(form)
        if function is None:
            close(items)
            return None
    return function, (items, run, head, args, _Resumed(loop, plan))


def with_state(shape: Shape) -> tuple[int, int] | None:
    """Which stages, from one to before another, go on with the state they have where the source hands over, by a call for each
    item. Those before and behind begin anew. None where that cannot be: the shape has to be subscribed."""
    known: tuple[int, int] | None = _with_state.get(shape, _NOT_ASKED)
    if known is _NOT_ASKED:
        having = [at for at, stage in enumerate(shape.stages) if not _stateless(stage)]
        start, end = (having[0], having[-1] + 1) if having else (0, 0)
        kept = shape_of(stage.step for stage in shape.stages[start:end])
        steps = kept.steps and not any(stage.works_after for stage in kept.stages)
        known = _with_state[shape] = (start, end) if steps else None
    return known


def _stateless(stage: Stage) -> bool:
    """Nothing of what came is anything to what comes. When the source hands over, all that came is through the stages: one that
    gives several items for one asks for the next behind the last of them."""
    if stage.head_yields or stage.tail_yields or stage.stops or stage.epilogue or stage_of(stage.function).prologue:
        return False
    return stage.compilable and (stage.expands or not stage.works_after)


def loop_pays(plan: Resolved, items: object) -> bool:
    """Whether there is a loop for the stages behind this operator, which is compiled for a pump, or pays that for a run over
    ``items``."""
    head, shape, _ = plan
    if not isinstance(head, OperatorHead) or with_state(shape) is None:
        return False
    whole = _behind_inner(shape)
    return _EMIT in whole._forms or whole.is_hot(items)


def _behind_inner(shape: Shape) -> Shape:
    found = _with_inner.get(shape)
    if found is None:
        found = _with_inner[shape] = shape_of((inner_items, *(stage.step for stage in shape.stages)))
    return found


class _Resumed:
    """What a compiled loop calls when its source, or an inner one, hands over."""

    __slots__ = ("loop", "plan")

    def __init__(self, loop: Loop, plan: Resolved) -> None:
        self.loop = loop
        self.plan = plan

    def __call__(self, handover: Handover, state: tuple[Any, ...]) -> Handover:
        """The Handover of the pipeline: with its stages, in their ``state``."""
        head, shape, args = self.plan
        rest = handover.rest
        _, _, left = self.loop
        if left is not None and type(handover) is not RestOf:
            rest = left(rest)
        if shape is ROOT:
            return Handover(rest)
        kept = with_state(shape)
        assert kept is not None  # else there was no loop
        start, end = kept
        if start < end:
            shape, args, behind, behind_args = shape.split(args, end)
            front, front_args, shape, args = shape.split(args, start)
            steps = StepSubscriber(NULL_SUBSCRIBER, shape, args, head, state)
            rest = type(rest)(ContinuedHead(type(rest)(rest._head, front, front_args), steps))
            shape, args = behind, behind_args
        return Handover(type(rest)(rest._head, shape, args))


def outer_items(loop: Iterator[Any], rest: Callable[[Any], Any]) -> Iterator[Any]:
    """An outer source that is a loop itself: ``rest`` makes what is left of the operator from what is left of it.

    Who closes this closes ``loop``. Who only drops it leaves ``loop`` open, which may go on in what is left.
    """
    return _OuterItems(loop, _until_handover(loop, rest))


def _until_handover(loop: Iterator[Any], rest: Callable[[Any], Any]) -> Iterator[Any]:
    try:
        for item in loop:  # noqa: UP028  # that would close it
            yield item
    except Handover as handover:
        raise RestOf(rest(handover.rest)) from None


@final
class _OuterItems:
    __slots__ = ("_items", "_loop")

    def __init__(self, loop: Iterator[Any], items: Iterator[Any]) -> None:
        self._loop = loop
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return self._items

    def __next__(self) -> Any:
        return next(self._items)

    def close(self) -> None:
        close(self._loop)


OPERATOR_CODES.update(each.__code__ for each in (_until_handover, _OuterItems.__next__))


def inner_loop(head: Head, run: Stopping | None) -> Loop | None:
    """The loop of the operator alone."""
    if not isinstance(head, OperatorHead) or head.operator.loop is None:
        return None
    return head.operator.loop(head, run)


def waited_for(loop: Iterator[Any], window: int, origin: object, enough: int = UNBOUNDED) -> Iterator[Any]:
    """The items of ``loop`` for a thread that waits: it waits for the rest where a source pushes.

    The rest has the stages with it, so that one which has had enough stops a source that sends on this very thread.
    """
    try:
        yield from loop
        return
    except Handover as handover:
        rest = handover.rest
    yield from Waiting[Any](window, origin, enough=enough).items(rest)


OPERATOR_CODES.add(waited_for.__code__)


@final
class ContinuedHead(PushHead):
    """The rest of a source, for stages that have a state already. Subscribed once."""

    __slots__ = ("name", "rest", "steps")

    def __init__(self, rest: Described, steps: StepSubscriber) -> None:
        self.name = rest._head.name
        self.rest = rest
        self.steps = steps

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.steps.down = subscriber
        self.rest._subscribe_items(self.steps)

    def __repr__(self) -> str:
        return repr(self.rest)
