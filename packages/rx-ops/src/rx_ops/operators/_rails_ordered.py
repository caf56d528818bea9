"""What makes the operators of a rail say where what is of an item ends, so that rails can be joined in the order of the source.

Rails of functions that make one item of one give that. Where items are left out or expanded, a rail gives a list for each. Behind
``flat_map`` and ``concat_map``, whose streams may be long or never end, it gives lists as the items come, and ``LAST`` behind
those of each.
"""

from __future__ import annotations

from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from rx_core import unwrap_stop
from rx_fusion import Feed, OperatorHead, Pipeline, Shape, shape_of
from rx_fusion._shapes import PULL_FREE
from rx_ops.operators._concat_map import ConcatMap
from rx_ops.operators._eager import ConcatMapEager
from rx_ops.operators._mapping import Named
from rx_ops.operators._rails import LAST, RunElsewhere, Written, elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_fusion import Stage

T = TypeVar("T")


#: What looks at each item by itself, and those that make exactly one of it. A rail has operators of ours only, so names do.
BY_ITSELF: Final = frozenset(("map", "starmap", "cast", "filter", "of_type", "map_optional", "flat_map_iterable", "do_on_next"))
ONE_FOR_ONE: Final = frozenset(("map", "starmap", "cast", "do_on_next", "do_after_next"))
#: What makes a stream of each item.
STREAMS: Final = frozenset(("flat_map", "concat_map"))
#: What only looks on, and may as well look at lists.
LOOKING_ON: Final = frozenset(
    ("run_on", "do_on_complete", "do_on_error", "do_after_terminate", "do_on_subscribe", "do_on_request", "do_on_cancel")
)


def in_order(rail: Pipeline[Any]) -> tuple[Pipeline[Any], bool, bool]:
    """For ``Ordered``: a description of a rail that says where what is of an item ends, and whether it gives lists, and parts.

    ValueError for a rail in which what comes out is not known to be of one item.
    """
    names = _names(rail)
    for name in names:
        if name not in BY_ITSELF | ONE_FOR_ONE | STREAMS | LOOKING_ON:
            raise ValueError(
                f"sequential(ordered=True): what {name}() gives is not of one item alone, so it has no place in the order of the"
                f" source.\n  Right:  .sequential()   # as the items come; or .sequential(ordered=True) before .{name}(...)"
            )
    if set(names) <= ONE_FOR_ONE | LOOKING_ON:
        return rail, False, False
    return _lists(rail), True, not STREAMS.isdisjoint(names)


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


def _lists(rail: Any) -> Any:
    head = rail._head
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
    return made


def _head_of_lists(rail: Any, head: OperatorHead) -> Any:
    before = _lists(head.upstream[0])
    if head.name in STREAMS:
        return _streams_of_lists(before, head, again=not STREAMS.isdisjoint(_names(head.upstream[0])))
    if head.function is RunElsewhere:
        pool, shape, args, prefetch = head.args
        along = rail._from(rail._head).map(EachByItself(Written(f"run_on({pool!r})"), shape, args))
        return rail._from(elsewhere(before, pool, along._shape, along._args, prefetch))
    replaced: Any = copy(head)
    replaced.upstream = (before,)
    if head.name == "do_after_next":
        replaced.args = (ForEach(*head.args),)
    return rail._from(replaced)


def _streams_of_lists(before: Any, head: OperatorHead, *, again: bool) -> Any:
    """``flat_map`` and ``concat_map`` of a rail: the inner streams of its items stay in line, each as lists, and ``LAST`` behind
    those of an item of the source. ``again``: the rail gives ``LAST`` already."""
    turns = before.flat_map_iterable(_turns if again else _turns_of_whole)
    mapper = InTurn(head.name, head.args[0], type(before))
    if head.name == "concat_map":
        return before._from(HeadInTurn(head, ConcatMap, turns, (mapper, *head.args[1:])))
    _mapper, max_concurrency, prefetch, delay_error = head.args
    return before._from(HeadInTurn(head, ConcatMapEager, turns, (mapper, delay_error, True, max_concurrency, prefetch)))


def _turns_of_whole(items: list[Any]) -> list[Any]:
    """What a list that has all of an item of the source has to map: each in a tuple, the last one with the mark of that."""
    return [*((item,) for item in items[:-1]), (items[-1], LAST)] if items else [LAST]


def _turns(items: list[Any]) -> list[Any]:
    """The same of a part of it."""
    return [LAST] if items is LAST else [(item,) for item in items]


class HeadInTurn(OperatorHead):
    """Reads, in messages, as the operator in whose place it is."""

    __slots__ = ("written",)

    written: OperatorHead

    def __init__(self, written: OperatorHead, function: Any, turns: Any, args: tuple[Any, ...]) -> None:
        super().__init__(function, (turns,), args, window=written.window, shown=written.shown)
        self.written = written

    def __repr__(self) -> str:
        return repr(self.written)


class InTurn(Named):
    """The streams of a mapper as lists of one, and ``LAST`` where an item of the source ends."""

    __slots__ = ("face",)

    face: Any

    def __init__(self, name: str, mapper: Callable[..., Any], face: type[Any]) -> None:
        super().__init__(name, mapper)
        self.face = face

    def __call__(self, turn: Any) -> Any:
        if turn is LAST:
            return self.face.just(LAST)
        source = self.mapper(turn[0])
        if isinstance(source, Pipeline) and hasattr(source, "map"):
            made: Any = source
        elif hasattr(source, "subscribe"):
            made = self.face.wrap(source)
        else:
            return source  # the operator that asked refuses it
        lists = made.map(_alone)
        # LAST comes before an error: where this is delayed, the other items are still to have their turn.
        return lists if len(turn) == 1 else self.face.concat(lists, self.face.just(LAST), delay_error=True)


class ForEach:
    """A function of an item, for lists."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[Any], object]) -> None:
        self.action = action

    def __call__(self, items: list[Any]) -> None:
        for item in items:
            self.action(item)


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
        if items is LAST:
            return items
        try:
            return list(self.shape.pull(iter(items), None, self.before, self.args, PULL_FREE[Feed.CLEAN]))
        except RuntimeError as error:
            own = unwrap_stop(error)
            if own is error:
                raise
            raise own from None  # a StopIteration of the user's function

    def __repr__(self) -> str:
        return f"each by itself: {self.shape!r}"
