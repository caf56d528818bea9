"""Expressions as columns: what ``it`` says, in Spark's SQL, where that gives exactly Python's answer.

Everything else is :class:`NotAColumn`, with the reason, and runs in Python: ``round``, ``**``, the case of letters, whatever
Spark answers differently. docs/guides/spark-columns.md has the table.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from rx_fusion.symbols import Attribute, Call, Constant, Display, Expression, Index, Item, Node, Operator, parts_of, with_parts
from rx_spark._columns._column import Column, NotAColumn, Rows, declared, not_null, wide
from rx_spark._columns._operators import arithmetic, comparison, constant, equality, logic, number, sign
from rx_spark._columns._rows import Field, Kind, RowType, quoted
from rx_spark._columns._texts import contains, method, part


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


def one_expression(functions: Sequence[object]) -> Expression[Any]:
    """Expressions one after the other as one. Raises NotAColumn for anything else among them."""
    tree: Node = Item()
    for function in functions:
        tree = _with_item(_tree(function), tree)
    return Expression(tree)


def _with_item(node: Node, item: Node) -> Node:
    return item if isinstance(node, Item) else with_parts(node, [_with_item(part, item) for part in parts_of(node)])


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
                return constant(value)
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
        if isinstance(operand, Item) and (by_name or self._row.form != "value"):
            field = _named(self._row, key, by_name)
            return self._field(field)
        inner = self.column(operand)
        if inner.python is str and not by_name:
            return part(inner, key)
        nested = inner.kind.row
        shown = f".{key}" if by_name else f"[{key!r}]"
        if nested is None:
            raise NotAColumn(f"{shown} of a {inner.kind} is evaluated by Python")
        found = _named(nested, key, by_name)
        refused = f"'NoneType' object has no attribute {str(key)!r}" if by_name else "'NoneType' object is not subscriptable"
        sql = f"{inner.sql}.{quoted(found.name)}"
        error = "AttributeError" if by_name else "TypeError"
        guards = (*inner.guards, *not_null(inner, refused, error), *declared(found, nested, sql))
        return Column(wide(sql, found.kind), found.kind, guards, plain=inner.plain)

    def _field(self, field: Field) -> Column:
        sql = quoted(field.name)
        guards = () if field.name in self._rows.checked else declared(field, self._row)
        sql = wide(sql, field.kind) if field.name in self._rows.narrow else sql
        return Column(sql, field.kind, guards, field=field.name, plain=True)

    # --- operators ----------------------------------------------------------------------------------------------------

    def _operator(self, name: str, operands: list[Column]) -> Column:
        if len(operands) == 1:
            return sign(name, operands[0])
        left, right = operands
        if name in ("==", "!="):
            return equality(name, left, right)
        if name in ("<", "<=", ">", ">="):
            return comparison(name, left, right)
        if name in ("&", "|", "^"):
            return logic(name, left, right)
        return arithmetic(name, left, right)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, function: Node, args: tuple[Node, ...]) -> Column:
        if isinstance(function, Attribute):
            asked = self.column(function.operand)
            if asked.python is str:
                return method(asked, function.name, [self.column(each) for each in args])
            raise NotAColumn(f".{function.name}() is evaluated by Python")
        called = function.value if isinstance(function, Constant) else None
        if called is len and len(args) == 1:
            text = self.column(args[0])
            if text.python is str or text.python is bytes:
                guards = not_null(text, "object of type 'NoneType' has no len()")
                of = "char_length" if text.python is str else "octet_length"
                return Column(f"CAST({of}({text.sql}) AS BIGINT)", Kind(int), (*text.guards, *guards))
        if called is abs and len(args) == 1:
            given = number("abs()", self.column(args[0]))
            return Column(f"abs({given.sql})", Kind(given.python), given.guards)
        if called is operator.contains and len(args) == 2:
            return contains(self.column(args[0]), self.column(args[1]))
        shown = getattr(called, "__name__", "the function")
        raise NotAColumn(f"{shown}() is evaluated by Python")


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
