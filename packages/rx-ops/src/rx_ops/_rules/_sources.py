"""Rules about sources whose items are known before the subscription: ``just``, ``of``, ``range``, ``empty``."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rx_fusion import Feed, Head, IterableHead, OperatorHead, Rule, Shape, replaced
from rx_fusion._heads import Resolved
from rx_ops import operators, stages
from rx_ops._rules._known import items_of, known_items

Arguments = tuple[Any, ...]

_KNOWN: Final = ("just", "of", "range", "empty")


def _called(head: Head, name: str, argument: object) -> str:
    return f"{head!r}.{name}({argument})"


def _part(head: Head, shape: Shape, args: Arguments) -> Resolved | None:
    """A slice instead of a ``skip`` or a ``take`` at the beginning."""
    items = items_of(head)
    if items is None:
        return None
    count = args[0]
    name = shape.stages[0].name
    part = items[count:] if name == "skip" else items[:count]
    if items and not part:
        return None  # that there is nothing would be known without a request, and the end would come before one
    made = IterableHead(head.name, part, partial(_called, head, name, count), feed=Feed.CLEAN)
    return (made, *replaced(shape, args, 0, 1))


def _counted(head: Head, shape: Shape, args: Arguments) -> Resolved | None:
    items = items_of(head)
    if items is None:
        return None
    made = IterableHead("count", (len(items),), partial(_called, head, "count", ""), feed=Feed.CLEAN)
    return (made, *replaced(shape, args, 0, 1))


def _merged(head: Head, shape: Shape, args: Arguments) -> Resolved | None:
    if type(head) is not OperatorHead or head.function is not operators.Merge or not shape.ends_with_source:
        return None  # behind stages that give more, merge looks for its end without a request, and a passive source does not
    prefetch = head.args[0]
    found: list[Any] = []
    for source in head.upstream:
        items = known_items(source)
        if not items or len(items) > prefetch or len(items) > _FEW:
            return None  # more than a turn of items would be given in turns; an empty source says so without being asked
        found += items
    if not found:
        return None
    return IterableHead("merge", tuple(found), head.__repr__, feed=Feed.CLEAN), shape, args


#: More than so many items of one source are not copied.
_FEW: Final = 16

SOURCE_RULES: Final = (
    Rule(
        "range.skip",
        "of(*items).skip(n) = of(*items[n:]), and the same for range, unless nothing is left",
        "skipping one by one",
        _part,
        heads=_KNOWN,
        stages=(stages.skip,),
    ),
    Rule(
        "range.take",
        "of(*items).take(n) = of(*items[:n]), and the same for range, unless nothing is left",
        "a counter for each item",
        _part,
        heads=_KNOWN,
        stages=(stages.take,),
    ),
    Rule(
        "range.count",
        "of(*items).count() = just(len(items)), and the same for range; the end comes with the next request",
        "counting",
        _counted,
        heads=_KNOWN,
        stages=(stages.count,),
    ),
    Rule(
        "merge(just, just)",
        "merge(of(*a), of(*b)) = of(*a, *b), where each has items, no more than a turn, and stages give at most one for one",
        "an input for each source",
        _merged,
        heads=("merge",),
    ),
)
