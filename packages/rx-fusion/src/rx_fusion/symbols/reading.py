"""Functions read as expressions: what a function computes, from its code, without calling it.

``sym`` calls a function with symbols, which is right where the user says so. Here nothing is called and nothing is guessed: the
instructions are followed one by one, and a function with one that is not known here, on any version of Python, is no expression.
So is one with a local variable, a default, an inner function or an f-string. What is read computes the same, in the
same order: names are looked up each time, in the dictionary of the module and in the cells of the functions around.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Final, TypeVar

from rx_fusion.symbols._expression import Expression
from rx_fusion.symbols._instructions import Free, NotRead, tree_of
from rx_fusion.symbols._nodes import Attribute, Constant, Index, Node, parts_of, with_parts
from rx_fusion.symbols._symbol import Symbol

T = TypeVar("T")

#: Builtins that look at the frame they are called from.
_OF_FRAMES: Final = frozenset(("__import__", "breakpoint", "dir", "eval", "exec", "globals", "locals", "super", "vars"))
#: The same of ``sys`` and ``inspect``, imported or as an attribute.
_FRAMES: Final = frozenset(("_getframe", "currentframe"))


def read_function(function: Callable[..., T], /) -> Expression[T] | None:
    """The function as an expression, where it is one that computes with its arguments and nothing else; None for all others.

    The expression shows itself as the function, pickles as it, and gives and raises what it does. Only the frame of the call is
    missing, in a traceback and for what looks at frames (``warnings.warn``). Where a variable has been deleted it is a KeyError
    or a ValueError instead of a NameError.
    """
    if type(function) is not FunctionType or function.__defaults__:
        return None
    code = function.__code__
    shared = tree_of(code)
    if shared is None:
        return None
    try:
        node = _bound(shared, function)
    except NotRead:
        return None
    return Expression(node, code.co_varnames[: code.co_argcount], function)


def _bound(node: Node, function: FunctionType) -> Node:
    """The tree of one function: its variables are where it finds them."""
    if isinstance(node, Constant) and type(node.value) is Free:
        free = node.value
        return _of_module(free.name, function) if free.of_module else _of_cell(free.name, function)
    if isinstance(node, Attribute) and node.name in _FRAMES:
        raise NotRead
    return with_parts(node, [_bound(part, function) for part in parts_of(node)])


def _of_module(name: str, function: FunctionType) -> Node:
    found = function.__globals__
    if name not in found:
        if name in _OF_FRAMES:
            raise NotRead
        if found.get("__builtins__") not in (builtins, vars(builtins)) or not hasattr(builtins, name):
            raise NotRead
        return Constant(getattr(builtins, name))
    if isinstance(found[name], Symbol) or name in _FRAMES:  # a symbol builds, and does not compute
        raise NotRead
    return Index(Constant(found), Constant(name))


def _of_cell(name: str, function: FunctionType) -> Node:
    cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
    try:
        if isinstance(cell.cell_contents, Symbol):
            raise NotRead
    except ValueError:  # not assigned yet
        raise NotRead from None
    return Attribute(Constant(cell), "cell_contents")


__all__: Final = ["read_function"]
