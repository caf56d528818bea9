"""Expressions: the functions that symbols stand for.

An expression is a compiled function of its structure with the constants bound. The structure is the tree without constants:
``it > 1`` and ``it > 2`` share one, with its compiled function and the stages that were specialised for it.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from rx_core import name_of
from rx_fusion.symbols._nodes import (
    Attribute,
    Call,
    Comparison,
    Conditional,
    Constant,
    Display,
    Index,
    Item,
    Node,
    Operator,
    parts_of,
    with_parts,
)
from rx_fusion.symbols._symbol import Symbol
from rx_fusion.symbols._text import written

if TYPE_CHECKING:
    import ast

R = TypeVar("R")

#: More structures than a program writes down; one that makes them up forgets the oldest.
MAX_STRUCTURES: Final = 1_024

_STRUCTURES: Final[dict[object, Structure]] = {}
_LOCK: Final = threading.Lock()
_numbers = count(1)


@final
class Structure:
    """What expressions that differ only in constants share. Equal when the trees are."""

    __slots__ = ("__weakref__", "_hash", "_key", "arity", "constants", "function", "node")

    def __init__(self, key: object, node: Node, constants: int, arity: int) -> None:
        self._key = key
        self._hash = hash(key)
        #: The tree, with a placeholder for every constant.
        self.node = node
        self.constants = constants
        self.arity = arity
        #: ``(*constants, *arguments)`` to the value.
        self.function = self._compiled()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Structure and self._key == other._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _structure_of, (self.node, self.arity)

    @property
    def trivial(self) -> bool:
        """An argument or a constant, and nothing that could fail."""
        return isinstance(self.node, (Item, Constant))

    def code(self, constants: Sequence[str], arguments: Sequence[ast.expr]) -> ast.expr:
        """The expression over names for its constants and Python code for its arguments."""
        from rx_fusion.symbols._writing import Code  # brings ast: only who compiles needs it

        return Code(constants, arguments).write(self.node)

    def _compiled(self) -> FunctionType:
        import ast
        import linecache  # both cost a millisecond: only who compiles needs them

        from rx_fusion.symbols._writing import BUILTINS

        constants = [f"c{at}" for at in range(self.constants)]
        arguments = ["item"] if self.arity == 1 else [f"item{at}" for at in range(self.arity)]
        body = self.code(constants, [ast.Name(name, ast.Load()) for name in arguments])
        value = ast.unparse(ast.fix_missing_locations(body))
        text = f"def expression({', '.join([*constants, *arguments])}):\n    return {value}\n"
        path = f"<rx expression #{next(_numbers)}>"
        namespace: dict[str, Any] = {**BUILTINS, "__name__": __name__}
        exec(compile(text, path, "exec"), namespace)
        made: FunctionType = namespace["expression"]
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        weakref.finalize(self, linecache.cache.pop, path, None).atexit = False
        return made


def _structure_of(node: Node, arity: int) -> Structure:
    return _found(_key(node, []), node, arity)


def _found(key: object, node: Node, arity: int) -> Structure:
    full = (arity, key)
    found = _STRUCTURES.get(full)
    if found is not None:
        return found
    numbers = count()
    bare = _without_constants(node, numbers)
    made = Structure(full, bare, next(numbers), arity)
    with _LOCK:  # nothing but dictionary work with plain keys inside
        found = _STRUCTURES.setdefault(full, made)
        while len(_STRUCTURES) > MAX_STRUCTURES:
            del _STRUCTURES[next(iter(_STRUCTURES))]
    return found


def _key(node: Node, constants: list[Any]) -> object:
    """The tree as nested tuples of plain values; its constants, in the order in which they are evaluated, go to the list."""
    kind = type(node)
    if kind is Item:
        return node.position  # type: ignore[union-attr]  # looked at by type: this runs for each assembly
    if kind is Constant:
        constants.append(node.value)  # type: ignore[union-attr]
        return None
    match node:
        case Operator(name, operands):
            return (name, *[_key(part, constants) for part in operands])
        case Index(operand, index):
            return ("[]", _key(operand, constants), _key(index, constants))
        case Attribute(operand, name):
            return (".", name, _key(operand, constants))
        case Call(function, args, kwargs):
            called = _key(function, constants)
            given = tuple([_key(part, constants) for part in args])
            return ("()", called, given, tuple([(name, _key(part, constants)) for name, part in kwargs]))
        case Display(shape, items):
            return (shape, *[_key(part, constants) for part in items])
        case Comparison(names, operands):
            return ("chain", names, *[_key(part, constants) for part in operands])
        case Conditional(condition, then, otherwise):
            return ("if", _key(condition, constants), _key(then, constants), _key(otherwise, constants))
        case _:
            raise TypeError(f"{node!r} is not a node of an expression")


def _without_constants(node: Node, numbers: count[int]) -> Node:
    if isinstance(node, Constant):
        next(numbers)
        return Constant(...)
    return with_parts(node, [_without_constants(part, numbers) for part in parts_of(node)])


@final
class Expression(partial[R]):
    """A function that can be read: ``node`` is what it computes, ``parameters`` the names of its arguments.

    Calling it is calling a compiled function. Pickles as its tree, constants by value. One that was read from the code of a
    function has that as ``wrapped``, shows itself and pickles as that.
    """

    node: Node
    structure: Structure
    parameters: tuple[str, ...]
    wrapped: object

    def __new__(cls, node: Node, parameters: tuple[str, ...] = ("it",), wrapped: Callable[..., R] | None = None) -> Expression[R]:
        constants: list[Any] = []
        structure = _found(_key(node, constants), node, len(parameters))
        self = super().__new__(cls, structure.function, *constants)
        self.node = node
        self.structure = structure
        self.parameters = parameters
        self.wrapped = wrapped
        return self

    def __repr__(self) -> str:
        if self.wrapped is not None:
            return name_of(self.wrapped)
        if self.parameters == ("it",):
            return written(self.node)
        return f"sym(lambda {', '.join(self.parameters)}: {written(self.node)})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.wrapped is not None:
            return _itself, (self.wrapped,)
        for value in self.args:
            _check_pickles(value, self)
        return Expression, (self.node, self.parameters)

    def __setstate__(self, _state: object) -> None:
        raise TypeError("an expression is made of its tree")  # partial's would replace the function


def _itself(function: R) -> R:
    return function


_PICKLE: Final = frozenset((int, float, str, bytes, bool, complex, type(None)))


def _check_pickles(value: object, expression: Expression[Any]) -> None:
    """Say which constant of which expression cannot travel; the pickler would say neither."""
    if type(value) in _PICKLE:
        return
    import pickle  # a program that pickles has it already; others do without

    try:
        pickle.dumps(value)
    except Exception as error:
        cloudpickle: Any = sys.modules.get("cloudpickle")
        if cloudpickle is not None:  # a program that pickles may be able to do more than pickle
            try:
                cloudpickle.dumps(value)
            except Exception:
                pass
            else:
                return
        raise pickle.PicklingError(
            f"the expression {expression!r} cannot be pickled: its constant {_named(value)} cannot "
            f"({type(error).__name__}: {error}).\n"
            f"  Constants travel by value. Use plain values or functions of a module, or a function (def) that makes the object."
        ) from error


def _named(value: object) -> str:
    return f"{written(Constant(value))} (a {type(value).__module__}.{type(value).__qualname__})"


def expression_of(symbol: Symbol, /) -> Expression[Any]:
    """The function a symbol stands for."""
    node: Node = symbol.__rx_node__
    return Expression(node)


def without_symbols(args: tuple[Any, ...], /) -> tuple[Any, ...]:
    """Arguments of an operator, with functions where there were symbols."""
    for arg in args:
        if type(arg) is Symbol:
            return tuple([expression_of(each) if type(each) is Symbol else each for each in args])
    return args
