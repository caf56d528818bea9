"""Spark as the source of a pipeline: a head that absorbs the stages Spark can run.

A head is a description: a plan, and what was absorbed as the user wrote it. A run makes a job of it when the first
item is wanted. Which stages are absorbed is said by the tables of rx_spark._pipelines._absorb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rx_core.queue_fusion import fusion_enabled
from rx_core.streams import Failing, Input
from rx_fusion import OperatorHead, PublisherHead, PushHead, SourceHead
from rx_fusion._notes import call
from rx_fusion._shapes import ROOT
from rx_spark._columns._column import NotAColumn
from rx_spark._columns._fitting import as_rows
from rx_spark._columns._frames import FrameSource
from rx_spark._jobs._many_rows import ManyRows
from rx_spark._jobs._op import JobOp
from rx_spark._pipelines._absorb import LIMITS, PER_ITEM, StageFunction, step_of
from rx_spark._pipelines._calls import Border, Call, Cut
from rx_spark._pipelines._notes import cut_notes, part_notes, plan_notes
from rx_spark._pipelines._reasons import OPERATORS, PICKS, Why, behind, is_few, why_operator, why_stage
from rx_spark._pipelines._relational import grouped_by, taken
from rx_spark._plans._plan import Computed, GroupReduce, NotedStep, Pass, Plan, Rows, Take
from rx_spark._workers._accesses import accesses_of
from rx_spark._workers._calls import CallingRunner, called
from rx_spark._workers._portable import check_portable
from rx_spark._workers._runner import FusedRunner

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.tasks import AsyncOperator
    from rx_fusion import Head, Shape, Stage
    from rx_spark._columns._fitting import Fit
    from rx_spark._columns._rows import RowType
    from rx_spark._jobs._stats import JobStats
    from rx_spark._plans._targets import Target
    from rx_spark._session._session import SparkConfig


@dataclass(frozen=True, repr=False, eq=False)
class SparkHead(PushHead):
    """A plan for Spark. ``closed``: nothing more fits behind it; ``cut``: why the next operator runs on the driver;
    ``border``: the first operator over the rows of a DataFrame that is no column, and why. ``before``: the part whose items
    Python makes and ``as_rows`` puts into columns, which are what the plan reads.

    Demand: the job starts when an item is requested and runs ahead by at most WINDOW chunks per task.
    Errors: NotPortableError when it is subscribed, before there is a session; those of the job come out of the stream.
    Memory: WINDOW chunks of at most CHUNK items per task; of rows that become items here, at most ROWS.
    Thread: stages behind it run on the thread that requests or, after waiting for Spark, on one of the job's own.
    """

    name: str
    shown: str
    plan: Plan
    config: SparkConfig
    stats: JobStats | None = None
    calls: tuple[Call, ...] = ()
    closed: bool = False
    cut: Cut | None = None
    border: Border | None = None
    before: SparkHead | None = None
    absorbs: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[SparkHead, ...]:
        """The parts that end where items become columns again, and this one."""
        return (*(self.before.parts if self.before is not None else ()), self)

    @property
    def all_calls(self) -> tuple[Call, ...]:
        """What was absorbed, of all parts."""
        return tuple(made for part in self.parts for made in part.calls)

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        try:
            self.check_portable()
        except Exception as error:
            Failing(subscriber, error, origin).start()
            return
        JobOp(subscriber, self.config, self.plan, self.stats, origin, self._many(subscriber)).start()

    def _many(self, down: Subscriber[Any]) -> ManyRows | None:
        """What to warn of when many items come back; nothing where the program has asked for them."""
        most = self.config.warn_rows
        cut = self.cut
        if cut is None and isinstance(down, Input):  # the subscriber is an operator
            origin = down.op.origin
            cut = self._cut_by(getattr(origin, "_head", origin))
        return None if cut is None or cut.ends or most is None else ManyRows(most, cut.operator, cut.reason, cut.remedy)

    def check_portable(self) -> None:
        """Raise NotPortableError for the first absorbed function that cannot travel; it names operator and variable."""
        check_portable(
            [
                (made.name, parameter, argument)
                for made in self.all_calls
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
                head = replace(self, border=Border(shown, str(reason)))
            else:
                columns = [each._replace(kind="column") for each in (group_by, *reduction)]
                return replace(self, plan=Plan(made), calls=(*self.calls, *columns))
        noted = replace(step, note=f"in {shown} of {head!r}")
        return replace(head, calls=(*head.calls, group_by, *reduction), plan=head.plan.then(noted))

    def with_calls(self, operator: AsyncOperator[Any, Any]) -> SparkHead:
        """The same with an async function called for its items, by the tasks."""
        made = Call(operator.call, ("function",), (operator.function,), "calls")
        border = self.border
        if border is None and isinstance(self.plan.source, FrameSource) and not self.plan.steps:
            border = Border(str(made), "an async function is no column")
        step = Pass(((called, (operator,)),), CallingRunner(operator))
        return replace(self, plan=self.plan.then(step), calls=(*self.calls, made), border=border)

    def into(
        self, name: str, target: Target, output: RowType | None, parameters: tuple[str, ...] = (), args: tuple[Any, ...] = ()
    ) -> SparkHead:
        """The end of a pipeline whose items stay on Spark. ``args`` are functions of the target, ``parameters`` their names."""
        made = replace(self, plan=self.plan.into(target, output), closed=True, name=name)
        return replace(made, calls=(*self.calls, Call(target.shown, parameters, args, "write")))

    def with_cut(self, cut: Cut) -> SparkHead:
        return replace(self, cut=cut)

    def notes(self) -> Sequence[str]:
        notes = [note for part in self.parts[:-1] for note in part_notes(part.plan, part.calls, part.border, self.config)]
        notes += plan_notes(self.plan, self.calls, self.border, self.config)
        if fusion_enabled() or self.plan.target is not None:
            return [*notes, *cut_notes(self.cut)]
        return [*notes, "driver from here: fusion is switched off"]

    def notes_before(self, consumer: Head, /) -> Sequence[str]:
        if self.cut is not None or not fusion_enabled():
            return self.notes()
        return [*self.notes(), *cut_notes(self._cut_by(consumer))]

    def _cut_by(self, consumer: object) -> Cut | None:
        """Why an operator that reads from here, and is no stage, runs on the driver; None for what is none of them."""
        if not isinstance(consumer, OperatorHead | SourceHead | PublisherHead) or consumer.name not in OPERATORS:
            return None
        shown = consumer.shown if isinstance(consumer, OperatorHead) else f"{consumer.name}()"
        return Cut(shown, *(behind(self.calls[-1]) if self.closed else why_operator(consumer.name)))

    @property
    def gives_few(self) -> bool:
        """Whether there are few items: a single value, what was written, or the first n where n is small."""
        return self.closed and is_few(self.calls[-1])

    def __repr__(self) -> str:
        return self.shown + "".join(f".{made}" for made in self.calls)


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
        self._border = head.border

    def take(self, stage: Stage, args: tuple[Any, ...]) -> bool:
        function = stage.function
        if self._head.closed:
            return self._cut(stage, args, behind(self._head.calls[-1], function))
        if self._by_columns(stage, args):
            return True
        if function is as_rows:
            self._again(Call(stage.name, stage.parameters, args, "rows"), args[0])
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
            return self._cut(stage, args, PICKS)
        kind, step = step_of(function, args)
        if step is None:
            return self._cut(stage, args, why_stage(function))
        self._step(Call(stage.name, stage.parameters, args, kind), step)
        return True

    def _by_columns(self, stage: Stage, args: tuple[Any, ...]) -> bool:
        """Whether a step over columns does it: as long as nothing before it needed Python. If not, why is kept for the case that
        Spark runs it at all."""
        head = self._head
        source = head.plan.source
        if not isinstance(source, FrameSource) or self._pass or head.plan.steps or stage.function in LIMITS or head.border:
            return False
        try:
            made = taken(stage.function, args, source)
        except NotAColumn as reason:
            self._border = Border(call(stage.name, args), str(reason))
            return False
        added = Call(stage.name, stage.parameters, args, "column")
        self._head = replace(head, plan=Plan(made), calls=(*head.calls, added), closed=made.one)
        return True

    def _again(self, made: Call, fit: Fit) -> None:
        """What comes now are rows of columns, which the part before makes in Python."""
        self._flush()
        before = self._head
        plan = before.plan.into(Rows(fit), fit.row)
        checked = frozenset(field.name for field in fit.row.fields if not field.kind.optional)
        rows = FrameSource(Computed(plan, str(made)), fit.row, checked=checked, raising=None, computed=True)
        self._border = None
        self._head = replace(before, plan=Plan(rows), shown=repr(before), calls=(made,), border=None, before=before)

    def head(self) -> SparkHead:
        self._flush()
        return self._head

    def _add(self, made: Call) -> None:
        head = self._head
        closed = made.kind in ("one", "limit")
        self._head = replace(head, calls=(*head.calls, made), closed=closed, border=self._border)

    def _step(self, made: Call, step: NotedStep) -> None:
        self._flush()
        before = repr(self._head)
        self._add(made)
        noted = replace(step, note=f"in {made} of {self._head!r}", before=before)
        self._head = replace(self._head, plan=self._head.plan.then(noted))

    def _flush(self) -> None:
        if self._pass:
            functions = tuple(function for function, _ in self._pass)
            flat = tuple(argument for _, args in self._pass for argument in args)
            runner, plan = FusedRunner(functions, flat, self._text), self._head.plan
            if isinstance(plan.source, FrameSource) and not plan.steps and not plan.source.batches:
                found = accesses_of(functions, [args for _, args in self._pass], plan.source.row)
                if found is not None:
                    accesses, names, over = found
                    runner, plan = replace(runner, accesses=accesses, over=over), Plan(plan.source.taking(names))
            self._head = replace(self._head, plan=plan.then(Pass(tuple(self._pass), runner)))
            self._pass = []

    def _cut(self, stage: Stage, args: tuple[Any, ...], why: Why) -> bool:
        self._head = self._head.with_cut(Cut(call(stage.name, args), *why))
        return False
