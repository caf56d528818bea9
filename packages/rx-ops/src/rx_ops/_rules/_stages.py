"""Rules about stages that follow one another, whatever the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rx_fusion import Head, Rule, Shape, replaced
from rx_fusion._heads import Resolved
from rx_fusion._rules import RuleFunction
from rx_fusion._stage import StageFunction
from rx_ops import stages

Arguments = tuple[Any, ...]


def _as_before(head: Head, before: Shape, shape: Shape, args: Arguments) -> Resolved | None:
    """Not where what waited in a queue would be pushed through: asked in one go and not item by item, its end comes earlier."""
    return None if head.publisher is not None and shape.steps != before.steps else (head, shape, args)


def _two_as_one(stage: StageFunction, merged: Callable[[Arguments, Arguments], Arguments]) -> RuleFunction:
    """The first two neighbours that are ``stage``, as one whose arguments ``merged`` makes of theirs."""
    places: dict[Shape, tuple[int, int]] = {}

    def place(shape: Shape) -> tuple[int, int]:
        start = 0
        for at, first in enumerate(shape.stages):
            if first.function is stage and shape.stages[at + 1].function is stage:
                break
            start += len(first.parameters)
        return places.setdefault(shape, (at, start))

    def apply(head: Head, shape: Shape, args: Arguments) -> Resolved | None:
        at, start = places.get(shape) or place(shape)
        size = len(shape.stages[at].parameters)  # not before: importing reads no stage
        middle = start + size
        made = merged(args[start:middle], args[middle : middle + size])
        return _as_before(head, shape, *replaced(shape, args, at, 2, (stage, made)))

    return apply


def _smaller(first: Arguments, second: Arguments) -> Arguments:
    return (min(first[0], second[0]),)


def _same(first: Arguments, _second: Arguments) -> Arguments:
    return first


def _sorted_and_taken(stage: StageFunction, first: StageFunction) -> RuleFunction:
    """``first``, which takes the arguments of both, in the place of ``stage`` and the ``take`` behind it."""
    places: dict[Shape, tuple[int, int]] = {}

    def place(shape: Shape) -> tuple[int, int]:
        start = 0
        for at, each in enumerate(shape.stages):
            if each.function is stage and shape.stages[at + 1].function is stages.take:
                break
            start += len(each.parameters)
        return places.setdefault(shape, (at, start + len(each.parameters)))

    def apply(head: Head, shape: Shape, args: Arguments) -> Resolved | None:
        at, end = places.get(shape) or place(shape)
        if args[end] == 0:
            return None  # take(0) completes without reading anything
        start = end - len(shape.stages[at].parameters)
        return _as_before(head, shape, *replaced(shape, args, at, 2, (first, args[start : end + 1])))

    return apply


STAGE_RULES: Final = (
    Rule(
        "take.take",
        "s.take(n).take(m) = s.take(min(n, m))",
        "a counter for each item",
        _two_as_one(stages.take, _smaller),
        stages=(stages.take, stages.take),
    ),
    Rule(
        "distinct.distinct",
        "s.distinct().distinct() = s.distinct(), where hash() and == of an item answer the same when asked again",
        "a second set of all items",
        _two_as_one(stages.distinct, _same),
        stages=(stages.distinct, stages.distinct),
    ),
    Rule(
        "sorted.take",
        "s.sorted().take(n) = the first n of sorted(s), n > 0; all is sorted unless the items have a total order",
        "putting in order what is not taken",
        _sorted_and_taken(stages.sorted_, stages.smallest),
        stages=(stages.sorted_, stages.take),
    ),
    Rule(
        "sorted(key).take",
        "s.sorted(key).take(n) = the first n of sorted(s, key=key), n > 0; all is sorted unless the keys have a total order",
        "putting in order what is not taken",
        _sorted_and_taken(stages.sorted_by, stages.smallest_by),
        stages=(stages.sorted_by, stages.take),
    ),
)
