"""Writing: a tree of nodes as Python's own syntax tree, for the compiler and for readers."""

from __future__ import annotations

import ast
import copy
import keyword
import reprlib
from collections.abc import Sequence
from typing import Any, Final

from rx_core import name_of
from rx_fusion.symbols._nodes import Attribute, Call, Comparison, Conditional, Constant, Display, Index, Item, Node, Operator

BINARY: Final[dict[str, type[ast.operator]]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "@": ast.MatMult,
    "<<": ast.LShift,
    ">>": ast.RShift,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
}
COMPARE: Final[dict[str, type[ast.cmpop]]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    ">": ast.Gt,
    ">=": ast.GtE,
    "in": ast.In,
    "not in": ast.NotIn,
}
UNARY: Final[dict[str, type[ast.unaryop]]] = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert, "not": ast.Not}
WORDS: Final[dict[str, type[ast.boolop]]] = {"and": ast.And, "or": ast.Or}


class Writer:
    """The tree as Python's own syntax tree; its parts are evaluated in the order in which they were written."""

    #: How the two builtins are called that an expression may need.
    getattr_name = "getattr"
    slice_name = "slice"

    def leaf(self, node: Item | Constant) -> ast.expr:
        raise NotImplementedError

    def says(self, name: str) -> bool:
        """Whether ``.name`` can be written for an attribute or a keyword."""
        return name.isidentifier() and not keyword.iskeyword(name)

    def write(self, node: Node) -> ast.expr:
        match node:
            case Item() | Constant():
                return self.leaf(node)
            case Operator(name, (one,)):
                return ast.UnaryOp(UNARY[name](), self.write(one))
            case Operator(name, (left, right)):
                first, second = self.write(left), self.write(right)
                if name in COMPARE:
                    return ast.Compare(first, [COMPARE[name]()], [second])
                if name in WORDS:
                    return ast.BoolOp(WORDS[name](), [first, second])
                return ast.BinOp(first, BINARY[name](), second)
            case Attribute(operand, name):
                of = self.write(operand)
                if self.says(name):
                    return ast.Attribute(of, name, ast.Load())
                return ast.Call(ast.Name(self.getattr_name, ast.Load()), [of, ast.Constant(name)], [])
            case Index(operand, index):
                return ast.Subscript(self.write(operand), self.index(index), ast.Load())
            case Call(function, args, kwargs):
                called = self.write(function)
                given = [self.write(each) for each in args]
                return ast.Call(called, given, [self._keyword(name, self.write(each)) for name, each in kwargs])
            case Comparison(names, operands):
                first, *others = map(self.write, operands)
                return ast.Compare(first, [COMPARE[name]() for name in names], others)
            case Conditional(condition, then, otherwise):
                return ast.IfExp(self.write(condition), self.write(then), self.write(otherwise))
            case Display(kind, items):
                return self._display(kind, [self.write(each) for each in items])
            case _:
                raise TypeError(f"{node!r} is not a node of an expression")

    def index(self, node: Node) -> ast.expr:
        if isinstance(node, Display) and node.kind == "slice":
            return ast.Slice(*map(self.write, node.items))
        return self.write(node)

    def _keyword(self, name: str, value: ast.expr) -> ast.keyword:
        if self.says(name):
            return ast.keyword(name, value)
        return ast.keyword(None, ast.Dict([ast.Constant(name)], [value]))  # f(**{"a b": 1})

    def _display(self, kind: str, items: list[ast.expr]) -> ast.expr:
        if kind == "tuple":
            return ast.Tuple(items, ast.Load())
        if kind == "list":
            return ast.List(items, ast.Load())
        if kind == "dict":
            return ast.Dict(list(items[::2]), items[1::2])
        return ast.Call(ast.Name(self.slice_name, ast.Load()), items, [])


# -- for the compiler --------------------------------------------------------------------------------------------------

GETATTR: Final = "_getattr"
SLICE: Final = "_slice"
#: What generated code has to know besides constants and arguments, by names no stage has.
BUILTINS: Final[dict[str, Any]] = {GETATTR: getattr, SLICE: slice}


class Code(Writer):
    getattr_name = GETATTR
    slice_name = SLICE

    def __init__(self, constants: Sequence[str], arguments: Sequence[ast.expr]) -> None:
        self._names = iter(constants)
        self._arguments = arguments

    def leaf(self, node: Item | Constant) -> ast.expr:
        if isinstance(node, Item):
            return copy.deepcopy(self._arguments[node.position])
        return ast.Name(next(self._names), ast.Load())

    def says(self, name: str) -> bool:
        return name.isascii() and super().says(name)  # what is not ASCII would be normalised in source text


# -- for readers --------------------------------------------------------------------------------------------------------


def shown(node: Node) -> str:
    """The expression as Python text, with Python's precedence. Long constants are shortened."""
    return ast.unparse(ast.fix_missing_locations(_SHOWN.write(node)))


class _Shown(Writer):
    def leaf(self, node: Item | Constant) -> ast.expr:
        if isinstance(node, Item):
            return ast.Name(node.name, ast.Load())
        value = node.value
        if type(value) in (int, float) and str(value).startswith("-"):
            return ast.UnaryOp(ast.USub(), ast.Name(repr(-value), ast.Load()))  # (-1) ** it keeps its parentheses
        text = name_of(value) if callable(value) else _SHORT.repr(value)
        return ast.Name(text, ast.Load())  # unparse writes a name as it is

    def index(self, node: Node) -> ast.expr:
        """``it[1:3]`` and not ``it[slice(1, 3, None)]``."""
        if isinstance(node, Constant) and type(node.value) is slice:
            parts: list[Node] = [Constant(node.value.start), Constant(node.value.stop), Constant(node.value.step)]
        elif isinstance(node, Display) and node.kind == "slice":
            parts = list(node.items)
        else:
            return self.write(node)
        return ast.Slice(*[None if isinstance(part, Constant) and part.value is None else self.write(part) for part in parts])


_SHOWN: Final = _Shown()
_SHORT: Final = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 120
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 12
