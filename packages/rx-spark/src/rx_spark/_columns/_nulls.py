"""Nulls inside the values of a field, where its class has none: in the fields of a nested row, in lists, in mappings.

Arrow counts the nulls of all rows of a batch at once, so that each level of nesting costs one look at a batch. Flat rows have
nothing inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rx_spark._columns._rows import Field, Kind, RowType, quoted

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Inner:
    """A place inside the values of a field. ``path`` names it, from the field on: ``stops[].city``, ``prices[...]``."""

    path: str
    #: The field whose class says what may be there: that of the innermost row.
    field: Field
    owner: str
    kind: Kind
    #: From that field to the place: which part of a list or mapping, and which part of that.
    parts: tuple[int, ...] = ()
    #: Whether the innermost row is a row inside another.
    deep: bool = False

    @property
    def text(self) -> str:
        """What is declared, and what would be right."""
        right = f"{self.field.name}: {_loosened(self.field.kind, self.parts)}"
        return (
            f"{self.owner}.{self.field.name} is a {self.field.kind}.\n"
            f"  Right:  {right}{f'    in {self.owner}' if self.deep else ''}"
        )

    def inside(self) -> list[Inner]:
        """The places one level further in."""
        row, parts = self.kind.row, self.kind.parts
        if row is not None:
            return [Inner(f"{self.path}.{each.name}", each, row.name, each.kind, deep=True) for each in row.fields]
        names = ("[]",) if len(parts) == 1 else (" (key)", "[...]")
        return [
            replace(self, path=f"{self.path}{name}", kind=part, parts=(*self.parts, at))
            for at, (name, part) in enumerate(zip(names, parts, strict=False))
        ]


def _loosened(kind: Kind, parts: tuple[int, ...]) -> Kind:
    if not parts:
        return replace(kind, optional=True)
    at, *further = parts
    return replace(
        kind, parts=tuple(_loosened(part, tuple(further)) if at == number else part for number, part in enumerate(kind.parts))
    )


def null_inside(array: pa.Array, field: Field, row: RowType) -> Inner | None:
    """Where in the values of a field a null is that may not be there. The values themselves are not looked at."""
    return _found(array, Inner(field.name, field, row.name, field.kind))


def _found(array: pa.Array, place: Inner) -> Inner | None:
    if array.null_count:
        array = array.drop_null()  # there is nothing inside them
    for part, inner in zip(_parts(array, place.kind), place.inside(), strict=False):
        if part.null_count and not inner.kind.optional:
            return inner
        found = _found(part, inner) if inner.kind.nested else None
        if found is not None:
            return found
    return None


def _parts(array: pa.Array, kind: Kind) -> list[pa.Array]:
    """What is inside values none of which is null."""
    if kind.row is not None:
        return [array.field(each.name) for each in kind.row.fields]
    if kind.python is list:
        return [array.flatten()]
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()  # the arrays are those of all values, of a slice too
    return [array.keys[first:last], array.items[first:last]]


def null_conditions(field: Field, row: RowType) -> list[tuple[Inner, str]]:
    """The same as SQL: each place where no null may be, and the condition that there is one."""
    conditions = _conditions(quoted(field.name), Inner(field.name, field, row.name, field.kind))
    return [(place, f"coalesce({sql}, false)") for place, sql in conditions]


def _conditions(value: str, place: Inner, depth: int = 0) -> Iterator[tuple[Inner, str]]:
    """Each is null or false where ``value`` is null."""
    for at, inner in enumerate(place.inside()):
        if place.kind.row is not None:
            item, before, after = f"{value}.{quoted(inner.field.name)}", f"({value} IS NOT NULL AND ", ")"
        else:
            item = f"x{depth}"
            items = value if place.kind.python is list else f"map_{('keys', 'values')[at]}({value})"
            before, after = f"exists({items}, {item} -> ", ")"
        if not inner.kind.optional and (place.kind.python is not dict or at):  # no key is null
            yield inner, f"{before}{item} IS NULL{after}"
        if inner.kind.nested:
            for found, sql in _conditions(item, inner, depth + 1):
                yield found, f"{before}{sql}{after}"
