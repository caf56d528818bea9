"""Which stages Spark runs, and as what: the tables that a head absorbs stages by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

from rx_ops import stages
from rx_spark._plans._plan import Aggregates, Count, Distinct, GroupReduce, Max, Min, NotedStep, Reduce, Sum, Take

StageFunction = Callable[..., Iterator[Any]]

#: What they give for an item depends on that item alone, so blocks can go anywhere.
PER_ITEM: Final[frozenset[StageFunction]] = frozenset(
    (stages.map_, stages.starmap, stages.filter_, stages.of_type, stages.cast, stages.flat_map_iterable)
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

_IN_ORDER: Final = "needs its items in order, one after another"
_EFFECT: Final = "has effects that belong on the driver"
_COLLECTS: Final = "collects on the driver"

#: Why a stage ends what Spark runs.
REASONS: Final[dict[StageFunction, str]] = {
    stages.scan: _IN_ORDER,
    stages.scan_seed: _IN_ORDER,
    stages.skip: _IN_ORDER,
    stages.take_while: _IN_ORDER,
    stages.skip_while: _IN_ORDER,
    stages.buffer: _IN_ORDER,
    stages.buffer_gaps: _IN_ORDER,
    stages.buffer_overlap: _IN_ORDER,
    stages.distinct_until_changed: _IN_ORDER,
    stages.distinct_until_changed_by: _IN_ORDER,
    stages.distinct_by: "keeps the first item of each key, and shuffles keep no order",
    stages.do_on_next: _EFFECT,
    stages.do_on_complete: _EFFECT,
    stages.reduce_seed: "has a seed, which says nothing about combining partial results; leave it out to reduce on Spark",
    stages.sum_: "adds to a start that is no plain number",
    stages.collect: _COLLECTS,
    stages.collect_into: _COLLECTS,
    stages.to_list: _COLLECTS,
    stages.to_dict: _COLLECTS,
}


def step_of(function: StageFunction, args: tuple[Any, ...]) -> tuple[Kind, NotedStep | None]:
    """The step that a stage is, and its kind; None when Spark does not run the stage with these arguments."""
    kind, make = STEPS.get(function, ("pass", _nothing))
    return kind, make(*args)


def why_not(function: StageFunction) -> str:
    """Why a stage ends what Spark runs."""
    return REASONS.get(function, "is not known to treat each item by itself")


def _nothing(*_args: Any) -> NotedStep | None:
    return None
