"""What comes out at the end of a pipeline: where that end is, on Spark or on the driver, and which columns its items have."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rx_core.queue_fusion import fusion_enabled
from rx_ops import stages
from rx_spark._columns._column import Guard, declared
from rx_spark._columns._fitting import as_rows
from rx_spark._columns._frames import ColumnStep, FrameSource, Select, guarded
from rx_spark._columns._observed import observe
from rx_spark._columns._rows import RowType, SchemaError, is_row_class, quoted, row_type
from rx_spark._pipelines._head import SparkHead
from rx_spark._plans._plan import Distinct, Pass, Plan, Take
from rx_spark._session._session import SparkConfig
from rx_spark._workers._calls import called

if TYPE_CHECKING:
    from rx_fusion import Shape
    from rx_ops import Flowable
    from rx_spark._jobs._stats import JobStats
    from rx_spark._plans._targets import Target


def end_of(flow: Flowable[Any]) -> tuple[SparkHead | None, str]:
    """The head that is the whole pipeline, for Spark; or None, and why the pipeline ends on the driver."""
    head, rest, _ = flow._resolve()
    if isinstance(head, SparkHead):
        return (head, "") if not rest else (None, f"the pipeline ends here, because {head.cut or 'fusion is switched off'}")
    if not any(_spark_heads(flow)):
        return None, "the pipeline does not begin on Spark"
    return None, "the pipeline ends here" + ("" if fusion_enabled() else ", because fusion is switched off")


def config_of(flow: Flowable[Any]) -> SparkConfig:
    """Where the pipeline runs on Spark already; the session that there is, where it does not."""
    return next((head.config for head in _spark_heads(flow)), SparkConfig())


def stats_of(flow: Flowable[Any]) -> JobStats | None:
    """What counts the jobs of the pipeline's sources, if anything does."""
    return next((head.stats for head in _spark_heads(flow) if head.stats is not None), None)


def _spark_heads(flow: Any) -> Iterator[SparkHead]:
    head = flow._head
    if isinstance(head, SparkHead):
        yield head
    for source in head.upstream:
        if hasattr(source, "_head"):
            yield from _spark_heads(source)


def columns_of(flow: Flowable[Any], name: str, schema: type[Any] | None) -> RowType:
    """The columns of the items, at the end of ``flow`` or as ``schema`` says. TypeError where they are not known."""
    found = _known(flow) if schema is None else row_type(schema)
    if found is None:
        raise TypeError(
            f"{name}(): which columns {flow!r} has is not known, because Python makes its items.\n"
            f"  Right:  .{name}(..., schema=Trip)            with a dataclass, a NamedTuple or a TypedDict\n"
            f"  Or:     def to_trip(row) -> Trip: ...         the last mapper says what it returns"
        )
    return found


def _known(flow: Flowable[Any]) -> RowType | None:
    head, rest, args = flow._resolve()
    if not isinstance(head, SparkHead) or rest:
        # Whether Spark computes the items, or the driver because fusion is off, they have the same columns.
        head, rest, args = flow._head.absorb(flow._shape, flow._args)
    found: RowType | None = None
    if isinstance(head, SparkHead) and isinstance(head.plan.source, FrameSource):
        steps = head.plan.steps
        if all(isinstance(step, Pass | Take | Distinct) for step in steps):
            passes = [stage for step in steps if isinstance(step, Pass) for stage in step.stages]
            found = _last_type(passes, head.plan.source.row)
    return _last_type(list(_calls(rest, args)), found)


def _calls(shape: Shape, args: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    at = 0
    for stage in shape.stages:
        size = len(stage.parameters)
        yield stage.function, args[at : at + size]
        at += size


def _last_type(calls: Sequence[tuple[Any, tuple[Any, ...]]], row: RowType | None) -> RowType | None:
    """What a pass makes of rows: known as long as it only filters, or where its last mapper says so."""
    found = row
    for function, args in calls:
        if function in (stages.filter_, observe) or (function is called and args[0].selects):
            continue
        if function is as_rows:
            found = args[0].row
            continue
        kind: Any = None
        if function is stages.cast:
            kind = args[0]
        elif function in (stages.map_, called):
            kind = _returned(args[0] if function is stages.map_ else args[0].function)
        found = row_type(kind) if isinstance(kind, type) and is_row_class(kind) else None
    return found


def _returned(function: Any) -> Any:
    try:
        return typing.get_type_hints(function).get("return")
    except Exception:
        return None


def check_partitions(by: Sequence[str], output: RowType, name: str) -> None:
    """SchemaError where these columns cannot become folders."""
    for each in by:
        if output.field(each) is None:
            raise SchemaError(f"{name}(partition_by={each!r}): there is no such column; there are {', '.join(output.names)}")
    if by and len(by) == len(output.fields):
        raise SchemaError(f"{name}(partition_by={by}): that is every column, and none would be left in the files")


def written_by(head: SparkHead, name: str, target: Target, output: RowType) -> SparkHead:
    """A pipeline whose end is on Spark, with its items as columns of ``output`` in ``target``."""
    source = head.plan.source
    if isinstance(source, FrameSource) and not head.plan.steps:
        head = _as_columns(head, source, output)
    return head.into(name, target, output)


def _as_columns(head: SparkHead, source: FrameSource, output: RowType) -> SparkHead:
    """Columns under the names of ``output``. SchemaError where they are others."""
    there = source.row.fields
    named = {field.name: field for field in there}
    by_place = source.row.make is None and source.row.form in ("tuple", "value")
    if by_place and len(there) != len(output.fields):
        raise SchemaError(f"{output.name} has the columns {', '.join(output.names)}, and the items have {len(there)} values")
    columns: list[tuple[str, str]] = []
    guards: list[Guard] = []
    for at, field in enumerate(output.fields):
        found = there[at] if by_place else named.get(field.name)
        if found is None:
            raise SchemaError(f"{output.name}.{field.name}: there is no such column; there are {', '.join(named)}")
        if found.kind.python is not field.kind.python and field.kind.python is not object:
            raise SchemaError(f"{output.name}.{field.name} is a {field.kind}, and the column is a {found.kind}")
        columns.append((quoted(found.name), field.name))
        if found.name not in source.checked:
            guards += declared(field, output, quoted(found.name))
    steps: list[ColumnStep] = [*guarded(tuple(guards))]
    if columns != [(quoted(name), name) for name in source.row.names]:
        steps.append(Select(tuple(columns)))
    return replace(head, plan=Plan(source.then(*steps, row=output)))
