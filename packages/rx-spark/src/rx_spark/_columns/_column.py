"""A column: the SQL of a value for each row, with what is to be looked at before it is taken for the answer.

*Guards* are conditions, in the order in which Python evaluates, under which Python would raise; a step raises there. Beyond 64
bits Spark raises by itself, in ANSI mode. ``loose`` is what the scan can be told of a condition: at least as many rows, in the
form of predicates that file formats know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rx_spark._columns._rows import Field, Kind, RowType, null_text, quoted

#: What begins the message of an error that a column raises: it is rebuilt on the driver.
MARK: Final = "rx|"
#: Always true, and nothing that Spark may assume: what comes later is not evaluated ahead of it.
BARRIER: Final = "monotonically_increasing_id() >= 0"  # of rand(0) >= 0 Spark knows that it is true


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
    #: Of a condition: implied by it. Spark chooses folders by it, and file formats parts of a file where it is ``plain``. Empty:
    #: there is nothing to tell.
    loose: str = ""
    #: The value, where the expression is one.
    constant: Any = ...
    #: The field of the source that this is, so that it is checked once.
    field: str = ""
    #: A field, a part of one, or a constant. Of a condition: file formats know it, for it compares such a part with a constant.
    plain: bool = False

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


def declared(field: Field, row: RowType, sql: str = "") -> tuple[Guard, ...]:
    """A field that may not be null is looked at when it is used. Spark leaves the question out where it knows."""
    if field.kind.optional:
        return ()
    sql = sql or quoted(field.name)
    return (Guard(f"{sql} IS NULL", "SchemaError", null_text(field, row), null=True),)


def wide(sql: str, kind: Kind) -> str:
    """Whole numbers have 64 bits and floats are doubles, whatever the column has: Python knows no others."""
    return f"CAST({sql} AS {kind.ddl.upper()})" if kind.python in (int, float) else sql


def not_null(column: Column, message: str, error: str = "TypeError") -> tuple[Guard, ...]:
    if not column.optional:
        return ()
    asked = quoted(column.field) if column.field else column.sql
    return (Guard(f"{asked} IS NULL", error, message, null=bool(column.field)),)
