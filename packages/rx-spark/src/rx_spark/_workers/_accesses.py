"""Rows that functions only look into: which of their values are taken, and the functions over these values alone.

``filter(lambda trip: trip.km > 3).map(lambda trip: trip.city)`` needs no trips. Where functions can be read and use their row for
nothing else, tasks get tuples of the values that are taken, and Spark reads no other columns.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from rx_core import name_of
from rx_fusion.symbols import Attribute, Constant, Expression, Index, Item, Node, parts_of, with_parts
from rx_fusion.symbols.reading import read_function
from rx_ops import stages
from rx_spark._columns._rows import ByKeyword, RowType, SchemaError

#: What a NamedTuple has for each field.
_TUPLE_FIELD: Final = type(namedtuple("_Any", "field").field)  # type: ignore[attr-defined]  # as classes have it


#: What functions take of a row, and the place of that value in a tuple: ``((row.city, 0), (row.km, 1), (row["city"], 0))``.
Accesses: TypeAlias = tuple[tuple[Node, int], ...]


def accesses_of(
    functions: Sequence[Callable[..., Iterator[Any]]], args: Sequence[tuple[Any, ...]], row: RowType
) -> tuple[Accesses, tuple[str, ...], int] | None:
    """What stages take of their rows, the names of these fields, and how many stages get the rows: up to the first ``map``.

    None where one of them needs the row itself, or looks at nothing.
    """
    taken: list[tuple[Node, int]] = []
    names: list[str] = []
    for count, (function, given) in enumerate(zip(functions, args, strict=True), 1):
        if function is not stages.filter_ and function is not stages.map_:
            return None
        read = _read(given[0])
        if read is None or len(read.parameters) != 1 or not _collect(read.node, row, taken, names):
            return None
        if function is stages.map_:
            return (tuple(taken), tuple(names), count) if taken else None
    return None


def as_taken(function: object, row: RowType) -> object:
    """A function that takes its item or one value of it, and computes nothing, as an expression; every other as it is."""
    read = read_function(function) if callable(function) else None
    if read is None or len(read.parameters) != 1:
        return function
    taken = row.form == "value" if isinstance(read.node, Item) else _field_of(read.node, row) is not None
    return read if taken else function


def over_values(function: Callable[..., Any], accesses: Accesses) -> Expression[Any]:
    """The function over a tuple of these values; it shows itself as the function.

    Raises SchemaError where the function is another one here: it comes from a module that executors have in another version.
    """
    read = _read(function)
    made = None if read is None else _over(read.node, accesses)
    if made is None:
        raise SchemaError(
            f"{name_of(function)} takes other values of its row on this executor than on the driver: its module is another one "
            f"here.\n"
            f"  Right:  the same version of the module everywhere, or rx_spark.ship() what the pipeline needs"
        )
    return Expression(made, ("row",), function)


def _read(function: Any) -> Expression[Any] | None:
    return function if isinstance(function, Expression) else read_function(function)


def _collect(node: Node, row: RowType, taken: list[tuple[Node, int]], names: list[str]) -> bool:
    """Put what is taken of the row into the lists, each once; False where it is used in another way."""
    name = _field_of(node, row)
    if name is None:
        return not isinstance(node, Item) and all(_collect(each, row, taken, names) for each in parts_of(node))
    if name not in names:
        names.append(name)
    access = node, names.index(name)
    if access not in taken:
        taken.append(access)
    return True


def _over(node: Node, accesses: Accesses) -> Node | None:
    if isinstance(node, Item):
        return None
    if isinstance(node, Attribute | Index):
        place = next((place for each, place in accesses if each == node), None)
        if place is not None:
            return Index(Item(0, "row"), Constant(place))
    parts = [_over(each, accesses) for each in parts_of(node)]
    return with_parts(node, [each for each in parts if each is not None]) if None not in parts else None


def _field_of(node: Node, row: RowType) -> str | None:
    """The field that this takes of a row, if it does nothing else."""
    names = row.names
    match node:
        case Attribute(Item(), name) if name in names and _is_plain(name, row):
            return name
        case Index(Item(), Constant(str() as name)) if name in names and row.form in ("dict", "row"):
            return name
        case Index(Item(), Constant(at)) if type(at) is int and -len(names) <= at < len(names) and _has_places(row):
            return names[at]
        case _:
            return None


def _is_plain(name: str, row: RowType) -> bool:
    """Whether ``.name`` of an item gives the value that it was made of, and no code of a user's class is run."""
    if row.form == "row":
        return not name.startswith("__")
    kind = row.make.kind if isinstance(row.make, ByKeyword) else row.make
    if not isinstance(kind, type) or not _is_looked_into(kind) or not row.made_anywhere:
        return False
    if row.form == "tuple":
        return type(vars(kind).get(name)) is _TUPLE_FIELD
    held = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)
    return type(held).__name__ == "member_descriptor" or not hasattr(type(held), "__set__")


def _is_looked_into(kind: type) -> bool:
    return not _says(kind, "__getattribute__", "__del__") and type(kind).__call__ is type.__call__


def _has_places(row: RowType) -> bool:
    if row.form != "tuple":
        return row.form == "row"
    return row.make is None or (isinstance(row.make, type) and row.made_anywhere and not _says(row.make, "__getitem__"))


def _says(kind: type, *methods: str) -> bool:
    """Whether a user's class has one of these."""
    return any(name in vars(each) for each in kind.__mro__ if each not in (object, tuple) for name in methods)
