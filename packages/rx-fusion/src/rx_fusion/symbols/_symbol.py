"""Symbols: what ``it`` is. An operator on a symbol makes a larger one; nothing is computed.

A symbol only builds. What Python turns into a value at once is in ``_unanswered``.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, final

from rx_fusion.symbols._nodes import Attribute, Call, Constant, Display, Index, Item, Node, Operator, parts_of
from rx_fusion.symbols._text import written
from rx_fusion.symbols._unanswered import TRACING, SymbolError, Unanswered, unanswered

if TYPE_CHECKING:
    from rx_fusion.symbols._typed import It

#: An expression is written as nested Python code, and ``x = x * x`` doubles it each time.
MAX_DEPTH: Final = 60
MAX_NODES: Final = 1_000

#: Where a call with one argument is an operator's. Everywhere else it builds, as ``it.name.startswith("a")`` does.
_OURS: Final = frozenset(
    ("rx_asyncio", "rx_core", "rx_fusion", "rx_metrics", "rx_ops", "rx_schedulers", "rx_spark", "rx_testing", "rx_trio")
)

_ABSENT: Final = object()

#: The function that a symbol stands for. ``symbols/__init__.py`` sets it: expressions are built on this module.
function_of: Callable[[Symbol], Callable[[object], object]] | None = None


@final
class Symbol(Unanswered):
    """An expression in the making. Calling one builds a call, ``it.name.upper()``; operators and ``sym`` make functions of it."""

    __slots__ = ("__rx_depth__", "__rx_node__", "__rx_size__", "__weakref__")

    __rx_node__: Node
    __rx_size__: int
    __rx_depth__: int

    def __init__(self, node: Node, size: int = 1, depth: int = 1) -> None:
        if depth > MAX_DEPTH or size > MAX_NODES:
            raise SymbolError(
                f"this expression has {size} parts, {depth} deep; at most {MAX_NODES}, {MAX_DEPTH} deep, are written out.\n"
                f"  A part that is used twice is written twice: x = it + 1; x * x is (it + 1) * (it + 1).\n"
                f"  Instead:  a function (def or lambda), or several .map() one after another"
            )
        put = object.__setattr__
        put(self, "__rx_node__", node)
        put(self, "__rx_size__", size)
        put(self, "__rx_depth__", depth)

    # -- operators -----------------------------------------------------------------------------------------------------

    def __add__(self, other: Any, /) -> Symbol:
        return _operator("+", self, other)

    def __radd__(self, other: Any, /) -> Symbol:
        return _operator("+", other, self)

    def __sub__(self, other: Any, /) -> Symbol:
        return _operator("-", self, other)

    def __rsub__(self, other: Any, /) -> Symbol:
        return _operator("-", other, self)

    def __mul__(self, other: Any, /) -> Symbol:
        return _operator("*", self, other)

    def __rmul__(self, other: Any, /) -> Symbol:
        return _operator("*", other, self)

    def __truediv__(self, other: Any, /) -> Symbol:
        return _operator("/", self, other)

    def __rtruediv__(self, other: Any, /) -> Symbol:
        return _operator("/", other, self)

    def __floordiv__(self, other: Any, /) -> Symbol:
        return _operator("//", self, other)

    def __rfloordiv__(self, other: Any, /) -> Symbol:
        return _operator("//", other, self)

    def __mod__(self, other: Any, /) -> Symbol:
        return _operator("%", self, other)

    def __rmod__(self, other: Any, /) -> Symbol:
        return _operator("%", other, self)

    def __matmul__(self, other: Any, /) -> Symbol:
        return _operator("@", self, other)

    def __rmatmul__(self, other: Any, /) -> Symbol:
        return _operator("@", other, self)

    def __lshift__(self, other: Any, /) -> Symbol:
        return _operator("<<", self, other)

    def __rlshift__(self, other: Any, /) -> Symbol:
        return _operator("<<", other, self)

    def __rshift__(self, other: Any, /) -> Symbol:
        return _operator(">>", self, other)

    def __rrshift__(self, other: Any, /) -> Symbol:
        return _operator(">>", other, self)

    def __and__(self, other: Any, /) -> Symbol:
        return _operator("&", self, other)

    def __rand__(self, other: Any, /) -> Symbol:
        return _operator("&", other, self)

    def __or__(self, other: Any, /) -> Symbol:
        return _operator("|", self, other)

    def __ror__(self, other: Any, /) -> Symbol:
        return _operator("|", other, self)

    def __xor__(self, other: Any, /) -> Symbol:
        return _operator("^", self, other)

    def __rxor__(self, other: Any, /) -> Symbol:
        return _operator("^", other, self)

    def __pow__(self, other: Any, modulus: Any = _ABSENT, /) -> Symbol:
        return _operator("**", self, other) if modulus is _ABSENT else called(pow, self, other, modulus)

    def __rpow__(self, other: Any, modulus: Any = _ABSENT, /) -> Symbol:
        return _operator("**", other, self) if modulus is _ABSENT else called(pow, other, self, modulus)

    def __lt__(self, other: Any, /) -> Symbol:
        return _operator("<", self, other)

    def __le__(self, other: Any, /) -> Symbol:
        return _operator("<=", self, other)

    def __eq__(self, other: object, /) -> Symbol:  # type: ignore[override]  # the answer is an expression
        return _operator("==", self, other)

    def __ne__(self, other: object, /) -> Symbol:  # type: ignore[override]  # the answer is an expression
        return _operator("!=", self, other)

    def __gt__(self, other: Any, /) -> Symbol:
        return _operator(">", self, other)

    def __ge__(self, other: Any, /) -> Symbol:
        return _operator(">=", self, other)

    def __neg__(self) -> Symbol:
        return _operator("-", self)

    def __pos__(self) -> Symbol:
        return _operator("+", self)

    def __invert__(self) -> Symbol:
        return _operator("~", self)

    # -- what Python's own functions ask for and take whatever comes back -----------------------------------------------

    def __abs__(self) -> Symbol:
        return called(abs, self)

    def __round__(self, digits: Any = _ABSENT, /) -> Symbol:
        return called(round, self) if digits is _ABSENT else called(round, self, digits)

    def __trunc__(self) -> Symbol:
        return called(math.trunc, self)

    def __floor__(self) -> Symbol:
        return called(math.floor, self)

    def __ceil__(self) -> Symbol:
        return called(math.ceil, self)

    def __divmod__(self, other: Any, /) -> Symbol:
        return called(divmod, self, other)

    def __rdivmod__(self, other: Any, /) -> Symbol:
        return called(divmod, other, self)

    def __reversed__(self) -> Symbol:
        return called(reversed, self)

    # -- parts of the element ------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any, /) -> Symbol:
        inner = as_symbol(index)
        return _made(Index(self.__rx_node__, inner.__rx_node__), self, inner)

    def __getattr__(self, name: str, /) -> Symbol:
        if name == "of" and self is it:  # declared for type checkers in It
            return _of  # type: ignore[return-value]  # as declared there
        if name[:2] == "__" and name[-2:] == "__":
            # copy, pickle, inspect and notebooks ask for these; an answer would mislead them
            raise AttributeError(f"a symbol has no {name}; for that of the element:  call(getattr, it, {name!r})")
        return _made(Attribute(self.__rx_node__, name), self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        # An operator that keeps its function in an object of its own has not turned it into an expression. It means to call it.
        if len(args) == 1 and not kwargs and sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] in _OURS:
            assert function_of is not None
            return function_of(self)(args[0])
        return called(self, *args, **kwargs)

    if not TYPE_CHECKING:
        __hash__ = Unanswered.__hash__  # a class that defines __eq__ inherits none

    def __dir__(self) -> list[str]:
        return ["of"] if self is it else []

    def __repr__(self) -> str:
        # In a function that is traced f"{o!r}" would be text about the expression, the same for every element.
        if getattr(TRACING, "depth", 0):
            raise unanswered(self, "is turned into text by repr(), !r or =", "call(repr, it)")
        return written(self.__rx_node__)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return "it" if self is it else (as_symbol_of, (self.__rx_node__,))


# -- building ----------------------------------------------------------------------------------------------------------


def _made(node: Node, *parts: Symbol) -> Symbol:
    return Symbol(
        node,
        1 + sum([part.__rx_size__ for part in parts]),
        1 + max([part.__rx_depth__ for part in parts], default=0),
    )


def _operator(name: str, *operands: object) -> Symbol:
    parts = [as_symbol(each) for each in operands]
    return _made(Operator(name, tuple([part.__rx_node__ for part in parts])), *parts)


def called(function: Callable[..., Any] | Symbol, /, *args: object, **kwargs: object) -> Symbol:
    """The call of a function with symbols among its arguments."""
    target = as_symbol(function)
    given = [as_symbol(each) for each in args]
    named = {name: as_symbol(each) for name, each in kwargs.items()}
    node = Call(
        target.__rx_node__,
        tuple([each.__rx_node__ for each in given]),
        tuple([(name, each.__rx_node__) for name, each in named.items()]),
    )
    return _made(node, target, *given, *named.values())


def as_symbol(value: object, /) -> Symbol:
    """A symbol as it is; a container with symbols inside is made anew for each element; anything else is a constant."""
    if type(value) is Symbol:
        return value
    if holds_symbol(value):
        kind: Any = type(value)
        if kind is slice:
            slicing: Any = value
            parts = [slicing.start, slicing.stop, slicing.step]
        elif kind is dict:
            table: Any = value
            parts = [part for pair in table.items() for part in pair]
        elif kind is tuple or kind is list:
            sequence: Any = value
            parts = list(sequence)
        else:
            raise SymbolError(
                f"a {kind.__qualname__} was made with expressions inside, and they have no values yet.\n"
                f"  Right:  call({kind.__qualname__}, it.x, it.y)   makes one for each element\n"
                f"  Or:     a lambda"
            )
        inner = [as_symbol(part) for part in parts]
        return _made(Display(kind.__name__, tuple([part.__rx_node__ for part in inner])), *inner)
    return Symbol(Constant(value))


_PLAIN: Final = frozenset((int, float, str, bytes, bool, complex, type(None), type, type(len), type(lambda: 0)))


def holds_symbol(value: object, seen: tuple[int, ...] = ()) -> bool:
    """Whether a symbol is somewhere in nested containers, or directly in an object's attributes."""
    kind = type(value)
    if kind is Symbol:
        return True
    if kind in _PLAIN or id(value) in seen:
        return False
    inner: Any
    if issubclass(kind, (tuple, list, deque)):
        inner = value
    elif issubclass(kind, dict):
        inner = dict.values(value)  # type: ignore[arg-type]  # keys hash, and symbols do not
    elif kind is slice:
        part: Any = value
        inner = (part.start, part.stop, part.step)
    else:
        attributes = getattr(value, "__dict__", None)
        if not isinstance(attributes, Mapping) or isinstance(value, type):
            return False
        return any(type(each) is Symbol for each in list(attributes.values()))
    return any(type(each) is Symbol or (type(each) not in _PLAIN and holds_symbol(each, (*seen, id(value)))) for each in inner)


def as_symbol_of(node: Node) -> Symbol:
    """A symbol for a tree that was read from somewhere."""
    parts = [as_symbol_of(part) for part in parts_of(node)]
    return _made(node, *parts)


def _of(_kind: type, /) -> Symbol:
    return it


#: The element: ``it + 1`` is the function that adds one, ``it["price"]`` takes an item, ``it.name.upper()`` calls a method.
it: Final[It] = Symbol(Item())  # type: ignore[assignment]
