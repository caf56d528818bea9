"""Spark as the source of a pipeline: a head that absorbs the stages Spark can run.

A head is a description: a plan, and what was absorbed as the user wrote it. A run makes a job of it when the first
item is wanted. Which stages are absorbed is said by the tables of rx_spark._pipelines._absorb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rx_core.streams import Failing
from rx_fusion import PushHead
from rx_fusion._notes import call
from rx_fusion._shapes import ROOT
from rx_spark._columns._column import NotAColumn
from rx_spark._columns._frames import FrameSource, scan_notes
from rx_spark._jobs._op import JobOp
from rx_spark._pipelines._absorb import LIMITS, PER_ITEM, StageFunction, step_of, why_not
from rx_spark._pipelines._relational import grouped_by, taken
from rx_spark._plans._plan import GroupReduce, IterableSource, NotedStep, Pass, Plan, Source, Take
from rx_spark._transport._credits import WINDOW
from rx_spark._transport._wire import CHUNK
from rx_spark._workers._portable import check_portable
from rx_spark._workers._runner import FusedRunner

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_fusion import Head, Shape, Stage
    from rx_spark._columns._rows import RowType
    from rx_spark._jobs._stats import JobStats
    from rx_spark._plans._targets import Target
    from rx_spark._session._session import SparkConfig


class Call(NamedTuple):
    """An operator that was absorbed.

    ``kind``: a step over columns, part of a pass, a shuffle, a reduction of the groups before it, one to a single value, a limit
    at the end, or a writer there.
    """

    name: str
    parameters: tuple[str, ...]
    args: tuple[Any, ...]
    kind: Literal["column", "pass", "shuffle", "group", "one", "limit", "write"]

    def __str__(self) -> str:
        return self.name if self.kind == "write" else call(self.name, self.args)


@dataclass(frozen=True, repr=False, eq=False)
class SparkHead(PushHead):
    """A plan for Spark. ``closed``: nothing more fits behind it; ``cut``: why the next operator runs on the driver;
    ``border``: the first operator over the rows of a DataFrame that is no column, and why.

    Demand: the job starts when an item is requested and runs ahead by at most WINDOW chunks per task.
    Errors: NotPortableError when it is subscribed, before there is a session; those of the job come out of the stream.
    Memory: WINDOW chunks of at most CHUNK items per task.
    Thread: stages behind it run on the thread that requests or, after waiting for Spark, on one of the job's own.
    """

    name: str
    shown: str
    plan: Plan
    config: SparkConfig
    stats: JobStats | None = None
    calls: tuple[Call, ...] = ()
    closed: bool = False
    cut: str = ""
    border: str = ""

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        try:
            self.check_portable()
        except Exception as error:
            Failing(subscriber, error, origin).start()
            return
        JobOp(subscriber, self.config, self.plan, self.stats, origin).start()

    def check_portable(self) -> None:
        """Raise NotPortableError for the first absorbed function that cannot travel; it names operator and variable."""
        check_portable(
            [
                (made.name, parameter, argument)
                for made in self.calls
                for parameter, argument in zip(made.parameters, made.args, strict=True)
                if argument is not None  # left at its default
            ]
        )

    def absorb(self, shape: Shape, args: tuple[Any, ...], /) -> tuple[Head, Shape, tuple[Any, ...]]:
        if not shape or self.closed:
            return self, shape, args
        return _absorbed(self, shape, args)

    def with_group_reduce(self, group_by: Call, reduction: tuple[Call, ...], step: GroupReduce) -> SparkHead:
        """The same with the groups of its items reduced to pairs (key, value): by columns if these do it exactly as Python."""
        shown = ".".join(map(str, (group_by, *reduction)))
        head = self
        source = self.plan.source
        if isinstance(source, FrameSource) and not self.plan.steps and not self.border:
            try:
                made = grouped_by(source, step.key, step.value, step.reducer)
            except NotAColumn as reason:
                head = replace(self, border=f"{shown}: {reason}")
            else:
                columns = [each._replace(kind="column") for each in (group_by, *reduction)]
                return replace(self, plan=Plan(made), calls=(*self.calls, *columns))
        noted = replace(step, note=f"in {shown} of {head!r}")
        return replace(head, calls=(*head.calls, group_by, *reduction), plan=head.plan.then(noted))

    def into(
        self, name: str, target: Target, output: RowType | None, parameters: tuple[str, ...] = (), args: tuple[Any, ...] = ()
    ) -> SparkHead:
        """The end of a pipeline whose items stay on Spark. ``args`` are functions of the target, ``parameters`` their names."""
        made = replace(self, plan=self.plan.into(target, output), closed=True, name=name)
        return replace(made, calls=(*self.calls, Call(target.shown, parameters, args, "write")))

    def with_cut(self, cut: str) -> SparkHead:
        return replace(self, cut=cut)

    def notes(self) -> Sequence[str]:
        notes = []
        if isinstance(self.plan.source, IterableSource):
            notes.append("driver: the iterable is read whole before the job starts")
        passed: list[Call] = []
        order = "in the order of the source"
        runs, before = "read the source", ""
        columns = [made for made in self.calls if made.kind == "column"]
        frames = isinstance(self.plan.source, FrameSource)
        if frames:
            order, runs = "in any order", "rows of Arrow batches"
        if columns:
            notes.append(f"columns: {' → '.join(map(str, columns))}")
        if isinstance(self.plan.source, FrameSource) and self.plan.source.one and not self.plan.target:
            return [*notes, *self._last_note()]
        if frames:
            notes += _scans(self.plan.source, self.config)
        if self.border:
            notes.append(f"Python from {self.border}")
        if self.plan.target is not None and not self.plan.steps:
            runs = ""
        for made in self.calls[len(columns) :]:
            if made.kind == "write":
                continue
            if made.kind == "pass":
                passed.append(made)
                runs = f"one fused pass: {' → '.join(map(str, passed))}"
                continue
            if runs:
                notes.append(f"executors: {runs}")
            passed, runs = [], ""
            if made.kind == "limit":
                notes.append(f"limit: {made}, then the job stops")
            elif made.kind == "group":
                before = f"{before}.{made}"
                notes[-1] = f"shuffle: {before}, combined per key on both sides"
            elif made.kind == "one":
                notes.append(f"shuffle: {made}, a partial result per block, combined in order")
                order = "one value"
            else:
                notes.append(f"shuffle: {made}, {_SHUFFLES.get(made.name, 'combined per key on both sides')}")
                order, before = "in any order", str(made)
        if runs:
            notes.append(f"executors: {runs}")
        if self.plan.target is not None:
            return [*notes, f"{'written by the executors' if self.plan.output else 'executors'}: {self.plan.target.shown}"]
        notes.append(f"streams back: {order}, as requested; at most {WINDOW} chunks of {CHUNK:,} per task are ahead")
        return [*notes, *self._last_note()]

    def _last_note(self) -> list[str]:
        return [f"driver from here: {self.cut}"] if self.cut else []

    def __repr__(self) -> str:
        return self.shown + "".join(f".{made}" for made in self.calls)


_SHUFFLES = {"distinct": "equal items meet in one task"}


def _scans(source: Source, config: SparkConfig) -> list[str]:
    """What the scans are told; nothing where they cannot be planned now, which running will say."""
    from rx_spark._session._session import engine

    try:
        return scan_notes(source, engine(config)) if isinstance(source, FrameSource) else []
    except Exception:
        return []


def _absorbed(head: SparkHead, shape: Shape, args: tuple[Any, ...]) -> tuple[Head, Shape, tuple[Any, ...]]:
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
        if self._by_columns(stage, args):
            return True
        if function in PER_ITEM:
            if not self._pass:
                self._text = repr(self._head)
            self._pass.append((function, args))
            self._add(Call(stage.name, stage.parameters, args, "pass"))
            return True
        if function in LIMITS:
            count = LIMITS[function](*args)
            self._step(Call("take", ("count",), (count,), "limit"), Take(count))
            return self._cut(stage, args, "picks from these")
        kind, step = step_of(function, args)
        if step is None:
            return self._cut(stage, args, why_not(function))
        self._step(Call(stage.name, stage.parameters, args, kind), step)
        return True

    def _by_columns(self, stage: Stage, args: tuple[Any, ...]) -> bool:
        """Whether a step over columns does it: as long as nothing before it needed Python."""
        head = self._head
        source = head.plan.source
        if not isinstance(source, FrameSource) or self._pass or head.plan.steps or stage.function in LIMITS or head.border:
            return False
        try:
            made = taken(stage.function, args, source)
        except NotAColumn as reason:
            self._head = replace(head, border=f"{call(stage.name, args)}: {reason}")
            return False
        added = Call(stage.name, stage.parameters, args, "column")
        self._head = replace(head, plan=Plan(made), calls=(*head.calls, added), closed=made.one)
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
