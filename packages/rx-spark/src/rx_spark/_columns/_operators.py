"""Operators over columns: arithmetic, comparing, conditions. Each gives Python's answer, or is :class:`NotAColumn`."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rx_spark._columns._column import Column, Guard, NotAColumn, not_null, text_of
from rx_spark._columns._rows import Kind

#: Whole numbers up to here are exact as a double.
_EXACT: Final = 1 << 53
_LONG: Final = 1 << 63
_COMPARED: Final = (int, float, str, bool, datetime.date, bytes)
_ORDERED: Final = (int, float, str, datetime.date)


# --- constants --------------------------------------------------------------------------------------------------------


def constant(value: object) -> Column:
    kind = type(value)
    sql: str
    if value is None:
        return Column("NULL", Kind(type(None), optional=True), constant=None, plain=True)
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
    return Column(sql, Kind(kind), constant=value, plain=True)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def number(shown: str, column: Column) -> Column:
    if column.python is not int and column.python is not float:
        raise NotAColumn(f"{shown} of a {column.kind} is evaluated by Python")
    return replace(column, guards=(*column.guards, *not_null(column, f"bad operand type for {shown}: 'NoneType'")))


def sign(name: str, operand: Column) -> Column:
    if name == "~":
        raise NotAColumn("~ of a bool is a number in Python; write  it.x == False")
    if name not in ("+", "-"):
        raise NotAColumn(f"{name} is evaluated by Python")
    given = number(f"unary {name}", operand)
    if name == "+":
        return replace(given, field="", loose="")
    return Column(f"(- {given.sql})", Kind(given.python), given.guards)


def arithmetic(name: str, left: Column, right: Column) -> Column:
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
        made = divided(left, right)
        return replace(made, guards=(*guards, *made.guards))
    if name in ("//", "%") and whole:
        return _floored(name, left, right, guards)
    raise NotAColumn(f"{name} of {left.kind} and {right.kind} is evaluated by Python")


def divided(left: Column, right: Column) -> Column:
    """``left / right`` of numbers that are no nulls."""
    whole = left.python is right.python is int
    zero = "division by zero" if whole else "float division by zero"
    inexact = tuple(_inexact(side) for side in (left, right) if side.python is int and whole and not _is_exact(side))
    sql = f"({_double(left)} / {_divisor(right, _double(right))})"
    return Column(sql, Kind(float), (*_by_zero(right, zero), *inexact))


def _floored(name: str, left: Column, right: Column, guards: tuple[Guard, ...]) -> Column:
    """Python rounds down and its remainder has the sign of the divisor; Spark rounds towards zero."""
    shown = "integer division or modulo by zero" if name == "//" else "integer modulo by zero"
    divisor = _divisor(right, right.sql)
    rest = f"({left.sql} % {divisor})"
    if right.constant is ...:
        other = f"({rest} <> 0 AND ({rest} < 0) <> ({right.sql} < 0))"
    else:
        other = f"({rest} {'<' if right.constant > 0 else '>'} 0)"
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
            found += list(not_null(side, f"unsupported operand type(s) for {name}: {names[0]!r} and {names[1]!r}"))
    return tuple(found)


def _type_name(column: Column, *, none: bool) -> str:
    return "NoneType" if none else column.python.__name__


# --- comparing --------------------------------------------------------------------------------------------------------


def comparison(name: str, left: Column, right: Column) -> Column:
    guards = [*left.guards, *right.guards]
    for side in (left, right):
        if side.optional:
            names = [_type_name(each, none=each is side) for each in (left, right)]
            guards += not_null(side, f"'{name}' not supported between instances of {names[0]!r} and {names[1]!r}")
    left, right = _same_kind(name, left, right, _ORDERED)
    sql = f"({left.sql} {name} {right.sql})"
    exact = sql
    if left.python is float:  # for Spark NaN is the largest number, and equal to itself
        larger = left if name in (">", ">=") else right
        if larger.constant is ...:
            exact = f"({sql} AND NOT isnan({larger.sql}))"
        elif math.isnan(larger.constant):
            exact = "false"
    return Column(exact, Kind(bool), tuple(guards), sql, plain=told(left, right))


def told(left: Column, right: Column) -> bool:
    """Whether file formats know what compares the two."""
    return left.plain and right.plain and (left.constant is not ... or right.constant is not ...)


def equality(name: str, left: Column, right: Column) -> Column:
    for side, other in ((left, right), (right, left)):
        if side.python is type(None):
            sql = f"({other.sql} IS {'NOT ' if name == '!=' else ''}NULL)"
            # A null in a field that has none is an error that stays one.
            return Column(sql, Kind(bool), other.guards, sql, plain=other.plain)
    left, right = _same_kind(name, left, right, _COMPARED)
    guards = (*left.guards, *right.guards)
    equal = "<=>" if left.optional or right.optional else "="
    sql = f"({left.sql} {equal} {right.sql})"
    exact = sql
    if left.python is float:
        asked = left if left.constant is ... else right
        exact = f"({sql} AND NOT coalesce(isnan({asked.sql}), false))"
    if name == "!=":
        loose = "" if left.python is float else f"(NOT {sql})"
        return Column(f"(NOT {exact})", Kind(bool), guards, loose, plain=told(left, right))
    return Column(exact, Kind(bool), guards, sql, plain=told(left, right))


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


def logic(name: str, left: Column, right: Column) -> Column:
    """Both operands are evaluated, as ``&`` and ``|`` do."""
    if left.python is not bool or right.python is not bool or left.optional or right.optional:
        raise NotAColumn(f"{name} of {left.kind} and {right.kind} is evaluated by Python")
    guards = (*left.guards, *right.guards)
    if name == "^":
        return Column(f"({left.sql} <> {right.sql})", Kind(bool), guards)
    word = "AND" if name == "&" else "OR"
    known = [each for each in (left, right) if each.loose]
    loose = f"({f' {word} '.join(each.loose for each in known)})" if len(known) == 2 or (known and name == "&") else ""
    plain = (any if name == "&" else all)(each.plain for each in known)
    return Column(f"({left.sql} {word} {right.sql})", Kind(bool), guards, loose, plain=plain)


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
    loose = column.loose or ("" if column.optional else sql)
    return Column(sql, Kind(bool), column.guards, loose, plain=column.plain)
