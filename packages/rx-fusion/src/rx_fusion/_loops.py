"""Operators over passive sources, pulled: the one fast path for sources of sources.

concat_map, flat_map and concat have a second, short generator that simply pulls: nested loops, no queue, no subscription. It may
run only where everything is wanted anyway: unbounded demand, a thread that waits. When it meets a source that pushes, it raises
``Handover``: all the rest as a pipeline, which its consumer subscribes once.

Stages behind such an operator go on with the state they have: those without one are applied to the rest anew, all others run as a
call for each item, by the very subscriber that the rest is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, final

from rx_core import OPERATOR_CODES, UNBOUNDED
from rx_core.streams import NULL_SUBSCRIBER, Handover, Stopping, Waiting
from rx_fusion._forms import Feed
from rx_fusion._heads import Head, IterableHead, OperatorHead, PushHead
from rx_fusion._push import StepSubscriber
from rx_fusion._shapes import PULL_FREE, PULL_INSIDE, ROOT

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_fusion._pipeline import Pipeline, Resolved
    from rx_fusion._shapes import Shape


def loop_of(plan: Resolved, run: Stopping | None) -> Iterator[Any] | None:
    """The items of a pipeline for a consumer that wants everything; None where it has to be subscribed."""
    head, shape, args = plan
    loop = inner_loop(head, run)
    if loop is None or shape is ROOT:
        return loop
    if shape.stateless:
        return _staged(loop, run, head, shape, args)
    if shape.steps and not any(stage.works_after for stage in shape.stages):
        return _stepped(loop, StepSubscriber(NULL_SUBSCRIBER, shape, args, head))
    loop.close()  # type: ignore[attr-defined]  # a generator
    return None


def inner_loop(head: Head, run: Stopping | None) -> Iterator[Any] | None:
    """The loop of the operator alone."""
    if not isinstance(head, OperatorHead) or head.operator.loop is None:
        return None
    return head.operator.loop(head, run)


def loops(pipeline: Pipeline[Any]) -> bool:
    """Whether a thread that waits iterates ``pipeline`` in one loop with its source. Nothing runs."""
    head = pipeline._head
    if isinstance(head, IterableHead):
        return isinstance(pipeline._resolve()[0], IterableHead)
    if not isinstance(head, OperatorHead) or head.operator.loop is None:
        return False
    found = head.operator.loop(head, None)
    if found is None:
        return False
    found.close()  # type: ignore[attr-defined]  # a generator that was never started runs nothing
    return True


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


def _staged(loop: Iterator[Any], run: Stopping | None, head: Head, shape: Shape, args: tuple[Any, ...]) -> Iterator[Any]:
    form = PULL_FREE[Feed.CLEAN] if run is None else PULL_INSIDE[Feed.CLEAN]
    try:
        yield from shape.pull(loop, run, head, args, form)
        return
    except Handover as handover:
        rest = handover.rest
    raise Handover(type(rest)(rest._head, shape, args))


def _stepped(loop: Iterator[Any], steps: StepSubscriber) -> Iterator[Any]:
    step = steps._step
    failure: Exception | None = None
    if steps.last:  # stages that want nothing at all: take(0)
        loop.close()  # type: ignore[attr-defined]  # a generator, not started
        loop = iter(())
    try:
        for item in loop:
            try:
                out = step(item)
            except (Exception, GeneratorExit) as error:
                failure = steps._noted(error)
                break
            if out is not None:
                yield out
            if steps.last:
                break
        if failure is None:
            try:
                out = steps._finish()
            except (Exception, GeneratorExit) as error:
                failure = steps._noted(error)
            else:
                if out is not None:
                    yield out
                return
    except Handover as handover:
        rest = handover.rest
    else:
        assert failure is not None  # else it has returned
        raise failure
    raise Handover(type(rest)(ContinuedHead(rest, steps)))


OPERATOR_CODES.update((_staged.__code__, _stepped.__code__, waited_for.__code__))


@final
class ContinuedHead(PushHead):
    """The rest of a source, for stages that have a state already. Subscribed once."""

    __slots__ = ("name", "rest", "steps")

    def __init__(self, rest: Pipeline[Any], steps: StepSubscriber) -> None:
        self.name = rest._head.name
        self.rest = rest
        self.steps = steps

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.steps.down = subscriber
        self.rest._subscribe_items(self.steps)

    def __repr__(self) -> str:
        return repr(self.rest)
