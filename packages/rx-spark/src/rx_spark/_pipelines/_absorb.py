"""Which stages Spark runs, and as what: the tables that a head absorbs stages by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from rx_ops import stages
from rx_spark._columns._observed import observe
from rx_spark._plans._plan import Aggregates, Count, Distinct, GroupReduce, Max, Min, NotedStep, Reduce, Sum, Take

StageFunction = Callable[..., Iterator[Any]]

#: What they give for an item depends on that item alone, so blocks can go anywhere.
PER_ITEM: Final[frozenset[StageFunction]] = frozenset(
    (stages.map_, stages.starmap, stages.filter_, stages.of_type, stages.cast, stages.flat_map_iterable, observe)
)

NUMBERS: Final = (int, float, complex)


def _sum(start: Any) -> NotedStep | None:
    return Sum(start) if type(start) in NUMBERS else None


Kind = Literal["pass", "shuffle", "one", "limit"]

#: Stages that are steps of their own. None from the function: not with these arguments.
STEPS: Final[dict[StageFunction, tuple[Kind, Callable[..., NotedStep | None]]]] = {
    stages.distinct: ("shuffle", Distinct),
    stages.group_reduce: ("shuffle", GroupReduce),
    stages.group_aggregate: ("shuffle", Aggregates),
    stages.reduce: ("one", Reduce),
    stages.count: ("one", Count),
    stages.sum_: ("one", _sum),
    stages.min_: ("one", Min),
    stages.max_: ("one", Max),
    stages.min_by: ("one", Min),
    stages.max_by: ("one", Max),
    stages.take: ("limit", Take),
}

#: Stages that run on the driver, but need no more than so many items.
LIMITS: Final[dict[StageFunction, Callable[..., int]]] = {
    stages.element_at: lambda index: int(index) + 1,
    stages.first_or: lambda _default: 1,
    stages.first_or_error: lambda: 1,
}


def step_of(function: StageFunction, args: tuple[Any, ...]) -> tuple[Kind, NotedStep | None]:
    """The step that a stage is, and its kind; None when Spark does not run the stage with these arguments."""
    kind, make = STEPS.get(function, ("pass", _nothing))
    return kind, make(*args)


def _nothing(*_args: Any) -> NotedStep | None:
    return None
