"""Which stages Spark runs, and as what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from rx_fusion._notes import call
from rx_fusion._shapes import ROOT
from rx_ops import stages
from rx_spark._head import Call, SparkHead
from rx_spark._plan import Count, Distinct, GroupReduce, Max, Min, NotedStep, Pass, Reduce, Sum, Take
from rx_spark._runner import FusedRunner

if TYPE_CHECKING:
    from rx_fusion import Head, Shape, Stage

StageFunction = Callable[..., Iterator[Any]]

#: What they give for an element depends on that element alone, so blocks can go anywhere.
ELEMENTWISE: Final[frozenset[StageFunction]] = frozenset(
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
    stages.reduce: ("one", Reduce),
    stages.count: ("one", Count),
    stages.sum_: ("one", _sum),
    stages.min_: ("one", Min),
    stages.max_: ("one", Max),
    stages.min_by: ("one", Min),
    stages.max_by: ("one", Max),
    stages.take: ("limit", Take),
}

#: Stages that run on the driver, but need no more than so many elements.
LIMITS: Final[dict[StageFunction, Callable[..., int]]] = {
    stages.element_at: lambda index: int(index) + 1,
    stages.first_or: lambda _default: 1,
    stages.first_or_error: lambda: 1,
}

_IN_ORDER: Final = "needs its elements in order, one after another"
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
    stages.distinct_by: "keeps the first element of each key, and shuffles keep no order",
    stages.do_on_next: _EFFECT,
    stages.do_on_complete: _EFFECT,
    stages.reduce_seed: "has a seed, which says nothing about combining partial results; leave it out to reduce on Spark",
    stages.sum_: "adds to a start that is no plain number",
    stages.collect: _COLLECTS,
    stages.collect_into: _COLLECTS,
    stages.to_list: _COLLECTS,
    stages.to_dict: _COLLECTS,
}


def absorb(head: SparkHead, shape: Shape, args: tuple[Any, ...]) -> tuple[Head, Shape, tuple[Any, ...]]:
    """The longest prefix of ``shape`` that Spark runs, in a new head, and the rest."""
    taking = _Taking(head)
    at = 0
    for index, stage in enumerate(shape.stages):
        mine = args[at : at + len(stage.parameters)]
        if not taking.take(stage, mine):
            _, _, rest, rest_args = shape.split(args, index)
            return taking.head(), rest, rest_args
        at += len(mine)
    return taking.head(), ROOT, ()


class _Taking:
    def __init__(self, head: SparkHead) -> None:
        self._head = head
        self._pass: list[tuple[StageFunction, tuple[Any, ...]]] = []
        self._text = ""  # the pipeline before the pass

    def take(self, stage: Stage, args: tuple[Any, ...]) -> bool:
        function = stage.function
        if self._head.closed:
            shown = f"{call(stage.name, args)}, because {self._head.calls[-1]} is the end of the Spark part"
            self._head = self._head.with_cut(shown)
            return False
        if function in ELEMENTWISE:
            if not self._pass:
                self._text = repr(self._head)
            self._pass.append((function, args))
            self._add(Call(stage.name, stage.parameters, args, "pass"))
            return True
        if function in LIMITS:
            count = LIMITS[function](*args)
            self._step(Call("take", ("count",), (count,), "limit"), Take(count))
            return self._cut(stage, args, "picks from these")
        kind, make = STEPS.get(function, ("pass", _nothing))
        step = make(*args)
        if step is None:
            return self._cut(stage, args, REASONS.get(function, "is not known to treat each element by itself"))
        self._step(Call(stage.name, stage.parameters, args, kind), step)
        return True

    def head(self) -> SparkHead:
        self._flush()
        return self._head

    def _add(self, made: Call) -> None:
        head = self._head
        self._head = replace(head, calls=(*head.calls, made), closed=made.kind in ("one", "limit"))

    def _step(self, made: Call, step: NotedStep) -> None:
        self._flush()
        self._add(made)
        noted = replace(step, note=f"in {made} of {self._head!r}")
        self._head = replace(self._head, plan=self._head.plan.then(noted))

    def _flush(self) -> None:
        if self._pass:
            functions = tuple(function for function, _ in self._pass)
            flat = tuple(argument for _, args in self._pass for argument in args)
            made = Pass(tuple(self._pass), FusedRunner(functions, flat, self._text))
            self._head = replace(self._head, plan=self._head.plan.then(made))
            self._pass = []

    def _cut(self, stage: Stage, args: tuple[Any, ...], why: str) -> bool:
        self._head = self._head.with_cut(f"{call(stage.name, args)} {why}")
        return False


def _nothing(*_args: Any) -> NotedStep | None:
    return None
