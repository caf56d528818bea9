"""Expressions as columns: what ``it`` says, in Spark's SQL, where that gives exactly Python's answer.

A translated expression is SQL text with two things beside it. *Guards* are conditions, in the order in which Python evaluates,
under which Python would raise; a step raises there. Beyond 64 bits Spark raises by itself, in ANSI mode. ``loose`` is what the
scan can be told of a condition: at least as many rows, in the form of predicates that file formats know.

Everything else is :class:`NotAColumn`, with the reason, and runs in Python: ``round``, ``**``, the case of letters, whatever
Spark answers differently. docs/guides/spark-columns.md has the table.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from rx_fusion.symbols import Attribute, Call, Constant, Display, Expression, Index, Item, Node, Operator
from rx_spark._rows import Field, Kind, RowType, null_text, quoted

#: Whole numbers up to here are exact as a double.
_EXACT: Final = 1 << 53
_LONG: Final = 1 << 63
_COMPARED: Final = (int, float, str, bool, datetime.date, bytes)
_ORDERED: Final = (int, float, str, datetime.date)
#: What begins the message of an error that a column raises: it is rebuilt on the driver.
MARK: Final = "rx|"


class NotAColumn(Exception):
    """Why an expression runs in Python."""


@dataclass(frozen=True)
class Guard:
    """Where ``when`` (SQL) is true, ``error`` (the name of a builtin exception, or of one of ours) is raised with ``message``."""

    when: str
    error: str
    message: str
    #: Whether ``when`` asks for a null only, so that it can be told to a scan.
    null: bool = False


@dataclass(frozen=True)
class Column:
    """The value of an expression for each row."""

    sql: str
    kind: Kind
    guards: tuple[Guard, ...] = ()
    #: Of a condition: implied by it, and known to file formats. Empty: there is nothing to tell.
    loose: str = ""
    #: The value, where the expression is one.
    constant: Any = ...
    #: The field of the source that this is, so that it is checked once.
    field: str = ""

    @property
    def python(self) -> type:
        return self.kind.python

    @property
    def optional(self) -> bool:
        return self.kind.optional


@dataclass(frozen=True)
class Rows:
    """What expressions are over: rows of a type. ``checked``: fields that were looked at for nulls before. ``narrow``: columns
    of fewer bits than Python's numbers have."""

    row: RowType
    checked: frozenset[str] = frozenset()
    narrow: frozenset[str] = frozenset()


def column_of(function: object, rows: Rows) -> Column:
    """The column that a function is over rows. Raises NotAColumn."""
    return _Translation(rows).column(_tree(function))


def columns_of(function: object, rows: Rows) -> tuple[Column, ...] | None:
    """The columns of a function that makes a tuple, ``(it.a, it.b)``; None for one that makes a single value."""
    tree = _tree(function)
    if not isinstance(tree, Display):
        return None
    if tree.kind != "tuple":
        raise NotAColumn(f"a {tree.kind} is made by Python")
    made = _Translation(rows)
    return tuple(made.column(part) for part in tree.items)


def call_of(function: object, rows: Rows) -> tuple[type, tuple[Column, ...], dict[str, Column]] | None:
    """The class and its arguments of a function that makes an object, ``call(Fare, it.a, city=it.b)``."""
    tree = _tree(function)
    if not (isinstance(tree, Call) and isinstance(tree.function, Constant) and isinstance(tree.function.value, type)):
        return None
    made = _Translation(rows)
    args = tuple(made.column(part) for part in tree.args)
    return tree.function.value, args, {name: made.column(part) for name, part in tree.kwargs}


def _tree(function: object) -> Node:
    if not isinstance(function, Expression) or len(function.parameters) != 1:
        raise NotAColumn("it is a Python function")
    return function.node


def raised(guard: Guard) -> str:
    """SQL that raises."""
    return f"raise_error({text_of(f'{MARK}{guard.error}|{guard.message}')})"


def text_of(value: str) -> str:
    """A string of SQL."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotAColumn("Spark's text has no lone surrogates") from None
    plain = value.replace("\\", "\\\\").replace("'", "\\'")
    escaped = [each if each.isprintable() or each > "\uffff" else f"\\u{ord(each):04x}" for each in plain]
    return f"'{''.join(escaped)}'"


class _Translation:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._row = rows.row

    def column(self, node: Node) -> Column:
        match node:
            case Item():
                if self._row.form != "value":
                    raise NotAColumn("it is the whole row")
                return self._field(self._row.fields[0])
            case Constant(value):
                return _constant(value)
            case Attribute(operand, name):
                return self._part(operand, name, by_name=True)
            case Index(operand, Constant(key)):
                return self._part(operand, key, by_name=False)
            case Operator(name, operands):
                return self._operator(name, [self.column(each) for each in operands])
            case Call(function, args, ()):
                return self._call(function, args)
            case _:
                raise NotAColumn("Python evaluates it")

    # --- parts of the row ---------------------------------------------------------------------------------------------

    def _part(self, operand: Node, key: object, *, by_name: bool) -> Column:
        if isinstance(operand, Item):
            field = _named(self._row, key, by_name)
            return self._field(field)
        inner = self.column(operand)
        nested = inner.kind.row
        shown = f".{key}" if by_name else f"[{key!r}]"
        if nested is None:
            raise NotAColumn(f"{shown} of a {inner.kind} is evaluated by Python")
        found = _named(nested, key, by_name)
        refused = f"'NoneType' object has no attribute {str(key)!r}" if by_name else "'NoneType' object is not subscriptable"
        sql = f"{inner.sql}.{quoted(found.name)}"
        guards = (*inner.guards, *_not_null(inner, refused), *declared(found, nested, sql))
        return Column(_wide(sql, found.kind), found.kind, guards)

    def _field(self, field: Field) -> Column:
        sql = quoted(field.name)
        guards = () if field.name in self._rows.checked else declared(field, self._row)
        return Column(_wide(sql, field.kind) if field.name in self._rows.narrow else sql, field.kind, guards, field=field.name)

    # --- operators ----------------------------------------------------------------------------------------------------

    def _operator(self, name: str, operands: list[Column]) -> Column:
        if len(operands) == 1:
            return _sign(name, operands[0])
        left, right = operands
        if name in ("==", "!="):
            return _equality(name, left, right)
        if name in ("<", "<=", ">", ">="):
            return _comparison(name, left, right)
        if name in ("&", "|", "^"):
            return _logic(name, left, right)
        return _arithmetic(name, left, right)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, function: Node, args: tuple[Node, ...]) -> Column:
        if isinstance(function, Attribute):
            return self._method(self.column(function.operand), function.name, args)
        called = function.value if isinstance(function, Constant) else None
        if called is len and len(args) == 1:
            text = self.column(args[0])
            if text.python is str or text.python is bytes:
                guards = _not_null(text, "object of type 'NoneType' has no len()")
                of = "char_length" if text.python is str else "octet_length"
                return Column(f"CAST({of}({text.sql}) AS BIGINT)", Kind(int), (*text.guards, *guards))
        if called is abs and len(args) == 1:
            number = _number("abs()", self.column(args[0]))
            return Column(f"abs({number.sql})", Kind(number.python), number.guards)
        shown = getattr(called, "__name__", "the function")
        raise NotAColumn(f"{shown}() is evaluated by Python")

    def _method(self, of: Column, name: str, args: tuple[Node, ...]) -> Column:
        if name in ("startswith", "endswith") and of.python is str and len(args) == 1:
            part = self.column(args[0])
            if part.python is str and not part.optional:
                guards = (*of.guards, *_not_null(of, f"'NoneType' object has no attribute '{name}'"), *part.guards)
                sql = f"{name}({of.sql}, {part.sql})"
                return Column(sql, Kind(bool), guards, sql)
        raise NotAColumn(f".{name}() is evaluated by Python")


def _named(row: RowType, key: object, by_name: bool) -> Field:
    if isinstance(key, str):
        field = row.field(key)
        known = row.make is not None if by_name else row.form in ("dict", "row")
        if field is not None and known:
            return field
    elif type(key) is int and not by_name and row.form in ("tuple", "row") and -len(row.fields) <= key < len(row.fields):
        return row.fields[key]
    shown = f".{key}" if by_name else f"[{key!r}]"
    there = ", ".join(row.names)
    raise NotAColumn(f"{row.name} has no column for {shown}" + (f"; there are {there}" if row.form != "value" else ""))


def declared(field: Field, row: RowType, sql: str = "") -> tuple[Guard, ...]:
    """A field that may not be null is looked at when it is used. Spark leaves the question out where it knows."""
    if field.kind.optional:
        return ()
    sql = sql or quoted(field.name)
    return (Guard(f"{sql} IS NULL", "SchemaError", null_text(field, row), null=True),)


def _wide(sql: str, kind: Kind) -> str:
    """Whole numbers have 64 bits and floats are doubles, whatever the column has: Python knows no others."""
    return f"CAST({sql} AS {kind.ddl.upper()})" if kind.python in (int, float) else sql


def _not_null(column: Column, message: str) -> tuple[Guard, ...]:
    if not column.optional:
        return ()
    asked = quoted(column.field) if column.field else column.sql
    return (Guard(f"{asked} IS NULL", "TypeError", message, null=bool(column.field)),)


# --- constants --------------------------------------------------------------------------------------------------------


def _constant(value: object) -> Column:
    kind = type(value)
    sql: str
    if value is None:
        return Column("NULL", Kind(type(None), optional=True), constant=None)
    if kind is bool:
        sql = "true" if value else "false"
    elif isinstance(value, int) and kind is int:
        if not -_LONG < value < _LONG:
            raise NotAColumn(f"{value} has more than 64 bits")
        sql = f"({value}L)"
    elif isinstance(value, float) and kind is float:
        sql = f"({value!r}D)" if math.isfinite(value) else f"double('{value!r}')"
    elif isinstance(value, str) and kind is str:
        sql = text_of(value)
    elif isinstance(value, bytes) and kind is bytes:
        sql = f"X'{value.hex()}'"
    elif isinstance(value, datetime.date) and kind is datetime.date:
        sql = f"DATE '{value.isoformat()}'"
    else:
        raise NotAColumn(f"a constant {kind.__qualname__} stays in Python")
    return Column(sql, Kind(kind), constant=value)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _number(shown: str, column: Column) -> Column:
    if column.python is not int and column.python is not float:
        raise NotAColumn(f"{shown} of a {column.kind} is evaluated by Python")
    return replace(column, guards=(*column.guards, *_not_null(column, f"bad operand type for {shown}: 'NoneType'")))


def _sign(name: str, operand: Column) -> Column:
    if name == "~":
        raise NotAColumn("~ of a bool is a number in Python; write  it.x == False")
    number = _number(f"unary {name}", operand)
    if name == "+":
        return replace(number, field="", loose="")
    return Column(f"(- {number.sql})", Kind(number.python), number.guards)


def _arithmetic(name: str, left: Column, right: Column) -> Column:
    guards = (*left.guards, *right.guards, *_operands(name, left, right))
    if name == "+" and left.python is right.python is str:
        return Column(f"concat({left.sql}, {right.sql})", Kind(str), guards)
    if left.python not in (int, float) or right.python not in (int, float):
        raise NotAColumn(f"{name} of {left.kind} and {right.kind} is evaluated by Python")
    whole = left.python is right.python is int
    kind = Kind(int if whole else float)
    if name in ("+", "-", "*"):
        if not whole:
            return Column(f"({_double(left)} {name} {_double(right)})", kind, guards)
        return Column(f"({left.sql} {name} {right.sql})", kind, guards)  # beyond 64 bits Spark raises (ANSI)
    if name == "/":
        zero = "division by zero" if whole else "float division by zero"
        inexact = tuple(_inexact(side) for side in (left, right) if side.python is int and whole and not _is_exact(side))
        return Column(
            f"({_double(left)} / {_divisor(right, _double(right))})", Kind(float), (*guards, *_by_zero(right, zero), *inexact)
        )
    if name in ("//", "%") and whole:
        return _floored(name, left, right, guards)
    raise NotAColumn(f"{name} of {left.kind} and {right.kind} is evaluated by Python")


def _floored(name: str, left: Column, right: Column, guards: tuple[Guard, ...]) -> Column:
    """Python rounds down and its remainder has the sign of the divisor; Spark rounds towards zero."""
    shown = "integer division or modulo by zero" if name == "//" else "integer modulo by zero"
    divisor = _divisor(right, right.sql)
    rest = f"({left.sql} % {divisor})"
    other = f"({rest} <> 0 AND ({rest} < 0) <> ({right.sql} < 0))"
    guards = (*guards, *_by_zero(right, shown))
    if name == "%":
        return Column(f"(CASE WHEN {other} THEN {rest} + {right.sql} ELSE {rest} END)", Kind(int), guards)
    quotient = f"({left.sql} div {divisor})"
    return Column(f"(CASE WHEN {other} THEN {quotient} - 1L ELSE {quotient} END)", Kind(int), guards)


def _by_zero(divisor: Column, message: str) -> tuple[Guard, ...]:
    if divisor.constant is not ... and divisor.constant != 0:
        return ()
    return (Guard(f"{divisor.sql} = 0", "ZeroDivisionError", message),)


def _divisor(column: Column, sql: str) -> str:
    """Zero has a guard, which raises first; but Spark computes what occurs twice ahead of both."""
    return sql if column.constant is not ... and column.constant != 0 else f"nullif({sql}, 0)"


def _is_exact(side: Column) -> bool:
    return side.constant is not ... and abs(side.constant) <= _EXACT


def _inexact(side: Column) -> Guard:
    return Guard(
        f"({side.sql} > {_EXACT}L OR {side.sql} < -{_EXACT}L)",
        "OverflowError",
        "/ of whole numbers beyond 2**53 is not exact in a column.\n  Instead:  the same as a lambda",
    )


def _double(side: Column) -> str:
    if side.python is float:
        return side.sql
    if side.constant is not ...:
        return f"({float(side.constant)!r}D)"
    return f"CAST({side.sql} AS DOUBLE)"


def _operands(name: str, left: Column, right: Column) -> tuple[Guard, ...]:
    """Python's error for a None among the operands."""
    found = []
    for side in (left, right):
        if side.python is type(None):
            raise NotAColumn(f"{name} with None is evaluated by Python")
        if side.optional:
            names = [_type_name(each, none=each is side) for each in (left, right)]
            found += list(_not_null(side, f"unsupported operand type(s) for {name}: {names[0]!r} and {names[1]!r}"))
    return tuple(found)


def _type_name(column: Column, *, none: bool) -> str:
    return "NoneType" if none else column.python.__name__


# --- comparing --------------------------------------------------------------------------------------------------------


def _comparison(name: str, left: Column, right: Column) -> Column:
    guards = [*left.guards, *right.guards]
    for side in (left, right):
        if side.optional:
            names = [_type_name(each, none=each is side) for each in (left, right)]
            guards += _not_null(side, f"'{name}' not supported between instances of {names[0]!r} and {names[1]!r}")
    left, right = _same_kind(name, left, right, _ORDERED)
    sql = f"({left.sql} {name} {right.sql})"
    exact = sql
    if left.python is float:  # for Spark NaN is the largest number, and equal to itself
        larger = left if name in (">", ">=") else right
        if larger.constant is ...:
            exact = f"({sql} AND NOT isnan({larger.sql}))"
        elif math.isnan(larger.constant):
            exact = "false"
    return Column(exact, Kind(bool), tuple(guards), sql)


def _equality(name: str, left: Column, right: Column) -> Column:
    for side, other in ((left, right), (right, left)):
        if side.python is type(None):
            sql = f"({other.sql} IS {'NOT ' if name == '!=' else ''}NULL)"
            # A null in a field that has none is an error that stays one.
            return Column(sql, Kind(bool), other.guards, sql)
    left, right = _same_kind(name, left, right, _COMPARED)
    guards = (*left.guards, *right.guards)
    equal = "<=>" if left.optional or right.optional else "="
    sql = f"({left.sql} {equal} {right.sql})"
    exact = sql
    if left.python is float:
        asked = left if left.constant is ... else right
        exact = f"({sql} AND NOT coalesce(isnan({asked.sql}), false))"
    if name == "!=":
        return Column(f"(NOT {exact})", Kind(bool), guards, "" if left.python is float else f"(NOT {sql})")
    return Column(exact, Kind(bool), guards, sql)


def _same_kind(name: str, left: Column, right: Column, kinds: tuple[type, ...]) -> tuple[Column, Column]:
    if left.python in kinds and left.python is right.python:
        return left, right
    if {left.python, right.python} == {int, float}:
        # Python compares exactly, Spark as doubles: the same as long as one side is a whole number below 2**53.
        if any(side.constant is not ... and abs(side.constant) < _EXACT for side in (left, right)):
            return _as_float(left), _as_float(right)
        raise NotAColumn(f"{name} of int and float is exact in Python, and not in Spark")
    raise NotAColumn(f"{name} of {left.kind} and {right.kind} is evaluated by Python")


def _as_float(side: Column) -> Column:
    if side.python is float:
        return side
    constant = side.constant if side.constant is ... else float(side.constant)
    return replace(side, sql=_double(side), kind=Kind(float, side.optional), constant=constant)


def _logic(name: str, left: Column, right: Column) -> Column:
    """Both operands are evaluated, as ``&`` and ``|`` do."""
    if left.python is not bool or right.python is not bool or left.optional or right.optional:
        raise NotAColumn(f"{name} of {left.kind} and {right.kind} is evaluated by Python")
    guards = (*left.guards, *right.guards)
    if name == "^":
        return Column(f"({left.sql} <> {right.sql})", Kind(bool), guards)
    word = "AND" if name == "&" else "OR"
    told = [each for each in (left.loose, right.loose) if each]
    loose = f"({f' {word} '.join(told)})" if len(told) == 2 or (told and name == "&") else ""
    return Column(f"({left.sql} {word} {right.sql})", Kind(bool), guards, loose)


#: How a value of each type is asked whether it is true.
_TRUTH: Final[dict[type, Callable[[str], str]]] = {
    bool: lambda sql: sql,
    int: lambda sql: f"({sql} <> 0)",
    float: lambda sql: f"({sql} <> 0)",
    str: lambda sql: f"({sql} <> '')",
}


def condition_of(column: Column) -> Column:
    """Whether the value of a column is true, as a filter asks."""
    asked = _TRUTH.get(column.python)
    if asked is None:
        raise NotAColumn(f"whether a {column.kind} is true is for Python to say")
    sql = asked(column.sql)
    if column.optional:
        sql = f"coalesce({sql}, false)"
    return Column(sql, Kind(bool), column.guards, column.loose or ("" if column.optional else sql))
