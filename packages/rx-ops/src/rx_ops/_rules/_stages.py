"""Rules about stages that follow one another, whatever the source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rx_fusion import Head, Rule, Shape, replaced
from rx_fusion._rules import Resolved, RuleFunction
from rx_fusion._stages import StageFunction
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
)
