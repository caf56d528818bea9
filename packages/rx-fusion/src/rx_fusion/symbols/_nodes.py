"""Nodes: an expression as data, for code that reads it.

The loop compiler writes them into Python; another compiler can write SQL or a column of Spark from the same tree. A tree says
what the user wrote and nothing about how it runs::

    match node:
        case Item():                            ...  # the element itself
        case Constant(value):                   ...  # a Python object
        case Operator(name, (left, right)):     ...  # "+", "<=", "**", as Python writes it; one operand: "-", "+", "~"; of
                                                     # functions that were read also "and", "or", "not", "in", "not in"
        case Attribute(operand, name):          ...
        case Index(operand, index):             ...
        case Call(function, args, kwargs):      ...  # abs, round, divmod and methods are calls too
        case Display(kind, items):              ...  # a tuple, list, dict or slice with expressions inside
        case Conditional(condition, then, otherwise):  # of functions that were read: one of the two is evaluated
            ...
        case Comparison(names, operands):              # of functions that were read: 0 < it <= 9, a name for each two operands
            ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from rx_core._values import Value, put


class Item(Value, compared=("position",)):
    """An argument: the element. ``position`` counts where a function has several, ``name`` is how it was written."""

    __slots__ = ("name", "position")
    position: int
    name: str

    def __init__(self, position: int = 0, name: str = "it") -> None:
        put(self, "position", position)
        put(self, "name", name)


class Constant(Value):
    """Any object, evaluated when the expression was built."""

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        put(self, "value", value)


class Operator(Value):
    """A Python operator with its one or two operands, in the order in which they are evaluated.

    Of "and" and "or" the second one is evaluated only where it decides.
    """

    __slots__ = ("name", "operands")
    name: str
    operands: tuple[Node, ...]

    def __init__(self, name: str, operands: tuple[Node, ...]) -> None:
        put(self, "name", name)
        put(self, "operands", operands)


class Attribute(Value):
    __slots__ = ("name", "operand")
    operand: Node
    name: str

    def __init__(self, operand: Node, name: str) -> None:
        put(self, "operand", operand)
        put(self, "name", name)


class Index(Value):
    __slots__ = ("index", "operand")
    operand: Node
    index: Node

    def __init__(self, operand: Node, index: Node) -> None:
        put(self, "operand", operand)
        put(self, "index", index)


class Call(Value):
    __slots__ = ("args", "function", "kwargs")
    function: Node
    args: tuple[Node, ...]
    kwargs: tuple[tuple[str, Node], ...]

    def __init__(self, function: Node, args: tuple[Node, ...] = (), kwargs: tuple[tuple[str, Node], ...] = ()) -> None:
        put(self, "function", function)
        put(self, "args", args)
        put(self, "kwargs", kwargs)


class Display(Value):
    """A container made anew for each element. A dict's items are key, value, key, value; those of a slice are its three parts."""

    __slots__ = ("items", "kind")
    kind: Literal["tuple", "list", "dict", "slice"]
    items: tuple[Node, ...]

    def __init__(self, kind: Literal["tuple", "list", "dict", "slice"], items: tuple[Node, ...]) -> None:
        put(self, "kind", kind)
        put(self, "items", items)


class Conditional(Value):
    """``then if condition else otherwise``. The condition is evaluated first, and then one of the others."""

    __slots__ = ("condition", "otherwise", "then")
    condition: Node
    then: Node
    otherwise: Node

    def __init__(self, condition: Node, then: Node, otherwise: Node) -> None:
        put(self, "condition", condition)
        put(self, "then", then)
        put(self, "otherwise", otherwise)


class Comparison(Value):
    """``a < b <= c``. Each operand is evaluated once, and those behind a comparison that is false are not."""

    __slots__ = ("names", "operands")
    names: tuple[str, ...]
    operands: tuple[Node, ...]

    def __init__(self, names: tuple[str, ...], operands: tuple[Node, ...]) -> None:
        put(self, "names", names)
        put(self, "operands", operands)


Node: TypeAlias = Item | Constant | Operator | Attribute | Index | Call | Display | Conditional | Comparison


def parts_of(node: Node) -> Sequence[Node]:
    """The nodes directly inside, in the order in which they are evaluated."""
    match node:
        case Operator(_, operands) | Comparison(_, operands):
            return operands
        case Attribute(operand, _):
            return (operand,)
        case Index(operand, index):
            return operand, index
        case Call(function, args, kwargs):
            return function, *args, *(each for _, each in kwargs)
        case Display(_, items):
            return items
        case Conditional(condition, then, otherwise):
            return condition, then, otherwise
        case _:
            return ()


def with_parts(node: Node, parts: Sequence[Node]) -> Node:
    """The node with others for :func:`parts_of` it, as many and in the same order."""
    match node:
        case Operator(name, _):
            return Operator(name, tuple(parts))
        case Attribute(_, name):
            return Attribute(parts[0], name)
        case Index():
            return Index(*parts)
        case Call(_, args, kwargs):
            named = zip(kwargs, parts[1 + len(args) :], strict=True)
            return Call(parts[0], tuple(parts[1 : 1 + len(args)]), tuple([(name, each) for (name, _), each in named]))
        case Display(kind, _):
            return Display(kind, tuple(parts))
        case Conditional():
            return Conditional(*parts)
        case Comparison(names, _):
            return Comparison(names, tuple(parts))
        case _:
            return node
