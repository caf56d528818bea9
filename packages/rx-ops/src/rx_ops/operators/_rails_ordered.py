"""What makes the operators of a rail give one thing for each item, so that rails can be joined in the order of the source."""

from __future__ import annotations

from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from rx_core import unwrap_stop
from rx_fusion import Feed, OperatorHead, Pipeline, Shape, shape_of
from rx_fusion._shapes import PULL_FREE
from rx_ops.operators._rails import RunElsewhere, Written, elsewhere

if TYPE_CHECKING:
    from rx_fusion import Stage

T = TypeVar("T")


#: What looks at each item by itself, and those that make exactly one of it. A rail has operators of ours only, so names do.
BY_ITSELF: Final = frozenset(("map", "filter", "map_optional", "flat_map_iterable", "do_on_next"))
ONE_FOR_ONE: Final = frozenset(("map", "do_on_next"))
#: What only looks on, and may as well look at lists.
LOOKING_ON: Final = frozenset(
    ("run_on", "do_on_complete", "do_on_error", "do_after_terminate", "do_on_subscribe", "do_on_request", "do_on_cancel")
)


def in_order(rail: Pipeline[Any]) -> tuple[Pipeline[Any], bool]:
    """For ``Ordered``: a description of a rail that gives one thing for each item that it gets, and whether that is a list.

    ValueError for a rail in which what comes out is not known to be of one item.
    """
    names = _names(rail)
    for name in names:
        if name not in BY_ITSELF and name not in LOOKING_ON:
            raise ValueError(
                f"sequential(ordered=True): what {name}() gives is not of one item alone, so it has no place in the order of the"
                f" source.\n  Right:  .sequential()   # as the items come; or .sequential(ordered=True) before .{name}(...)"
            )
    if set(names) <= ONE_FOR_ONE | LOOKING_ON:
        return rail, False
    return _lists(rail), True


def _names(rail: Pipeline[Any]) -> list[str]:
    """The operators of a rail, the last ones first."""
    found: list[str] = []
    at: Any = rail
    while True:
        found += [each.name for each in reversed(at._shape.stages) if not each.guard]
        head = at._head
        if not isinstance(head, OperatorHead):
            return found
        if head.function is RunElsewhere:
            found += [each.name for each in reversed(head.args[1].stages) if not each.guard]
        found.append(head.name)
        at = head.upstream[0]


def _lists(rail: Pipeline[Any]) -> Pipeline[Any]:
    head = rail._head
    made: Any
    if isinstance(head, OperatorHead):
        made = _head_of_lists(rail, head)
    else:
        made = rail._from(head).map(_alone)
    at = 0
    for by_itself, several in groupby(rail._shape.stages, _is_by_itself):
        run = tuple(several)
        size = sum(len(each.parameters) for each in run)
        args = rail._args[at : at + size]
        at += size
        if by_itself:
            made = made.map(EachByItself(rail._from(head), shape_of([each.step for each in run]), args))
        else:
            for each, argument in zip(run, args, strict=True):  # do_on_complete
                made = made._then(each.function, argument)
    return made  # type: ignore[no-any-return]  # a pipeline as the one given


def _head_of_lists(rail: Any, head: OperatorHead) -> Any:
    before = _lists(head.upstream[0])
    if head.function is RunElsewhere:
        pool, shape, args, prefetch = head.args
        along = rail._from(rail._head).map(EachByItself(Written(f"run_on({pool!r})"), shape, args))
        return rail._from(elsewhere(before, pool, along._shape, along._args, prefetch))
    replaced: Any = copy(head)
    replaced.upstream = (before,)
    return rail._from(replaced)


def _is_by_itself(each: Stage) -> bool:
    return each.guard or each.name in BY_ITSELF


def _alone(item: T) -> list[T]:
    return [item]


class EachByItself(NamedTuple):
    """What stages make of the results for one item, as a list. ``before`` is what they are behind, for messages."""

    before: object
    shape: Shape
    args: tuple[Any, ...]

    def __call__(self, items: list[Any]) -> list[Any]:
        try:
            return list(self.shape.pull(iter(items), None, self.before, self.args, PULL_FREE[Feed.CLEAN]))
        except RuntimeError as error:
            own = unwrap_stop(error)
            if own is error:
                raise
            raise own from None  # a StopIteration of the user's function

    def __repr__(self) -> str:
        return f"each by itself: {self.shape!r}"
