"""Stages as steps over columns: which of a pipeline's stages a DataFrame does, and what its rows are afterwards.

:func:`taken` is asked stage by stage, for as long as everything before is columns. What it cannot do exactly as Python does is
NotAColumn, and runs in Python from there.
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from rx_core._errors import none_produced
from rx_fusion.symbols import Expression, Item
from rx_ops import stages
from rx_spark._columns._column import Column, Guard, NotAColumn, declared, not_null
from rx_spark._columns._expressions import call_of, column_of, columns_of, one_expression
from rx_spark._columns._fitting import as_rows
from rx_spark._columns._frames import ColumnStep, Explode, FrameSource, Group, Observe, Select, Unique, guarded
from rx_spark._columns._observed import observe
from rx_spark._columns._operators import condition_of, divided
from rx_spark._columns._rows import Field, Kind, RowType, alike, is_row_class, plain_row, quoted, row_type, tuple_row, value_row
from rx_spark._pipelines._sorting import SORTS
from rx_spark._workers._accesses import as_taken
from rx_spark._workers._plain_functions import adds, gives_one
from rx_spark._workers._runner import Composed, Ones, itself, larger, smaller

if TYPE_CHECKING:
    from rx_ops.aggregates import Aggregate
    from rx_ops.stages import GroupAggregate
    from rx_spark._columns._fitting import Fit
    from rx_spark._columns._observed import Observing

#: What an item's key may be: Python and Spark agree on which of them are equal, and on their order.
_KEYS: Final = (int, str, bool)
_NUMBERS: Final = (int, float)
Reduction = Literal["sum", "min", "max"]


def taken(function: Callable[..., Any], args: tuple[Any, ...], source: FrameSource) -> FrameSource:
    """The source with one more stage done by columns. Raises NotAColumn."""
    if source.batches:
        raise NotAColumn("an item is a whole batch of rows")
    known = COLUMN_STEPS.get(function)
    if known is None:
        raise NotAColumn("no step over columns does it")
    return known(source, *args)


# --- filter and map ---------------------------------------------------------------------------------------------------


def _filter(source: FrameSource, predicate: object) -> FrameSource:
    found = condition_of(column_of(predicate, source.rows))
    return source.filtered(found, _after(source, found))


def _map(source: FrameSource, mapper: object) -> FrameSource:
    several = columns_of(mapper, source.rows)
    if several is not None:
        kinds = [_kept(column) for column in several]
        return _select(source, several, tuple_row(kinds))
    made = call_of(mapper, source.rows)
    if made is not None:
        kind, args, named = made
        return _construct(source, kind, args, named)
    column = column_of(mapper, source.rows)
    kind_found = _kept(column)
    if column.optional:  # None is no item (RS 2.13)
        refused = none_produced("map", mapper)
        guards = (*column.guards, *not_null(column, str(refused)))
        column = replace(column, kind=replace(kind_found, optional=False), guards=guards)
    return _select(source, (column,), value_row(column.kind))


def _construct(source: FrameSource, kind: type, args: tuple[Column, ...], named: dict[str, Column]) -> FrameSource:
    if not is_row_class(kind):
        raise NotAColumn(f"{kind.__qualname__}() is evaluated by Python")
    if dataclasses.is_dataclass(kind) and hasattr(kind, "__post_init__"):
        raise NotAColumn(f"{kind.__qualname__} has a __post_init__")
    row = row_type(kind)
    given = dict(zip(row.names, args, strict=False)) | named
    if len(args) > len(row.fields) or set(given) != set(row.names) or len(given) != len(args) + len(named):
        raise NotAColumn(f"{kind.__qualname__}() is called with other arguments than its fields")
    columns = [given[name] for name in row.names]
    for field, column in zip(row.fields, columns, strict=True):
        if replace(column.kind, optional=False) != replace(field.kind, optional=False) or column.optional > field.kind.optional:
            raise NotAColumn(f"{kind.__qualname__}.{field.name} is a {field.kind}, and it would be a {column.kind}")
    return _select(source, columns, row)


def _kept(column: Column) -> Kind:
    if column.python is type(None):
        raise NotAColumn("None has no type of its own")
    return column.kind


def _select(source: FrameSource, columns: Any, row: RowType) -> FrameSource:
    guards = tuple(guard for column in columns for guard in column.guards)
    steps: list[ColumnStep] = [*guarded(guards)]
    _told_apart(row.names)
    steps.append(Select(tuple((column.sql, name) for column, name in zip(columns, row.names, strict=True))))
    checked = frozenset(field.name for field in row.fields if not field.kind.optional)
    return replace(source.then(*steps, row=row, checked=checked), narrow=frozenset())


def _flat_map_iterable(source: FrameSource, mapper: object) -> FrameSource:
    made = column_of(mapper, source.rows)
    item = made.kind.parts[0] if made.python is list else None
    if item is None or made.optional or item.optional or made.plain:  # a list that is read may hold a null
        raise NotAColumn(f"the items of a {made.kind} are taken by Python")
    steps: list[ColumnStep] = [*guarded(made.guards), Explode(made.sql)]
    row = value_row(item)
    return replace(source.then(*steps, row=row, checked=frozenset(row.names)), narrow=frozenset())


def _after(source: FrameSource, column: Column) -> frozenset[str]:
    """The fields that cannot be null any more once the guards have been asked."""
    asked = {guard.when for guard in column.guards if guard.error == "SchemaError"}
    return source.checked | {field.name for field in source.row.fields if f"{quoted(field.name)} IS NULL" in asked}


# --- to one value -----------------------------------------------------------------------------------------------------


def _one(source: FrameSource, sql: str, kind: Kind, *, start: Any = None, guards: tuple[Guard, ...] = ()) -> FrameSource:
    steps: list[ColumnStep] = [*guarded(guards)]
    made = source.then(*steps, Group((), ((sql, "value"),)), row=value_row(replace(kind, optional=True)))
    return replace(made, narrow=frozenset(), one=True, start=start, shuffled=True)


def _count(source: FrameSource) -> FrameSource:
    return _one(source, "count(*)", Kind(int))


def _value(source: FrameSource) -> Column:
    if source.row.form != "value":
        raise NotAColumn(f"the items are rows ({source.row.name})")
    return column_of(_ITSELF, source.rows)


def _sum(source: FrameSource, start: object) -> FrameSource:
    column = _value(source)
    if type(start) not in _NUMBERS or column.python not in _NUMBERS:
        raise NotAColumn(f"sum of {column.kind} is evaluated by Python")
    return _one(source, _aggregate("sum", column), column.kind, start=start, guards=column.guards)


def _best(name: Reduction) -> Callable[[FrameSource, object], FrameSource]:
    def best(source: FrameSource, key: object = None) -> FrameSource:
        if key is not None:
            raise NotAColumn(f"{name} with a key is evaluated by Python")
        column = _value(source)
        return _one(source, _aggregate(name, column), column.kind, guards=(*column.guards, *_no_nan(name, column)))

    return best


def _reduce(source: FrameSource, reducer: object) -> FrameSource:
    name = _reduction(reducer)
    column = _value(source)
    return _one(source, _aggregate(name, column), column.kind, guards=(*column.guards, *_no_nan(name, column)))


def _aggregate(name: Reduction, column: Column) -> str:
    allowed = _NUMBERS if name == "sum" else (*_NUMBERS, str)
    if column.python not in allowed:
        raise NotAColumn(f"{name} of {column.kind} is evaluated by Python")
    return f"{name}({column.sql})"


def _no_nan(name: Reduction, column: Column) -> tuple[Guard, ...]:
    """With NaN among them it depends on the order in Python which is the smallest; Spark has an order of its own."""
    if name == "sum" or column.python is not float:
        return ()
    message = f"{name} of numbers with NaN among them depends on their order.\n  Instead:  .filter(it == it) before it"
    return (Guard(f"isnan({column.sql})", "ValueError", message),)


def _reduction(reducer: object) -> Reduction:
    """What a function of two makes of them, where it is known."""
    if adds(reducer):
        return "sum"
    if reducer is builtins.min or reducer is smaller:
        return "min"
    if reducer is builtins.max or reducer is larger:
        return "max"
    raise NotAColumn("what it does with two items is for Python to know; sums are operator.add, the smaller one is min")


# --- groups -----------------------------------------------------------------------------------------------------------


def _group_reduce(source: FrameSource, key: object, value: object, reducer: object) -> FrameSource:
    name = _reduction(reducer)
    keyed = key_of(key, source)
    if name == "sum" and callable(value) and gives_one(value):
        return _group_count(source, keyed)
    valued = column_of(value, source.rows)
    guards = (*keyed.guards, *valued.guards, *_no_nan(name, valued))
    if valued.optional:
        message = f"{value!r} gave None, which is no value of a group (RS 2.13)"
        guards = (*guards, Guard(f"{valued.sql} IS NULL", "TypeError", message))
    row = tuple_row((keyed.kind, Kind(valued.python)))
    steps: list[ColumnStep] = [*guarded(guards)]
    made = replace(valued, sql="_2", guards=())
    steps += [Select(((keyed.sql, "_1"), (valued.sql, "_2"))), Group(("_1",), ((_aggregate(name, made), "_2"),))]
    return grouped(source, steps, row)


def _group_aggregate(source: FrameSource, key: object, spec: GroupAggregate) -> FrameSource:
    keys = columns_of(key, source.rows) if spec.several else (key_of(key, source),)
    if keys is None or any(column.python not in _KEYS for column in keys):
        raise NotAColumn("a part of the key is evaluated by Python")
    made = [_aggregated(aggregate, source, f"_{at}") for at, (_, aggregate) in enumerate(spec.aggregates)]
    guards = tuple(guard for column in keys for guard in column.guards) + tuple(guard for each in made for guard in each.guards)
    names = spec.fields
    _told_apart(names)
    steps: list[ColumnStep] = [*guarded(guards)]
    given = [(column.sql, name) for column, name in zip(keys, names, strict=False)]
    steps += [
        Select((*given, *(pair for each in made for pair in each.values))),
        Group(spec.key_fields, tuple(pair for each in made for pair in each.partial)),
    ]
    late = tuple(guard for each in made for guard in each.late)
    steps += guarded(late)
    results = [(each.result, name) for each, name in zip(made, names[len(keys) :], strict=True)]
    steps.append(Select((*((quoted(name), name) for name in spec.key_fields), *results)))
    kinds = [column.kind for column in keys] + [each.kind for each in made]
    return grouped(source, steps, plain_row(tuple(Field(name, kind) for name, kind in zip(names, kinds, strict=True))))


def _told_apart(names: Sequence[str]) -> None:
    for name in names:
        if len(same := alike(name, names)) > 1:
            raise NotAColumn(f"{' and '.join(same[:2])} are one name to Spark")


class _Aggregated(NamedTuple):
    """An aggregate as columns: of each row, of each group, and of these the result."""

    values: tuple[tuple[str, str], ...]
    partial: tuple[tuple[str, str], ...]
    result: str
    kind: Kind
    guards: tuple[Guard, ...] = ()
    #: Looked at in what a group comes to.
    late: tuple[Guard, ...] = ()


def _aggregated(aggregate: Aggregate, source: FrameSource, name: str) -> _Aggregated:
    if aggregate.value is None:
        return _Aggregated((), (("count(*)", name),), name, Kind(int))
    column = column_of(aggregate.value, source.rows)
    values = ((column.sql, name),)
    if aggregate.kind == "count":
        return _Aggregated(values, ((f"count({name})", name),), name, Kind(int), column.guards)
    if column.optional:
        raise NotAColumn(f"{aggregate!r} may meet None")
    asked = replace(column, sql=name, guards=())
    if aggregate.kind == "average":
        return _average(column, values, name)
    sql = _aggregate(aggregate.kind, asked)
    return _Aggregated(values, ((sql, name),), name, Kind(column.python), (*column.guards, *_no_nan(aggregate.kind, column)))


def _observe(source: FrameSource, observing: Observing) -> FrameSource:
    """The rows pass. Filters that come later stay behind it: a scan that was told of them would leave out what is to be seen."""
    metrics: list[tuple[str, str]] = []
    guards: list[Guard] = []
    for at, (_, aggregate) in enumerate(observing.aggregates):
        name = f"_{at}"
        if aggregate.value is None:
            metrics.append(("count(*)", name))
            continue
        column = column_of(aggregate.value, source.rows)
        guards += column.guards
        if aggregate.kind == "count":
            metrics.append((f"count({column.sql})", name))
            continue
        if column.optional:
            raise NotAColumn(f"{aggregate!r} may meet None")
        if aggregate.kind == "average":
            metrics += [(_aggregate("sum", column), name), ("count(*)", f"{name}n")]
        else:
            metrics.append((_aggregate(aggregate.kind, column), name))
            guards += _no_nan(aggregate.kind, column)
    made = source.then(*guarded(tuple(guards)), Observe(observing, tuple(metrics)))
    return replace(made, raising=None)


def _average(column: Column, values: tuple[tuple[str, str], ...], name: str) -> _Aggregated:
    """The sum divided by the number, as Python divides."""
    partial = ((_aggregate("sum", replace(column, sql=name)), name), ("count(*)", f"{name}n"))
    quotient = divided(Column(name, Kind(column.python)), Column(f"{name}n", Kind(int)))
    return _Aggregated(values, partial, quotient.sql, Kind(float), column.guards, quotient.guards)


def grouped_by(source: FrameSource, key: object, value: object, reducer: object) -> FrameSource:
    """The same for ``group_by(key).flat_map(lambda group: group.count())`` and the like."""
    if value is itself:
        return _group_reduce(source, key, _ITSELF, reducer)
    if isinstance(value, Composed):
        value = one_expression(value.functions)
    if isinstance(value, Ones):
        if value.value is not None:
            raise NotAColumn("the value is computed for each item, though it is only counted")
        return _group_count(source, key_of(key, source))
    return _group_reduce(source, key, value, reducer)


def _group_count(source: FrameSource, key: Column) -> FrameSource:
    row = tuple_row((key.kind, Kind(int)))
    steps: list[ColumnStep] = [*guarded(key.guards)]
    return grouped(source, [*steps, Select(((key.sql, "_1"),)), Group(("_1",), (("count(*)", "_2"),))], row)


def grouped(source: FrameSource, steps: list[ColumnStep], row: RowType) -> FrameSource:
    """The source behind a shuffle of Spark's that makes rows ``row``."""
    checked = frozenset(field.name for field in row.fields if not field.kind.optional)
    return replace(source.then(*steps, row=row, checked=checked), narrow=frozenset(), shuffled=True)


def key_of(key: object, source: FrameSource) -> Column:
    """The column of a group's key. NotAColumn for a float: NaN equals itself in Spark.

    A function that only takes a value of its item is one as well: there is nothing to it that Spark could compute otherwise.
    """
    return key_column(column_of(as_taken(key, source.row), source.rows))


def key_column(found: Column) -> Column:
    """The column, if it may be a key or a part of one."""
    if found.python not in _KEYS:
        raise NotAColumn(f"a key of type {found.kind} is evaluated by Python")
    return found


def _distinct(source: FrameSource) -> FrameSource:
    for field in source.row.fields:
        if field.kind.python not in _KEYS:
            raise NotAColumn(f"whether two {field.kind} are equal is for Python to say")
    fields = [field for field in source.row.fields if field.name not in source.checked]
    guards = tuple(guard for field in fields for guard in declared(field, source.row))
    steps: list[ColumnStep] = [*guarded(guards)]
    return replace(grouped(source, [*steps, Unique()], source.row), narrow=source.narrow)


_ITSELF: Final = Expression[Any](Item())


def _as_rows(source: FrameSource, fit: Fit) -> FrameSource:
    """They are rows of the class already, and none holds a null that it should not."""
    if source.row != fit.row:
        raise NotAColumn(f"the items are no {fit!r}")
    unchecked = [field for field in source.row.fields if field.name not in source.checked]
    guards = tuple(guard for field in unchecked for guard in declared(field, source.row))
    checked = frozenset(field.name for field in source.row.fields if not field.kind.optional)
    return replace(source.then(*guarded(guards), checked=checked), raising=source.raising if not guards else None)


COLUMN_STEPS: Final[dict[Callable[..., Any], Callable[..., FrameSource]]] = {
    stages.filter_: _filter,
    stages.map_: _map,
    stages.flat_map_iterable: _flat_map_iterable,
    stages.count: _count,
    stages.sum_: _sum,
    stages.min_: _best("min"),
    stages.max_: _best("max"),
    stages.reduce: _reduce,
    stages.group_reduce: _group_reduce,
    stages.group_aggregate: _group_aggregate,
    stages.distinct: _distinct,
    observe: _observe,
    as_rows: _as_rows,
    **SORTS,
}
