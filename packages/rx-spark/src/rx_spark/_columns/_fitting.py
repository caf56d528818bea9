"""Items that are the same when they have been columns: objects of one row class, whose values a column gives back unchanged.

The stage looks at every item wherever it runs, so that a pipeline has the same answer, or the same error, with and without Spark.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from rx_fusion import stage
from rx_spark._columns._rows import Field, Kind, RowType, SchemaError, row_type

T = TypeVar("T")

_SMALLEST: Final = -(1 << 63)
_LARGEST: Final = (1 << 63) - 1
_UTC: Final = datetime.timedelta(0)
_SCALE: Final = 18  # of DDL's decimal(38,18)
_PLAIN: Final = frozenset((float, bool, bytes, datetime.date))


@dataclass(frozen=True)
class Fit:
    """A row class whose objects become columns and come back equal."""

    kind: type
    row: RowType

    def check(self, item: object) -> None:
        """SchemaError, naming the field and the value, for an item that would come back as another one."""
        wrong = _in_row(item, self.kind, self.row)
        if wrong is not None:
            raise SchemaError(f"as_rows({self!r}): {wrong.text(self.row.name)}")

    def check_columns(self, items: Sequence[object], columns: Sequence[Sequence[Any]]) -> None:
        """The same for items and their columns. The types of a whole column are looked at in one go."""
        whole = _class_of(self.kind)
        if set(map(type, items)) == {whole} and self.row.form != "dict" and all(map(_fits, self.row.fields, columns)):
            return
        self.check_each(items)

    def check_each(self, items: Iterable[object]) -> None:
        for item in items:
            self.check(item)

    def __repr__(self) -> str:
        return self.row.name


def fit_of(kind: type) -> Fit:
    """TypeError for a class whose objects are more than their columns, or that is no row class."""
    row = row_type(kind)
    row.ddl  # noqa: B018  # TypeError for a field that may hold anything
    more = ""
    if dataclasses.is_dataclass(kind) and any(not field.init for field in dataclasses.fields(kind)):
        more = "has fields that are no arguments"
    elif _may_miss_keys(kind):
        more = "has keys that may be missing, and a column holds None there"
    if more:
        raise TypeError(
            f"as_rows({row.name}): it {more}, so its objects would not come back as they were.\n"
            f"  Right:  map to a class whose fields are all there is, before as_rows()"
        )
    return Fit(kind, row)


def _may_miss_keys(kind: type) -> bool:
    if not typing.is_typeddict(kind):
        return False
    hints = typing.get_type_hints(kind, include_extras=True)  # Python itself does not see it in annotations that are text
    return bool(getattr(kind, "__optional_keys__", ())) or any(
        typing.get_origin(hint) is typing.NotRequired for hint in hints.values()
    )


@stage(later=True)
def as_rows(source: Iterable[T], fit: Fit) -> Iterator[T]:
    check = fit.check
    for item in source:
        check(item)
        yield item


# --- what fits --------------------------------------------------------------------------------------------------------


class _Wrong(NamedTuple):
    """What does not fit. ``path`` leads there from the item; nothing is put together for values that fit."""

    said: str
    path: str = ""

    def below(self, step: str) -> _Wrong:
        return self._replace(path=step + self.path)

    def text(self, name: str) -> str:
        return f"{name}{self.path} {self.said}" if self.path else f"each item {self.said}"


def _class_of(kind: type) -> type:
    return dict if typing.is_typeddict(kind) else kind


def _fits(field: Field, values: Sequence[Any]) -> bool:
    """Whether all values of a column fit, as far as their types say so."""
    kind = field.kind
    found = set(map(type, values))
    if kind.optional:
        found.discard(type(None))
    if not found <= {kind.python}:
        return False
    if kind.python in _PLAIN or kind.python in (int, str):
        return True  # Arrow refuses what is too large and what cannot be encoded
    return all(_wrong(value, kind) is None for value in values)


def _wrong(value: Any, kind: Kind) -> _Wrong | None:
    """What is wrong with a value, if anything is."""
    found: type = type(value)
    if found is kind.python and (found in _PLAIN or (found is str and value.isascii())):
        return None  # most values, at once
    if value is None:
        return None if kind.optional else _Wrong(f"is a {kind}, and an item has None there")
    if kind.row is not None:
        return _in_row(value, kind.python, kind.row)
    if found is not kind.python:
        return _Wrong(f"is a {kind}, and an item has {value!r} there, a {found.__qualname__}")
    if found is list or found is dict:
        return _inside(value, kind)
    reason = _reason(value)
    return None if reason is None else _Wrong(f"is a {kind}, and an item has {value!r} there, {reason}")


def _inside(value: Any, kind: Kind) -> _Wrong | None:
    """The first that is wrong of the items of a list, or of the keys and values of a mapping."""
    several = ((value, "[]"),) if kind.python is list else ((value.keys(), "{}"), (value.values(), "{}"))
    for (parts, step), part in zip(several, kind.parts, strict=True):
        for each in parts:
            wrong = _wrong(each, part)
            if wrong is not None:
                return wrong.below(step)
    return None


def _reason(value: Any) -> str | None:
    """Why a value of the right type would not come back, if it would not."""
    if type(value) is int and not _SMALLEST <= value <= _LARGEST:
        return "which has more than 64 bits"
    if type(value) is str and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return "which UTF-8 cannot encode"
    if type(value) is datetime.datetime and value.utcoffset() != _UTC:
        return "which is not in UTC: a column holds a moment, and gives it back in UTC"
    if type(value) is decimal.Decimal:
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            return "which is no number of a column"
        if -exponent > _SCALE or len(digits) + exponent > 38 - _SCALE:
            return f"and a column has {38 - _SCALE} digits before the point and {_SCALE} behind it"
    return None


def _in_row(item: Any, kind: type, row: RowType) -> _Wrong | None:
    found: type = type(item)
    if found is not _class_of(kind):
        return _Wrong(f"has to be a {row.name}, and an item has {item!r}, a {found.__qualname__}")
    if row.form == "dict" and set(item) != set(row.names):
        return _Wrong(f"has the fields {', '.join(row.names)}, and an item has {item!r}")
    for field, value in zip(row.fields, row.values(item), strict=True):
        wrong = _wrong(value, field.kind)
        if wrong is not None:
            return wrong.below(f".{field.name}")
    return None
