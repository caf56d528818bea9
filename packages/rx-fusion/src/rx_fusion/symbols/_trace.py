"""``sym`` and ``call``: functions from symbols, and symbols from functions."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, ParamSpec, TypeVar, overload

from rx_core import name_of
from rx_fusion._code_flags import ASYNC_GENERATOR, COROUTINE, GENERATOR, VARARGS, VARKEYWORDS
from rx_fusion.symbols._expression import Expression
from rx_fusion.symbols._nodes import Item, Node, parts_of
from rx_fusion.symbols._symbol import Symbol, as_symbol, called
from rx_fusion.symbols._unanswered import TRACING, SymbolError

P = ParamSpec("P")
R = TypeVar("R")

_NOT_PLAIN: Final = VARARGS | VARKEYWORDS | GENERATOR | COROUTINE | ASYNC_GENERATOR


def sym(function: Callable[P, R], /) -> Callable[P, R]:
    """The same function as an expression: called once, now, with symbols for its arguments.

    What it returns is what is computed for each element; its own lines run only now. An expression is called like the function,
    shows itself as written, pickles, and is written into loops without a call.

    Raises SymbolError where the function needs a value: an ``if``, ``len()``, a function that is not made for symbols.
    """
    if type(function) is Symbol:
        return Expression(function.__rx_node__)
    if type(function) is Expression:
        return function
    if not isinstance(function, FunctionType):
        raise SymbolError(
            f"sym() reads a function that is written in Python, got {function!r}.\n"
            f"  To call it for each element:  call({name_of(function)}, it)\n"
            f"  For example:                  sym(lambda o: o.price * 2)"
        )
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & _NOT_PLAIN or not code.co_argcount:
        raise SymbolError(
            f"sym() needs a function of positional arguments that returns what it computes, got {name_of(function)}.\n"
            f"  For example:  sym(lambda o: o.price * 2)"
        )
    wanted = code.co_argcount - len(function.__defaults__ or ())  # lambda x, factor=factor: the default is a constant
    names = code.co_varnames[: max(wanted, 1)]
    depth = getattr(TRACING, "depth", 0)
    TRACING.depth = depth + 1
    try:
        traced = function(*[Symbol(Item(at, name)) for at, name in enumerate(names)])
    finally:
        TRACING.depth = depth
    node: Node = as_symbol(traced).__rx_node__
    for name in _items(node):
        if name not in names:
            raise SymbolError(
                f"{name_of(function)} mixes {name!r} with its own {', '.join(names)}.\n  Right:  sym(lambda o: o + 1), or it + 1"
            )
    return Expression(node, names)


def _items(node: Node) -> list[str]:
    return [node.name] if isinstance(node, Item) else [name for part in parts_of(node) for name in _items(part)]


@overload
def call(function: Callable[..., object], first: Symbol, /, *args: object, **kwargs: object) -> Symbol: ...
@overload
def call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The call of any function as part of an expression: ``call(len, it.name) > 3``. Without symbols it is made now."""
    made = called(function, *args, **kwargs)
    if any(True for _ in _items(made.__rx_node__)):
        return made
    return function(*args, **kwargs)


__all__: Final = ["call", "sym"]
