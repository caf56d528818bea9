"""What ``group_aggregate`` was asked for: the fields of its rows, read from what the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rx_core import name_of
from rx_core._values import Value, put
from rx_fusion.symbols import Attribute, Call, Constant, Display, Expression, Index, Item, Node, Symbol, expression_of, written
from rx_ops._row import RowMaker, row_class
from rx_ops.aggregates import Aggregate, Fold, fold

#: The methods of an expression that are aggregates.
_METHODS: Final = ("sum", "count", "min", "max", "average")

_EXAMPLE: Final = ".group_aggregate(it.city, total=it.amount.sum(), n=count())"


class GroupAggregate(Value):
    """The fields of a row for each group, as an argument of the stage: those of the key, and then those of the aggregates.

    Where there are ``several`` fields of the key, it is a tuple of their values. The aggregates are here as the user wrote them,
    for engines that translate them; they show themselves as keyword arguments.
    """

    __slots__ = ("aggregates", "key_fields", "several")
    key_fields: tuple[str, ...]
    several: bool
    aggregates: tuple[tuple[str, Aggregate], ...]

    def __init__(self, key_fields: tuple[str, ...], several: bool, aggregates: tuple[tuple[str, Aggregate], ...]) -> None:
        put(self, "key_fields", key_fields)
        put(self, "several", several)
        put(self, "aggregates", aggregates)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the row's fields."""
        return self.key_fields + tuple([name for name, _ in self.aggregates])

    def fold(self) -> Fold:
        return fold(*[aggregate for _, aggregate in self.aggregates])

    def row_maker(self) -> RowMaker:
        return row_class(self.fields).__make__

    def __repr__(self) -> str:
        return ", ".join([f"{name}={aggregate!r}" for name, aggregate in self.aggregates])


def group_aggregate_of(key: Any, aggregates: Mapping[str, object]) -> tuple[Callable[[Any], Any], GroupAggregate]:
    """The key's function and the rest, of what was passed to the operator. Raises at assembly for what it cannot be."""
    function, fields = _key_of(key)
    if not aggregates:
        raise TypeError(
            f"group_aggregate({_shown(key)}): no aggregate to compute for each key.\n"
            f"  Right:              {_EXAMPLE}\n"
            f"  For the keys alone: .map({_shown(key)}).distinct()"
        )
    named = aggregates_of("group_aggregate", aggregates)
    for name, aggregate in named:
        if name in fields:
            raise ValueError(
                f"group_aggregate({_shown(key)}, {name}={aggregate!r}): the key's field is called {name!r} already.\n"
                f"  Right:  .group_aggregate({_shown(key)}, {name}_{aggregate.kind}={aggregate!r})"
            )
    return function, GroupAggregate(fields, type(key) is tuple, named)


def _key_of(key: Any) -> tuple[Callable[[Any], Any], tuple[str, ...]]:
    if type(key) is tuple:
        return _keys_of(key)
    if type(key) is Symbol:
        key = expression_of(key)
    if not callable(key):
        name = key if isinstance(key, str) else "city"
        raise TypeError(
            f"group_aggregate({key!r}): the key is a function or an expression.\n"
            f"  Right:  .group_aggregate(it[{name!r}], n=count())\n"
            f"  Or:     .group_aggregate(it.{name if name.isidentifier() else 'city'}, n=count())"
        )
    return key, (_name_in(key.node) if isinstance(key, Expression) else None) or ("key",)


def _keys_of(keys: tuple[Any, ...]) -> tuple[Callable[[Any], Any], tuple[str, ...]]:
    nodes: list[Node] = []
    fields: list[str] = []
    for each in keys:
        node = _node_of(each)
        name = None if node is None else _name_in(node)
        if node is None or name is None:
            raise TypeError(
                f"group_aggregate({_shown(keys)}): {_shown(each)} names no field of the item, so the row has no name for it.\n"
                f"  Right:            .group_aggregate((it.city, it.year), n=count())\n"
                f"  As one field key: .group_aggregate(lambda item: (..., ...), n=count())"
            )
        if name[0] in fields:
            raise ValueError(
                f"group_aggregate({_shown(keys)}): two fields of a row cannot both be called {name[0]!r}.\n"
                f"  Right:  .group_aggregate((it.city, it.year), n=count())"
            )
        nodes.append(node)
        fields += name
    if not nodes:
        raise TypeError(f"group_aggregate((), ...): a key has at least one part.\n  Right:  {_EXAMPLE}")
    return Expression(Display("tuple", tuple(nodes))), tuple(fields)


def _node_of(value: Any) -> Node | None:
    """The node of an expression of one argument."""
    if type(value) is Symbol:
        value = expression_of(value)
    return value.node if isinstance(value, Expression) and len(value.parameters) == 1 else None


def _name_in(node: Node) -> tuple[str] | None:
    """The name of the attribute that an expression takes from the item, or of the part that it takes by a name."""
    match node:
        case Attribute(Item(), str(name)) | Index(Item(), Constant(str(name))):
            return (name,)
        case _:
            return None


def aggregates_of(operator: str, given: Mapping[str, object]) -> tuple[tuple[str, Aggregate], ...]:
    """Aggregates with their names, of the keyword arguments of an operator. TypeError for what is none."""
    return tuple([(name, _aggregate_of(operator, name, each)) for name, each in given.items()])


def _aggregate_of(operator: str, name: str, given: object) -> Aggregate:
    """An aggregate as it is, or as an expression says it: ``it.amount.sum()``."""
    if isinstance(given, Aggregate):
        return given
    match _node_of(given):
        case Call(Attribute(operand, method), (), ()) if method in _METHODS:
            kind: Any = method
            return Aggregate(kind, None if (kind, operand) == ("count", Item()) else Expression(operand))
    raise TypeError(
        f"{operator}(..., {name}={_shown(given)}): that is no aggregate.\n"
        f"  Right:  .{operator}(..., {name}={_meant(given)})\n"
        f"  There are sum, count, min, max and average: it.amount.sum(), or sum(function) of rx_ops.aggregates."
    )


def _meant(given: Any) -> str:
    """What may have been meant by something that is no aggregate."""
    name = getattr(given, "__name__", None) if callable(given) and type(given) is not Symbol else None
    if name in _METHODS:
        return "aggregates.count()" if name == "count" else f"aggregates.{name}(it.amount)"
    node = _node_of(given)
    match node:
        case Call(Attribute(operand, method)) if method in _METHODS:
            return f"{written(operand)}.{method}()"
        case None:
            return f"aggregates.sum({_shown(given) if callable(given) else 'it.amount'})"
        case _:
            return f"{_shown(given)}.sum()"


def _shown(value: Any) -> str:
    if type(value) is tuple:
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    return name_of(value)
