"""Rows: which fields an item has, of which types, and how it is built of values and taken apart again.

A row class is a dataclass, a NamedTuple or a TypedDict. Used on both sides, therefore light: neither pyspark nor pyarrow.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from rx_ops import row_maker

#: What a value is, and what Spark calls it where it is written.
DDL: Final = {
    int: "bigint",
    float: "double",
    str: "string",
    bool: "boolean",
    bytes: "binary",
    datetime.date: "date",
    datetime.datetime: "timestamp",
    decimal.Decimal: "decimal(38,18)",
}


@dataclass(frozen=True)
class Kind:
    """The type of a field: a plain Python type, a list, a mapping or a row of its own. ``python`` is ``object`` for any."""

    python: type
    optional: bool = False
    #: Of a list its items; of a mapping its keys and values.
    parts: tuple[Kind, ...] = ()
    row: RowType | None = None

    def __str__(self) -> str:
        name = self.row.name if self.row is not None else self.python.__name__
        inner = f"[{', '.join(map(str, self.parts))}]" if self.parts else ""
        return f"{name}{inner}{' | None' if self.optional else ''}"

    @property
    def ddl(self) -> str:
        """Spark's type for it. TypeError where a value of any type may stand."""
        if self.row is not None:
            return f"struct<{', '.join(f'{quoted(field.name)}: {field.kind.ddl}' for field in self.row.fields)}>"
        if self.python is list:
            return f"array<{self.parts[0].ddl}>"
        if self.python is dict:
            return f"map<{self.parts[0].ddl}, {self.parts[1].ddl}>"
        try:
            return DDL[self.python]
        except KeyError:
            raise TypeError(f"a field of type {self} cannot be written: Spark needs one type for a column") from None

    @property
    def plain(self) -> bool:
        """Whether what Arrow makes of it is what the item holds."""
        return self.row is None and self.python is not dict and all(part.plain for part in self.parts)

    @property
    def nested(self) -> bool:
        """Whether there are values inside its values."""
        return self.row is not None or bool(self.parts)

    @property
    def flat(self) -> Iterable[Kind]:
        """It, and the kinds of all values inside its values."""
        yield self
        inner = self.parts if self.row is None else tuple(field.kind for field in self.row.fields)
        for part in inner:
            yield from part.flat


@dataclass(frozen=True)
class Field:
    name: str
    kind: Kind


@dataclass(frozen=True)
class RowType:
    """The fields of an item and what makes one of their values.

    ``form``: "value" is an item that is no row but the only field's value.
    """

    name: str
    fields: tuple[Field, ...]
    form: typing.Literal["object", "tuple", "dict", "row", "value"]
    #: Called with the values in order, for a row with a tuple of them; None for plain tuples, dict and value.
    make: Callable[..., Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @property
    def ddl(self) -> str:
        """The columns as Spark spells a schema."""
        return ", ".join(f"{quoted(field.name)} {field.kind.ddl}" for field in self.fields)

    @property
    def made_anywhere(self) -> bool:
        """Whether no code of the class runs when an item is made, so that the driver may make it. A value that may be None is no
        item, which tasks find out."""
        if self.form == "value" and self.fields[0].kind.optional:
            return False
        inner = (kind.row for field in self.fields for kind in field.kind.flat)
        return _without_code(self.make) and all(row is None or _without_code(row.make) for row in inner)

    @property
    def as_tuples(self) -> RowType:
        """The same columns, of items that are plain tuples."""
        return dataclasses.replace(self, form="tuple", make=None)

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)

    def rows(self, columns: Sequence[list[Any]]) -> Iterable[Any]:
        """The items of columns of equal length."""
        if self.form == "value":
            return columns[0]
        if self.form == "dict":
            names = self.names
            return (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
        if self.make is None:
            return zip(*columns, strict=True)
        if self.form == "row":
            return map(self.make, zip(*columns, strict=True))
        return map(self.make, *columns)

    def columns(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        """The values of items, field by field. SchemaError, with the item, for one that has other fields."""
        if self.form == "value":
            return [items]
        try:
            if self.form == "object" and type(items[0]) is not tuple:
                return [list(map(attrgetter(name), items)) for name in self.names]  # a call in C for each value
            return list(zip(*map(self.values, items), strict=True))
        except Exception:
            pass
        try:
            return list(zip(*map(self.values, items), strict=True))  # some are plain tuples
        except Exception as error:
            raise _misfit(items, self, error) from error

    def values(self, item: Any) -> Sequence[Any]:
        """The values of an item, in the order of the fields; those of a plain tuple are taken by their places."""
        if self.form == "value":
            return (item,)
        if type(item) is tuple or self.form in ("tuple", "row"):
            if len(item) != len(self.fields):
                raise ValueError(f"{len(item)} values for the {len(self.fields)} columns {', '.join(self.names)}")
            return tuple(item)
        if self.form == "dict":
            return [item.get(field.name) if field.kind.optional else item[field.name] for field in self.fields]
        return [getattr(item, field.name) for field in self.fields]


class SchemaError(TypeError):
    """A row class and the data do not fit."""


def alike(name: str, names: Sequence[str]) -> list[str]:
    """Those of ``names`` that Spark takes for ``name``: unless its application says otherwise, case does not tell them apart."""
    return [each for each in names if each.lower() == name.lower()]


def quoted(name: str) -> str:
    """A column's name as SQL spells it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


# --- of a class -------------------------------------------------------------------------------------------------------


def row_type(kind: type) -> RowType:
    """The fields of a dataclass, a NamedTuple or a TypedDict. TypeError for anything else, or for a type that no column has."""
    try:
        return _row_type(kind)
    except RecursionError:
        raise TypeError(
            f"{kind.__qualname__} has a field of its own type somewhere, and columns are as deep as their schema says.\n"
            f"  Right:  a list of rows with the key of the one above, or a field of text that holds JSON"
        ) from None


def _row_type(kind: type) -> RowType:
    if not is_row_class(kind):
        raise TypeError(
            f"{kind!r} does not describe rows.\n"
            f"  Right:  class Trip(NamedTuple): city: str; amount: float    or a dataclass, or a TypedDict"
        )
    hints = _hints(kind)
    name = kind.__qualname__
    if dataclasses.is_dataclass(kind):
        given = [field for field in dataclasses.fields(kind) if field.init]
        names = [field.name for field in given]
        made: type = kind
        by_keyword = any(field.kw_only for field in given)
        make: Callable[..., Any] = ByKeyword(made, tuple(names)) if by_keyword else made
        return RowType(name, _fields(made, names, hints), "object", make)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return RowType(kind.__qualname__, _fields(kind, kind._fields, hints), "tuple", kind)
    fields = _fields(kind, hints, hints)
    missing: frozenset[str] = getattr(kind, "__optional_keys__", frozenset())
    return RowType(
        kind.__qualname__,
        tuple(
            Field(field.name, dataclasses.replace(field.kind, optional=True)) if field.name in missing else field
            for field in fields
        ),
        "dict",
    )


def is_row_class(kind: object) -> bool:
    return isinstance(kind, type) and (
        dataclasses.is_dataclass(kind) or typing.is_typeddict(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    )


def _without_code(make: Callable[..., Any] | None) -> bool:
    """Whether making an item is what ``dataclass`` and ``NamedTuple`` wrote, and a user nothing."""
    kind = make.kind if isinstance(make, ByKeyword) else make
    if not isinstance(kind, type):
        return True  # a plain tuple, a dict, or a Row
    if issubclass(kind, tuple):
        return len(kind.__mro__) == 3  # the class, tuple, object: not one of a user's below it
    plain = kind.__new__ is object.__new__ and (kind.__setattr__ is object.__setattr__ or _generated(kind.__setattr__))
    return plain and _generated(kind.__init__) and not hasattr(kind, "__post_init__")


def _generated(method: object) -> bool:
    """Whether ``dataclass`` wrote it: it names no file."""
    return getattr(getattr(method, "__code__", None), "co_filename", "") == "<string>"


@dataclass(frozen=True)
class ByKeyword:
    """Makes an object whose class takes (some) fields by keyword only."""

    kind: type
    names: tuple[str, ...]

    def __call__(self, *values: Any) -> Any:
        return self.kind(**dict(zip(self.names, values, strict=True)))


def plain_row(fields: tuple[Field, ...]) -> RowType:
    """Rows of data for which there is no class: :class:`rx_ops.Row`."""
    return RowType("Row", fields, "row", row_maker(tuple(field.name for field in fields)))


def value_row(kind: Kind, name: str = "value") -> RowType:
    """Items that are one value each."""
    return RowType(str(kind), (Field(name, kind),), "value")


def tuple_row(kinds: Sequence[Kind]) -> RowType:
    """Plain tuples."""
    return RowType("tuple", tuple(Field(f"_{at}", kind) for at, kind in enumerate(kinds, 1)), "tuple")


def kind_of(hint: Any, where: str) -> Kind:
    """The kind that an annotation names. TypeError, with the place, for one that no column has."""
    if hint is Any or hint is object:
        return Kind(object, optional=True)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.NotRequired:
        return dataclasses.replace(kind_of(args[0], where), optional=True)
    if origin is typing.Annotated or origin is typing.Required:
        return kind_of(args[0], where)
    if origin in (typing.Union, types.UnionType):
        others = [arg for arg in args if arg is not type(None)]
        if len(others) == 1 and len(args) == 2:
            return dataclasses.replace(kind_of(others[0], where), optional=True)
    elif origin in (list, Sequence):
        return Kind(list, parts=(kind_of(args[0], where),))
    elif origin in (dict, Mapping):
        return Kind(dict, parts=(kind_of(args[0], where), kind_of(args[1], where)))
    elif hint in DDL:
        return Kind(hint)
    elif is_row_class(hint):
        return Kind(hint, row=_row_type(hint))
    raise TypeError(
        f"{where} is a {_shown(hint)}, and no column has that type.\n"
        f"  Right:  int, float, str, bool, bytes, date, datetime, Decimal, list[...], dict[..., ...], a row class, or\n"
        f"          one of these | None"
    )


def _fields(kind: type, names: Iterable[str], hints: Mapping[str, Any]) -> tuple[Field, ...]:
    return tuple(Field(name, kind_of(hints.get(name, Any), f"{kind.__qualname__}.{name}")) for name in names)


def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        error.add_note(f"The types of {kind.__qualname__}'s fields are needed at run time: import them outside TYPE_CHECKING.")
        raise


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def null_text(field: Field, row: RowType) -> str:
    """What is said of a null in a field that has none."""
    return (
        f"column {field.name!r} holds a null, and {row.name}.{field.name} is a {field.kind}.\n"
        f"  Right:  {field.name}: {field.kind} | None"
    )


def _misfit(items: Sequence[Any], row: RowType, error: Exception) -> SchemaError:
    for item in items:
        try:
            row.values(item)
        except Exception as cause:
            return SchemaError(
                f"{item!r} is no {row.name} ({', '.join(f'{field.name}: {field.kind}' for field in row.fields)}): "
                f"{type(cause).__name__}: {cause}"
            )
    return SchemaError(f"items that are no {row.name}: {error}")
