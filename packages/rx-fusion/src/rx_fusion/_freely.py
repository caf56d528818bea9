"""Coordinating operators on the thread that waits, for as long as nothing has to be waited for.

Who iterates or blocks wants everything at once, on this thread, and nobody else can cancel. Then an operator that opens one inner
source after the other is a stage: a loop over the inner items, written into the loop around it. Such a stage gives None where an
inner source has nothing now; that goes past all later stages to whoever iterates, who sleeps until the run is woken. The run
itself is made when a source is met that cannot simply be iterated. See docs/decisions/0018-inner-streams-in-the-loop.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, final

from rx_core import Items, Openable, Publisher, Side, Waiting, as_signal, hooks
from rx_core.queue_fusion import fusion_enabled
from rx_core.streams import NEVER_NONE
from rx_fusion._forms import Feed
from rx_fusion._heads import Head, IterableHead, OperatorHead
from rx_fusion._shapes import HOT_RUNS, PULL_FREE, ROOT, VALUE, Shape, checked, shape_of, tell_hot

if TYPE_CHECKING:
    from rx_fusion._pipeline import Pipeline
    from rx_fusion._stages import StageFunction

_CLEAN: Final = Feed.CLEAN
_CHECKED: Final = Feed.CHECKED

#: Where the items come from (for messages), what to iterate, what that may give, the stages behind it, their arguments.
Plan = tuple[Head, Iterable[Any], Feed, Shape, tuple[Any, ...]]

#: An operator as a stage: the plan of its source, the stage, and its arguments, of which the last opens inner sources.
Looped = tuple[Plan, "StageFunction", tuple[Any, ...]]

#: A stage between two shapes. Shapes are kept for ever, and so are these.
_around: Final[dict[tuple[Shape, StageFunction, Shape], Shape]] = {}


def freely(pipeline: Pipeline[Any], waiting: Waiting) -> bool:
    """Make ``waiting.items`` the items of ``pipeline``, if its operators can be stages and that pays. Nothing has run then."""
    if hooks.on_subscribe is not None or not fusion_enabled():
        return False
    try:
        plan = planned(pipeline, waiting)
        if plan is None:
            return False
        items = _started(plan)
        waiting.gives_one = plan[3].gives_one
    except (Exception, GeneratorExit) as error:  # somebody's __iter__
        items = waiting.run.failing(as_signal(error))
    if items is None:
        return False
    waiting.items = items
    return True


def planned(pipeline: Pipeline[Any], waiting: Waiting) -> Plan | None:
    """How ``pipeline`` is iterated by who waits; None where it has to be run."""
    head = pipeline._head
    if type(head) is IterableHead:
        found, shape, args = pipeline._resolve()
        return (found, found._items, found.feed, shape, args) if type(found) is IterableHead else None
    if not isinstance(head, OperatorHead) or head.scheduler is not None:
        return None
    known = head.operator.freely
    if known is None or not (known.possible is None or known.possible(head)):
        return None
    looped = known.looped(head, waiting)
    if looped is None:
        return None
    (origin, items, feed, before, args), stage, opening = looped
    after = pipeline._shape
    around = _around.get((before, stage, after))
    if around is None:
        steps = [each.step for each in before.stages], [each.step for each in after.stages]
        around = _around[before, stage, after] = shape_of([*steps[0], stage, *steps[1]])
    return origin, items, feed, around, args + opening + pipeline._args


def loops(pipeline: Pipeline[Any]) -> bool:
    """Whether a thread that waits iterates ``pipeline`` freely once that pays. Nothing runs."""
    head = pipeline._head
    if type(head) is IterableHead:
        return type(pipeline._resolve()[0]) is IterableHead
    if not isinstance(head, OperatorHead) or head.scheduler is not None:
        return False
    known = head.operator.freely
    return known is not None and (known.possible is None or (known.possible(head) and loops(head.upstream[0])))


def at_once(source: Pipeline[Any], waiting: Waiting) -> Iterable[Any] | None:
    """The items of an inner source, None among them only where it has to wait; None where it has to be :func:`opened`.

    They are iterated at once, to the end or until they are given to ``close``.
    """
    head = source._head
    if type(head) is not IterableHead:
        return _pulled(source, waiting)
    shape = source._shape
    made = head._items
    if shape is ROOT:
        kind = type(made)
        if (kind is tuple or kind is range) and head.feed is _CLEAN:
            return made
        args = source._args
    else:
        found, shape, args = source._resolve()
        if type(found) is not IterableHead:
            return None
        head = found
        made = head._items
    try:
        items = iter(made)
        feed = head.feed
        if feed is _CHECKED and type(items) in NEVER_NONE:
            feed = _CLEAN
        if shape is ROOT:
            return items if feed is _CLEAN else checked(items, head)
        if shape.folds:
            form = VALUE[feed]
            function = shape._forms.get(form) or (shape.form(form) if shape._runs > HOT_RUNS else None)
            if function is not None:
                value = function(items, None, head, args)
                return () if value is None else (value,)
        return shape.pull(items, None, head, args, PULL_FREE[feed])
    except (Exception, GeneratorExit) as error:
        return waiting.run.failing(as_signal(error))


def opened(source: Publisher[Any] | Openable[Any], waiting: Waiting) -> Items[Any]:
    """The items of a source that may have to wait, in a run of its own that ends with them."""
    side: Side[Any] = Side(waiting.run)
    try:
        side.start(source)
        yield from side.items
    finally:
        side.dispose()


@final
class Outside(IterableHead):
    """A source of sources in a loop of its own: whoever opens the inner ones may take the ``rest`` of it."""

    __slots__ = ("rest", "sized")

    def __init__(self, source: Pipeline[Any], items: Iterator[Any], sized: object, feed: Feed) -> None:
        super().__init__(source._head.name, items, source.__repr__, feed=feed)
        #: What tells how many items there are.
        self.sized = sized
        self.rest = checked(items, self) if feed is _CHECKED else items

    @property
    def plan(self) -> Plan:
        return self, self._items, self.feed, ROOT, ()


def outside(source: Pipeline[Any], waiting: Waiting) -> Outside | None:
    """The items of ``source``, to be iterated by who waits, and by two who take turns; None where it has to be run."""
    plan = planned(source, waiting)
    if plan is None:
        return None
    _, made, feed, shape, _ = plan
    items = iter(made) if shape is ROOT else _started(plan)
    if items is None:
        return None
    # A loop of ours gives no None of its own, but it wants to be closed.
    return Outside(source, items, made, feed if shape is ROOT else Feed.RUNNING if shape.waits else _CHECKED)


def _pulled(pipeline: Pipeline[Any], waiting: Waiting) -> Iterator[Any] | None:
    try:
        plan = planned(pipeline, waiting)
        return None if plan is None else _started(plan)
    except (Exception, GeneratorExit) as error:  # somebody's __iter__
        return waiting.run.failing(as_signal(error))


def _started(plan: Plan) -> Iterator[Any] | None:
    origin, made, feed, shape, args = plan
    source = iter(made)
    if feed is _CHECKED and type(source) in NEVER_NONE:
        feed = _CLEAN
    form = PULL_FREE[feed]
    function = shape._forms.get(form)
    if function is None:
        if not shape.is_hot(origin.sized if type(origin) is Outside else made):
            return None  # stacked stages are no faster than a run
        function = shape.form(form)
        if function is None:
            return None
        tell_hot()
    items: Iterator[Any] = function(source, None, origin, args)
    return items
